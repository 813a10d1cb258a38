import type { Layout } from "../../src/snowflake/layout.ts";
import { type RollbackPolicy, rollbackRules } from "../../src/snowflake/rollback-policy.ts";
import type { IdRun } from "../../src/snowflake/run.ts";
import type { Entry } from "../../src/store/record-store.ts";
import type { WorkerEvent } from "../../src/lease/worker-event.ts";
import { recordKeys } from "../../src/lease/records/record-text.ts";
import { parseWorkerKey } from "../../src/lease/records/worker-record.ts";
import { leadMaxMs } from "../../src/lease/worker-settings.ts";
import { IssueHistory, type LossAllowance } from "./issue-history.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { StoreTraits } from "./simulated-store.ts";

/** The parts of a worker record's text, read by this file's own means, not by those of the code under test. */
interface SeenRecord {
  readonly workerIndex: number;
  readonly generation: number;
  readonly token: string;
  readonly markMs: number;
  readonly instance: string;
}

/** The checker's state of one process. */
interface Known {
  readonly instance: string;
  /** Places of its grants, by worker index. */
  readonly grants: Map<number, number>;
  /** How its last grant ended; undefined while it has one, and before the first. */
  endedGrant: string | undefined;
  /** True time of its start. */
  readonly sinceMs: number;
  /** Whether a grant of its began ahead of its clock. */
  beganAhead: boolean;
  /** The worker IDs that it may take. */
  readonly indexes: IndexRange;
  /** The worker ID of its last grant. */
  lastWorkerIndex: number | undefined;
  /** Grants of which an answer showed that the store has lost them. */
  readonly told: Set<number>;
}

interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/** What a process is at its start. */
export interface StartedProcess {
  readonly instance: string;
  /** True time of its start. */
  readonly sinceMs: number;
  readonly indexes: IndexRange;
  /** The copy whose life it goes on with, from the copied resume record. */
  readonly copyOf?: SimulatedProcess;
}

interface UnseenLoss {
  readonly allowance: LossAllowance;
  /** The texts that were lost, by key. */
  readonly lost: Map<string, string>;
  /** True time. */
  readonly atMs: number;
}

/** The instance in the record of a claim of the past. */
const claimPattern = /^(?:later )?past /;

/** Under load timestamps lead the clock by at most so much, or a tick. */
const burstMs = 10;

/** The record in a text; undefined for other records. */
function seeRecord(key: string, text: string): SeenRecord | undefined {
  const workerIndex = parseWorkerKey(key);
  if (workerIndex === undefined) return undefined;
  const {
    generation,
    token,
    hwmMs: markMs,
    holder,
  } = JSON.parse(text) as {
    generation: number;
    token: string;
    hwmMs: unknown;
    holder: { instance: string };
  };
  if (typeof markMs !== "number") throw new Error(`The checker finds no mark in ${text}.`);
  return { workerIndex, generation, token, markMs, instance: holder.instance };
}

/**
 * Holds all that happens against the promises S1 to S8 of docs/evidence.md, from outside: it sees the IDs that come out
 * of processes, the texts that the store takes and gives, and the clocks as they truly are.
 */
export class PromiseChecker {
  readonly history: IssueHistory;
  readonly #layout: Layout;
  readonly #traits: StoreTraits;
  /** Whether timestamps follow the clock: under `logical` they lag it without bound. */
  readonly #isDated: boolean;
  readonly #known = new Map<SimulatedProcess, Known>();
  /** Grants in the order in which the store took them, by instance, worker index and generation. */
  readonly #grantOrder = new Map<string, number>();
  /** Claims of the past among them, by worker index and end. */
  readonly #claimOrder = new Map<string, number>();
  readonly #tokens = new Set<string>();
  /** Grants that two copies of one process share, by the same name; also those that were only asked for. */
  readonly #shared = new Set<string>();
  readonly #sharedGrants = new Set<number>();
  /** The highest mark that an answer has confirmed to an instance, by instance and worker index. */
  readonly #confirmed = new Map<string, number>();
  /** The highest timestamp so far, less what its issuer's clock and lead allow it: true time cannot be below. */
  #floorMs = Number.NEGATIVE_INFINITY;
  #layoutText: string | undefined;
  /** The loss that did not show. */
  #loss: UnseenLoss | undefined;

  constructor(layout: Layout, traits: StoreTraits, rollbackPolicy: RollbackPolicy) {
    this.#layout = layout;
    this.#traits = traits;
    this.#isDated = rollbackRules[rollbackPolicy].advancesWith === "clock";
    this.history = new IssueHistory(layout, rollbackRules[rollbackPolicy].order);
  }

  /** To be told before anything else of a process. */
  onStart(process: SimulatedProcess, started: StartedProcess): void {
    const nothingYet = { endedGrant: undefined, beganAhead: false, lastWorkerIndex: undefined };
    this.#known.set(process, { ...started, ...nothingYet, grants: new Map(), told: new Set() });
    if (started.copyOf !== undefined) this.history.allowSuccessor(started.copyOf.name, process.name);
  }

  /** The worker ID that a process held last. */
  lastWorkerIndex(process: SimulatedProcess): number | undefined {
    return this.#known.get(process)?.lastWorkerIndex;
  }

  /**
   * The store went back, and says nothing of it. Until a mark is written, new grants may repeat what the lost records
   * had granted: up to their marks, and no longer than until an answer shows the loss to their holder.
   *
   * @param before - The texts that were there, by key.
   * @param after - Those that are there now.
   * @param trueMs - True time.
   * @returns Whether a worker record was lost.
   */
  onUnseenLoss(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>, trueMs: number): boolean {
    const lost = [...before].filter(([key, text]) => after.get(key) !== text);
    const bounds = lost.flatMap(([key, text]) => seeRecord(key, text) ?? []);
    const allowance: LossAllowance = { bounds, fromGrant: this.#tokens.size, untilGrant: Number.POSITIVE_INFINITY };
    this.#loss = { allowance, lost: new Map(lost), atMs: trueMs };
    this.history.allowLoss(allowance);
    return bounds.length > 0;
  }

  /** A copy lives on: it and its original share what they hold. */
  onClone(original: SimulatedProcess, copy: SimulatedProcess): void {
    for (const process of [original, copy]) {
      for (const grant of this.#known.get(process)?.grants.values() ?? []) this.#sharedGrants.add(grant);
    }
    const asked = [...original.mirror.askedFor].flatMap(([key, text]) => seeRecord(key, text) ?? []);
    const noted = original.notedTexts.flatMap(([key, text]) => seeRecord(key, text) ?? []);
    const bounds = [...asked, ...noted];
    for (const { instance, workerIndex, generation } of bounds) {
      this.#shared.add(`${instance} ${workerIndex} ${generation}`);
    }
    this.history.allowClone({ names: [original.name, copy.name], bounds });
  }

  onEvent(process: SimulatedProcess, event: WorkerEvent): void {
    const known = this.#known.get(process);
    if (known === undefined) return;
    if (event.kind === "grant-ended") known.endedGrant = event.end;
    if (event.kind !== "acquired" && event.kind !== "resumed") return;
    known.endedGrant = undefined;
    known.beganAhead ||= event.fromMs > process.machine.nowMs();
    const workerIndex = event.datacenterId * (this.#layout.worker.max + 1) + event.workerId;
    known.lastWorkerIndex = workerIndex;
    const name = `${known.instance} ${workerIndex} ${event.generation}`;
    const order = this.#grantOrder.get(name);
    if (order !== undefined && this.#shared.has(name)) this.#sharedGrants.add(order);
    // A holder may think that it has a grant which the store never took: then every ID of it is one too many.
    known.grants.set(workerIndex, order ?? 0);
  }

  /**
   * A claimer of the past issued a run. S4 and S5 do not hold for it: its IDs carry the times of old rows.
   *
   * @param claim - Worker index, beginning and end of its claim: Unix milliseconds.
   */
  onPastRun(claim: string, run: IdRun): void {
    const { history } = this;
    const [workerIndex = 0, fromMs = 0, untilMs = 0] = claim.split(" ").map(Number);
    const order = this.#claimOrder.get(`${workerIndex} ${untilMs}`);
    const name = `claim ${claim}`;
    if (order === undefined) history.break("P", `${name} issued, and no such claim is in the store`);
    const timestampMs = history.add(run, { name, grant: order ?? 0, isShared: false });
    const isInside = timestampMs >= fromMs && timestampMs < untilMs;
    // A tick may be longer than a millisecond, and begins in the claim.
    if (!isInside || history.workerIndex(run.firstId) !== workerIndex) {
      history.break("P", `${name}: ${timestampMs} lies outside of the claim`);
    }
  }

  /** @returns The time of the run's tick. */
  onRun(process: SimulatedProcess, run: IdRun): number {
    const { history } = this;
    const known = this.#known.get(process)!;
    const workerIndex = history.workerIndex(run.firstId);
    const grant = known.grants.get(workerIndex) ?? 0;
    const timestampMs = history.add(run, { name: process.name, grant, isShared: this.#sharedGrants.has(grant) });
    const confirmedMs = this.#confirmed.get(`${known.instance} ${workerIndex}`) ?? Number.NEGATIVE_INFINITY;
    if (timestampMs >= confirmedMs) {
      history.break("S2", `${process.name}: ${timestampMs} is not below ${confirmedMs}, the mark confirmed to it`);
    }
    if (known.told.has(grant)) history.break("S1", `${process.name} issued after it was shown that its record is lost`);
    if (workerIndex < known.indexes.first || workerIndex > known.indexes.last) {
      history.break("S1", `${process.name} issued for worker ${workerIndex}, which is not among those bound to it`);
    }
    if (known.endedGrant !== undefined) history.break("S7", `${process.name} issued after ${known.endedGrant}`);
    this.#checkTime(process, known, timestampMs);
    return timestampMs;
  }

  /**
   * An answer has shown a record to a process of an instance.
   *
   * @param how - `shown`: by a store whose reads confirm nothing.
   */
  onRecord(instance: string, { key, text }: Entry, how: "shown" | "confirmed"): void {
    this.#tellOfLoss(instance, key, text);
    if (how === "shown") return;
    const record = seeRecord(key, text);
    if (record?.instance !== instance) return;
    const id = `${instance} ${record.workerIndex}`;
    this.#confirmed.set(id, Math.max(record.markMs, this.#confirmed.get(id) ?? record.markMs));
  }

  /**
   * The store took a write.
   *
   * @param trueMs - True time.
   * @param machine - Whose clock bounds marks: the store's where it has one, else the holder's.
   * @returns The mark that it set, for the trace; undefined for other records.
   */
  onApplied(
    key: string,
    text: string,
    trueMs: number,
    machineOf: (instance: string) => SimulatedMachine,
  ): number | undefined {
    if (key === recordKeys.layout) this.#checkLayout(text);
    if (key === recordKeys.quarantine || key === recordKeys.incarnation) this.#onMark(text);
    const record = seeRecord(key, text);
    if (record === undefined) return undefined;
    const { token, instance, workerIndex, generation, markMs } = record;
    if (token === "" && claimPattern.test(instance) && !this.#tokens.has(text)) {
      this.#tokens.add(text);
      this.#claimOrder.set(`${workerIndex} ${markMs}`, this.#tokens.size);
    }
    // A write that came twice has put the grant back.
    const lost = this.#loss?.lost.get(key);
    if (lost !== undefined && seeRecord(key, lost)?.token === token) this.#loss?.lost.delete(key);
    if (token !== "" && !this.#tokens.has(token)) {
      this.#tokens.add(token);
      this.#grantOrder.set(`${instance} ${workerIndex} ${generation}`, this.#tokens.size);
    }
    // S8: a mad clock cannot burn a worker ID.
    const skewMs = machineOf(instance).aheadMaxMs + 1_000;
    const boundMs = trueMs + this.#traits.timing.windowMs + leadMaxMs(this.#layout) + skewMs;
    if (markMs > boundMs) this.history.break("S8", `${key}: the mark is ${markMs - boundMs} ms above what it may be`);
    return markMs;
  }

  /** Of a loss that did not show, the first mark ends what it excuses. */
  #onMark(text: string): void {
    const { sinceMs, t0Ms } = JSON.parse(text) as { readonly sinceMs?: number; readonly t0Ms?: number };
    if (this.#loss === undefined || (sinceMs ?? t0Ms ?? 0) < this.#loss.atMs - 1_000) return;
    const { allowance } = this.#loss;
    allowance.untilGrant = Math.min(allowance.untilGrant, this.#tokens.size);
  }

  #tellOfLoss(instance: string, key: string, text: string): void {
    const workerIndex = parseWorkerKey(key);
    const before = this.#loss?.lost.get(key);
    if (workerIndex === undefined || before === undefined || before === text) return;
    for (const known of this.#known.values()) {
      const grant = known.grants.get(workerIndex);
      if (known.instance !== instance || grant === undefined) continue;
      if (grant <= this.#loss!.allowance.fromGrant) known.told.add(grant);
    }
  }

  /** The checks that are possible only at the end. */
  finish(): void {
    this.history.checkUnique();
    this.history.checkGrants();
  }

  /** S4 and S5: how far a timestamp may be from true time, and from every timestamp before it. */
  #checkTime(process: SimulatedProcess, { beganAhead, sinceMs }: Known, timestampMs: number): void {
    const { machine } = process;
    const tickMs = Math.ceil(this.#layout.tickNs / 1_000_000);
    const { trueMs } = machine;
    // A grant begins at the next tick, which may be a whole one ahead.
    const leadMs =
      Math.max(burstMs, tickMs) + tickMs + (machine.hasRegressed || beganAhead ? leadMaxMs(this.#layout) : 0);
    const aheadMs = machine.believedAheadMaxMs(sinceMs) + leadMs + 1;
    if (timestampMs > trueMs + aheadMs) {
      const detail = `${process.name}: ${timestampMs - trueMs} ms ahead; its clock and lead allow ${aheadMs}`;
      this.history.break("S5", detail);
    }
    if (!this.#isDated) return;
    const behindMs = machine.backwardMs + tickMs + 1;
    if (timestampMs < trueMs - behindMs) {
      const detail = `${process.name}: ${trueMs - timestampMs} ms behind, its clock at most ${behindMs}`;
      this.history.break("S5", detail);
    }
    if (timestampMs < this.#floorMs - behindMs) {
      const detail = `${process.name}: ${timestampMs} after others had issued ${this.#floorMs} beyond all skew`;
      this.history.break("S4", detail);
    }
    this.#floorMs = Math.max(this.#floorMs, timestampMs - aheadMs);
  }

  /** S6: another deployment may begin in an emptied store, but never with another layout. */
  #checkLayout(text: string): void {
    const { epochMs, tickNs, fields } = JSON.parse(text) as Record<string, unknown>;
    const layout = JSON.stringify({ epochMs, tickNs, fields });
    if (this.#layoutText !== undefined && this.#layoutText !== layout) this.history.break("S6", text);
    this.#layoutText = layout;
  }
}
