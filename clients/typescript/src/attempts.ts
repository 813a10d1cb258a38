import { callTimeoutMs } from "./client-options.ts";
import type { Clock } from "./clock.ts";
import { isOfDarkConnection } from "./dark-connection.ts";
import { abortError, isFirstMistake, SnowlaneError, type SnowlaneReason } from "./errors.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";
import { notify, type ClientObserver } from "./observer.ts";
import type { States } from "./states.ts";
import { errorOfRpc, isUnreachableByAnswer } from "./rpc-error.ts";

/** The longest wait for a quota that counts; a longer one that a server asks for is cut to this. */
const quotaWaitMaxMs = 5_000;

/** Whether another server may succeed where this one failed. */
function isOfServer({ code, reason }: SnowlaneError): boolean {
  return code === "UNAVAILABLE" || reason === "DEPLOYMENT_MISMATCH";
}

/** How calls are tried: the options of a client, with all defaults filled in. */
export interface AttemptSettings {
  /** Chooses the server of each attempt. */
  readonly endpoints: Endpoints;
  readonly clock: Clock;
  /** From 0 to below 1; for the jitter of back-off. */
  readonly random: () => number;
  /** Called with each attempt that ends. */
  readonly observer: ClientObserver;
  /** Informed when the client moves to another endpoint. */
  readonly states: States;
  /** Deadline of a call whose caller sets none; it covers all attempts and waits, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest that one attempt may take, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** The most attempts after the first, 0 to 3. */
  readonly retryMax: number;
}

/** The limits of a call. */
export interface CallLimits {
  /** Aborted to cancel the call. */
  readonly signal: AbortSignal;
  /** Deadline in milliseconds from now. Undefined: that of the settings. */
  readonly timeoutMs: number | undefined;
}

/** One attempt, on its way. */
export interface Attempt {
  readonly endpoint: Endpoint;
  /** From 1. */
  readonly number: number;
  /** Whether it is the second request under this number. */
  readonly isHedge: boolean;
  /** By the monotonic clock. */
  readonly startedMs: number;
  /** How long it may take. */
  readonly timeoutMs: number;
}

/**
 * Makes the attempts of one call: chooses the endpoint, waits where that helps, and decides when to give up. A call
 * that makes progress (a stream) reports it by {@link progress}.
 */
export class Attempts {
  readonly #settings: AttemptSettings;
  readonly #method: string;
  readonly #signal: AbortSignal;
  readonly #limitMs: number;
  #deadlineMs: number;
  #number = 0;
  /** The error to report when time runs out: the last failure that was not itself caused by time running out. */
  #lastFailure: SnowlaneError | undefined;
  #waitMs = 0;

  constructor(settings: AttemptSettings, method: string, call: CallLimits) {
    this.#settings = settings;
    this.#method = method;
    this.#signal = call.signal;
    this.#limitMs = callTimeoutMs(call.timeoutMs ?? settings.timeoutMs);
    this.#deadlineMs = settings.clock.monotonicMs() + this.#limitMs;
  }

  /** Records that a stream moved on: the count of attempts starts again. */
  progress({ endpoint }: Attempt): void {
    this.#number = 1;
    this.#lastFailure = undefined;
    this.#settings.endpoints.noteSuccess(endpoint);
  }

  /** Records that the reader of a stream without a deadline waits for the next chunk: the time starts again. */
  awaitNext(): void {
    this.#deadlineMs = this.#settings.clock.monotonicMs() + this.#limitMs;
  }

  /** The time until the deadline of the call. */
  get leftMs(): number {
    return this.#deadlineMs - this.#settings.clock.monotonicMs();
  }

  /** How long the current attempt may still take. */
  get attemptLeftMs(): number {
    return Math.min(this.#settings.attemptTimeoutMs, this.leftMs);
  }

  /**
   * Waits until the next attempt is due, and chooses its endpoint. Each attempt must be ended by {@link succeed} or
   * {@link fail}.
   *
   * @throws SnowlaneError, when it would be due after the deadline, or when the caller cancels.
   */
  async begin(): Promise<Attempt> {
    const { endpoints, clock, states } = this.#settings;
    const { endpoint, waitMs } = endpoints.choose();
    if (endpoints.announce()) {
      const reason = this.#lastFailure?.reason;
      states.tell({ state: "moved", ...(reason && { reason }), endpoint: endpoint.url });
    }
    await this.#sleep(Math.max(waitMs, this.#waitMs), endpoint);
    this.#waitMs = 0;
    this.#number++;
    const startedMs = clock.monotonicMs();
    return { endpoint, number: this.#number, isHedge: false, startedMs, timeoutMs: this.attemptLeftMs };
  }

  succeed(attempt: Attempt): void {
    this.#settings.endpoints.noteSuccess(attempt.endpoint);
    this.#report(attempt, undefined);
  }

  /**
   * Records that an attempt failed.
   *
   * @returns The error, if another attempt may follow.
   * @throws SnowlaneError that ends the call.
   */
  fail(attempt: Attempt, cause: unknown): SnowlaneError {
    const { endpoints, random, retryMax } = this.#settings;
    const { endpoint } = attempt;
    const signal = this.#signal;
    let error = signal.aborted ? abortError(signal) : errorOfRpc(cause, { endpoint: endpoint.url });
    this.#report(attempt, error.reason);
    const hasRunOut = error.reason === "DEADLINE_EXCEEDED";
    const isOver = this.leftMs <= 0;
    const isSilence = hasRunOut || (error.reason === "UNREACHABLE" && !isUnreachableByAnswer(error));
    if (error.endpoint !== undefined && !isSilence) endpoints.noteAnswer();
    if (error.reason === "QUOTA_EXCEEDED")
      this.#waitMs = Math.min(error.retryAfterMs ?? 0, quotaWaitMaxMs) * (1 + random() / 2);
    else if (signal.aborted || (!isOfServer(error) && !hasRunOut)) throw error;
    else if (hasRunOut && isOfDarkConnection(error)) endpoints.noteDarkConnection(endpoint);
    // If the caller's own time has run out, that says nothing about the endpoint.
    else if (!hasRunOut || !isOver) error = endpoints.noteFailure(endpoint, error);
    if (isFirstMistake(error)) throw error;
    if (!hasRunOut) this.#lastFailure = error;
    if (isOver || this.#number > retryMax) throw this.#lastFailure ?? error;
    return error;
  }

  /**
   * Informs the observer about the request that did not decide the outcome of its attempt: it failed, or it was
   * cancelled because the other one was answered first.
   *
   * @param cause - What it failed with; undefined: it was cancelled.
   */
  reportOther(request: Attempt, cause: unknown): void {
    const isCancelled = cause === undefined || this.#signal.aborted;
    const reason = isCancelled ? "CANCELLED" : errorOfRpc(cause, { endpoint: request.endpoint.url }).reason;
    this.#report(request, reason);
  }

  #report({ endpoint, number, isHedge, startedMs }: Attempt, reason: SnowlaneReason | undefined): void {
    const { clock, observer } = this.#settings;
    const durationMs = clock.monotonicMs() - startedMs;
    const event = { method: this.#method, endpoint: endpoint.url, attempt: number, isHedge, durationMs };
    notify(() => observer.onAttempt?.(reason === undefined ? event : { ...event, reason }));
  }

  async #sleep(waitMs: number, endpoint: Endpoint): Promise<void> {
    const { clock } = this.#settings;
    if (waitMs >= this.leftMs) throw this.#lastFailure ?? endpoint.lastFailure ?? this.#deadlineExceeded();
    const signal = this.#signal;
    if (signal.aborted) throw abortError(signal);
    if (waitMs <= 0) return;
    await new Promise<void>((resolve, reject) => {
      const cancel = (): void => {
        callOff();
        reject(abortError(signal));
      };
      const wake = (): void => {
        signal.removeEventListener("abort", cancel);
        resolve();
      };
      const callOff = clock.schedule(waitMs, wake, "keeps process");
      signal.addEventListener("abort", cancel, { once: true });
    });
  }

  #deadlineExceeded(): SnowlaneError {
    const message = `No answer came within ${this.#limitMs} ms.`;
    return new SnowlaneError("DEADLINE_EXCEEDED", message, { code: "DEADLINE_EXCEEDED" });
  }
}
