package dev.snowlane.client;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.snowlane.v1.BatchNextIdsRequest;
import dev.snowlane.v1.BatchNextIdsResponse;
import dev.snowlane.v1.GetInfoRequest;
import dev.snowlane.v1.GetInfoResponse;
import dev.snowlane.v1.IdServiceGrpc;
import dev.snowlane.v1.NextIdRequest;
import dev.snowlane.v1.NextIdResponse;
import dev.snowlane.v1.ReserveIdsRequest;
import dev.snowlane.v1.ReserveIdsResponse;
import io.grpc.Context;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * Follows a test's script, for faults that a real server cannot be made to show at will. It counts up from 1, or from
 * {@link #nextId}. docs/adr/0223 says what is tested by it, and what by the conformance program.
 */
final class ScriptedServer extends IdServiceGrpc.IdServiceImplBase implements AutoCloseable {

  /** How a test answers BatchNextIds. */
  interface Batch {
    void answer(BatchNextIdsRequest request, Chunks chunks);
  }

  /** What a stream's answer is written to. */
  record Chunks(ServerCallStreamObserver<BatchNextIdsResponse> observer) {
    void send(Long... ids) {
      observer.onNext(BatchNextIdsResponse.newBuilder().addAllIds(List.of(ids)).build());
    }
  }

  private static final int CHUNK_SIZE = 4_096;

  final AtomicLong nextId = new AtomicLong(1);
  /** Calls to issue. */
  final AtomicInteger calls = new AtomicInteger();

  final AtomicInteger infoCalls = new AtomicInteger();
  /** The number of its deployment; 0: it reports none. */
  volatile int deployment;

  final ConcurrentLinkedQueue<String> tokens = new ConcurrentLinkedQueue<>();
  /** Those of the last call. */
  volatile Metadata headers = new Metadata();

  // What a test has put in place of what counts; null: it counts.
  volatile LongSupplier onNextId;
  volatile IntFunction<List<dev.snowlane.v1.IdRun>> onReserve;
  volatile Batch onBatch;
  /** Its sequences, which a test scripts as a whole. */
  final ScriptedSequences sequences = new ScriptedSequences();

  volatile GetInfoResponse info = GetInfoResponse.getDefaultInstance();

  private final ServerCredentials credentials;
  private final Server server;
  private final TcpRelay relay;

  ScriptedServer() {
    this(InsecureServerCredentials.create());
  }

  ScriptedServer(ServerCredentials credentials) {
    this.credentials = credentials;
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    NettyServerBuilder builder = NettyServerBuilder.forAddress(address, credentials);
    try {
      server = builder.addService(this).addService(sequences).intercept(new Tokens()).build().start();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    relay = new TcpRelay(server.getPort());
  }

  String url() {
    return (credentials instanceof InsecureServerCredentials ? "http" : "https") + "://127.0.0.1:" + relay.port();
  }

  /** Cuts every connection and stops listening, as a crash does. */
  void kill() {
    relay.cut();
  }

  /** How many connections came so far. */
  int connections() {
    return relay.accepted.get();
  }

  /** Lets nothing more through over the open connections; new ones work. */
  void swallow() {
    relay.swallow();
  }

  /** Listens again, on the same port. */
  void restart() {
    relay.listen();
  }

  @Override
  public void close() {
    relay.cut();
    server.shutdownNow();
  }

  /** Waits until the caller is gone. */
  static void hang() {
    CountDownLatch gone = new CountDownLatch(1);
    Context.current().addListener(context -> gone.countDown(), Runnable::run);
    try {
      gone.await();
    } catch (InterruptedException killed) {
      Thread.currentThread().interrupt();
    }
  }

  /** The error that a Snowlane server sends for a reason. */
  static StatusRuntimeException fault(
      Status.Code code, String reason, java.time.Duration retryAfter, Map<String, String> metadata) {
    com.google.rpc.Status.Builder status =
        com.google.rpc.Status.newBuilder().setCode(code.value()).setMessage("scripted " + reason);
    ErrorInfo.Builder info =
        ErrorInfo.newBuilder().setReason(reason).setDomain("snowlane.dev").putAllMetadata(metadata);
    if (!reason.isEmpty()) status.addDetails(Any.pack(info.build()));
    if (!retryAfter.isZero()) {
      Duration delay =
          Duration.newBuilder().setSeconds(retryAfter.getSeconds()).setNanos(retryAfter.getNano()).build();
      status.addDetails(Any.pack(RetryInfo.newBuilder().setRetryDelay(delay).build()));
    }
    return StatusProto.toStatusRuntimeException(status.build());
  }

  static StatusRuntimeException fault(Status.Code code, String reason) {
    return fault(code, reason, java.time.Duration.ZERO, Map.of());
  }

  @Override
  public void nextId(NextIdRequest request, StreamObserver<NextIdResponse> answer) {
    calls.incrementAndGet();
    answer(answer, () -> {
      long id = onNextId == null ? nextId.getAndIncrement() : onNextId.getAsLong();
      answer.onNext(NextIdResponse.newBuilder().setId(id).setDeployment(deployment).build());
    });
  }

  @Override
  public void reserveIds(ReserveIdsRequest request, StreamObserver<ReserveIdsResponse> answer) {
    calls.incrementAndGet();
    answer(answer, () -> {
      int count = request.getCount();
      List<dev.snowlane.v1.IdRun> runs =
          onReserve == null ? List.of(run(nextId.getAndAdd(count), count, 1)) : onReserve.apply(count);
      answer.onNext(ReserveIdsResponse.newBuilder().addAllRuns(runs).setDeployment(deployment).build());
    });
  }

  static dev.snowlane.v1.IdRun run(long firstId, int count, long stride) {
    return dev.snowlane.v1.IdRun.newBuilder().setFirstId(firstId).setCount(count).setStride(stride).build();
  }

  @Override
  public void batchNextIds(BatchNextIdsRequest request, StreamObserver<BatchNextIdsResponse> answer) {
    calls.incrementAndGet();
    Chunks chunks = new Chunks((ServerCallStreamObserver<BatchNextIdsResponse>) answer);
    answer(answer, () -> {
      if (onBatch == null) count(request, chunks);
      else onBatch.answer(request, chunks);
    });
  }

  private void count(BatchNextIdsRequest request, Chunks chunks) {
    int size = request.getChunkSize() == 0 ? CHUNK_SIZE : request.getChunkSize();
    for (long left = request.getCount(); left > 0; left -= size) {
      while (!chunks.observer.isReady() && !chunks.observer.isCancelled()) pause();
      BatchNextIdsResponse.Builder chunk = BatchNextIdsResponse.newBuilder().setDeployment(deployment);
      for (long i = Math.min(size, left); i > 0; i--) chunk.addIds(nextId.getAndIncrement());
      chunks.observer.onNext(chunk.build());
    }
  }

  @Override
  public void getInfo(GetInfoRequest request, StreamObserver<GetInfoResponse> answer) {
    infoCalls.incrementAndGet();
    answer(answer, () -> answer.onNext(info.toBuilder().setDeploymentFingerprint(fingerprint()).build()));
  }

  /** The fingerprint of its deployment; empty if it reports none. */
  String fingerprint() {
    return deployment == 0 ? "" : String.format("%08x%024x", deployment, 0);
  }

  static void answer(StreamObserver<?> answer, Runnable work) {
    try {
      work.run();
      answer.onCompleted();
    } catch (StatusRuntimeException fault) {
      if (!Context.current().isCancelled()) answer.onError(fault);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException interrupted) {
      throw Status.CANCELLED.asRuntimeException();
    }
  }

  private final class Tokens implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      ScriptedServer.this.headers = headers;
      String token = headers.get(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER));
      if (token != null) tokens.add(token);
      return next.startCall(call, headers);
    }
  }
}
