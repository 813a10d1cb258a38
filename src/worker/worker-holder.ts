import { ClockJudge } from "../clock/clock-judge.ts";
import { Heartbeat } from "../clock/heartbeat.ts";
import { backoffMs, Sleeper } from "../clock/sleeper.ts";
import { IdError } from "../errors.ts";
import { type Candidates, UnchangedRecords } from "../lease/candidates.ts";
import type { PastGrant, PastRequest } from "../lease/claim-past.ts";
import type { Grant } from "../lease/grant.ts";
import type { GrantedGenerator } from "./granted-generator.ts";
import { createHolderCounters, type HolderCounters, type HolderPhase } from "./holder-phase.ts";
import { LossNotices } from "../lease/loss-notices.ts";
import { ObservedStore } from "../lease/observed-store.ts";
import { HighestMark, type ProtocolContext } from "../lease/protocol-context.ts";
import { StoreChanges } from "../lease/store-changes.ts";
import type { LayoutRecord } from "../lease/records/layout-record.ts";
import { hasLapsed, type RenewalOutcome } from "../lease/renewal.ts";
import type { ResumeJournal } from "../lease/resume/resume-record.ts";
import { UnusedGrants } from "../lease/unused-grants.ts";
import type { GrantEnd, WorkerEvent } from "../lease/worker-event.ts";
import type { WorkerPorts } from "../lease/worker-ports.ts";
import { clockErrorMs } from "../lease/window.ts";
import { nameWorker, splitWorkerIndex, type WorkerSettings, windowRules } from "../lease/worker-settings.ts";
import type { RecordStore, StoreMoment } from "../store/record-store.ts";
import { claimBeside } from "./claim-beside.ts";
import { GrantLife } from "./grant-life.ts";
import { type Granted, GrantSearch } from "./grant-search.ts";
import { OutageWatch } from "./outage-watch.ts";
import { Rebase } from "./rebase.ts";

/** What a holder needs from outside: the protocol's ports, and a journal for what a restart needs. */
export interface HolderPorts extends WorkerPorts {
  /** Keeps what a restart needs while the store is down; undefined = grants are not resumed. */
  readonly journal?: ResumeJournal | undefined;
}

/** The store that a {@link WorkerHolder} holds its worker ID in, and the generator that issues under it. */
export interface WorkerHolderParts {
  /** Holds the records of the namespace. */
  readonly store: RecordStore;
  /** The namespace, the worker IDs that may be taken, and the times of the lease. */
  readonly settings: WorkerSettings;
  /** The clocks, the randomness and the journal of this process. */
  readonly ports: HolderPorts;
  /** Receives each grant, each new end of its window, and the end of issuing. */
  readonly generator: GrantedGenerator;
  /** Whether a clock that went back too far is answered by moving to another worker ID. */
  readonly rebases: boolean;
  /** Called after each change of grant, window or phase, and at each heartbeat. */
  readonly onChange: () => void;
}

const renewalRetry = { firstMs: 50, maxMs: 500 };
/**
 * While the store can be read but not written, tries become rarer: the pause grows up to this part of the window, and
 * at most to the bound below.
 */
const unwrittenRetryShare = 1 / 15;
const unwrittenRetryMaxMs = 2_000;
/**
 * A window of minutes allows rarer tries of every kind: the pause grows up to this part of it, but never beyond the
 * renewal period, so that it does not shorten the outage that is promised to be survived.
 */
const longWindowRetryShare = 1 / 60;
/** However urgent renewals are, they are not sent more often than this. */
const renewalGapMs = 100;
const clockOffReportPeriodMs = 60_000;
/** How often a state that only time can change is looked at again. */
const lookAgainMs = 1_000;

/**
 * Holds one worker ID: acquires it, renews its window, moves to another one when the clock went back too far, and gives
 * it back.
 *
 * This is the loop of the protocol of docs/safety.md. Only this loop calls the store, one call at a time, and decides
 * what is due; a heartbeat beside it watches the clock. What happens to a grant from its begin to its end is in
 * grant-life.ts, the search for a worker ID in grant-search.ts, and the move to another one in rebase.ts.
 */
export class WorkerHolder {
  readonly #counters = createHolderCounters();
  /** The wall clock as judged: IDs are issued by it. */
  readonly judge: ClockJudge;
  readonly store: ObservedStore;
  readonly #parts: WorkerHolderParts;
  readonly #context: ProtocolContext;
  readonly #losses: LossNotices;
  readonly #search: GrantSearch;
  readonly #life: GrantLife;
  readonly #rebase: Rebase;
  readonly #sleeper: Sleeper;
  readonly #heartbeat: Heartbeat;
  readonly #watch: OutageWatch;
  #phase: HolderPhase = { kind: "idle" };
  #started: { readonly resolve: () => void; readonly reject: (error: IdError) => void } | undefined;
  #loop: Promise<void> = Promise.resolve();
  #closing = false;
  /**
   * Monotonic times: when the next renewal is due, when the last was begun, when a wrong clock may be reported again.
   */
  #renewAtMs = 0;
  #renewedAtMs = 0;
  #nextClockOffMs = 0;
  /** Renewals in a row that got no answer. */
  #failures = 0;

  constructor(parts: WorkerHolderParts) {
    const { generator, ports, settings } = parts;
    this.#parts = parts;
    this.judge = new ClockJudge(ports);
    this.store = new ObservedStore(parts.store, this.judge, {
      onMoment: (moment) => this.#onMoment(moment),
      onOlderPosition: () => this.#context.storeChanges.regressed(),
      onProblem: (during, error) => ports.report({ kind: "store-problem", during, error }),
      onRecovery: (forMs) => ports.report({ kind: "store-answers-again", forMs }),
    });
    this.#context = {
      store: this.store,
      settings,
      ports,
      judge: this.judge,
      unchanged: new UnchangedRecords(),
      used: new Map(),
      unused: new UnusedGrants(),
      marks: new HighestMark(),
      storeChanges: new StoreChanges(),
    };
    const context = this.#context;
    this.#losses = new LossNotices(context);
    this.#search = new GrantSearch(context, this.#losses);
    this.#rebase = new Rebase(context, this.#search, generator);
    const { journal } = ports;
    const onAdvance = (): void => parts.onChange();
    this.#life = new GrantLife({ context, losses: this.#losses, generator, journal, onAdvance });
    this.#watch = new OutageWatch(ports.report);
    this.#sleeper = new Sleeper(ports.timers);
    this.#heartbeat = new Heartbeat(ports.clock, ports.timers, {
      onBeat: () => this.#onBeat(),
      onPause: (lengthMs) => this.#onPause(lengthMs),
    });
  }

  get counters(): Readonly<HolderCounters> {
    return { ...this.#counters, quarantines: this.#losses.written };
  }

  get phase(): HolderPhase {
    return this.#phase;
  }

  /** The grant under which IDs are issued; undefined if no IDs are. */
  get grant(): Grant | undefined {
    return this.#life.grant;
  }

  /** The layout record of the namespace; undefined until it was read from the store, or from a resume record. */
  get layoutRecord(): LayoutRecord | undefined {
    return this.#life.layoutRecord ?? this.#losses.known.layout;
  }

  /** All worker IDs as the last look showed them. */
  get candidates(): Candidates | undefined {
    return this.#search.candidates;
  }

  /**
   * Starts, and resolves with the first grant. Retries while the store does not answer, or while a mark is ahead of the
   * clock.
   *
   * @throws IdError INVALID_CONFIG, LAYOUT_MISMATCH, CLOCK_BEFORE_EPOCH, TIMESTAMP_EXHAUSTED, NO_FREE_WORKER_ID: only
   * an operator can help. SHUTTING_DOWN if it is closed before.
   */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#started = { resolve, reject };
      this.#setPhase({ kind: "acquiring", problem: undefined });
      this.#heartbeat.start();
      this.#loop = this.#run();
    });
  }

  /** Reports that the window's end prevents an ID: the next renewal is sent at once. */
  wantWindow(): void {
    if (this.#failures === 0) this.#renewNow();
  }

  /** Reports that the clock is too far behind the last timestamp: another worker ID is looked for. */
  wantRebase(): void {
    if (!this.#parts.rebases || this.#phase.kind !== "holding" || this.grant === undefined) return;
    this.#setPhase({ kind: "rebasing", spare: "unknown" });
    this.#rebase.begin();
    this.#sleeper.wake();
  }

  /** See {@link claimBeside}. */
  async claimPast(request: PastRequest): Promise<PastGrant> {
    const grant = await claimBeside(this.#context, this.#losses, this.#life.rules, request);
    this.#counters.claims += 1;
    return grant;
  }

  /**
   * Stops issuing, and gives the worker ID back if the store answers in time. Never issues again afterwards, whether
   * the store answers or not.
   *
   * @param timeoutMs - Longest time to wait for the store; the worker ID becomes free by itself if that is not enough.
   */
  async close(timeoutMs: number): Promise<void> {
    if (this.#closing) return await this.#loop;
    this.#closing = true;
    this.#life.close();
    this.#heartbeat.stop();
    this.#setPhase({ kind: "releasing" });
    this.#started?.reject(new IdError("SHUTTING_DOWN", "The worker was closed before it had a worker ID."));
    this.#sleeper.wake();
    this.#loop = this.#loop.then(() => this.#releaseLast());
    await withinTime(this.#parts.ports, timeoutMs, this.#loop);
    this.#setPhase({ kind: "released" });
  }

  async #releaseLast(): Promise<void> {
    const { grant } = this;
    if (grant === undefined) return;
    this.#life.end(grant, "released", "closed");
    await this.#life.giveBack(grant);
  }

  async #run(): Promise<void> {
    await this.#resume();
    while (!this.#closing) {
      const waitMs = this.grant === undefined ? await this.#seek() : await this.#tend(this.grant);
      if (this.#closing || this.#phase.kind === "failed") return;
      if (waitMs > 0) await this.#sleeper.sleep(waitMs);
    }
  }

  // ---- without a grant

  /** Continues under the grant of an earlier life, if it left one that has time left. */
  async #resume(): Promise<void> {
    const { settings, ports } = this.#parts;
    const recalled = await this.#life.recall();
    if (recalled === undefined) return;
    this.#losses.onLayout(recalled.layoutRecord);
    for (const markMs of recalled.grant.marks()) this.#context.marks.see(markMs);
    this.#context.storeChanges.see(recalled.grant.incarnation.identity);
    const rules = windowRules(settings, this.store, recalled.layoutRecord.windowMaxMs);
    await this.#adopt({ ...recalled, rules }, "resumed");
    // Due at once: until the store is asked, it is not known whether the grant is still ours.
    this.#renewAtMs = ports.clock.monotonicMs();
  }

  /** @returns How long to wait before the next step. */
  async #seek(): Promise<number> {
    const problem = await this.#life.clearUp();
    if (problem !== undefined) {
      this.#report({ kind: "store-problem", during: "resume record", error: problem });
      this.#setPhase({ kind: "acquiring", problem });
      return lookAgainMs;
    }
    const step = await this.#search.step(this.#life.rules);
    if (step.kind === "granted") {
      await this.#adopt(step.granted, "acquired");
      return 0;
    }
    if (step.clockAheadMs !== undefined) this.#reportClockOff(step.clockAheadMs);
    if (this.#closing || (step.fatal !== undefined && this.#failStart(step.fatal))) return 0;
    this.#setPhase(step.phase);
    return step.waitMs;
  }

  /** @returns false if the start is over already: then nothing fails permanently. */
  #failStart(error: IdError): boolean {
    if (this.#started === undefined) return false;
    this.#heartbeat.stop();
    this.#setPhase({ kind: "failed", error });
    this.#started.reject(error);
    return true;
  }

  /** Takes a grant into use: its resume record first, then, in one step, everything else. */
  async #adopt(granted: Omit<Granted, "kind">, how: "acquired" | "resumed"): Promise<void> {
    await this.#life.prepare(granted);
    // A rebase ends the old grant and takes the new one into use with nothing in between.
    if (this.grant !== undefined) this.#life.end(this.grant, "released", "rebased");
    this.#failures = 0;
    this.#renewAtMs = granted.grant.confirmedAtMs + this.#parts.settings.renewalPeriodMs;
    this.#rebase.end();
    this.#counters.acquired += 1;
    this.#life.begin(granted, how);
    if (this.#closing) return;
    this.#setPhase({ kind: "holding" });
    this.#started?.resolve();
    this.#started = undefined;
  }

  // ---- with a grant

  /** @returns How long to wait before the next step. */
  async #tend(grant: Grant): Promise<number> {
    await this.#losses.tell(this.#life.rules);
    const nowMs = this.judge.monotonicMs();
    if (nowMs >= this.#rebase.dueAtMs) await this.#move(grant);
    else if (nowMs >= this.#renewAtMs) await this.#renew(grant);
    return Math.min(this.#renewAtMs, this.#rebase.dueAtMs) - this.judge.monotonicMs();
  }

  async #renew(grant: Grant): Promise<void> {
    const sentAtMs = this.judge.monotonicMs();
    this.#renewedAtMs = sentAtMs;
    const { untilMs } = grant;
    const outcome = await this.#life.renew(grant);
    // The heartbeat ended the grant meanwhile, so the answer is of no use any more.
    if (this.grant !== grant) return;
    this.#onRenewal(grant, outcome, sentAtMs + this.#parts.settings.renewalPeriodMs);
    if (outcome.kind === "renewed" && grant.untilMs === untilMs) this.#onNothingGained();
    if (this.grant === grant) this.#life.touch("renewed");
    this.#parts.onChange();
  }

  #onRenewal(grant: Grant, outcome: RenewalOutcome, nextAtMs: number): void {
    switch (outcome.kind) {
      case "renewed":
        this.#counters.renewed += 1;
        this.#failures = 0;
        this.#renewAtMs = nextAtMs;
        this.#life.extend();
        return;
      case "in-doubt":
      case "unwritten":
        this.#counters.ambiguous += 1;
        this.#failures += 1;
        this.#renewAtMs = this.judge.monotonicMs() + this.#retryMs(outcome.kind);
        // Before this write got no answer, an earlier one may have turned out to have landed.
        this.#life.extend();
        return;
      case "held-back":
        this.#renewAtMs = nextAtMs;
        return;
      case "clock-off":
        this.#reportClockOff(outcome.aheadMs);
        this.#renewAtMs = this.judge.monotonicMs() + lookAgainMs;
        this.#life.extend();
        return;
      case "lapsed":
        return this.#lose(grant, "lapsed", this.#whyLapsed());
      case "lost":
        return this.#lose(grant, "lost", outcome.detail);
      case "regressed":
        return this.#lose(grant, "regressed", outcome.detail);
    }
  }

  /**
   * Handles a renewal that was confirmed but moved nothing: if the store's clock is far behind, no mark may be higher.
   */
  #onNothingGained(): void {
    const aheadMs = clockAheadMs(this.judge.nowMs(), this.store.clockMs());
    if (aheadMs > this.#life.rules.leadMaxMs + 2 * clockErrorMs) this.#reportClockOff(aheadMs);
  }

  #retryMs(why: "in-doubt" | "unwritten"): number {
    const { ports, settings } = this.#parts;
    const { windowMs, renewalPeriodMs } = settings;
    const longMaxMs = Math.min(renewalPeriodMs, windowMs * longWindowRetryShare);
    const slowMaxMs = why === "unwritten" ? Math.min(unwrittenRetryMaxMs, windowMs * unwrittenRetryShare) : 0;
    const maxMs = Math.max(renewalRetry.maxMs, slowMaxMs, longMaxMs);
    return backoffMs(this.#failures, { ...renewalRetry, maxMs }, ports.random);
  }

  /** Moves to another worker ID, if one is available and the clock is still too far behind. */
  async #move(grant: Grant): Promise<void> {
    const step = await this.#rebase.step(grant);
    if (step.kind === "over") return this.#endRebase();
    if (step.kind !== "granted") {
      if (this.#phase.kind === "rebasing" && this.#phase.spare === "unknown") {
        this.#report({ kind: "rebase", aheadMs: step.aheadMs, outcome: step.kind });
        this.#setPhase({ kind: "rebasing", spare: "none" });
      }
      return;
    }
    const old = this.grant;
    await this.#adopt(step.granted, "acquired");
    this.#counters.rebased += 1;
    this.#report({ kind: "rebase", aheadMs: step.aheadMs, outcome: "moved" });
    // The old worker ID is given back only now, when nothing is issued under it any more.
    if (old !== undefined) await this.#life.giveBack(old);
  }

  /** Why no renewal moved the window's end in time. */
  #whyLapsed(): string {
    const { problem } = this.store;
    if (problem !== undefined) return `the window ended before a renewal was confirmed: ${problem.message}`;
    const aheadMs = clockAheadMs(this.judge.nowMs(), this.store.clockMs());
    if (aheadMs <= this.#life.rules.leadMaxMs + 2 * clockErrorMs) {
      return "the window ended before a renewal was confirmed";
    }
    return `the window ended: the store's clock is ${inSeconds(aheadMs)} behind, so that renewals could not move its end`;
  }

  #endRebase(): void {
    this.#rebase.end();
    if (this.#phase.kind === "rebasing") this.#setPhase({ kind: "holding" });
  }

  /** Ends a grant that was lost, and begins the search for another. */
  #lose(grant: Grant, end: Exclude<GrantEnd, "released">, detail: string): void {
    this.#life.end(grant, end, detail);
    if (end === "lapsed") this.#counters.lapsed += 1;
    else this.#counters.lost += 1;
    const { layout } = this.#parts.settings;
    const name = nameWorker(layout, grant.workerIndex);
    const message = `Worker ID ${name} was lost (${detail}); another is being acquired.`;
    const { datacenterId, workerId } = splitWorkerIndex(layout, grant.workerIndex);
    const metadata = { datacenter_id: datacenterId, worker_id: workerId, end };
    const problem = new IdError("WORKER_LEASE_LOST", message, { metadata });
    this.#search.begin(problem);
    this.#setPhase({ kind: "acquiring", problem });
  }

  // ---- at any time

  #onBeat(): void {
    const { grant } = this;
    // Read at each beat, with a grant or without, because the judge notices steps of the clock only when it is read.
    const wallMs = this.judge.nowMs();
    const usedMs = Math.max(wallMs, this.#parts.generator.lastMs);
    if (grant !== undefined) {
      if (hasLapsed(this.#context, grant)) {
        this.#lose(grant, "lapsed", this.#whyLapsed());
        this.#sleeper.wake();
      } else if (this.#rebase.isNeeded) {
        this.wantRebase();
      } else if (this.#phase.kind === "rebasing") {
        this.#endRebase();
      } else if (grant.untilMs - usedMs < this.#life.rules.windowMs / 2) {
        this.wantWindow();
      }
    }
    this.#life.touch("beat");
    const { phase, store } = this;
    const { settings } = this.#parts;
    this.#watch.look({ monotonicMs: this.judge.monotonicMs(), wallMs, phase, store, settings, grant: this.grant });
    // The clock stepped forward, and it is not decided yet whether that is right: the store's clock may show it.
    if (this.judge.state.kind !== "following" && this.store.clockMs() !== undefined) this.wantWindow();
    this.#parts.onChange();
  }

  #onPause(lengthMs: number): void {
    this.#counters.pauses += 1;
    this.#report({ kind: "pause", lengthMs });
    this.#renewNow();
  }

  #renewNow(): void {
    if (this.grant === undefined) return;
    const soonestMs = Math.max(this.judge.monotonicMs(), this.#renewedAtMs + renewalGapMs);
    this.#renewAtMs = Math.min(this.#renewAtMs, soonestMs);
    this.#sleeper.wake();
  }

  #onMoment(moment: StoreMoment): void {
    if (moment.clockMs !== undefined) this.judge.offerStoreClock(moment.clockMs);
    this.#losses.onMoment(moment);
  }

  /** Reports a wrong clock once a minute while it lasts. */
  #reportClockOff(aheadMs: number): void {
    const nowMs = this.judge.monotonicMs();
    if (nowMs < this.#nextClockOffMs) return;
    this.#nextClockOffMs = nowMs + clockOffReportPeriodMs;
    this.#report({ kind: "clock-off", aheadMs });
  }

  #setPhase(phase: HolderPhase): void {
    this.#phase = phase;
    this.#parts.onChange();
  }

  #report(event: WorkerEvent): void {
    this.#parts.ports.report(event);
  }
}

/** How far the wall clock is ahead of the store's; 0 if the store has no clock. */
function clockAheadMs(wallMs: number, storeMs: number | undefined): number {
  return storeMs === undefined ? 0 : wallMs - storeMs;
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Resolves with `work`, or after `timeoutMs`, whichever is first. */
async function withinTime(ports: WorkerPorts, timeoutMs: number, work: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = ports.timers.after(timeoutMs, resolve);
  await Promise.race([work, late]);
  cancel();
}
