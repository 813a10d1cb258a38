import type { SnowlaneReason } from "./errors.ts";

/** How one attempt of an RPC ended. */
export interface AttemptEvent {
  readonly method: string;
  readonly endpoint: string;
  /** From 1. */
  readonly attempt: number;
  /** Whether it is the second request of a refill that had no answer soon; both have one number. */
  readonly isHedge: boolean;
  readonly durationMs: number;
  /** Absent: it succeeded. */
  readonly reason?: SnowlaneReason;
}

/** How a reservation of a buffer ended. */
export interface RefillEvent {
  readonly asked: number;
  /** 0 if it failed. */
  readonly received: number;
  readonly durationMs: number;
  /** IDs handed out a second, as measured when the reservation was sent. */
  readonly ratePerSecond: number;
  /** Absent: it succeeded. */
  readonly reason?: SnowlaneReason;
}

/** How a caller's wait on a dry buffer ended. */
export interface WaitEvent {
  readonly durationMs: number;
  /** Absent: the caller got an ID. */
  readonly reason?: SnowlaneReason;
}

/** IDs of a buffer that no caller will get. */
export interface ExpireEvent {
  readonly dropped: number;
}

/** The state of a client or a buffer; see {@link StateEvent}. */
export type ClientState = "failing" | "working" | "moved" | "replaced" | "mismatch";

/** A new state of a client or a buffer. */
export interface StateEvent {
  /**
   * `failing`: refills of a buffer fail, three in a row or for a second. `working`: those that failed work again.
   * `moved`: from now on, the client calls another endpoint. `replaced`: a connection that answered nothing is replaced
   * by another. `mismatch`: a server of another deployment answered, and its answer was dropped.
   */
  readonly state: ClientState;
  /** Absent: nothing failed. */
  readonly reason?: SnowlaneReason;
  /** Absent: the event is not about an endpoint. */
  readonly endpoint?: string;
  /** How long refills had failed; absent in other states. */
  readonly durationMs?: number;
}

/**
 * The metrics hook. Each method is optional, and runs outside the fast path. It must return soon, and what it throws is
 * ignored.
 */
export interface ClientObserver {
  onAttempt?(event: AttemptEvent): void;
  onRefill?(event: RefillEvent): void;
  onWait?(event: WaitEvent): void;
  onExpire?(event: ExpireEvent): void;
  onState?(event: StateEvent): void;
}

/** Calls an observer. What it throws is ignored: metrics must not cost an ID. */
export function notify(call: () => void): void {
  try {
    call();
  } catch {
    // The documentation of ClientObserver says so.
  }
}
