import { delay, systemTimers } from "../../clock.ts";
import { IdError } from "../../errors.ts";

/** What a {@link StoreLink} needs of a driver. */
export interface LinkOptions<T> {
  /** Scheme of the store, for messages. */
  readonly kind: string;
  /** Longest time of a call, from its start to its answer, a connection included. */
  readonly callTimeoutMs: number;
  /**
   * Connects, and destroys what it has begun when `signal` aborts. Calls `lost` when the connection ends by itself, so
   * that the next call does not find out.
   */
  readonly connect: (signal: AbortSignal, lost: () => void) => Promise<T>;
  /** Gives up a connection at once: never waits for the server. */
  readonly destroy: (connection: T) => void;
  /** Whether only an operator can help: refused credentials, missing privileges. */
  readonly isRefusal: (cause: unknown) => boolean;
}

interface Attempt<T> {
  readonly connection: Promise<T>;
  readonly controller: AbortController;
}

/** Longest pause between two attempts to connect. */
const pauseMaxMs = 500;

/**
 * One connection to a store: made on first use, given up after a failure, and made again no faster than a back-off with
 * jitter allows.
 *
 * Calls take turns, for most drivers want one at a time. Every call ends within its deadline, whatever the driver and
 * the server do. A call that fails is never repeated here: its outcome is unknown, and the protocol above settles that.
 */
export class StoreLink<T> {
  readonly #options: LinkOptions<T>;
  /** Ends each call that waits now. */
  readonly #waiting = new Set<(reason: IdError) => void>();
  /** Settles when the last call that was taken in has ended. */
  #lastTurn: Promise<unknown> = Promise.resolve();
  #attempt: Attempt<T> | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(options: LinkOptions<T>) {
    this.#options = options;
  }

  /**
   * Does some work on the connection.
   *
   * @throws IdError STORE_UNAVAILABLE: the outcome is unknown. INVALID_CONFIG: the store refuses us. Errors of this
   * class that `work` throws pass as they are.
   */
  async call<R>(work: (connection: T) => Promise<R>): Promise<R> {
    const { callTimeoutMs, kind } = this.#options;
    if (this.#isClosed) throw closed(kind);
    const { promise: ended, reject: end } = Promise.withResolvers<never>();
    const { promise: turn, resolve: giveTurn } = Promise.withResolvers<void>();
    const late = (): void => end(unavailable(kind, `no answer within ${callTimeoutMs} ms`));
    const cancel = systemTimers.after(callTimeoutMs, late);
    this.#waiting.add(end);
    const previous = this.#lastTurn;
    this.#lastTurn = Promise.all([previous, turn]);
    let attempt: Attempt<T> | undefined;
    let isOver = false;
    try {
      await Promise.race([previous, ended]);
      if (this.#isClosed) throw closed(kind);
      attempt = this.#attempt ??= this.#connect();
      // What was given up while it connected is not begun: a write must not follow the error that told of it.
      const begin = (connection: T): Promise<R> => (isOver ? ended : work(connection));
      const answer = await Promise.race([attempt.connection.then(begin), ended]);
      this.#failures = 0;
      return answer;
    } catch (cause) {
      if (attempt !== undefined) this.#drop(attempt);
      throw this.#explain(cause);
    } finally {
      isOver = true;
      cancel();
      this.#waiting.delete(end);
      giveTurn();
    }
  }

  /** Gives up the connection at once and ends what waits for it. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#waiting) end(closed(this.#options.kind));
    if (this.#attempt !== undefined) this.#drop(this.#attempt);
  }

  #connect(): Attempt<T> {
    const controller = new AbortController();
    const lost = (): void => this.#drop(attempt);
    const attempt: Attempt<T> = { connection: this.#connectAfterPause(controller.signal, lost), controller };
    // Whoever waits for it hears of the failure; nobody may be waiting any more.
    attempt.connection.catch(() => {});
    return attempt;
  }

  async #connectAfterPause(signal: AbortSignal, lost: () => void): Promise<T> {
    if (this.#failures > 0) {
      const pauseMs = Math.min(pauseMaxMs, 25 * 2 ** Math.min(this.#failures - 1, 10));
      await delay(systemTimers, pauseMs * (0.5 + Math.random() / 2));
      signal.throwIfAborted();
    }
    return this.#options.connect(signal, lost);
  }

  #drop(attempt: Attempt<T>): void {
    if (this.#attempt !== attempt) return;
    this.#attempt = undefined;
    if (!this.#isClosed) this.#failures += 1;
    attempt.controller.abort();
    attempt.connection.then(this.#options.destroy).catch(() => {});
  }

  #explain(cause: unknown): IdError {
    const { kind, isRefusal } = this.#options;
    if (cause instanceof IdError) return cause;
    const problem = describe(cause);
    // Where several servers were tried, only what all of them say is for certain.
    const causes: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
    if (!causes.every((one) => isRefusal(one) || isCertificateProblem(one))) return unavailable(kind, problem, cause);
    const message = `The ${kind} store refuses us: ${problem}. Check its URL, credentials, certificates and privileges.`;
    return new IdError("INVALID_CONFIG", message, { metadata: { store: kind, problem }, cause });
  }
}

/** Node's own AggregateError, of a name with several addresses, has no message. */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(describe).join("; ");
  return cause.message === "" ? cause.name : cause.message;
}

/**
 * Codes of Node's TLS (an unknown authority, another name, a certificate that ran out), and mysql2's for all of them.
 * Found in a cause as well: drivers wrap it.
 */
function isCertificateProblem(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { code } = cause as NodeJS.ErrnoException;
  const isOne = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|ERR_TLS_CERT_|HANDSHAKE_SSL_ERROR)/.test(
    String(code),
  );
  return isOne || isCertificateProblem(cause.cause);
}

/**
 * Connects to the first of several servers that takes us, each within its share of the time.
 *
 * @param connect - Must destroy what it has begun when its signal aborts.
 */
export async function connectToAny<E, T>(
  servers: readonly E[],
  signal: AbortSignal,
  timeoutMs: number,
  connect: (server: E, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const shareMs = Math.floor(timeoutMs / servers.length);
  const problems: unknown[] = [];
  for (const server of servers) {
    const controller = new AbortController();
    const { promise: ended, reject: end } = Promise.withResolvers<never>();
    const stop = (problem: string): void => {
      controller.abort();
      end(new Error(problem));
    };
    const giveUp = (): void => stop("it was given up");
    const cancel = systemTimers.after(shareMs, () => stop(`no connection within ${shareMs} ms`));
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      return await Promise.race([connect(server, controller.signal), ended]);
    } catch (problem) {
      if (problem instanceof IdError || signal.aborted) throw problem;
      problems.push(problem);
    } finally {
      cancel();
      signal.removeEventListener("abort", giveUp);
    }
  }
  if (problems.length === 1) throw problems[0];
  throw new AggregateError(problems, problems.map(describe).join("; "));
}

/**
 * Does the work of one connection, and destroys what was begun when `signal` aborts: also where it had aborted before,
 * or aborts while a driver that was told to end goes on connecting.
 *
 * @param destroy - May be called more than once.
 */
export async function whileWanted<T>(signal: AbortSignal, destroy: () => void, work: () => Promise<T>): Promise<T> {
  signal.addEventListener("abort", destroy, { once: true });
  try {
    signal.throwIfAborted();
    const made = await work();
    signal.throwIfAborted();
    return made;
  } catch (error) {
    destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
}

/** What one who only looks gets where nothing was ever kept: the metadata says so, too. */
export function nothingKept(kind: string, problem: string): IdError {
  const message = `Nothing was ever started on this ${kind} store: ${problem}. Check its URL and the namespace.`;
  return new IdError("INVALID_CONFIG", message, { metadata: { store: kind, problem, kept: "nothing" } });
}

/** A call whose outcome is unknown. */
function unavailable(kind: string, problem: string, cause?: unknown): IdError {
  return new IdError("STORE_UNAVAILABLE", `The ${kind} store does not answer: ${problem}.`, {
    metadata: { store: kind, problem },
    ...(cause === undefined ? {} : { cause }),
  });
}

function closed(kind: string): IdError {
  return unavailable(kind, "it is closed");
}
