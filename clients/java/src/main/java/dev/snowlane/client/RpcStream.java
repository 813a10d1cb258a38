package dev.snowlane.client;

import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.stub.AbstractStub;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A stream of IDs or values, over as many RPCs as it takes.
 *
 * @param <S> the stub of its RPC
 * @param <R> a response of its RPC
 * @param <C> a chunk of IDs or values
 */
abstract class RpcStream<S extends AbstractStub<S>, R, C> implements Iterator<C>, AutoCloseable {

  /** Reads and checks the responses of one RPC. */
  interface ChunkReader<R, C> {

    /**
     * @throws SnowlaneException INVALID_RESPONSE
     */
    C read(R response);
  }

  private final Calls calls;
  private final Function<Channel, S> stubs;
  private final Attempts attempts;
  private final ClientClock clock;
  private final StreamOptions options;
  private final long count;

  /** How many IDs are still to come. */
  private long left;

  /** The RPC that is read; null between two. */
  private Reader reader;

  private SnowlaneException failure;
  private boolean isEnded;

  RpcStream(Calls calls, Function<Channel, S> stubs, String method, StreamOptions options, long count) {
    this.calls = calls;
    this.stubs = stubs;
    this.attempts = calls.attempts(method, options.timeout());
    this.clock = calls.settings().clock();
    this.options = options;
    this.count = count;
    this.left = count;
  }

  /** The name of its items in texts of errors: IDs or values. */
  abstract String items();

  /** Begins an RPC for the remaining items. */
  abstract Iterator<R> open(S stub, long left);

  /** Checks the number of a response, before any item of it is read. */
  abstract void admit(Calls.Admission admission, R response);

  /** A reader for one RPC. */
  abstract ChunkReader<R, C> reader();

  /** How many IDs or values a chunk has. */
  abstract int sizeOf(C chunk);

  @Override
  public boolean hasNext() {
    if (failure != null) throw failure;
    if (left == 0) end();
    return left > 0 && !isEnded;
  }

  @Override
  public C next() {
    if (!hasNext()) throw new NoSuchElementException("The stream has ended.");
    attempts.awaitNext();
    while (true) {
      try {
        if (reader == null) reader = new Reader(calls.begin(attempts));
      } catch (SnowlaneException error) {
        throw ended(error);
      }
      Reader read = reader;
      try {
        C chunk = read.next();
        attempts.progress(read.attempt);
        left -= sizeOf(chunk);
        return chunk;
      } catch (RuntimeException error) {
        read.cancel(error);
        reader = null;
        fail(read, error);
      }
    }
  }

  @Override
  public void close() {
    isEnded = true;
    if (reader != null) reader.cancel(null);
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

  /** All items have come: checks that the server sends no more. It no longer matters how its RPC ends. */
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
      read.cancel(null);
    }
  }

  /** One server's stream. */
  private final class Reader {

    final Attempts.Attempt attempt;
    private final Context.CancellableContext context = Context.current().withCancellation();
    private final ChunkReader<R, C> chunks = reader();
    private Iterator<R> responses;

    /** Null before it is opened, and once it has ended. */
    private Calls.Exchange exchange;

    Reader(Attempts.Attempt attempt) {
      this.attempt = attempt;
    }

    /**
     * @throws SnowlaneException DEADLINE_EXCEEDED if the chunk does not come in time, INVALID_RESPONSE
     */
    C next() {
      if (!awaitResponse()) throw earlyEnd();
      R response = responses.next();
      exchange.noteChunk();
      admit(calls.admission(attempt.endpoint()), response);
      C chunk = chunks.read(response);
      int size = sizeOf(chunk);
      if (size == 0 || size > left) throw invalid("The server sent an impossible chunk.", "count", size);
      return chunk;
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
      if (hasMore) throw invalid("The server sent more " + items() + " than were asked for.", "count", count);
    }

    /**
     * @param error null: the reader stopped early
     */
    void cancel(RuntimeException error) {
      context.cancel(null);
      if (exchange != null) attempt.isReplaced = exchange.end(error);
      exchange = null;
    }

    private boolean awaitResponse() {
      ClientClock.Timer alarm = clock.after(attempts.leftNanos(), () -> context.cancel(Attempts.timedOut()));
      Context previous = context.attach();
      try {
        if (responses == null) responses = open();
        exchange.awaitChunk();
        return responses.hasNext();
      } catch (RuntimeException error) {
        throw context.cancellationCause() instanceof SnowlaneException late ? late : error;
      } finally {
        context.detach(previous);
        alarm.cancel();
      }
    }

    private Iterator<R> open() {
      exchange = calls.streamExchange(attempt.endpoint());
      S stub = exchange.stub(stubs);
      if (attempts.hasOwnDeadline()) stub = stub.withDeadlineAfter(attempts.callLeftNanos(), TimeUnit.NANOSECONDS);
      return RpcStream.this.open(stub, left);
    }

    private SnowlaneException earlyEnd() {
      return invalid("The server's stream ended " + left + " " + items() + " early.", "missing_count", left);
    }
  }

  static SnowlaneException invalid(String message, String key, long value) {
    return new SnowlaneException(ErrorReason.INVALID_RESPONSE, message, Map.of(key, Long.toUnsignedString(value)));
  }
}
