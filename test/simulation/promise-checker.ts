import type { Layout } from "../../src/snowflake/layout.ts";
import { type RollbackPolicy, rollbackRules } from "../../src/snowflake/rollback-policy.ts";
import type { IdRun } from "../../src/snowflake/run.ts";
import type { Entry } from "../../src/store/record-store.ts";
import type { WorkerEvent } from "../../src/lease/worker-event.ts";
import { recordKeys } from "../../src/lease/records/record-text.ts";
import { parseWorkerKey } from "../../src/lease/records/worker-record.ts";
import { leadMaxMs } from "../../src/lease/worker-settings.ts";
import { IssueHistory } from "./issue-history.ts";
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
}

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
 * Holds all that happens against the promises S1 to S8 of docs/safety.md, from outside: it sees the IDs that come out
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
  readonly #tokens = new Set<string>();
  /** Grants that two copies of one process share, by the same name; also those that were only asked for. */
  readonly #shared = new Set<string>();
  readonly #sharedGrants = new Set<number>();
  /** The highest mark that an answer has confirmed to an instance, by instance and worker index. */
  readonly #confirmed = new Map<string, number>();
  /** The highest timestamp so far, less what its issuer's clock and lead allow it: true time cannot be below. */
  #floorMs = Number.NEGATIVE_INFINITY;
  #layoutText: string | undefined;

  constructor(layout: Layout, traits: StoreTraits, rollbackPolicy: RollbackPolicy) {
    this.#layout = layout;
    this.#traits = traits;
    this.#isDated = rollbackRules[rollbackPolicy].advancesWith === "clock";
    this.history = new IssueHistory(layout, rollbackRules[rollbackPolicy].order);
  }

  /** To be told before anything else of a process. */
  onStart(process: SimulatedProcess, instance: string, sinceMs: number): void {
    this.#known.set(process, { instance, sinceMs, grants: new Map(), endedGrant: undefined, beganAhead: false });
  }

  /** A copy lives on: it and its original share what they hold. */
  onClone(original: SimulatedProcess, copy: SimulatedProcess): void {
    for (const process of [original, copy]) {
      for (const grant of this.#known.get(process)?.grants.values() ?? []) this.#sharedGrants.add(grant);
    }
    const bounds = [...original.mirror.askedFor].flatMap(([key, text]) => seeRecord(key, text) ?? []);
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
    const name = `${known.instance} ${workerIndex} ${event.generation}`;
    const order = this.#grantOrder.get(name);
    if (order !== undefined && this.#shared.has(name)) this.#sharedGrants.add(order);
    // A holder may think that it has a grant which the store never took: then every ID of it is one too many.
    known.grants.set(workerIndex, order ?? 0);
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
    if (known.endedGrant !== undefined) history.break("S7", `${process.name} issued after ${known.endedGrant}`);
    this.#checkTime(process, known, timestampMs);
    return timestampMs;
  }

  /** An answer has shown a record to a process of an instance. */
  onRecord(instance: string, { key, text }: Entry): void {
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
    const record = seeRecord(key, text);
    if (record === undefined) return undefined;
    const { token, instance, workerIndex, generation, markMs } = record;
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
