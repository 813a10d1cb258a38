package dev.snowlane.client;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Hands out IDs from memory and reserves more in the background, before they run out.
 *
 * Safe for any number of threads, virtual ones too. An ID in stock costs one atomic step: no lock, no clock, no
 * allocation. Each ID is handed out at most once, whatever is interrupted or times out; an ID that is claimed and not
 * used is a gap. Uniqueness depends only on the reservation, never on a timer: {@code maxAge} only keeps IDs fresh.
 *
 * HAZARD: a memory image that runs twice (a checkpoint restored twice, a cloned machine) hands out the same stock
 * twice. Close the buffer before the image is taken, and make a new one after.
 */
public final class PrefetchBuffer extends Stock implements AutoCloseable {

  /** The most IDs that one call can ask for. */
  static final int COUNT_MAX = 1 << 20;

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final Duration timeout;
  private final ClientClock clock;
  private final ReentrantLock lock = new ReentrantLock();

  // Both are guarded by the lock.
  private final Waiters waiters;
  private final Refiller refiller;

  /**
   * Makes a buffer that draws from any source; {@link IdSource#prefetch(PrefetchOptions)} makes one that draws from a
   * client.
   */
  public PrefetchBuffer(RunSource source, PrefetchOptions options) {
    this(source, options, ClientClock.system(), ClientObserver.NONE);
  }

  /**
   * Like the constructor above, with a clock, for tests, and an observer. A reservation may take as long as a call may
   * wait.
   */
  public PrefetchBuffer(RunSource source, PrefetchOptions options, ClientClock clock, ClientObserver observer) {
    this(source, options, options.timeout().orElse(TIMEOUT), clock, observer, new States(clock, observer));
  }

  /**
   * @param sourceTimeout how long a reservation may take, and how long a call may wait if the options set no timeout
   * @param states informed when refills begin to fail, and when they work again
   */
  PrefetchBuffer(
      RunSource source,
      PrefetchOptions options,
      Duration sourceTimeout,
      ClientClock clock,
      ClientObserver observer,
      States states) {
    super(new RefillPolicy(options), clock);
    this.timeout = options.timeout().orElse(sourceTimeout);
    this.clock = clock;
    this.waiters = new Waiters(lock, clock, observer);
    this.refiller = new Refiller(source, options, sourceTimeout, clock, observer, states, lock, this, waiters);
  }

  /**
   * Returns an ID that was never returned before. While several cores contend for IDs, those of different threads are
   * in no particular order.
   *
   * @throws SnowlaneException CLIENT_CLOSED. If nothing is in stock: CANCELLED if the thread is interrupted while it
   *     waits; once the timeout of the options is over, the error of the last reservation, or DEADLINE_EXCEEDED. Errors
   *     that waiting cannot fix are thrown at once
   */
  public long nextId() {
    // These lines are repeated in three methods: a shared method would have to read its arguments for every ID.
    ClaimableRun run = place();
    long index = run.claim();
    return run.isPlain(index) ? run.idAt(index) : nextIdSlowly(run, index, timeout);
  }

  /** Like {@link #nextId()}, waiting at most {@code timeout} if nothing is in stock. */
  public long nextId(Duration timeout) {
    ClaimableRun run = place();
    long index = run.claim();
    if (run.isPlain(index)) return run.idAt(index);
    return nextIdSlowly(run, index, Objects.requireNonNull(timeout, "timeout"));
  }

  /**
   * Returns an ID from stock. Never waits; if there is none, a reservation is started.
   *
   * @throws SnowlaneException STOCK_EMPTY, CLIENT_CLOSED
   */
  public long nextIdNow() {
    ClaimableRun run = place();
    long index = run.claim();
    return run.isPlain(index) ? run.idAt(index) : nextIdSlowly(run, index, null);
  }

  /** Like {@link #nextIds(int, Duration)}, with the timeout of the options. */
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
    int filled = claimFresh(ids, placeOfBlocks());
    if (filled == count) return ids;
    long deadlineNanos = deadlineAfter(timeout);
    while (filled < count) filled += awaitInto(ids, filled, deadlineNanos);
    return ids;
  }

  /** Like {@link #nextIdAsync(Duration)}, with the timeout of the options. */
  public CompletableFuture<Long> nextIdAsync() {
    return nextIdAsync(timeout);
  }

  /**
   * Like {@link #nextId(Duration)}, and never blocks: from stock it is complete at once, and otherwise it completes on
   * a thread of the common pool. It fails with a {@link SnowlaneException}. Once it is cancelled it claims nothing.
   */
  public CompletableFuture<Long> nextIdAsync(Duration timeout) {
    CompletableFuture<long[]> ids = takeAsync(1, timeout);
    CompletableFuture<Long> id = ids.thenApply(taken -> taken[0]);
    return Waiters.cancelledTogether(id, ids);
  }

  /** Like {@link #nextIdsAsync(int, Duration)}, with the timeout of the options. */
  public CompletableFuture<long[]> nextIdsAsync(int count) {
    return nextIdsAsync(count, timeout);
  }

  /** Like {@link #nextIds(int, Duration)}, and never blocks; see {@link #nextIdAsync(Duration)}. */
  public CompletableFuture<long[]> nextIdsAsync(int count, Duration timeout) {
    try {
      Counts.check(count, COUNT_MAX);
    } catch (SnowlaneException outOfRange) {
      return CompletableFuture.failedFuture(outOfRange);
    }
    return takeAsync(count, timeout);
  }

  private CompletableFuture<long[]> takeAsync(int count, Duration timeout) {
    long[] ids = new long[count];
    int filled = claimFresh(ids, count == 1 ? place() : placeOfBlocks());
    if (filled == count) return CompletableFuture.completedFuture(ids);
    return waiters.awaitAsync(refiller, ids, filled, this::claimNext, deadlineAfter(timeout));
  }

  /** Like {@link #ready(Duration)}, with the timeout of the options. */
  public void ready() {
    ready(timeout);
  }

  /**
   * Waits until IDs are in stock, and takes none: call it before the first request.
   *
   * @throws SnowlaneException as {@link #nextId()}
   */
  public void ready(Duration timeout) {
    waiters.await(refiller, () -> hasFresh() ? 1 : 0, deadlineAfter(timeout));
  }

  /** Drops the stock and ends all waiting calls with CLIENT_CLOSED. Closing again does nothing. */
  @Override
  public void close() {
    lock.lock();
    long unused;
    try {
      if (refiller.isClosed()) return;
      refiller.close();
      unused = dropAll();
      waiters.wake();
    } finally {
      lock.unlock();
    }
    refiller.tellExpired(unused);
  }

  /** The counters of the buffer. */
  public BufferStats stats() {
    lock.lock();
    try {
      // One reading of the cursors for both figures, so that they agree.
      long left = stockCount();
      return new BufferStats(
          reserved() - dropped() - left,
          reserved(),
          dropped(),
          refiller.refills(),
          refiller.failures(),
          waiters.waits(),
          left,
          policy.ratePerSecond(),
          Duration.ofNanos(policy.meanRttNanos()),
          refiller.outageLeft(left));
    } finally {
      lock.unlock();
    }
  }

  /** Lets all that is in stock grow too old at once; for tests. */
  void expireNow() {
    lock.lock();
    try {
      answers().forEach(refiller::expire);
    } finally {
      lock.unlock();
    }
  }

  /**
   * @param timeout null: does not wait
   */
  private long nextIdSlowly(ClaimableRun run, long index, @Nullable Duration timeout) {
    if (index < run.count) {
      if (index == run.low) markReached(run);
      else if (isContended(run, index)) spreadCallers();
      if (!run.looksAtAge(index) || !isTooOld(run)) return run.idAt(index);
      dropClaimed(run, 1);
    }
    long[] id = new long[1];
    if (timeout == null) takeNow(id);
    else awaitInto(id, 0, deadlineAfter(timeout));
    return id[0];
  }

  /** Claims as many IDs as fit; none if they are too old. */
  private int claimFresh(long[] ids, ClaimableRun run) {
    int claimed = claimInto(ids, 0, run);
    if (claimed == 0 || !isTooOld(run)) return claimed;
    dropClaimed(run, claimed);
    return 0;
  }

  /** Drops what is left of an answer that is too old, and IDs of it that the caller has claimed and does not take. */
  private void dropClaimed(ClaimableRun run, int claimed) {
    lock.lock();
    long unused;
    try {
      dropClaimed(claimed);
      unused = claimed + refiller.dropOld(run.answer);
    } finally {
      lock.unlock();
    }
    refiller.tellExpired(unused);
  }

  /** Lets callers claim from blocks of the run, each in a stripe, until an answer lasts for its full age. */
  void spreadCallers() {
    lock.lock();
    try {
      if (refiller.isClosed()) return;
      spread();
    } finally {
      lock.unlock();
    }
  }

  private long deadlineAfter(Duration timeout) {
    return clock.nanos() + Times.nanos(timeout);
  }

  @Override
  void markReached(ClaimableRun run) {
    lock.lock();
    try {
      meetMark(run);
    } finally {
      lock.unlock();
    }
  }

  @Override
  void onLow() {
    refiller.ask();
  }

  @Override
  void onTooOld(Answer answer) {
    long unused = refiller.dropOld(answer);
    // The observer is not called here, because the lock is held and it may take long.
    clock.after(0, () -> refiller.tellExpired(unused));
  }

  private void takeNow(long[] id) {
    lock.lock();
    try {
      if (claimNext(id, 0) > 0) return;
      refiller.refuseIfClosed();
      refiller.ask();
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
    return waiters.await(refiller, () -> claimNext(ids, from), deadlineNanos);
  }
}
