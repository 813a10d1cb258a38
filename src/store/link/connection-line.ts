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
  /** Gives up a connection at once: never waits for the server. */
  readonly destroy: (connection: T) => void;
  /** See {@link Sessions}. */
  readonly sessions?: Sessions<T> | undefined;
}

interface Attempt<T> {
  readonly connection: Promise<T>;
  readonly controller: AbortController;
}

/**
 * Between two attempts to connect, counted from the failure of the first: what a caller waits by itself counts, and is
 * not taken from the time limit of its next call as well.
 */
const pause = { firstMs: 25, maxMs: 500 };

/**
 * One connection: made on first use, given up after a failure, and made again no faster than a back-off with jitter
 * allows. Sessions that were given up while they were at work are ended at the server, and count as connections.
 */
export class ConnectionLine<T> {
  readonly #parts: LineParts<T>;
  #attempt: Attempt<T> | undefined;
  #failures = 0;
  /** Monotonic time of the last of them. */
  #failedAtMs = 0;
  #isClosed = false;
  readonly #left: LeftSessions<T> | undefined;

  constructor(parts: LineParts<T>) {
    this.#parts = parts;
    this.#left = parts.sessions && new LeftSessions(parts.sessions);
  }

  /** Gives the connection that stands, or makes one. */
  open(): Promise<T> {
    this.#attempt ??= this.#begin();
    return this.#attempt.connection;
  }

  /** Says that the connection has done what it was asked for. */
  worked(): void {
    this.#failures = 0;
  }

  /** Gives up the connection, or the attempt to make one. Without either nothing happens. */
  drop(why: GivenUp): void {
    if (this.#attempt !== undefined) this.#drop(this.#attempt, why);
  }

  /** {@link drop} for good: what is opened afterwards fails. */
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
    // The calls that wait for it throw the failure; there may be none left, and then it is not unhandled.
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
