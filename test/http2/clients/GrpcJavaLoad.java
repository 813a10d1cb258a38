import dev.snowlane.v1.BatchNextIdsRequest;
import dev.snowlane.v1.IdServiceGrpc;
import dev.snowlane.v1.NextIdRequest;
import dev.snowlane.v1.ParseRequest;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** The load of README.md by grpc-java. */
class GrpcJavaLoad {
  private final ManagedChannel channel;
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
  private final Map<Long, Boolean> ids = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> problems = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicInteger streams = new AtomicInteger();

  private GrpcJavaLoad(String address) {
    channel = NettyChannelBuilder.forTarget(address).usePlaintext().build();
  }

  private void take(long id) {
    count.incrementAndGet();
    ids.put(id, true);
  }

  private void askOnce(int turn) throws InterruptedException {
    int kind = turn % 8;
    long deadlineMs = kind == 1 ? 1 + turn % 4 : 90_000 + turn;
    var stub = IdServiceGrpc.newFutureStub(channel).withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS);
    var call = stub.nextId(NextIdRequest.getDefaultInstance());
    if (kind == 0) timer.schedule(() -> call.cancel(true), turn % 3, TimeUnit.MILLISECONDS);
    try {
      take(call.get().getId());
    } catch (CancellationException cancelled) {
      if (kind != 0) problems.add("unary " + kind + ": cancelled");
    } catch (ExecutionException failed) {
      var status = Status.fromThrowable(failed);
      if (kind != 1 || status.getCode() != Status.Code.DEADLINE_EXCEEDED) problems.add("unary " + kind + ": " + status);
    }
  }

  private void askAll(int caller) {
    try {
      for (int turn = 0; turn < 150; turn++) askOnce(caller * 150 + turn);
    } catch (InterruptedException interrupted) {
      problems.add("caller " + caller + ": interrupted");
    }
  }

  /** Reads one stream; the context around it is cancelled when this returns, and with it a stream that is left. */
  private void read(int index) throws InterruptedException {
    var request = BatchNextIdsRequest.newBuilder().setCount(20_000).setChunkSize(2_000).build();
    var messages = IdServiceGrpc.newBlockingStub(channel).batchNextIds(request);
    int received = 0;
    while (messages.hasNext()) {
      var chunk = messages.next().getIdsList();
      chunk.forEach(this::take);
      received += chunk.size();
      if (index % 4 == 0) return;
      if (index % 4 == 1) Thread.sleep(5);
    }
    if (received == 20_000) streams.incrementAndGet();
    else problems.add("stream " + index + ": " + received + " IDs");
  }

  private void stream(int index) {
    try (var context = Context.current().withCancellation()) {
      context.run(() -> {
        try {
          read(index);
        } catch (RuntimeException | InterruptedException failed) {
          problems.add("stream " + index + ": " + failed);
        }
      });
    }
  }

  private void upload(int index) {
    var request = ParseRequest.newBuilder().setText("x".repeat(200_000)).build();
    try {
      IdServiceGrpc.newBlockingStub(channel).withDeadlineAfter(2, TimeUnit.MINUTES).parse(request);
      problems.add("upload " + index + ": answered");
    } catch (RuntimeException failed) {
      var status = Status.fromThrowable(failed);
      if (status.getCode() != Status.Code.RESOURCE_EXHAUSTED) problems.add("upload " + index + ": " + status);
    }
  }

  private void run() throws Exception {
    var threads = Executors.newCachedThreadPool();
    List<Future<?>> running = new ArrayList<>();
    for (var work : List.of(
        Map.entry(64, (IntConsumer) this::askAll),
        Map.entry(40, (IntConsumer) this::stream),
        Map.entry(20, (IntConsumer) this::upload))) {
      for (int index = 0; index < work.getKey(); index++) {
        int number = index;
        running.add(threads.submit(() -> work.getValue().accept(number)));
      }
    }
    for (var one : running) one.get();
    threads.shutdown();
    timer.shutdown();
    channel.shutdownNow();
    var quoted = problems.stream().map(problem -> '"' + problem.replaceAll("[\"\\\\\\p{Cntrl}]", "'") + '"').toList();
    System.out.printf(
        "{\"count\":%d,\"distinct\":%d,\"streams\":%d,\"problems\":[%s]}%n",
        count.get(), ids.size(), streams.get(), String.join(",", quoted));
  }

  public static void main(String[] arguments) throws Exception {
    new GrpcJavaLoad(arguments[0]).run();
  }
}
