package dev.snowlane.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Hands out reserved IDs from memory and reserves more in the background, ahead of need.
 *
 * Safe for any number of threads, virtual ones too. An ID in stock costs one atomic step: no lock, no clock, no
 * allocation. Each ID is handed out at most once, whoever is interrupted or times out; one that is claimed and not used
 * is a gap. Uniqueness rests on the reservation alone, never on a timer: {@code maxAge} only keeps IDs fresh.
 *
 * HAZARD: a memory image that runs twice (a checkpoint restored twice, a cloned machine) hands out the same stock
 * twice. Close the buffer before the image is taken, and make a new one after.
 */
public final class PrefetchBuffer extends Stock implements AutoCloseable {

  /** The most IDs that one call can ask for. */
  static final int COUNT_MAX = 1 << 20;

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final PrefetchOptions options;
  private final Duration timeout;
  private final ClientClock clock;
  private final ClientObserver observer;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // All below are guarded by the lock.
  private final RefillPolicy policy;
  private final Refiller refiller;
  private boolean refillDue;
  private boolean closed;
  private int waiting;
  private SnowlaneException lastFailure;
  private long refillFailures;
  private long refills;
  private long waits;
  private long reserved;
  private long dropped;
  private long measuredClaims;
  private long measuredNanos;

  /** A buffer over a source of one's own; {@link IdSource#prefetch(PrefetchOptions)} makes one over a client. */
  public PrefetchBuffer(RunSource source, PrefetchOptions options) {
    this(source, options, ClientClock.system(), ClientObserver.NONE);
  }

  /** As above, with a clock, for tests, and an observer. A reservation may take as long as a call may wait. */
  public PrefetchBuffer(RunSource source, PrefetchOptions options, ClientClock clock, ClientObserver observer) {
    this(source, options, options.timeout().orElse(TIMEOUT), clock, observer);
  }

  /**
   * @param sourceTimeout how long a reservation may take, and a call may wait if the options do not say
   */
  PrefetchBuffer(
      RunSource source, PrefetchOptions options, Duration sourceTimeout, ClientClock clock, ClientObserver observer) {
    this.options = options;
    this.timeout = options.timeout().orElse(sourceTimeout);
    this.clock = clock;
    this.observer = observer;
    this.policy = new RefillPolicy(options);
    this.refiller = new Refiller(source, sourceTimeout, clock, observer, policy, lock, new Taker());
    this.measuredNanos = clock.nanos();
  }

  /**
   * Returns an ID that was never returned before. While several cores contend for IDs, those of different threads are in
   * no order.
   *
   * @throws SnowlaneException CLIENT_CLOSED. If nothing is in stock: CANCELLED if the thread is interrupted while it
   *     waits; once the time of the options is over, why the last reservation failed, or DEADLINE_EXCEEDED; what no
   *     waiting cures, at once
   */
  public long nextId() {
    // These lines stand in each of the three: what one of them passes on would be read for every ID.
    ClaimableRun run = place();
    long index = run.claim();
    return run.isPlain(index) ? run.idAt(index) : nextIdSlowly(run, index, timeout);
  }

  /** As {@link #nextId()}, waiting at most {@code timeout} if nothing is in stock. */
  public long nextId(Duration timeout) {
    ClaimableRun run = place();
    long index = run.claim();
    if (run.isPlain(index)) return run.idAt(index);
    return nextIdSlowly(run, index, Objects.requireNonNull(timeout, "timeout"));
  }

  /**
   * Returns an ID from stock. Never waits; if there is none, one is asked for.
   *
   * @throws SnowlaneException STOCK_EMPTY, CLIENT_CLOSED
   */
  public long nextIdNow() {
    ClaimableRun run = place();
    long index = run.claim();
    return run.isPlain(index) ? run.idAt(index) : nextIdSlowly(run, index, null);
  }

  /** As {@link #nextIds(int, Duration)}, with the time of the options. */
  public long[] nextIds(int count) {
    return nextIds(count, timeout);
  }

  /**
   * Returns {@code count} IDs that were never returned before, in blocks that ascend. Waits for what is not in stock.
   *
   * @param count 1 to 1,048,576
   * @throws SnowlaneException COUNT_OUT_OF_RANGE, and as {@link #nextId()}; the IDs claimed by then are a gap
   */
  public long[] nextIds(int count, Duration timeout) {
    Counts.check(count, COUNT_MAX);
    long[] ids = new long[count];
    int filled = claimInto(ids, 0, placeOfBlocks());
    if (filled == count) return ids;
    long deadlineNanos = deadlineAfter(timeout);
    while (filled < count) filled += awaitInto(ids, filled, deadlineNanos);
    return ids;
  }

  /** Drops the stock and ends all waiting calls with CLIENT_CLOSED. Closing twice is closing once. */
  @Override
  public void close() {
    lock.lock();
    long unused;
    try {
      if (closed) return;
      closed = true;
      refiller.abandon();
      unused = dropAll();
      dropped += unused;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    tellExpired(unused);
  }

  /** What the buffer has done so far. */
  public BufferStats stats() {
    lock.lock();
    try {
      // One reading of the cursors for both figures, so that they agree.
      long left = stockCount();
      return new BufferStats(
          reserved - dropped - left,
          reserved,
          dropped,
          refills,
          refillFailures,
          waits,
          left,
          policy.idsPerSecond(),
          Duration.ofNanos(policy.roundTripNanos()));
    } finally {
      lock.unlock();
    }
  }

  /** Lets all that is in stock grow too old at once; for tests. */
  void expireNow() {
    lock.lock();
    try {
      answers().forEach(this::expire);
    } finally {
      lock.unlock();
    }
  }

  /**
   * @param timeout null: does not wait
   */
  private long nextIdSlowly(ClaimableRun run, long index, Duration timeout) {
    if (index < run.count) {
      if (index == run.low) markReached();
      else if (isContended(run, index)) spreadCallers();
      return run.idAt(index);
    }
    long[] id = new long[1];
    if (timeout == null) takeNow(id);
    else awaitInto(id, 0, deadlineAfter(timeout));
    return id[0];
  }

  /** Lets callers claim from blocks of the run, each in a stripe, until an answer lasts for as long as it may. */
  void spreadCallers() {
    lock.lock();
    try {
      if (closed) return;
      spread();
    } finally {
      lock.unlock();
    }
  }

  private long deadlineAfter(Duration timeout) {
    return clock.nanos() + Times.nanos(timeout);
  }

  @Override
  void markReached() {
    lock.lock();
    try {
      askForRefill();
    } finally {
      lock.unlock();
    }
  }

  private void takeNow(long[] id) {
    lock.lock();
    try {
      if (claimNext(id, 0) > 0) return;
      refuseIfClosed();
      askForRefill();
      if (claimNext(id, 0) > 0) return;
      throw new SnowlaneException(ErrorReason.STOCK_EMPTY, "Nothing is in stock, and the call does not wait.");
    } finally {
      lock.unlock();
    }
  }

  /**
   * Claims IDs into {@code ids} from {@code from} on, at least one, and returns how many. Waits while there is none.
   */
  private int awaitInto(long[] ids, int from, long deadlineNanos) {
    lock.lock();
    try {
      int claimed = claimNext(ids, from);
      if (claimed > 0) return claimed;
    } finally {
      lock.unlock();
    }
    long startedNanos = clock.nanos();
    ErrorReason failure = null;
    try {
      return awaitRefill(ids, from, deadlineNanos);
    } catch (SnowlaneException error) {
      failure = error.reason();
      throw error;
    } finally {
      Duration duration = Duration.ofNanos(clock.nanos() - startedNanos);
      ClientObserver.Wait wait = new ClientObserver.Wait(duration, Optional.ofNullable(failure));
      Observers.tell(() -> observer.onWait(wait));
    }
  }

  /** A waiting call owns nothing: a refill wakes it, and it claims like any other. */
  private int awaitRefill(long[] ids, int from, long deadlineNanos) {
    ClientClock.Timer alarm = clock.after(Math.max(deadlineNanos - clock.nanos(), 1), this::wakeAll);
    lock.lock();
    waiting++;
    waits++;
    try {
      long failuresBefore = refillFailures;
      while (true) {
        int claimed = claimNext(ids, from);
        if (claimed > 0) return claimed;
        refuseIfClosed();
        askForRefill();
        // A source may answer at once.
        claimed = claimNext(ids, from);
        if (claimed > 0) return claimed;
        boolean hasFailed = lastFailure != null && refillFailures != failuresBefore;
        if (hasFailed && !lastFailure.passes()) throw lastFailure.rethrown();
        if (clock.nanos() >= deadlineNanos) throw waitedTooLong();
        changed.await();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new SnowlaneException(ErrorReason.CANCELLED, "The thread was interrupted while it waited for an ID.");
    } finally {
      waiting--;
      lock.unlock();
      alarm.cancel();
    }
  }

  private SnowlaneException waitedTooLong() {
    if (lastFailure != null) return lastFailure.rethrown();
    return new SnowlaneException(ErrorReason.DEADLINE_EXCEEDED, "No ID came before the deadline of the call.");
  }

  private void wakeAll() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void refuseIfClosed() {
    if (closed) throw new SnowlaneException(ErrorReason.CLIENT_CLOSED, "The buffer is closed.");
  }

  private void askForRefill() {
    refillDue = answerCount() <= 1;
    refill();
  }

  /** Sends for more if that is due: one request at a time, one spare answer at most, none during a back-off. */
  private void refill() {
    if (closed || !refillDue || answerCount() > 1 || !refiller.isReady()) return;
    measure();
    refiller.request();
  }

  private void measure() {
    long claims = reserved - dropped - stockCount();
    long nowNanos = clock.nanos();
    policy.measured(claims - measuredClaims, nowNanos - measuredNanos);
    measuredClaims = claims;
    measuredNanos = nowNanos;
  }

  private void expire(Answer old) {
    int unused;
    lock.lock();
    try {
      boolean isAhead = isInUseOrSpare(old);
      boolean isInUse = isInUse(old);
      unused = drop(old);
      boolean wasUsed = unused < old.count;
      // The rush is over for which callers were spread: an answer lasted. What else the stripes hold is older.
      if (isInUse) unused += gather();
      dropped += unused;
      if (isAhead) {
        measure();
        // If nobody was here while it lasted, nothing is fetched until somebody is.
        refillDue = answerCount() == 0 && (wasUsed || waiting > 0);
        refill();
      }
    } finally {
      lock.unlock();
    }
    tellExpired(unused);
  }

  private void tellExpired(long unused) {
    if (unused > 0) Observers.tell(() -> observer.onExpire(unused));
  }

  /** What the refiller brings; the lock is held. */
  private final class Taker implements Refiller.Taker {

    @Override
    public int take(List<IdRun> runs, int asked, long sentNanos) {
      int count = RunCheck.count(runs, asked);
      long elapsedNanos = clock.nanos() - sentNanos;
      long leftNanos = options.maxAge().toNanos() - elapsedNanos;
      policy.answered(elapsedNanos);
      if (leftNanos <= 0) throw tooLate(elapsedNanos);
      refillDue = false;
      lastFailure = null;
      refills++;
      reserved += count;
      Answer answer = new Answer(runs, policy.mark(count));
      add(answer);
      answer.expireBy(clock.after(leftNanos, () -> expire(answer)));
      changed.signalAll();
      return count;
    }

    private SnowlaneException tooLate(long elapsedNanos) {
      String elapsedMs = "" + TimeUnit.NANOSECONDS.toMillis(elapsedNanos);
      String maxAgeMs = "" + options.maxAge().toMillis();
      String limit = "IDs are handed out for " + maxAgeMs + " ms";
      String message = "The answer was dropped: it took " + elapsedMs + " ms, and " + limit + ".";
      Map<String, String> metadata = Map.of("elapsed_ms", elapsedMs, "max_age_ms", maxAgeMs);
      return new SnowlaneException(ErrorReason.DEADLINE_EXCEEDED, message, metadata);
    }

    @Override
    public void failed(SnowlaneException error) {
      refillFailures++;
      lastFailure = error;
      if (!error.passes()) changed.signalAll();
    }

    @Override
    public void backOffEnded() {
      if (waiting > 0 || answerCount() > 0) refill();
    }
  }
}
