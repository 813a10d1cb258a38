import { decomposeId, type Layout, ticksToMsDown } from "../../snowflake/layout.ts";
import type { AuditReader } from "./audit-input.ts";

/** The things that can be wrong with an ID among many. */
export const findingKinds = [
  "equal",
  "foreign-worker",
  "foreign-time",
  "order",
  "lost-digits",
  "not-of-layout",
  "unreadable",
] as const;

/** One of {@link findingKinds}. */
export type FindingKind = (typeof findingKinds)[number];

/** One case of a finding. */
export interface FindingExample {
  /** The ID, or the text that is not one. */
  readonly text: string;
  /** The file, a colon, and the line or the record; several for an ID that came more than once. */
  readonly places: readonly string[];
}

/** How often a finding was made, with the first cases. */
export interface Finding {
  count: number;
  readonly examples: FindingExample[];
}

/** The IDs of one datacenter and worker. */
export interface WorkerCount {
  readonly datacenterId: number;
  readonly workerId: number;
  count: number;
  /** Unix milliseconds. */
  firstMs: number;
  lastMs: number;
}

/** The limits that the IDs should keep. */
export interface AuditRules {
  /** The layout by which IDs are read: a bit outside its fields is a finding. */
  readonly layout: Layout;
  /** The worker IDs that may be there; undefined = any. */
  readonly workerIds: ReadonlySet<number> | undefined;
  /** The datacenter IDs that may be there; undefined = any. */
  readonly datacenterIds: ReadonlySet<number> | undefined;
  /** No ID should be older: Unix milliseconds, inclusive. */
  readonly fromMs: number;
  /** Every ID should be older: Unix milliseconds, exclusive. */
  readonly untilMs: number;
}

/** Cases that are shown of each finding. */
export const examplesMax = 10;
/** Random numbers have as many workers as the layout; a deployment has fewer than this. */
const workersMax = 65_536;

/** Judges IDs one by one, in the order of their files. Equal IDs are found by sorting, elsewhere. */
export class AuditFindings implements AuditReader {
  readonly findings = new Map<FindingKind, Finding>();
  readonly workers = new Map<number, WorkerCount>();
  readonly files: string[] = [];
  idCount = 0;
  readonly #rules: AuditRules;
  readonly #onId: (id: bigint) => void;
  readonly #rounding: Rounding;
  /** The last ID of each worker in this file: IDs of one worker rise. */
  #lastIds = new Map<number, bigint>();

  /** @param onId - Called with each ID. */
  constructor(rules: AuditRules, onId: (id: bigint) => void) {
    this.#rules = rules;
    this.#onId = onId;
    this.#rounding = new Rounding(rules.layout);
  }

  begin(name: string): void {
    this.files.push(name);
    this.#lastIds = new Map();
  }

  id(id: bigint, place: number): void {
    this.idCount++;
    this.#onId(id);
    const { layout, workerIds, datacenterIds, fromMs, untilMs } = this.#rules;
    if (id >> BigInt(layout.bits) !== 0n) {
      this.note("not-of-layout", String(id), place);
      return;
    }
    const { ticks, datacenterId, workerId } = decomposeId(layout, id);
    const timeMs = ticksToMsDown(layout, ticks);
    if (timeMs < fromMs || timeMs >= untilMs) this.note("foreign-time", String(id), place);
    const isOfWorkers = workerIds === undefined || workerIds.has(workerId);
    if (!isOfWorkers || datacenterIds?.has(datacenterId) === false) this.note("foreign-worker", String(id), place);
    if (this.#rounding.add(id)) this.#rounding.examples.push({ text: String(id), places: [this.placeOf(place)] });
    const key = datacenterId * (layout.worker.max + 1) + workerId;
    if (!this.#countWorker(key, datacenterId, workerId, timeMs)) return;
    const lastId = this.#lastIds.get(key);
    if (lastId !== undefined && id < lastId) this.note("order", String(id), place);
    this.#lastIds.set(key, id);
  }

  unreadable(text: string, place: number): void {
    const isRounded = /^\d(?:\.\d+)?[eE]\+?\d{2}$|^\d{11,19}\.0+$/.test(text);
    this.note(isRounded ? "lost-digits" : "unreadable", text.slice(0, 80), place);
  }

  /** Notes one case. */
  note(kind: FindingKind, text: string, place: number): void {
    const finding = this.#findingOf(kind);
    finding.count++;
    if (finding.examples.length < examplesMax) finding.examples.push({ text, places: [this.placeOf(place)] });
  }

  /** Adds a finding of all IDs. */
  add(kind: FindingKind, count: number, examples: readonly FindingExample[]): void {
    if (count === 0) return;
    const finding = this.#findingOf(kind);
    finding.count += count;
    finding.examples.push(...examples.slice(0, examplesMax - finding.examples.length));
  }

  /** Adds the findings that only all IDs together show. Call it once, after the last ID. */
  end(): void {
    this.add("lost-digits", this.#rounding.count(this.idCount), this.#rounding.examples);
  }

  placeOf(place: number): string {
    return `${this.files.at(-1)}:${place}`;
  }

  #findingOf(kind: FindingKind): Finding {
    let finding = this.findings.get(kind);
    if (finding === undefined) this.findings.set(kind, (finding = { count: 0, examples: [] }));
    return finding;
  }

  /** @returns Whether the worker is among the first 65,536. */
  #countWorker(key: number, datacenterId: number, workerId: number, timeMs: number): boolean {
    let worker = this.workers.get(key);
    if (worker === undefined) {
      if (this.workers.size === workersMax) return false;
      worker = { datacenterId, workerId, count: 0, firstMs: timeMs, lastMs: timeMs };
      this.workers.set(key, worker);
    }
    worker.count++;
    if (timeMs < worker.firstMs) worker.firstMs = timeMs;
    if (timeMs > worker.lastMs) worker.lastMs = timeMs;
    return true;
  }
}

/** From this share of IDs on, rounded ones are a finding; by chance one in a hundred looks rounded. */
const roundedShare = 0.05;
/** Smaller IDs are not judged, because a double loses three bits of them at most. */
const idMin = 2n ** 56n;
/** The seven lowest bits, all of which a double loses of an ID of 60 bits, and the ten lowest bits of the sequence. */
const [lostBits, sequenceBits] = [0x7fn, 0x3ffn];

/**
 * Counts IDs that look as if a program had kept them as a double: in decimal, the last digits are 0 (JavaScript,
 * Excel); in binary, the lowest bits are 0 (pandas, a cast in SQL). One ID proves nothing, because one in a hundred
 * ends with 00.
 */
class Rounding {
  readonly examples: FindingExample[] = [];
  readonly #hasLowSequence: boolean;
  #decimal = 0;
  #binary = 0;
  /** IDs whose ten lowest bits are not all 0; those of an ID with sequence 0 are 0 without any rounding. */
  #sequenced = 0;

  constructor(layout: Layout) {
    this.#hasLowSequence = layout.sequence.bits >= 10 && layout.sequence.shift === 0;
  }

  /** @returns Whether this ID is an example that is still wanted. */
  add(id: bigint): boolean {
    if (id < idMin) return false;
    const isDecimal = id % 100n === 0n;
    const isSequenced = this.#hasLowSequence && (id & sequenceBits) !== 0n;
    const isBinary = isSequenced && (id & lostBits) === 0n;
    if (isDecimal) this.#decimal++;
    if (isSequenced) this.#sequenced++;
    if (isBinary) this.#binary++;
    return (isDecimal || isBinary) && this.examples.length < examplesMax;
  }

  /** How many IDs lost digits; 0 where chance explains them. */
  count(total: number): number {
    return Math.max(signOf(this.#decimal, total), signOf(this.#binary, this.#sequenced));
  }
}

function signOf(rounded: number, total: number): number {
  if (total < 2) return 0;
  return rounded === total || (rounded >= 3 && rounded > total * roundedShare) ? rounded : 0;
}
