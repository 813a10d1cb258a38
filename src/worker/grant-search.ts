import { type ErrorReason, IdError } from "../errors.ts";
import { type AcquireChoice, type AcquireOutcome, acquire } from "../lease/acquire.ts";
import type { Candidates } from "../lease/candidates.ts";
import type { HolderPhase } from "./holder-phase.ts";
import type { LossNotices } from "../lease/loss-notices.ts";
import { isRegression } from "../lease/observed-store.ts";
import type { ProtocolContext } from "../lease/protocol-context.ts";
import { backoffMs, jittered } from "../clock/sleeper.ts";
import { checkWallClock, clockOffError } from "./start-checks.ts";
import { clockOffMaxMs, type WindowRules } from "../lease/window.ts";

/** A grant, as acquire gives it. */
export type Granted = Extract<AcquireOutcome, { kind: "granted" }>;

/** The outcome of one round of the search. */
export type SearchStep =
  | { readonly kind: "granted"; readonly granted: Granted }
  | {
      readonly kind: "again";
      readonly phase: HolderPhase;
      /** The pause before the next round. */
      readonly waitMs: number;
      /**
       * The error that ends a start, because only an operator can help. A process that had a grant before continues to
       * search.
       */
      readonly fatal: IdError | undefined;
      /** How far the wall clock is ahead of the store's, if the two differ too much. */
      readonly clockAheadMs?: number;
    };

const retry = { firstMs: 50, maxMs: 1_000 };
/**
 * While the store does not answer, or refuses us, the pause grows to this part of the silence, up to its bound: two
 * hundred servers whose database is full or hangs, or that have an old password, do not ask it for connections all the
 * time.
 */
const silentRetry = { share: 1 / 10, maxMs: 30_000 };
/** How often a state that only time can change is looked at again. */
const lookAgainMs = 1_000;
/**
 * While every worker ID has a holder, the pause grows to this part of the wait, up to its bound: a hundred processes
 * that wait do not list all records each second. A standby takes over later by at most `maxMs`.
 */
const crowdedLook = { share: 1 / 10, maxMs: 3_000 };
/**
 * How long a lock must be taken before it counts as a living holder's: a process that looks for a worker ID also takes
 * it for a moment.
 */
const lockPatienceMs = 800;
/** The store does not answer, or it refuses us. */
const storeReasons: ReadonlySet<ErrorReason> = new Set(["STORE_UNAVAILABLE", "INVALID_CONFIG"]);
const fatalReasons: ReadonlySet<ErrorReason> = new Set([
  "INVALID_CONFIG",
  "LAYOUT_MISMATCH",
  "CLOCK_BEFORE_EPOCH",
  "TIMESTAMP_EXHAUSTED",
]);

/** Looks for a grant, round after round, and says what prevents one. */
export class GrantSearch {
  readonly #context: ProtocolContext;
  readonly #losses: LossNotices;
  #candidates: Candidates | undefined;
  /** Rounds in a row that failed. */
  #failures = 0;
  #problem: IdError | undefined;
  #isWaiting = false;
  /** Since when the store has not answered as it should, in monotonic time. */
  #silentFromMs: number | undefined;
  /** Since when every worker ID has had a holder; monotonic time. */
  #noneFromMs: number | undefined;

  constructor(context: ProtocolContext, losses: LossNotices) {
    this.#context = context;
    this.#losses = losses;
  }

  /** All worker IDs as the last look showed them. */
  get candidates(): Candidates | undefined {
    return this.#candidates;
  }

  /** Begins a search. `problem` is its reason; undefined at the start. */
  begin(problem: IdError | undefined): void {
    this.#failures = 0;
    this.#problem = problem;
    this.#isWaiting = false;
  }

  /** Makes one round. */
  async step(rules: WindowRules): Promise<SearchStep> {
    const { judge, settings } = this.#context;
    try {
      await this.#losses.writeQuarantine(rules);
      checkWallClock(judge.nowMs(), settings.layout);
    } catch (cause) {
      if (!(cause instanceof IdError)) throw cause;
      if (isRegression(cause)) this.#losses.onRegression(cause.message);
      return this.#onFailure(cause);
    }
    const outcome = await this.acquire({ excluded: new Set(), markAheadMaxMs: settings.leadMaxMs });
    if (outcome.kind === "failed") return this.#onFailure(outcome.error);
    if (outcome.kind !== "busy") this.#silentFromMs = undefined;
    if (outcome.kind !== "none-free") this.#noneFromMs = undefined;
    return outcome.kind === "granted" ? { kind: "granted", granted: outcome } : this.#onNone(outcome);
  }

  /** Tries once to acquire, and acts on what the try saw, also if it failed. */
  async acquire(choice: AcquireChoice): Promise<AcquireOutcome> {
    const { outcome, seen } = await acquire(this.#context, choice, this.#losses.known);
    this.#losses.onAcquire(seen);
    if (seen.candidates !== undefined) this.#onCandidates(seen.candidates);
    if (outcome.kind === "failed" && isRegression(outcome.error)) this.#losses.onRegression(outcome.error.message);
    if (seen.isNewDeployment) this.#onNewDeployment(outcome);
    return outcome;
  }

  /** Reports a new deployment, and the wait if the store cannot distinguish an empty store from an emptied one. */
  #onNewDeployment(outcome: AcquireOutcome): void {
    const { ports, settings } = this.#context;
    const untilMs = outcome.kind === "wait" && outcome.for === "quarantine" ? outcome.untilMs : undefined;
    ports.report({ kind: "new-deployment", namespace: settings.namespace, untilMs });
    this.#isWaiting = untilMs !== undefined;
  }

  #onCandidates(candidates: Candidates): void {
    this.#candidates = candidates;
    for (const error of candidates.unreadable) {
      this.#context.ports.report({ kind: "store-problem", during: "list", error });
    }
  }

  #onFailure(problem: IdError): SearchStep {
    this.#problem = problem;
    if (storeReasons.has(problem.reason)) this.#silentFromMs ??= this.#context.judge.monotonicMs();
    return this.#again(this.#retryMs(), fatalReasons.has(problem.reason) || this.#hasLostPatience(problem));
  }

  #onNone(outcome: Exclude<AcquireOutcome, Granted | { kind: "failed" }>): SearchStep {
    const { judge, ports, settings } = this.#context;
    if (outcome.kind === "busy") {
      this.#problem = busyError(this.#context.store.kind);
      return this.#again(this.#retryMs(), this.#hasLostPatience(this.#problem));
    }
    const patienceMs = outcome.kind === "none-free" ? this.#lockPatienceMs() : 0;
    if (patienceMs > 0) return this.#again(Math.min(this.#retryMs(), patienceMs), false);
    if (outcome.kind === "raced") {
      // The first time that another process was faster, another worker ID is tried at once.
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
      const step = this.#again(lookAgainMs, Math.abs(outcome.aheadMs) > clockOffMaxMs);
      return { ...step, clockAheadMs: outcome.aheadMs };
    }
    const { untilMs, detail } = outcome;
    if (this.#problem?.reason !== "NO_FREE_WORKER_ID") {
      ports.report({ kind: "waiting", for: "free-worker-id", untilMs, detail });
    }
    this.#problem = noneFree(detail, untilMs);
    const waitedMs = judge.monotonicMs() - (this.#noneFromMs ?? 0);
    const leftMs = settings.workerIdPatienceMs - waitedMs;
    return this.#again(this.#crowdedLookMs(waitedMs, leftMs), !outcome.ours && leftMs <= 0);
  }

  /** @param leftMs - What is left of the patience: a start ends when it is over, not at the next look after that. */
  #crowdedLookMs(waitedMs: number, leftMs: number): number {
    const longMs = Math.min(crowdedLook.maxMs, waitedMs * crowdedLook.share);
    if (longMs <= lookAgainMs) return lookAgainMs;
    const lookMs = Math.max(lookAgainMs, jittered(longMs, this.#context.ports.random));
    return leftMs > 0 ? Math.min(lookMs, leftMs) : lookMs;
  }

  /** How much longer a lock that is taken may be that of a process that only looks for a worker ID. */
  #lockPatienceMs(): number {
    const { judge, store } = this.#context;
    const nowMs = judge.monotonicMs();
    this.#noneFromMs ??= nowMs;
    return store.liveness.kind === "lock" ? lockPatienceMs - (nowMs - this.#noneFromMs) : 0;
  }

  /** A store that does not answer may come back; the setting of the start says how long to wait for it. */
  #hasLostPatience({ reason }: IdError): boolean {
    if (reason !== "STORE_UNAVAILABLE") return false;
    const nowMs = this.#context.judge.monotonicMs();
    this.#silentFromMs ??= nowMs;
    return nowMs - this.#silentFromMs >= this.#context.settings.startPatienceMs;
  }

  #retryMs(): number {
    const { judge, ports } = this.#context;
    const silentMs = this.#silentFromMs === undefined ? 0 : judge.monotonicMs() - this.#silentFromMs;
    const maxMs = Math.max(retry.maxMs, Math.min(silentRetry.maxMs, silentMs * silentRetry.share));
    this.#failures += 1;
    return backoffMs(this.#failures, { ...retry, maxMs }, ports.random);
  }

  #again(waitMs: number, isFatal: boolean): Extract<SearchStep, { kind: "again" }> {
    this.#isWaiting = false;
    const problem = this.#problem;
    return { kind: "again", phase: { kind: "acquiring", problem }, waitMs, fatal: isFatal ? problem : undefined };
  }
}

function busyError(kind: string): IdError {
  const message = `The ${kind} store is busy: no worker ID is held, but other processes have the locks of all that could be taken. Try again.`;
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { store: kind } });
}

/** @param untilMs - When the first may become free: Unix milliseconds; Infinity if that is not known. */
function noneFree(detail: string, untilMs: number): IdError {
  const isKnown = Number.isFinite(untilMs);
  const when = isKnown ? ` One becomes free at ${new Date(untilMs).toISOString()} unless its holder renews.` : "";
  const message = `There is no free worker ID: ${detail}.${when} Stop a process, or use a layout or a datacenter with more worker IDs.`;
  const metadata = { detail, ...(isKnown ? { free_from_unix_ms: untilMs } : {}) };
  return new IdError("NO_FREE_WORKER_ID", message, { metadata });
}
