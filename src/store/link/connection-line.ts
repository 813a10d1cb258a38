import { delay, systemClock, systemTimers } from "../../clock/clock.ts";
import { backoffMs } from "../../clock/sleeper.ts";
import { LeftSessions } from "./left-sessions.ts";
import type { GivenUp, Sessions } from "./route.ts";

/** How a {@link ConnectionLine} makes and ends its connections. */
export interface LineParts<T> {
  /**
   * Connects, and destroys what it has begun when `signal` aborts. Calls `lost` when the connection ends by itself, so
   * that the next call makes another one instead of failing.
   */
  readonly connect: (signal: AbortSignal, lost: () => void) => Promise<T>;
  /** Gives up a connection at once, without waiting for the server. */
  readonly destroy: (connection: T) => void;
  /** See {@link Sessions}. */
  readonly sessions?: Sessions<T> | undefined;
}

interface Attempt<T> {
  readonly connection: Promise<T>;
  readonly controller: AbortController;
}

/**
 * The pause between two attempts to connect, counted from the failure of the first: the time that a caller waits by
 * itself is included, so it does not also reduce the time of its next call.
 */
const pause = { firstMs: 25, maxMs: 500 };

/**
 * One connection: made on first use, given up after a failure, and made again no faster than a back-off with jitter
 * allows. Sessions that were given up while they were busy are ended at the server, and count as connections until
 * then.
 */
export class ConnectionLine<T> {
  readonly #parts: LineParts<T>;
  #attempt: Attempt<T> | undefined;
  #failures = 0;
  /** Monotonic time of the last failure. */
  #failedAtMs = 0;
  #isClosed = false;
  readonly #left: LeftSessions<T> | undefined;

  constructor(parts: LineParts<T>) {
    this.#parts = parts;
    this.#left = parts.sessions && new LeftSessions(parts.sessions);
  }

  /** Returns the present connection, or makes one. */
  open(): Promise<T> {
    this.#attempt ??= this.#begin();
    return this.#attempt.connection;
  }

  /** Reports that the connection has done what it was asked for. */
  worked(): void {
    this.#failures = 0;
  }

  /** Gives up the connection, or the attempt to make one. Does nothing if there is neither. */
  drop(why: GivenUp): void {
    if (this.#attempt !== undefined) this.#drop(this.#attempt, why);
  }

  /** {@link drop}, permanently: {@link open} fails afterwards. */
  close(): void {
    this.#isClosed = true;
    this.drop("failed");
    this.#left?.close();
  }

  #begin(): Attempt<T> {
    const controller = new AbortController();
    if (this.#isClosed) controller.abort();
    const lost = (): void => this.#drop(attempt, "failed");
    const attempt: Attempt<T> = { connection: this.#connectAfterPause(controller.signal, lost), controller };
    // The calls that wait for it throw the failure. If none is left, this handler keeps the rejection from being
    // unhandled.
    attempt.connection.catch(lost);
    return attempt;
  }

  async #connectAfterPause(signal: AbortSignal, lost: () => void): Promise<T> {
    signal.throwIfAborted();
    if (this.#failures > 0) {
      const pauseMs = backoffMs(this.#failures, pause, Math.random);
      const restMs = this.#failedAtMs + pauseMs - systemClock.monotonicMs();
      if (restMs > 0) await delay(systemTimers, restMs);
      signal.throwIfAborted();
    }
    this.#left?.check();
    return this.#parts.connect(signal, lost);
  }

  #drop(attempt: Attempt<T>, why: GivenUp): void {
    if (this.#attempt !== attempt) return;
    this.#attempt = undefined;
    this.#failures += 1;
    this.#failedAtMs = systemClock.monotonicMs();
    attempt.controller.abort();
    const { destroy } = this.#parts;
    const left = why === "silent" ? this.#left : undefined;
    attempt.connection
      .then((connection) => (left === undefined ? destroy(connection) : left.add(connection)))
      .catch(() => {});
  }
}
