/**
 * The source from which the service draws IDs: one worker ID's generator behind a fair, bounded queue. The parts below
 * it (grant, clock, store) are visible only as a state, a snapshot and typed errors.
 */
import type { IdError } from "../errors.ts";
import type { WaitRequest } from "../queue/wait-queue.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { IdRun } from "../snowflake/run.ts";

/** The request of a caller of {@link IdSource.reserve}. */
export interface ReserveRequest extends WaitRequest {
  /** The most IDs that are wanted: 1 to {@link IdSource.reserveCountMax}, inclusive. */
  readonly count: number;
  /** Until when to wait, on the monotonic clock; absent = only the source's own limit (waitMax) applies. */
  readonly deadlineMs?: number | undefined;
  /**
   * The epoch of the IDs that this stream has already had: a reservation under another one is refused with
   * CLOCK_ROLLED_BACK.
   */
  readonly risingSpan?: number | undefined;
}

/** IDs that were drawn. They belong to the caller, whether it uses them or not. */
export interface ReservedIds {
  /** In rising order within one span. */
  readonly runs: readonly IdRun[];
  /** IDs in all runs: at least 1, at most what was asked for. */
  readonly count: number;
  /** See {@link IdSource.risingSpan}. */
  readonly risingSpan: number;
}

/** Whether IDs are issued. */
export type ServingState =
  | { readonly kind: "serving" }
  /** `error` is what a call gets now; `sinceMs` is monotonic time. */
  | { readonly kind: "not-serving"; readonly error: IdError; readonly sinceMs: number };

/** The grant under which IDs are drawn. */
export interface GrantStatus {
  readonly datacenterId: number;
  readonly workerId: number;
  /** How often this worker ID was granted, to any process. */
  readonly generation: number;
  /** Since when we have it: Unix milliseconds. */
  readonly sinceMs: number;
  /** Exclusive bound of the timestamps that may be issued: Unix milliseconds. */
  readonly untilMs: number;
  /** The length of a whole window. */
  readonly windowMs: number;
  /** The rest of the window by the wall clock; never negative. */
  readonly windowLeftMs: number;
  /** How far issued timestamps are ahead of the wall clock; 0 if they are not. */
  readonly leadMs: number;
}

/** The last answer of the store. */
export interface StoreStatus {
  readonly kind: string;
  /** Whether the last call was answered. */
  readonly reachable: boolean;
  /** Monotonic time of the last answer; undefined before the first. */
  readonly lastAnswerMs: number | undefined;
  /** How far the store's clock is ahead of ours at the last answer; undefined if the store has no clock. */
  readonly clockAheadMs: number | undefined;
  /**
   * Worker IDs that could be taken and those that exist for us, at the last look at all records; undefined before it.
   */
  readonly workerIds: { readonly free: number; readonly total: number } | undefined;
}

/** Counts since the process started; each only grows. */
interface WorkerCounters {
  readonly acquired: number;
  readonly renewed: number;
  /** Writes that got no certain answer. */
  readonly ambiguous: number;
  readonly lost: number;
  readonly lapsed: number;
  readonly rebased: number;
  /** Quarantine marks written for the whole store because a record went back. */
  readonly quarantines: number;
  /** Claims of the past, made for callers. */
  readonly claims: number;
  readonly clockStepsBack: number;
  readonly clockStepsForward: number;
  readonly pauses: number;
  /** IDs handed out. */
  readonly issued: number;
  /** Requests that had to wait. */
  readonly waited: number;
}

/** A snapshot for health, metrics, the page and logs. */
export interface WorkerStatus {
  readonly state: ServingState;
  /**
   * The phase of the holder, in one word of holder-phase.ts: `acquiring`, `holding`, `rebasing`, `waiting`, `released`,
   * ...
   */
  readonly phase: string;
  readonly grant: GrantStatus | undefined;
  readonly store: StoreStatus;
  readonly counters: WorkerCounters;
  /** Requests that wait now. */
  readonly waiting: number;
}

/** Draws IDs. Everything here is synchronous unless a caller has to wait. */
export interface IdSource {
  /** The layout of the IDs that are drawn. */
  readonly layout: Layout;
  /** The most IDs of one reservation: 1,048,576, or less where the layout holds less. */
  readonly reserveCountMax: number;
  /**
   * Names the span of time in which IDs rise. Grows with each new grant, and with each step back under the policy
   * `reuse`. A stream notes it with its first IDs.
   */
  readonly risingSpan: number;
  /** Whether IDs are issued now, or why they are not. */
  readonly state: ServingState;
  /**
   * Draws one ID if that is possible without waiting: the hot path. undefined = call {@link reserve}, which waits or
   * throws.
   *
   * Never throws for a temporary cause, and never overtakes unary calls that already wait.
   */
  tryNext(): bigint | undefined;
  /**
   * Draws 1 to `count` IDs: as many as are available without waiting. Waits only if not even one is, in turn with all
   * other waiters, until the deadline, the signal, or waitMax, whichever is first. A promise is made only then.
   *
   * @throws IdError (also as rejection) COUNT_OUT_OF_RANGE, CLOCK_ROLLED_BACK, BURST_EXCEEDED, WORKER_LEASE_LOST,
   * WINDOW_EXPIRED, STORE_UNAVAILABLE, SHUTTING_DOWN, TIMESTAMP_EXHAUSTED, CLOCK_BEFORE_EPOCH. Errors that the
   * environment causes carry `retryAfterMs`.
   */
  reserve(request: ReserveRequest): ReservedIds | Promise<ReservedIds>;
  /** Calls `listener` after each change of {@link state}; returns a function that ends this. */
  onStateChange(listener: (state: ServingState) => void): () => void;
  /** A snapshot; cheap, but not for the hot path. */
  status(): WorkerStatus;
}
