import type { SnowlaneReason } from "./errors.ts";

/** How one attempt of an RPC ended. */
export interface AttemptEvent {
  readonly method: string;
  readonly endpoint: string;
  /** From 1. */
  readonly attempt: number;
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

/** How the wait of a caller ended that found a buffer dry. */
export interface WaitEvent {
  readonly durationMs: number;
  /** Absent: the caller got an ID. */
  readonly reason?: SnowlaneReason;
}

/** IDs of a buffer that no caller will get. */
export interface ExpireEvent {
  readonly dropped: number;
}

/**
 * The metrics hook. Each method is optional, runs outside the fast path, must return soon, and what it throws is
 * ignored.
 */
export interface ClientObserver {
  onAttempt?(event: AttemptEvent): void;
  onRefill?(event: RefillEvent): void;
  onWait?(event: WaitEvent): void;
  onExpire?(event: ExpireEvent): void;
}

/** Calls an observer; what it throws is ignored, for metrics must not cost an ID. */
export function notify(call: () => void): void {
  try {
    call();
  } catch {
    // Said in the documentation of ClientObserver.
  }
}
