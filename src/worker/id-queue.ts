import type { Timers } from "../clock.ts";
import type { IdError } from "../errors.ts";
import type { Priority, ReservedIds, ReserveRequest } from "./id-source.ts";

/** What one look at the head of the queue came to. */
export type DrawOutcome =
  | { readonly kind: "drawn"; readonly ids: ReservedIds }
  /**
   * Not one ID for this kind of caller. `untilMs` (wall clock): when to look again by itself; undefined = when
   * something happens.
   */
  | { readonly kind: "refused"; readonly untilMs: number | undefined };

interface Waiter {
  readonly request: ReserveRequest;
  readonly resolve: (ids: ReservedIds) => void;
  readonly reject: (error: unknown) => void;
  /** Ends what else could end the wait. */
  readonly release: () => void;
}

/** What a queue is made of. */
export interface IdQueueParts {
  readonly timers: Timers;
  /** Draws for one waiter. Throws an IdError where waiting cannot help. */
  readonly draw: (request: ReserveRequest) => DrawOutcome;
  /** The wall clock that `untilMs` is told by. */
  readonly nowMs: () => number;
}

/** Enough for 10,000 connections with a call each; more is refused at once. */
export const waitersMax = 10_000;

/**
 * Callers that wait for IDs, served in turn: each gets one turn, a stream at most one chunk of it. A stream that is
 * refused the last part of a tick does not stand in the way of unary calls behind it.
 */
export class IdQueue {
  readonly #parts: IdQueueParts;
  readonly #waiters = new Set<Waiter>();
  #unaryCount = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: IdQueueParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Tells whether a caller of this priority would overtake one that waits. */
  isTaken(priority: Priority): boolean {
    return priority === "unary" ? this.#unaryCount > 0 : this.#waiters.size > 0;
  }

  /**
   * Waits in turn.
   *
   * @param waitMs - The longest wait.
   * @param onLate - Makes the error of a wait that took too long.
   */
  wait(request: ReserveRequest, waitMs: number, onLate: () => IdError): Promise<ReservedIds> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      const onAbort = (): void => this.#leave(waiter)?.reject(signal?.reason);
      const cancel = this.#parts.timers.after(waitMs, () => this.#leave(waiter)?.reject(onLate()));
      const waiter: Waiter = {
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

  /** Serves whoever can be served now, and sees to it that the next look comes in time. */
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
      // What a unary call is refused, nobody gets.
      if (waiter.request.priority === "unary") break;
    }
    if (lookAgainMs === Number.POSITIVE_INFINITY) return;
    // Drawing may have made the holder look at this queue, too.
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

  #serveOne(waiter: Waiter): DrawOutcome | undefined {
    try {
      const outcome = this.#parts.draw(waiter.request);
      if (outcome.kind === "drawn") this.#leave(waiter)?.resolve(outcome.ids);
      return outcome;
    } catch (error) {
      this.#leave(waiter)?.reject(error);
      return undefined;
    }
  }

  /** @returns The waiter, if it still was in the queue. */
  #leave(waiter: Waiter): Waiter | undefined {
    if (!this.#waiters.delete(waiter)) return undefined;
    if (waiter.request.priority === "unary") this.#unaryCount -= 1;
    waiter.release();
    return waiter;
  }
}
