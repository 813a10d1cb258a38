import { type ErrorReason, IdError } from "../errors.ts";
import { type AcquireOutcome, acquire } from "./acquire.ts";
import type { HolderPhase } from "./holder-phase.ts";
import type { LossNotices } from "./loss-notices.ts";
import { wentBack } from "./observed-store.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { retryDelayMs } from "./sleeper.ts";
import { checkWallClock, clockOffError } from "./start-checks.ts";
import { clockOffMaxMs, type WindowRules } from "./window.ts";

/** A grant, as acquire gives it. */
export type Granted = Extract<AcquireOutcome, { kind: "granted" }>;

/** What one round of the search came to. */
export type SearchStep =
  | { readonly kind: "granted"; readonly granted: Granted }
  | {
      readonly kind: "again";
      readonly phase: HolderPhase;
      /** Before the next round. */
      readonly waitMs: number;
      /** For which a start ends: only an operator can help. A process that had a grant before goes on all the same. */
      readonly fatal: IdError | undefined;
    };

const retry = { firstMs: 50, maxMs: 1_000 };
/** How often a state that only time can change is looked at again. */
const lookAgainMs = 1_000;
/**
 * How long a lock that tells that a holder lives must be taken before it is believed: whoever looks for a worker ID
 * takes it for a moment, too.
 */
const lockPatienceMs = 800;
const fatalReasons: ReadonlySet<ErrorReason> = new Set([
  "INVALID_CONFIG",
  "LAYOUT_MISMATCH",
  "CLOCK_BEFORE_EPOCH",
  "TIMESTAMP_EXHAUSTED",
]);

/** Looks for a grant, round after round, and says what stands in the way. */
export class GrantSearch {
  readonly #context: ProtocolContext;
  readonly #losses: LossNotices;
  /** In a row. */
  #failures = 0;
  #problem: IdError | undefined;
  #isWaiting = false;
  /** Since when the store has not answered as it should, in monotonic time. */
  #silentFromMs: number | undefined;
  /** Since when every worker ID has had a holder, in monotonic time. */
  #noneFromMs: number | undefined;

  constructor(context: ProtocolContext, losses: LossNotices) {
    this.#context = context;
    this.#losses = losses;
  }

  /** Begins a search. `problem` is why there is one; undefined at the start. */
  begin(problem: IdError | undefined): void {
    this.#failures = 0;
    this.#problem = problem;
    this.#isWaiting = false;
  }

  /** Goes one round. */
  async step(rules: WindowRules): Promise<SearchStep> {
    const { judge, settings } = this.#context;
    try {
      await this.#losses.writeQuarantine(this.#context, rules);
      checkWallClock(judge.nowMs(), settings.layout);
      const outcome = await acquire(this.#context, { excluded: new Set(), markAheadMaxMs: settings.leadMaxMs });
      if (outcome.kind !== "busy") this.#silentFromMs = undefined;
      if (outcome.kind !== "none-free") this.#noneFromMs = undefined;
      return outcome.kind === "granted" ? { kind: "granted", granted: outcome } : this.#onNone(outcome);
    } catch (cause) {
      if (!(cause instanceof IdError)) throw cause;
      if (wentBack(cause)) this.#losses.wentBack(cause.message);
      this.#problem = cause;
      return this.#again(this.#retryMs(), fatalReasons.has(cause.reason) || this.#hasLostPatience(cause));
    }
  }

  #onNone(outcome: Exclude<AcquireOutcome, Granted>): SearchStep {
    const { judge, ports } = this.#context;
    if (outcome.kind === "busy") {
      this.#problem = busyError(this.#context.store.kind);
      return this.#again(this.#retryMs(), this.#hasLostPatience(this.#problem));
    }
    const patienceMs = outcome.kind === "none-free" ? this.#lockPatienceMs() : 0;
    if (patienceMs > 0) return this.#again(Math.min(this.#retryMs(), patienceMs), false);
    if (outcome.kind === "raced") {
      // The first time that somebody was faster, another worker ID is tried at once.
      const waitMs = this.#retryMs();
      return this.#again(this.#failures === 1 ? 0 : waitMs, false);
    }
    this.#failures = 0;
    if (outcome.kind === "wait") {
      const { for: what, untilMs, detail } = outcome;
      if (!this.#isWaiting) ports.report({ kind: "waiting", for: what, untilMs, detail });
      this.#isWaiting = true;
      const waitMs = Math.min(Math.max(untilMs - judge.nowMs(), 1), lookAgainMs);
      return { kind: "again", phase: { kind: "waiting", for: what, untilMs, detail }, waitMs, fatal: undefined };
    }
    if (outcome.kind === "clock-off") {
      this.#problem = clockOffError(outcome.aheadMs);
      this.#context.reportClockOff(outcome.aheadMs);
      return this.#again(lookAgainMs, Math.abs(outcome.aheadMs) > clockOffMaxMs);
    }
    const { untilMs, detail } = outcome;
    if (this.#problem?.reason !== "NO_FREE_WORKER_ID") {
      ports.report({ kind: "waiting", for: "free-worker-id", untilMs, detail });
    }
    this.#problem = noneFree(detail);
    return this.#again(lookAgainMs, !outcome.ours);
  }

  /** For how long yet a lock that is taken tells nothing. */
  #lockPatienceMs(): number {
    const { judge, store } = this.#context;
    const nowMs = judge.monotonicMs();
    this.#noneFromMs ??= nowMs;
    return store.liveness.kind === "lock" ? lockPatienceMs - (nowMs - this.#noneFromMs) : 0;
  }

  /** A store that does not answer may come back; whoever waits for it may have said for how long. */
  #hasLostPatience({ reason }: IdError): boolean {
    if (reason !== "STORE_UNAVAILABLE") return false;
    const nowMs = this.#context.judge.monotonicMs();
    this.#silentFromMs ??= nowMs;
    return nowMs - this.#silentFromMs >= this.#context.settings.startPatienceMs;
  }

  #retryMs(): number {
    this.#failures += 1;
    return retryDelayMs(this.#failures, retry, this.#context.ports.random);
  }

  #again(waitMs: number, isFatal: boolean): SearchStep {
    this.#isWaiting = false;
    const problem = this.#problem;
    return { kind: "again", phase: { kind: "acquiring", problem }, waitMs, fatal: isFatal ? problem : undefined };
  }
}

function busyError(kind: string): IdError {
  const message = `The ${kind} store is busy: no worker ID is held, but another process has the lock of each that may be had. Try again.`;
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { store: kind } });
}

function noneFree(detail: string): IdError {
  const message = `There is no free worker ID: ${detail}. Stop a process, or use a layout or a datacenter with more worker IDs.`;
  return new IdError("NO_FREE_WORKER_ID", message, { metadata: { detail } });
}
