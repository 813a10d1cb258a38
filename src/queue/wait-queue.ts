import type { Timers } from "../clock/clock.ts";
import type { IdError } from "../errors.ts";

/**
 * `unary`: a caller that waits for a few IDs or values. `bulk`: a stream or a reservation, which leaves the last part
 * of each tick to unary calls.
 */
export type Priority = "unary" | "bulk";

/** The part of a request that the queue reads. */
export interface WaitRequest {
  readonly priority: Priority;
  /** When aborted, the caller leaves the queue. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of one draw for one waiter. */
export type DrawOutcome<Result> =
  | { readonly kind: "drawn"; readonly result: Result }
  /**
   * No result for this kind of caller. `untilMs` (wall clock): when the queue tries again; undefined: at the next call
   * of {@link WaitQueue.serve}.
   */
  | { readonly kind: "refused"; readonly untilMs: number | undefined };

interface Waiter<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** Cancels the other events that could end the wait. */
  readonly release: () => void;
}

/** How a {@link WaitQueue} draws for its waiters, and when it tries again. */
export interface WaitQueueParts<Request, Result> {
  readonly timers: Timers;
  /** Draws for one waiter. Throws an IdError if waiting cannot help. */
  readonly draw: (request: Request) => DrawOutcome<Result>;
  /** The wall clock that `untilMs` refers to. */
  readonly nowMs: () => number;
}

/** Enough for 10,000 connections with a call each; further callers are refused at once. */
export const waitersMax = 10_000;

/**
 * A fair queue of callers that wait for IDs or values: each gets one turn, a stream at most one chunk of it. A stream
 * that is refused the last part of a tick does not block unary calls behind it.
 */
export class WaitQueue<Request extends WaitRequest, Result> {
  readonly #parts: WaitQueueParts<Request, Result>;
  readonly #waiters = new Set<Waiter<Request, Result>>();
  #unaryCount = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: WaitQueueParts<Request, Result>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Whether a caller of this priority would overtake one that waits. */
  isTaken(priority: Priority): boolean {
    return priority === "unary" ? this.#unaryCount > 0 : this.#waiters.size > 0;
  }

  /**
   * Waits in turn.
   *
   * @param waitMs - The longest wait.
   * @param onLate - Makes the error of a wait that took too long.
   */
  wait(request: Request, waitMs: number, onLate: () => IdError): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      const onAbort = (): void => this.#leave(waiter)?.reject(signal?.reason);
      const cancel = this.#parts.timers.after(waitMs, () => this.#leave(waiter)?.reject(onLate()));
      const waiter: Waiter<Request, Result> = {
        request,
        resolve,
        reject,
        release: () => {
          cancel();
          signal?.removeEventListener("abort", onAbort);
        },
      };
      signal?.addEventListener("abort", onAbort);
      this.#waiters.add(waiter);
      if (request.priority === "unary") this.#unaryCount += 1;
    });
  }

  /** Serves every caller that can be served now, and sets a timer for the next look. */
  serve(): void {
    this.#stopTimer();
    let lookAgainMs = Number.POSITIVE_INFINITY;
    let isBulkRefused = false;
    for (const waiter of this.#waiters) {
      if (isBulkRefused && waiter.request.priority === "bulk") continue;
      const outcome = this.#serveOne(waiter);
      if (outcome?.kind !== "refused") continue;
      lookAgainMs = Math.min(lookAgainMs, outcome.untilMs ?? Number.POSITIVE_INFINITY);
      isBulkRefused = true;
      // If a unary call is refused, every other call would be refused as well.
      if (waiter.request.priority === "unary") break;
    }
    if (lookAgainMs === Number.POSITIVE_INFINITY) return;
    // Drawing may have made the holder serve this queue as well.
    this.#stopTimer();
    const delayMs = Math.max(1, lookAgainMs - this.#parts.nowMs());
    this.#cancelTimer = this.#parts.timers.after(delayMs, () => this.serve());
  }

  /** Ends every wait with an error. */
  rejectAll(error: IdError): void {
    this.#stopTimer();
    for (const waiter of this.#waiters) this.#leave(waiter)?.reject(error);
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #serveOne(waiter: Waiter<Request, Result>): DrawOutcome<Result> | undefined {
    try {
      const outcome = this.#parts.draw(waiter.request);
      if (outcome.kind === "drawn") this.#leave(waiter)?.resolve(outcome.result);
      return outcome;
    } catch (error) {
      this.#leave(waiter)?.reject(error);
      return undefined;
    }
  }

  /** @returns The waiter, if it was still in the queue. */
  #leave(waiter: Waiter<Request, Result>): Waiter<Request, Result> | undefined {
    if (!this.#waiters.delete(waiter)) return undefined;
    if (waiter.request.priority === "unary") this.#unaryCount -= 1;
    waiter.release();
    return waiter;
  }
}
