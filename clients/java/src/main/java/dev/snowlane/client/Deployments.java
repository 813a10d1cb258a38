package dev.snowlane.client;

import dev.snowlane.v1.GetInfoResponse;
import dev.snowlane.v1.WorkerBinding;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The deployments whose IDs a client uses: the first that it meets, and others whose IDs certainly differ from those of
 * the first. Attempts 14 of docs/internals/client-contract.md has the rule.
 */
final class Deployments {

  /**
   * A server, and the number of its deployment.
   *
   * @param number never 0
   * @param info the server's description of itself, if it was asked
   */
  record MetServer(String url, int number, Optional<GetInfoResponse> info) {}

  /** The kind of thing that a number identifies. */
  enum Numbered {
    DEPLOYMENT("deployment", "deployment", "IDs"),
    DATABASE("database", "database of sequences", "values");

    private final String key;
    private final String noun;
    private final String items;

    Numbered(String key, String noun, String items) {
      this.key = key;
      this.noun = noun;
      this.items = items;
    }
  }

  private static final int NUMBER_DIGITS = 8;

  private final Numbered numbered;

  /** The deployments that the option lists: these and no others may be used. Empty: the first that is met is used. */
  private final Set<Integer> listed;

  // This object guards all fields below.

  /** The first server of each number in use, in the order in which they were met. */
  private final Map<Integer, MetServer> used = new LinkedHashMap<>();

  private int current;
  private SnowlaneException conflict;

  /**
   * @param fingerprints the deployments that the option lists; if there are none, the first that is met is used
   */
  Deployments(Collection<String> fingerprints) {
    this(Numbered.DEPLOYMENT, fingerprints);
  }

  private Deployments(Numbered numbered, Collection<String> fingerprints) {
    this.numbered = numbered;
    listed = fingerprints.stream().map(Deployments::numberOf).collect(Collectors.toUnmodifiableSet());
  }

  /** The databases of sequences whose values a client uses: the first that it meets, and no other. */
  static Deployments ofDatabases() {
    return new Deployments(Numbered.DATABASE, Set.of());
  }

  /**
   * The number of the deployment with a fingerprint, as answers carry it: the first 8 digits, where 00000000 counts as
   * 1; 0 for an empty fingerprint.
   */
  static int numberOf(String fingerprint) {
    if (fingerprint.isEmpty()) return 0;
    int digits = Math.min(NUMBER_DIGITS, fingerprint.length());
    int number = Integer.parseUnsignedInt(fingerprint.substring(0, digits), 16);
    return number == 0 ? 1 : number;
  }

  /** The number in the last answer; 0 before the first one that has a number. */
  synchronized int current() {
    return current;
  }

  /**
   * @throws SnowlaneException DEPLOYMENT_MISMATCH, if two deployments were met before the first ID
   */
  synchronized void refuseIfInConflict() {
    if (conflict != null) throw conflict.rethrown();
  }

  /**
   * Adds a server that was met before the first ID. No call gets an ID if the deployments of two such servers must not
   * be mixed. Returns whether its deployment may be mixed with the others.
   */
  synchronized boolean meetAtStart(MetServer server) {
    if (join(server)) return true;
    if (conflict == null) conflict = mismatch(server);
    return false;
  }

  /** Whether an answer with this number may be used as it is. */
  synchronized boolean knows(int number) {
    return number == 0 || used.containsKey(number);
  }

  /**
   * Checks an answer's number, before any ID of it is read.
   *
   * @throws SnowlaneException DEPLOYMENT_MISMATCH: it must be dropped whole
   */
  synchronized void admit(MetServer server) {
    refuseIfInConflict();
    if (!join(server)) throw mismatch(server);
    current = server.number();
  }

  private boolean join(MetServer server) {
    if (used.containsKey(server.number())) return true;
    boolean goesTogether =
        listed.isEmpty()
            ? used.values().stream().allMatch(other -> areDisjoint(other.info(), server.info()))
            : listed.contains(server.number());
    if (goesTogether) used.put(server.number(), server);
    return goesTogether;
  }

  private SnowlaneException mismatch(MetServer server) {
    Optional<MetServer> first = used.values().stream().findFirst();
    Set<Integer> wanted = listed.isEmpty() ? Set.of(first.map(MetServer::number).orElse(0)) : listed;
    String expected = wanted.stream().map(Deployments::hexOf).sorted().collect(Collectors.joining(", "));
    String inUse = expected + first.map(met -> ", first at " + met.url()).orElse("");
    Map<String, String> metadata = new HashMap<>();
    metadata.put(numbered.key, hexOf(server.number()));
    metadata.put("expected_" + numbered.key, expected);
    first.ifPresent(met -> metadata.put("endpoint_first", met.url()));
    String message =
        "This server is of another " + numbered.noun + " (" + hexOf(server.number()) + ") than the one in use ("
            + inUse + "): their " + numbered.items + " can be equal."
            + " Correct the endpoints, or restart this process if the change is meant.";
    ErrorReason reason = ErrorReason.DEPLOYMENT_MISMATCH;
    return new SnowlaneException(reason, reason.code(), message, metadata, null, server.url(), null);
  }

  private static String hexOf(int number) {
    return String.format("%08x", number);
  }

  /** Whether two stores of one layout are bound to different worker IDs, so that their IDs differ. */
  private static boolean areDisjoint(Optional<GetInfoResponse> one, Optional<GetInfoResponse> other) {
    if (one.isEmpty() || other.isEmpty()) return false;
    GetInfoResponse a = one.get();
    GetInfoResponse b = other.get();
    if (!a.hasLayout() || !a.getLayout().equals(b.getLayout())) return false;
    WorkerBinding ofA = a.getBinding();
    WorkerBinding ofB = b.getBinding();
    if (ofA.hasWorkerIds() && ofB.hasWorkerIds()) {
      boolean isBefore = ofA.getWorkerIds().getLast() < ofB.getWorkerIds().getFirst();
      return isBefore || ofB.getWorkerIds().getLast() < ofA.getWorkerIds().getFirst();
    }
    boolean areBound = ofA.getDatacenterIdsCount() > 0 && ofB.getDatacenterIdsCount() > 0;
    return areBound && Collections.disjoint(ofA.getDatacenterIdsList(), ofB.getDatacenterIdsList());
  }
}
