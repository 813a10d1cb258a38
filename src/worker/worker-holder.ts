/**
 * Holds one worker ID: acquires it, renews its window, moves to another one when the clock went back too far, and gives
 * it back.
 *
 * This is the protocol of docs/safety.md, once, above every store. One loop does all that talks to the store, one thing
 * at a time; a heartbeat beside it watches the clock. IDs are issued only while there is a grant, and `#end` is the one
 * place where it goes.
 */
import { IdError } from "../errors.ts";
import { type AcquireOutcome, acquire, unlock } from "./acquire.ts";
import { type Candidates, UnchangedRecords } from "./candidates.ts";
import { ClockJudge } from "./clock-judge.ts";
import type { Grant } from "./grant.ts";
import type { GrantedGenerator } from "./granted-generator.ts";
import { Heartbeat } from "./heartbeat.ts";
import { type Granted, GrantSearch } from "./grant-search.ts";
import { createHolderCounters, type HolderCounters, type HolderPhase } from "./holder-phase.ts";
import { LossNotices } from "./loss-notices.ts";
import { asStoreError, ObservedStore, wentBack } from "./observed-store.ts";
import { HighestMark, type ProtocolContext } from "./protocol-context.ts";
import type { RecordStore, StoreMoment } from "./record-store.ts";
import { release } from "./release.ts";
import { ResumeKeeper } from "./resume-keeper.ts";
import type { RecalledGrant } from "./resume-record.ts";
import { hasLapsed, type RenewalOutcome, renew } from "./renewal.ts";
import { retryDelayMs, Sleeper } from "./sleeper.ts";
import { UnusedGrants } from "./unused-grants.ts";
import type { WindowRules } from "./window.ts";
import type { GrantEnd, WorkerEvent } from "./worker-event.ts";
import type { WorkerPorts } from "./worker-ports.ts";
import type { LayoutRecord } from "./worker-record.ts";
import { splitWorkerIndex, type WorkerSettings, windowRules } from "./worker-settings.ts";

/** What a {@link WorkerHolder} is made of. */
export interface WorkerHolderParts {
  readonly store: RecordStore;
  readonly settings: WorkerSettings;
  readonly ports: WorkerPorts;
  readonly generator: GrantedGenerator;
  /** Whether a clock that went back too far is answered by moving to another worker ID. */
  readonly rebases: boolean;
  /** Called after each change of grant, window or phase, and at each heartbeat. */
  readonly onChange: () => void;
}

const renewalRetry = { firstMs: 50, maxMs: 500 };
/** However urgent renewals are, they are not sent more often than this. */
const renewalGapMs = 100;
const clockOffReportPeriodMs = 60_000;
/** How often a state that only time can change is looked at again. */
const lookAgainMs = 1_000;
/** See the head of this file. */
export class WorkerHolder {
  readonly #counters = createHolderCounters();
  /** The wall clock as judged: what IDs are issued by. */
  readonly judge: ClockJudge;
  readonly store: ObservedStore;
  readonly #parts: WorkerHolderParts;
  readonly #context: ProtocolContext;
  readonly #losses = new LossNotices();
  readonly #search: GrantSearch;
  /** undefined where there is no resuming. */
  #keeper: ResumeKeeper | undefined;
  readonly #sleeper: Sleeper;
  readonly #heartbeat: Heartbeat;
  #phase: HolderPhase = { kind: "idle" };
  #grant: Grant | undefined;
  /** The grant that the generator issues under: the one above, or none. */
  #issuing: Grant | undefined;
  #rules: WindowRules;
  #layoutRecord: LayoutRecord | undefined;
  #candidates: Candidates | undefined;
  #started: { readonly resolve: () => void; readonly reject: (error: IdError) => void } | undefined;
  #loop: Promise<void> = Promise.resolve();
  #closing = false;
  /** Monotonic times at which the next renewal and the next try to rebase are due. */
  #renewAtMs = 0;
  #renewedAtMs = 0;
  #nextClockOffMs = 0;
  #rebaseAtMs = Number.POSITIVE_INFINITY;
  /** In a row, of whatever is being tried. */
  #failures = 0;
  /** Locks of grants that ended, to be given back before the next is asked for. */
  readonly #locksToGiveBack: string[] = [];
  /** Grants that ended, whose resume records may still stand. */
  readonly #recordsToRemove = new Set<Grant>();

  constructor(parts: WorkerHolderParts) {
    const { ports, settings } = parts;
    this.#parts = parts;
    this.judge = new ClockJudge(ports);
    this.store = new ObservedStore(parts.store, this.judge, {
      onMoment: (moment) => this.#onMoment(moment),
      onProblem: (during, error) => ports.report({ kind: "store-problem", during, error }),
      onRecovery: () => ports.report({ kind: "store-answers-again" }),
    });
    this.#rules = windowRules(settings, parts.store, settings.windowMaxMs ?? settings.windowMs);
    this.#context = {
      store: this.store,
      settings,
      ports,
      judge: this.judge,
      unchanged: new UnchangedRecords(),
      used: new Map(),
      unused: new UnusedGrants(),
      marks: new HighestMark(),
      noteCandidates: (candidates) => this.#noteCandidates(candidates),
      reportClockOff: (aheadMs) => this.#reportClockOff(aheadMs),
      checkLayout: (entries) => this.#losses.checkLayout(entries),
      seenLayout: () => this.#losses.seenLayout,
      noteLayout: (record) => this.#losses.onLayout(record),
      noteIncarnation: (noted) => this.#losses.onNoted(this.#context, noted),
      noteUnanswered: (grant) => this.#keeper?.note(grant),
    };
    this.#search = new GrantSearch(this.#context, this.#losses);
    this.#keeper = this.#createKeeper();
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

  /** The grant that IDs are issued under; undefined = not one ID. */
  get grant(): Grant | undefined {
    return this.#grant;
  }

  /** What the namespace agreed on; undefined before the first grant. */
  get layoutRecord(): LayoutRecord | undefined {
    return this.#layoutRecord;
  }

  /** All worker IDs as the last look showed them. */
  get candidates(): Candidates | undefined {
    return this.#candidates;
  }

  /**
   * Starts, and resolves with the first grant. While the store does not answer, or a mark has to be waited for, it goes
   * on trying.
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

  /** Says that the window's end stands in the way of an ID: the next renewal is sent at once. */
  wantWindow(): void {
    if (this.#failures === 0) this.#renewNow();
  }

  /** Says that the clock is behind the last timestamp by more than it may be: another worker ID is looked for. */
  wantRebase(): void {
    if (!this.#parts.rebases || this.#phase.kind !== "holding" || this.#grant === undefined) return;
    this.#setPhase({ kind: "rebasing", spare: "unknown" });
    this.#rebaseAtMs = this.judge.monotonicMs();
    this.#sleeper.wake();
  }

  /**
   * Stops issuing, and gives the worker ID back if the store answers in time. Never issues again afterwards, answer or
   * no answer.
   *
   * @param timeoutMs - Longest time to wait for the store; the worker ID comes free by itself if that is not enough.
   */
  async close(timeoutMs: number): Promise<void> {
    if (this.#closing) return await this.#loop;
    this.#closing = true;
    this.#stopIssuing();
    this.#heartbeat.stop();
    this.#setPhase({ kind: "releasing" });
    this.#started?.reject(new IdError("SHUTTING_DOWN", "The worker was closed before it had a worker ID."));
    this.#started = undefined;
    this.#sleeper.wake();
    this.#loop = this.#loop.then(() => this.#releaseLast());
    await withinTime(this.#parts.ports, timeoutMs, this.#loop);
    this.#setPhase({ kind: "released" });
  }

  async #releaseLast(): Promise<void> {
    const grant = this.#grant;
    if (grant === undefined) return;
    this.#end(grant, "released", "closed");
    await this.#giveBack(grant);
  }

  async #run(): Promise<void> {
    await this.#resume();
    while (!this.#closing) {
      const waitMs = this.#grant === undefined ? await this.#seek() : await this.#tend(this.#grant);
      if (this.#closing || this.#phase.kind === "failed") return;
      if (waitMs > 0) await this.#sleeper.sleep(waitMs);
    }
  }

  // ---- without a grant

  /** Goes on under the grant of an earlier life, if it left one that has time left. */
  async #resume(): Promise<void> {
    const { settings, ports } = this.#parts;
    const recalled = await this.#recall();
    if (recalled === undefined) return;
    this.#losses.onLayout(recalled.layoutRecord);
    const rules = windowRules(settings, this.store, recalled.layoutRecord.windowMaxMs);
    await this.#adopt({ ...recalled, rules }, "resumed");
    // Due at once: until the store is asked, nobody knows whether the grant is still ours.
    this.#renewAtMs = ports.clock.monotonicMs();
  }

  async #recall(): Promise<RecalledGrant | undefined> {
    try {
      return await this.#keeper?.recall();
    } catch (cause) {
      // What cannot be read cannot be gone on from, and what cannot be written would hold every ID up.
      this.#keeper = undefined;
      this.#report({ kind: "store-problem", during: "resume record", error: asStoreError(cause, "resume") });
      return undefined;
    }
  }

  /** @returns How long to wait before the next step. */
  async #seek(): Promise<number> {
    for (const key of this.#locksToGiveBack.splice(0)) await unlock(this.#context, key);
    const problem = await this.#removeRecords();
    if (problem !== undefined) return this.#onProblem(problem);
    const step = await this.#search.step(this.#rules);
    if (step.kind === "granted") {
      await this.#adopt(step.granted, "acquired");
      return 0;
    }
    if (this.#closing || (step.fatal !== undefined && this.#failStart(step.fatal))) return 0;
    this.#setPhase(step.phase);
    return step.waitMs;
  }

  /** @returns false if the start is over already: then nothing fails for good. */
  #failStart(error: IdError): boolean {
    if (this.#started === undefined) return false;
    this.#heartbeat.stop();
    this.#setPhase({ kind: "failed", error });
    this.#started.reject(error);
    this.#started = undefined;
    return true;
  }

  /** Takes a grant into use: its resume record first, then, in one step, everything else. */
  async #adopt({ grant, rules, layoutRecord }: Omit<Granted, "kind">, how: "acquired" | "resumed"): Promise<void> {
    await this.#keeper?.begin(grant, layoutRecord);
    const { generator, settings } = this.#parts;
    const { datacenterId, workerId } = splitWorkerIndex(settings.layout, grant.workerIndex);
    const { generation, fromMs, untilMs } = grant;
    // A rebase ends the old grant and takes up the new one with nothing in between.
    if (this.#grant !== undefined) this.#end(this.#grant, "released", "rebased");
    this.#grant = grant;
    this.#rules = rules;
    this.#layoutRecord = layoutRecord;
    this.#failures = 0;
    this.#renewAtMs = grant.confirmedAtMs + settings.renewalPeriodMs;
    this.#rebaseAtMs = Number.POSITIVE_INFINITY;
    this.#counters.acquired += 1;
    this.#report({ kind: how, datacenterId, workerId, generation, fromMs, untilMs });
    if (this.#closing) return;
    this.#issuing = grant;
    generator.grant({ datacenterId, workerId, fromMs, untilMs: this.#limitMs(grant) }, this.judge.nowMs());
    this.#setPhase({ kind: "holding" });
    this.#started?.resolve();
    this.#started = undefined;
  }

  // ---- with a grant

  /** @returns How long to wait before the next step. */
  async #tend(grant: Grant): Promise<number> {
    await this.#losses.tell(this.#context, this.#rules);
    const nowMs = this.judge.monotonicMs();
    if (nowMs >= this.#rebaseAtMs) await this.#rebase(grant);
    else if (nowMs >= this.#renewAtMs) await this.#renew(grant);
    return Math.min(this.#renewAtMs, this.#rebaseAtMs) - this.judge.monotonicMs();
  }

  async #renew(grant: Grant): Promise<void> {
    const { generator, settings } = this.#parts;
    const sentAtMs = this.judge.monotonicMs();
    this.#renewedAtMs = sentAtMs;
    const outcome = await renew(this.#context, grant, this.#rules, () => generator.lastMs);
    // The heartbeat ended it meanwhile: what the answer says is of no use any more.
    if (this.#grant !== grant) return;
    this.#onRenewal(grant, outcome, sentAtMs + settings.renewalPeriodMs);
    if (this.#grant === grant) this.#keeper?.touch(grant, true);
    this.#parts.onChange();
  }

  #onRenewal(grant: Grant, outcome: RenewalOutcome, nextAtMs: number): void {
    switch (outcome.kind) {
      case "renewed":
        this.#counters.renewed += 1;
        this.#failures = 0;
        this.#renewAtMs = nextAtMs;
        this.#extend(grant);
        return;
      case "unsettled":
        this.#counters.ambiguous += 1;
        this.#failures += 1;
        this.#renewAtMs =
          this.judge.monotonicMs() + retryDelayMs(this.#failures, renewalRetry, this.#parts.ports.random);
        // An earlier write may have turned out to have landed before this one stayed without an answer.
        this.#extend(grant);
        return;
      case "held-back":
        this.#renewAtMs = nextAtMs;
        return;
      case "clock-off":
        this.#reportClockOff(outcome.aheadMs);
        this.#renewAtMs = this.judge.monotonicMs() + lookAgainMs;
        this.#extend(grant);
        return;
      case "lapsed":
        return this.#end(grant, "lapsed", "the window ended before a renewal was confirmed");
      case "lost":
        return this.#end(grant, "lost", outcome.detail);
      case "went-back":
        return this.#end(grant, "went-back", outcome.detail);
    }
  }

  /** A renewal may be answered when issuing has stopped for good: then there is nothing to extend. */
  #extend(grant: Grant): void {
    if (this.#issuing === grant) this.#parts.generator.extend(this.#limitMs(grant));
  }

  /** Up to where a grant may be used: what the store confirmed, and what its resume record covers. */
  #limitMs(grant: Grant): number {
    return Math.min(grant.untilMs, this.#keeper?.limitMs(grant) ?? Number.POSITIVE_INFINITY);
  }

  async #rebase(grant: Grant): Promise<void> {
    const { generator, ports, settings } = this.#parts;
    const aheadMs = generator.lastMs - this.judge.nowMs();
    if (aheadMs <= settings.leadMaxMs) return this.#endRebase();
    this.#rebaseAtMs = this.judge.monotonicMs() + lookAgainMs * (0.5 + ports.random());
    const outcome = await this.#acquireSpare(grant);
    if (outcome?.kind !== "granted") {
      if (this.#grant === grant && this.#phase.kind === "rebasing" && this.#phase.spare === "unknown") {
        this.#report({ kind: "rebase", aheadMs, outcome: settings.range.count === 1 ? "pinned" : "no-spare" });
        this.#setPhase({ kind: "rebasing", spare: "none" });
      }
      return;
    }
    const old = this.#grant;
    await this.#adopt(outcome, "acquired");
    this.#counters.rebased += 1;
    this.#report({ kind: "rebase", aheadMs, outcome: "moved" });
    // Only now: it issues nothing any more.
    if (old !== undefined) await this.#giveBack(old);
  }

  /** @returns undefined where there can be none, or the store does not answer. */
  async #acquireSpare(grant: Grant): Promise<AcquireOutcome | undefined> {
    if (this.#parts.settings.range.count === 1) return undefined;
    try {
      return await acquire(this.#context, { excluded: new Set([grant.workerIndex]), markAheadMaxMs: 0 });
    } catch (cause) {
      if (!(cause instanceof IdError)) throw cause;
      if (wentBack(cause)) this.#losses.wentBack(cause.message);
      return undefined;
    }
  }

  #endRebase(): void {
    this.#rebaseAtMs = Number.POSITIVE_INFINITY;
    if (this.#phase.kind === "rebasing") this.#setPhase({ kind: "holding" });
  }

  async #giveBack(grant: Grant): Promise<void> {
    this.#recordsToRemove.add(grant);
    // Its record must be gone first: a restart would go on from it. If it cannot be removed, the worker ID comes free
    // by itself.
    if ((await this.#removeRecords()) !== undefined) return;
    const outcome = await release(this.#context, grant, this.#rules);
    if (outcome.kind === "went-back") this.#losses.wentBack(outcome.detail);
    await unlock(this.#context, grant.key);
  }

  /** Ends a grant: from here on, not one more ID under it. */
  #end(grant: Grant, end: GrantEnd, detail: string): void {
    this.#stopIssuing();
    this.#grant = undefined;
    grant.end(end);
    this.#report({ kind: "grant-ended", end, workerIndex: grant.workerIndex, detail });
    if (end === "released") return;
    if (end === "lapsed") this.#counters.lapsed += 1;
    else this.#counters.lost += 1;
    if (end === "went-back") this.#losses.wentBack(detail);
    this.#locksToGiveBack.push(grant.key);
    this.#recordsToRemove.add(grant);
    this.#failures = 0;
    const message = `Worker ID ${grant.workerIndex} was lost (${detail}); another is being acquired.`;
    const problem = new IdError("WORKER_LEASE_LOST", message, { metadata: { worker_index: grant.workerIndex, end } });
    this.#search.begin(problem);
    this.#setPhase({ kind: "acquiring", problem });
  }

  /** From here on nothing is issued until the next grant; and it is noted up to where the present one was used. */
  #stopIssuing(): void {
    const { generator } = this.#parts;
    if (this.#issuing !== undefined) {
      this.#issuing.usedToMs = generator.markMs;
      this.#context.used.set(this.#issuing.workerIndex, generator.markMs);
    }
    generator.revoke();
    this.#issuing = undefined;
  }

  // ---- at any time

  #onBeat(): void {
    const grant = this.#grant;
    const nowMs = this.judge.nowMs();
    if (grant !== undefined) {
      const { lastMs } = this.#parts.generator;
      if (hasLapsed(this.#context, grant)) {
        this.#end(grant, "lapsed", "the window ended before a renewal was confirmed");
        this.#sleeper.wake();
      } else if (lastMs - nowMs > this.#parts.settings.leadMaxMs) {
        this.wantRebase();
      } else if (this.#phase.kind === "rebasing") {
        this.#endRebase();
      } else if (grant.untilMs - Math.max(nowMs, lastMs) < this.#rules.windowMs / 2) {
        this.wantWindow();
      }
    }
    if (this.#grant !== undefined) this.#keeper?.touch(this.#grant, false);
    // A step forward that is not decided yet: the store's clock may know.
    if (this.judge.state.kind !== "following" && this.store.clockMs() !== undefined) this.wantWindow();
    this.#parts.onChange();
  }

  #createKeeper(): ResumeKeeper | undefined {
    const { generator, ports, settings, store } = this.#parts;
    // Where locks tell who lives, the store is a local file: as near as a journal would be.
    if (ports.journal === undefined || store.liveness.kind === "lock") return undefined;
    return new ResumeKeeper({
      journal: ports.journal,
      settings,
      judge: this.judge,
      lastMs: () => generator.lastMs,
      onAdvance: () => {
        if (this.#grant !== undefined) this.#extend(this.#grant);
        this.#parts.onChange();
      },
      report: ports.report,
    });
  }

  /** @returns Why one of them may still stand. */
  async #removeRecords(): Promise<IdError | undefined> {
    for (const grant of this.#recordsToRemove) {
      try {
        await this.#keeper?.end(grant);
        this.#recordsToRemove.delete(grant);
      } catch (cause) {
        if (!(cause instanceof IdError)) throw cause;
        return cause;
      }
    }
    return undefined;
  }

  #onProblem(problem: IdError): number {
    this.#report({ kind: "store-problem", during: "resume record", error: problem });
    this.#setPhase({ kind: "acquiring", problem });
    return lookAgainMs;
  }

  #onPause(lengthMs: number): void {
    this.#counters.pauses += 1;
    this.#report({ kind: "pause", lengthMs });
    this.#renewNow();
  }

  #renewNow(): void {
    if (this.#grant === undefined) return;
    const soonestMs = Math.max(this.judge.monotonicMs(), this.#renewedAtMs + renewalGapMs);
    this.#renewAtMs = Math.min(this.#renewAtMs, soonestMs);
    this.#sleeper.wake();
  }

  #onMoment(moment: StoreMoment): void {
    if (moment.clockMs !== undefined) this.judge.offerStoreClock(moment.clockMs);
    this.#losses.onMoment(moment);
  }

  #noteCandidates(candidates: Candidates): void {
    this.#candidates = candidates;
    for (const { record } of candidates.recorded()) if (record !== undefined) this.#context.marks.see(record.hwmMs);
    for (const { error } of candidates.damaged) {
      this.#report({ kind: "store-problem", during: "list", error: asStoreError(error, this.store.kind) });
    }
  }

  /** Said once a minute while it lasts. */
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

/** Resolves with `work`, or after `timeoutMs`, whichever is first. */
async function withinTime(ports: WorkerPorts, timeoutMs: number, work: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = ports.timers.after(timeoutMs, resolve);
  await Promise.race([work, late]);
  cancel();
}
