package dev.snowlane.client;

import java.net.InetAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks up the host names among the endpoints. A name with several addresses counts as that many endpoints. A name with
 * one address or none is left to gRPC, and so is one that is reached through a proxy. Attempts 15 of
 * docs/internals/client-contract.md has the rule.
 */
final class Names {

  /** A name is looked up again after this time, */
  private static final long LOOK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** or after this time where one of its addresses is down. */
  private static final long LOOK_SOON_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** The longest time that the first call waits for a name; after it, gRPC looks the name up. */
  private static final long LOOK_WAIT_MS = 500;

  /**
   * An address counts as gone once this many lookups in a row did not return it: some name services answer with only a
   * part of their addresses.
   */
  private static final int MISSED_LOOKS_MAX = 3;

  /** The most addresses of a name that a client uses. */
  private static final int ADDRESSES_MAX = 64;

  /** Looks up the addresses of a host, in the order in which to try them. */
  @FunctionalInterface
  interface LookUp {
    InetAddress[] of(String host) throws UnknownHostException;
  }

  /** One host name. Its names object guards all fields but `known`. */
  private static final class Name {
    final EndpointAddress address;

    /** Counted down after the first lookup. */
    final CountDownLatch known = new CountDownLatch(1);

    /** Its addresses, or the name itself as gRPC looks it up. */
    List<Endpoint> endpoints;

    boolean isLooking;

    /** Null before the first lookup. */
    @Nullable Long lookedNanos;

    Name(Endpoint endpoint) {
      address = endpoint.address;
      endpoints = List.of(endpoint);
    }
  }

  private final Endpoints endpoints;
  private final ClientClock clock;
  private final DoubleSupplier random;
  private final LookUp lookUp;
  private final List<Name> all;

  Names(Endpoints endpoints, ClientClock clock, DoubleSupplier random, LookUp lookUp) {
    this.endpoints = endpoints;
    this.clock = clock;
    this.random = random;
    this.lookUp = lookUp;
    this.all =
        endpoints.all().stream()
            .filter(endpoint -> endpoint.address.isName() && !hasProxy(endpoint.address))
            .map(Name::new)
            .toList();
  }

  /** Whether gRPC goes through a proxy, by the settings that gRPC reads. */
  private static boolean hasProxy(EndpointAddress address) {
    ProxySelector selector = ProxySelector.getDefault();
    if (System.getenv("GRPC_PROXY_EXP") != null) return true;
    if (selector == null) return false;
    URI uri = URI.create("https://" + address.host() + ":" + address.port());
    return selector.select(uri).stream().anyMatch(proxy -> proxy.type() != Proxy.Type.DIRECT);
  }

  /** Makes sure that names are looked up from time to time, in the background. The first call waits for them. */
  void look() {
    for (Name name : all) {
      if (isDue(name)) start(name);
      try {
        name.known.await(LOOK_WAIT_MS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException interrupted) {
        // The attempt ends because of it.
        Thread.currentThread().interrupt();
        return;
      }
      // Later calls do not wait as long again.
      name.known.countDown();
    }
  }

  /** Whether no lookup is on its way; for tests. */
  synchronized boolean isIdle() {
    return all.stream().noneMatch(name -> name.isLooking);
  }

  private synchronized boolean isDue(Name name) {
    boolean isOneDown = name.endpoints.stream().anyMatch(each -> endpoints.areDown(List.of(each)));
    long everyNanos = isOneDown ? LOOK_SOON_NANOS : LOOK_AGAIN_NANOS;
    long nowNanos = clock.nanos();
    boolean isEarly = name.lookedNanos != null && nowNanos - name.lookedNanos < everyNanos;
    if (name.isLooking || isEarly) return false;
    name.isLooking = true;
    name.lookedNanos = nowNanos;
    return true;
  }

  private void start(Name name) {
    // A slow lookup holds up only the next lookup of the same name.
    Thread thread = new Thread(() -> lookAt(name), "snowlane-names");
    thread.setDaemon(true);
    thread.start();
  }

  private void lookAt(Name name) {
    List<InetAddress> found = List.of();
    try {
      found = List.of(lookUp.of(name.address.host()));
    } catch (UnknownHostException | RuntimeException unknown) {
      // The addresses in use stay.
    }
    synchronized (this) {
      name.isLooking = false;
      if (!found.isEmpty()) take(name, found);
    }
    name.known.countDown();
  }

  /** Records which addresses a lookup has found. */
  private void take(Name name, List<InetAddress> found) {
    boolean isSingle = name.endpoints.get(0).address.ip().isEmpty();
    List<InetAddress> used = usedOf(found, !isSingle && endpoints.areDown(name.endpoints));
    if (isSingle && used.size() == 1) return;
    List<Endpoint> stay = new ArrayList<>();
    List<Endpoint> gone = new ArrayList<>();
    for (Endpoint each : name.endpoints) {
      boolean isFound = each.address.ip().filter(used::contains).isPresent();
      each.missedLooks = isFound ? 0 : each.missedLooks + 1;
      boolean isGone = each.address.ip().isEmpty() || each.missedLooks >= MISSED_LOOKS_MAX;
      (isGone ? gone : stay).add(each);
    }
    List<Endpoint> come = new ArrayList<>();
    for (InetAddress ip : used) {
      boolean isKnown = stay.stream().anyMatch(each -> each.address.ip().filter(ip::equals).isPresent());
      boolean isRoom = stay.size() + come.size() < ADDRESSES_MAX;
      if (!isKnown && isRoom) come.add(new Endpoint(name.address.at(ip), clock.nanos()));
    }
    // An endpoint that is in use and answers stays.
    stay.addAll(endpoints.replace(gone, come));
    stay.addAll(come);
    name.endpoints = List.copyOf(stay);
  }

  /** Of the addresses that were found, those of the same family as the first, or all, in random order. */
  private List<InetAddress> usedOf(List<InetAddress> found, boolean isAnyFamily) {
    int length = found.get(0).getAddress().length;
    List<InetAddress> used = new ArrayList<>();
    for (InetAddress ip : found) {
      if ((isAnyFamily || ip.getAddress().length == length) && !used.contains(ip)) used.add(ip);
    }
    for (int last = used.size() - 1; last > 0; last--) {
      Collections.swap(used, last, (int) (random.getAsDouble() * (last + 1)));
    }
    return used;
  }
}
