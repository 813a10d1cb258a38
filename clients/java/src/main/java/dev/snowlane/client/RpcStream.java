package dev.snowlane.client;

import dev.snowlane.v1.BatchNextIdsRequest;
import dev.snowlane.v1.BatchNextIdsResponse;
import dev.snowlane.v1.IdServiceGrpc.IdServiceBlockingStub;
import io.grpc.Context;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;

/** A stream of IDs, over as many RPCs as it takes. */
final class RpcStream implements IdStream {

  /** What opens an RPC to an endpoint. */
  interface Stubs {
    IdServiceBlockingStub to(Endpoint endpoint);
  }

  private final Attempts attempts;
  private final ClientClock clock;
  private final Stubs stubs;
  private final StreamOptions options;
  private final long count;

  /** How many IDs are still to come. */
  private long left;

  /** The RPC that is read; null between two. */
  private Reader reader;

  private SnowlaneException failure;
  private boolean isEnded;

  RpcStream(Attempts attempts, ClientClock clock, Stubs stubs, StreamOptions options, long count) {
    this.attempts = attempts;
    this.clock = clock;
    this.stubs = stubs;
    this.options = options;
    this.count = count;
    this.left = count;
  }

  @Override
  public boolean hasNext() {
    if (failure != null) throw failure;
    if (left == 0) end();
    return left > 0 && !isEnded;
  }

  @Override
  public long[] next() {
    if (!hasNext()) throw new NoSuchElementException("The stream has ended.");
    attempts.awaitNext();
    while (true) {
      try {
        if (reader == null) reader = new Reader(attempts.begin());
      } catch (SnowlaneException error) {
        throw ended(error);
      }
      Reader read = reader;
      try {
        long[] ids = read.next();
        attempts.progress(read.attempt);
        left -= ids.length;
        return ids;
      } catch (RuntimeException error) {
        read.cancel();
        reader = null;
        fail(read, error);
      }
    }
  }

  @Override
  public void close() {
    isEnded = true;
    if (reader != null) reader.cancel();
    reader = null;
  }

  private void fail(Reader read, RuntimeException cause) {
    SnowlaneException error;
    try {
      error = attempts.fail(read.attempt, cause);
    } catch (SnowlaneException last) {
      throw ended(last);
    }
    if (options.ordered() && left < count) throw ended(error);
  }

  private SnowlaneException ended(SnowlaneException error) {
    failure = error;
    return error;
  }

  /** All IDs have come: holds the server to it. How its RPC ends otherwise does not matter any more. */
  private void end() {
    if (isEnded) return;
    isEnded = true;
    attempts.awaitNext();
    Reader read = reader;
    reader = null;
    try {
      read.end();
      attempts.succeed(read.attempt);
    } catch (SnowlaneException error) {
      throw ended(error);
    } finally {
      read.cancel();
    }
  }

  /** One server's stream. */
  private final class Reader {

    final Attempts.Attempt attempt;
    private final Context.CancellableContext context = Context.current().withCancellation();
    private Iterator<BatchNextIdsResponse> responses;
    private long lastId = RunCheck.ID_MIN - 1;

    Reader(Attempts.Attempt attempt) {
      this.attempt = attempt;
    }

    /**
     * @throws SnowlaneException DEADLINE_EXCEEDED if the chunk does not come in time, INVALID_RESPONSE
     */
    long[] next() {
      if (!awaitResponse()) throw earlyEnd();
      BatchNextIdsResponse response = responses.next();
      long[] ids = new long[response.getIdsCount()];
      for (int i = 0; i < ids.length; i++) ids[i] = response.getIds(i);
      check(ids);
      return ids;
    }

    /**
     * @throws SnowlaneException INVALID_RESPONSE if more comes
     */
    void end() {
      boolean hasMore;
      try {
        hasMore = awaitResponse();
      } catch (RuntimeException broken) {
        return;
      }
      if (hasMore) throw invalid("The server sent more IDs than were asked for.", "count", count);
    }

    void cancel() {
      context.cancel(null);
    }

    private boolean awaitResponse() {
      ClientClock.Timer alarm = clock.after(attempts.leftNanos(), () -> context.cancel(Attempts.timedOut()));
      Context previous = context.attach();
      try {
        if (responses == null) responses = open();
        return responses.hasNext();
      } catch (RuntimeException error) {
        throw context.cancellationCause() instanceof SnowlaneException late ? late : error;
      } finally {
        context.detach(previous);
        alarm.cancel();
      }
    }

    private Iterator<BatchNextIdsResponse> open() {
      IdServiceBlockingStub stub = stubs.to(attempt.endpoint());
      if (attempts.hasOwnDeadline()) stub = stub.withDeadlineAfter(attempts.callLeftNanos(), TimeUnit.NANOSECONDS);
      BatchNextIdsRequest request =
          BatchNextIdsRequest.newBuilder().setCount(left).setChunkSize(options.chunkSize()).build();
      return stub.batchNextIds(request);
    }

    private void check(long[] ids) {
      if (ids.length == 0 || ids.length > left) {
        throw invalid("The server sent a chunk that cannot be.", "count", ids.length);
      }
      for (long id : ids) {
        if (id <= lastId) throw invalid("The server sent IDs that do not ascend.", "id", id);
        lastId = id;
      }
    }

    private SnowlaneException earlyEnd() {
      return invalid("The server's stream ended " + left + " IDs early.", "missing_count", left);
    }

    private SnowlaneException invalid(String message, String key, long value) {
      Map<String, String> metadata = Map.of(key, Long.toUnsignedString(value));
      return new SnowlaneException(ErrorReason.INVALID_RESPONSE, message, metadata);
    }
  }
}
