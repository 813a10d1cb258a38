package dev.snowlane.client;

import dev.snowlane.v1.GetInfoRequest;
import dev.snowlane.v1.GetInfoResponse;
import dev.snowlane.v1.IdServiceGrpc;
import dev.snowlane.v1.IdServiceGrpc.IdServiceBlockingStub;
import dev.snowlane.v1.NextIdRequest;
import dev.snowlane.v1.NextIdResponse;
import dev.snowlane.v1.ReserveIdsRequest;
import dev.snowlane.v1.ReserveIdsResponse;
import io.grpc.Context;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;

/**
 * Calls the ID service: one RPC a call, tried up to four times, over one or more endpoints. Safe for any number of
 * threads. A call ends with CANCELLED if its thread is interrupted or its {@link io.grpc.Context} is cancelled.
 */
public final class IdClient implements IdSource {

  private static final long STREAM_COUNT_MAX = 1_000_000_000;

  private final ClientSettings settings;
  private final Calls calls;
  private final Reservations reservations;

  /** The source that buffers draw from. */
  private final RunSource refills;

  /** Guarded by itself. The references are weak, because a buffer that is no longer used does not have to be closed. */
  private final Set<PrefetchBuffer> buffers = Collections.newSetFromMap(new WeakHashMap<>());

  /** The text forms of a deployment's IDs. */
  private record KnownCodec(int deployment, TextCodec codec) {}

  /** The layout of the options. */
  private final Optional<TextCodec> given;

  /** Null before the layout is known. */
  private volatile KnownCodec known;

  IdClient(ClientSettings settings) {
    this.settings = settings;
    this.reservations = new Reservations(settings.clock());
    this.calls = new Calls(settings);
    this.refills = this::refill;
    this.given = settings.layout().map(layout -> new TextCodec(layout, settings.namespace()));
  }

  /** Returns a builder for the options; {@code IdClient.builder().build()} uses the defaults. */
  public static IdClientBuilder builder() {
    return new IdClientBuilder();
  }

  @Override
  public long nextId() {
    return nextId(settings.timeout());
  }

  @Override
  public long nextId(Duration timeout) {
    return call(
        "NextId",
        timeout,
        (stub, admit) -> {
          NextIdResponse response = stub.nextId(NextIdRequest.getDefaultInstance());
          admit.deployment(response.getDeployment());
          return soundId(response.getId());
        });
  }

  @Override
  public long[] nextIds(int count) {
    return nextIds(count, settings.timeout());
  }

  @Override
  public long[] nextIds(int count, Duration timeout) {
    Counts.check(count, PrefetchBuffer.COUNT_MAX);
    long deadlineNanos = settings.clock().nanos() + Times.nanos(timeout);
    long[] ids = new long[count];
    for (int filled = 0; filled < count; ) {
      Duration left = Duration.ofNanos(deadlineNanos - settings.clock().nanos());
      for (IdRun run : reserveHere(count - filled, left)) {
        long id = run.firstId();
        for (int i = 0; i < run.count(); i++, id += run.stride()) ids[filled++] = id;
      }
    }
    return ids;
  }

  @Override
  public IdStream stream(long count, StreamOptions options) {
    Counts.check(count, STREAM_COUNT_MAX);
    return new RpcIdStream(calls, options, count);
  }

  @Override
  public CompletableFuture<List<IdRun>> reserveAsync(int count) {
    return reserveAsync(count, settings.timeout());
  }

  @Override
  public CompletableFuture<List<IdRun>> reserveAsync(int count, Duration timeout) {
    // The deadline, the cancellation and the trace of the context are the caller's.
    Context caller = Context.current();
    return reservations.run(
        timeout,
        left -> {
          Context previous = caller.attach();
          try {
            return reserveHere(count, left);
          } finally {
            caller.detach(previous);
          }
        });
  }

  /** Asks a server what it is: layout, worker ID, limits, version. */
  public ServerInfo info() {
    return ServerInfo.of(askInfo());
  }

  private GetInfoResponse askInfo() {
    return call(
        "GetInfo",
        settings.timeout(),
        (stub, admit) -> {
          GetInfoResponse info = stub.getInfo(GetInfoRequest.getDefaultInstance());
          admit.deployment(Deployments.numberOf(info.getDeploymentFingerprint()));
          return info;
        });
  }

  /** Connects, and waits until a server has said what it is. Takes no ID. */
  public void ready() {
    askInfo();
  }

  @Override
  public Layout layout() {
    return textCodec().layout();
  }

  @Override
  public TextCodec textCodec() {
    if (given.isPresent()) return given.get();
    KnownCodec found = known;
    if (found != null && found.deployment() == calls.deployment()) return found.codec();
    GetInfoResponse info = askInfo();
    int number = Deployments.numberOf(info.getDeploymentFingerprint());
    TextCodec codec = new TextCodec(LayoutResponse.read(info), settings.namespace());
    known = new KnownCodec(number == 0 ? calls.deployment() : number, codec);
    return codec;
  }

  @Override
  public PrefetchBuffer prefetch(PrefetchOptions options) {
    PrefetchBuffer buffer =
        new PrefetchBuffer(
            refills, options, settings.timeout(), settings.clock(), settings.observer(), calls.states());
    synchronized (buffers) {
      if (calls.isClosed()) throw Closing.error();
      buffers.add(buffer);
    }
    return buffer;
  }

  @Override
  public Sequence sequence(String name) {
    return new RpcSequence(name, calls);
  }

  @Override
  public void close() {
    calls.end();
    synchronized (buffers) {
      List.copyOf(buffers).forEach(PrefetchBuffer::close);
    }
    calls.disconnect();
  }

  private CompletableFuture<List<IdRun>> refill(int count, Duration timeout) {
    ReserveIdsRequest request = ReserveIdsRequest.newBuilder().setCount(count).build();
    return reservations.run(timeout, left -> calls.refill(left, request, response -> soundRuns(response, count)));
  }

  private List<IdRun> reserveHere(int count, Duration timeout) {
    Counts.check(count, PrefetchBuffer.COUNT_MAX);
    ReserveIdsRequest request = ReserveIdsRequest.newBuilder().setCount(count).build();
    return call(
        "ReserveIds",
        timeout,
        (stub, admit) -> {
          ReserveIdsResponse response = stub.reserveIds(request);
          admit.deployment(response.getDeployment());
          return soundRuns(response, count);
        });
  }

  private static long soundId(long id) {
    if (id >= RunCheck.ID_MIN) return id;
    Map<String, String> metadata = Map.of("id", Long.toUnsignedString(id));
    String message = "The server sent an ID that is 0 or has bit 63 set.";
    throw new SnowlaneException(ErrorReason.INVALID_RESPONSE, message, metadata);
  }

  private static List<IdRun> soundRuns(ReserveIdsResponse response, int asked) {
    List<IdRun> runs =
        response.getRunsList().stream()
            .map(run -> new IdRun(run.getFirstId(), run.getCount(), run.getStride()))
            .toList();
    RunCheck.count(runs, asked);
    return runs;
  }

  private <T> T call(String method, Duration timeout, Calls.Work<IdServiceBlockingStub, T> work) {
    return calls.call(method, timeout, IdServiceGrpc::newBlockingStub, work);
  }
}
