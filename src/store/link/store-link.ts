import { systemClock, systemTimers } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import { AnyServer } from "./any-server.ts";
import { OneWriter, type WriterRules } from "./one-writer.ts";
import { describe } from "./problem-text.ts";
import type { Route, RouteParts, Taken } from "./route.ts";

/** How a {@link StoreLink} uses a driver: how it connects, and how it interprets errors. */
export interface LinkOptions<T> extends Omit<RouteParts<T>, "connectTimeoutMs"> {
  /** Scheme of the store, for messages. */
  readonly kind: string;
  /** Whether an error is one that only an operator can remedy: refused credentials, missing privileges. */
  readonly isRefusal: (cause: unknown) => boolean;
  /** What an operator can do about an error of the server: a sentence; undefined if the error says it already. */
  readonly hintOf?: (cause: unknown) => string | undefined;
  /**
   * How the server that takes writes is distinguished from the others; absent if the servers agree, so that any of them
   * can be used.
   */
  readonly writers?: Omit<WriterRules<T>, "kind">;
}

/**
 * The longest time to connect to one server once nothing has worked for six call time limits, which is about a window.
 */
const lostConnectTimeoutMs = 5_000;
const lostAfterTimeouts = 6;

/**
 * The calls to a store, over connections that are made on first use and given up after a failure.
 *
 * Calls take turns, because most drivers run one at a time. Every call ends within its deadline, no matter what the
 * driver and the server do. A call that fails is never repeated here: its outcome is unknown, and the caller resolves
 * it.
 */
export class StoreLink<T> {
  readonly #options: LinkOptions<T>;
  /** Functions that end the calls that wait now. */
  readonly #waiting = new Set<(reason: IdError) => void>();
  /** Resolves when the most recent call has ended. */
  #lastTurn: Promise<unknown> = Promise.resolve();
  readonly #route: Route<T>;
  /** Monotonic time of the last answer. */
  #workedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: LinkOptions<T>) {
    const { kind, writers } = options;
    this.#options = options;
    const parts = { ...options, connectTimeoutMs: () => this.#connectTimeoutMs() };
    this.#route = writers === undefined ? new AnyServer(parts) : new OneWriter(parts, { ...writers, kind });
  }

  /**
   * Does some work on the connection.
   *
   * @param what - For the message if no answer comes: a write may wait for something that does not delay reads.
   * @throws IdError STORE_UNAVAILABLE: the outcome is unknown. INVALID_CONFIG: the store refuses us. Errors of this
   * class that `work` throws pass as they are.
   */
  async call<R>(work: (connection: T) => Promise<R>, what: "call" | "write" = "call"): Promise<R> {
    const { callTimeoutMs, kind } = this.#options;
    if (this.#isClosed) throw closed(kind);
    const { promise: ended, reject: end } = Promise.withResolvers<never>();
    const { promise: turn, resolve: giveTurn } = Promise.withResolvers<void>();
    let isLate = false;
    const late = (): void => {
      isLate = true;
      end(unanswered(kind, taken === undefined ? "call" : what, limitMs));
    };
    // If nothing has worked for long, there is no grant to lose by waiting, so there is time to connect to a distant
    // server.
    const connectTimeoutMs = this.#connectTimeoutMs();
    const isPatient = connectTimeoutMs > callTimeoutMs;
    let limitMs = callTimeoutMs + (isPatient ? connectTimeoutMs : 0);
    let cancel = systemTimers.after(limitMs, late);
    this.#waiting.add(end);
    const previous = this.#lastTurn;
    this.#lastTurn = Promise.all([previous, turn]);
    let isTurn = false;
    let isOver = false;
    let taken: Taken<T> | undefined;
    // The work does not begin after its call has failed: a write must not follow the error that its caller got.
    const begin = (given: Taken<T>): Promise<R> => {
      if (isOver) return ended;
      taken = given;
      if (isPatient) {
        cancel();
        limitMs = callTimeoutMs;
        cancel = systemTimers.after(limitMs, late);
      }
      return work(given.connection);
    };
    try {
      await Promise.race([previous, ended]);
      if (this.#isClosed) throw closed(kind);
      isTurn = true;
      const answer = await Promise.race([this.#route.take().then(begin), ended]);
      taken!.worked();
      this.#workedAtMs = systemClock.monotonicMs();
      return answer;
    } catch (cause) {
      if (isTurn) this.#route.giveUp(taken?.connection, isLate ? "silent" : "failed");
      throw this.#explain(cause);
    } finally {
      isOver = true;
      cancel();
      this.#waiting.delete(end);
      giveTurn();
    }
  }

  /** Gives up the connection at once, and ends the calls that wait for it. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#waiting) end(closed(this.#options.kind));
    this.#route.close();
  }

  #connectTimeoutMs(): number {
    const { callTimeoutMs } = this.#options;
    const isLost = systemClock.monotonicMs() - this.#workedAtMs > lostAfterTimeouts * callTimeoutMs;
    return isLost ? Math.max(lostConnectTimeoutMs, callTimeoutMs) : callTimeoutMs;
  }

  /** The error of a write that the server refused: INVALID_CONFIG if only an operator can help. */
  refusal(cause: unknown): IdError {
    return this.#options.isRefusal(cause) ? this.#explain(cause) : this.#unusable("refuses to be written", cause);
  }

  #explain(cause: unknown): IdError {
    const { kind, isRefusal } = this.#options;
    if (cause instanceof IdError) return cause;
    // All servers have to refuse us: one that is only unreachable may still accept us.
    const isRefused = causesOf(cause).every((one) => isRefusal(one) || isCertificateProblem(one));
    if (!isRefused) return this.#unusable("cannot be used", cause);
    const problem = describe(cause);
    const message = `The ${kind} store refuses us: ${problem}. Check its URL, credentials, certificates and privileges.`;
    return new IdError("INVALID_CONFIG", message, { metadata: { store: kind, problem }, cause });
  }

  /**
   * The error of a store that cannot be used. The server may have answered, for example that it has no space, or takes
   * no writes.
   */
  #unusable(what: string, cause: unknown): IdError {
    const { kind, hintOf } = this.#options;
    const problem = describe(cause);
    const [hint] = causesOf(cause).flatMap((one) => hintOf?.(one) ?? []);
    const message = `The ${kind} store ${what}: ${problem}.${hint === undefined ? "" : ` ${hint}`}`;
    // For a server that answers, the cause is a text that says why it takes no writes; for one that is unreachable, it
    // is an error.
    const isWriterAway = causesOf(cause).some((one) => typeof one === "string");
    const metadata = {
      store: kind,
      problem,
      ...(isWriterAway ? { writers: "away" } : {}),
      ...(hint === undefined ? {} : { hint }),
    };
    return new IdError("STORE_UNAVAILABLE", message, { metadata, cause });
  }
}

/** The causes, one for each server. */
function causesOf(cause: unknown): readonly unknown[] {
  return cause instanceof AggregateError ? cause.errors : [cause];
}

/**
 * Codes of Node's TLS (an unknown authority, another name, an expired certificate), and mysql2's code for all of them.
 * Looks into causes as well, because drivers wrap the error.
 */
function isCertificateProblem(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { code } = cause as NodeJS.ErrnoException;
  const isOne = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|ERR_TLS_CERT_|HANDSHAKE_SSL_ERROR)/.test(
    String(code),
  );
  return isOne || isCertificateProblem(cause.cause);
}

/** @param limitMs - How long an answer was waited for. */
function unanswered(kind: string, what: "call" | "write", limitMs: number): IdError {
  const problem = `no answer${what === "write" ? " to a write" : ""} within ${limitMs / 1_000} s`;
  const metadata = { store: kind, problem, unanswered: what, limit_ms: limitMs };
  return new IdError("STORE_UNAVAILABLE", `The ${kind} store cannot be used: ${problem}.`, { metadata });
}

function closed(kind: string): IdError {
  const problem = "it is closed";
  const metadata = { store: kind, problem };
  return new IdError("STORE_UNAVAILABLE", `The ${kind} store cannot be used: ${problem}.`, { metadata });
}
