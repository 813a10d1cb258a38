import type { IdError } from "../errors.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { Entry, RecordKey } from "../store/record-store.ts";
import type { UnusedGrants } from "./unused-grants.ts";
import { clockErrorMs } from "./window.ts";
import { parseWorkerKey, readWorkerSlot, type WorkerRecord } from "./records/worker-record.ts";
import { splitWorkerIndex } from "./worker-settings.ts";

/** Whether a worker record may be taken. */
type Availability =
  /** Absent, released or expired: it may be taken. */
  | { readonly kind: "free" }
  /** In a store with locks: it has a holder, dead or alive; a process that gets the lock may take it. */
  | { readonly kind: "locked-maybe" }
  /**
   * Its holder has time left: until `untilMs` by the clock that counts. `isSilent`: its time is over by our clock, but
   * we have not yet watched the record stay unchanged for long enough.
   */
  | { readonly kind: "held"; readonly untilMs: number; readonly isSilent: boolean };

/** A worker ID that may be asked for. */
export interface Candidate {
  readonly workerIndex: number;
  /** undefined: there is no record yet. */
  readonly entry: Entry | undefined;
  /** The record of the entry. For a grant of ours that was never used, its mark is the beginning of that grant. */
  readonly record: WorkerRecord | undefined;
  readonly availability: Availability;
}

/**
 * Remembers since when this process has seen each record unchanged. Where the store has no clock, `expiresMs` was
 * written by another machine's clock and is compared with ours; so a record is expired only if it also stayed unchanged
 * for its TTL by our monotonic clock.
 */
export class UnchangedRecords {
  readonly #seen = new Map<RecordKey, { readonly text: string; readonly sinceMs: number; readonly moved: boolean }>();

  /** Takes note of a fresh list. */
  note(entries: readonly Entry[], monotonicMs: number): void {
    for (const { key, text } of entries) {
      const seen = this.#seen.get(key);
      if (seen?.text !== text) this.#seen.set(key, { text, sinceMs: monotonicMs, moved: seen !== undefined });
    }
  }

  /** For how long the record has been unchanged; 0 if it was never noted. */
  unchangedMs(key: RecordKey, monotonicMs: number): number {
    const seen = this.#seen.get(key);
    return seen === undefined ? 0 : monotonicMs - seen.sinceMs;
  }

  /** Whether the record was seen to change. */
  hasMoved(key: RecordKey): boolean {
    return this.#seen.get(key)?.moved ?? false;
  }
}

/** The facts that a record's availability depends on. */
export interface AvailabilityRules {
  /** How a dead holder is recognized: its time passes, or its lock is free. */
  readonly liveness: "ttl" | "lock";
  /** Whether the store may lose an answered write. */
  readonly durability: "durable" | "lossy";
  /** How long a record has to stay unchanged where the store has no clock, in milliseconds. */
  readonly ttlMs: number;
  /** The store's clock; undefined where it does not have one. */
  readonly storeMs: number | undefined;
  /** Our wall clock, in Unix milliseconds; it decides where the store has no clock. */
  readonly wallMs: number;
  /** Our monotonic clock, at the same moment. */
  readonly monotonicMs: number;
  /** Since when each record has been unchanged. */
  readonly unchanged: UnchangedRecords;
  /** Grants that this process wrote and never used. */
  readonly unused: UnusedGrants;
}

/** Judges whether a record may be taken over. Uniqueness does not depend on it, except where a store may lose data. */
function judgeAvailability(
  entry: Entry | undefined,
  record: WorkerRecord | undefined,
  rules: AvailabilityRules,
): Availability {
  if (entry === undefined || record === undefined || record.token === "") return { kind: "free" };
  if (rules.liveness === "lock") return { kind: "locked-maybe" };
  const nowMs = rules.storeMs ?? rules.wallMs;
  const untilMs = holderUntilMs(record, rules.durability);
  if (nowMs < untilMs) return { kind: "held", untilMs, isSilent: false };
  if (rules.storeMs !== undefined) return { kind: "free" };
  const stillMs = rules.unchanged.unchangedMs(entry.key, rules.monotonicMs);
  if (stillMs >= rules.ttlMs) return { kind: "free" };
  // The record was written again after its time was over by our clock: its holder is alive, and our clock is ahead.
  const renewedInOurPast = rules.unchanged.hasMoved(entry.key) && nowMs - stillMs >= untilMs;
  return { kind: "held", untilMs: nowMs + rules.ttlMs - stillMs, isSilent: !renewedInOurPast };
}

/**
 * Until when no other process may take over a record whose `expiresMs` alone shows that its holder is dead: Unix
 * milliseconds by the clock that decides.
 */
export function holderUntilMs(
  { expiresMs, markMs }: Pick<WorkerRecord, "expiresMs" | "markMs">,
  durability: "durable" | "lossy",
): number {
  // A lossy store may have forgotten renewals, so the holder may be issuing up to its mark. It is certain to have
  // stopped only when the mark is past by every clock.
  return durability === "lossy" ? Math.max(expiresMs, markMs + 2 * clockErrorMs) : expiresMs;
}

/** The worker IDs that are looked at. */
export interface CandidateRange {
  readonly layout: Layout;
  readonly first: number;
  readonly count: number;
  readonly datacenterIds: readonly number[] | "all";
}

/**
 * The worker ID from which on the reserve begins: the last eighth of each datacenter, or of the range where there are
 * no datacenters. Grants take those only when no other is free: a grant uses up the past of its worker ID for ever, and
 * a claim of the past needs one whose past was never used. docs/adr/0194 has the decision.
 */
export function reserveFrom({ layout, first, count }: Omit<CandidateRange, "datacenterIds">): number {
  const [from, size] = layout.datacenter.bits > 0 ? [0, 2 ** layout.worker.bits] : [first, count];
  return from + size - Math.floor(size / 8);
}

/** A range of at most this many worker IDs is searched in full; a larger one is sampled at random. */
const enumeratedMax = 65_536;
const drawsMax = 1_024;

/** All worker IDs that this process may ask for, with their records. */
export class Candidates {
  readonly #range: CandidateRange;
  readonly #rules: AvailabilityRules;
  readonly #entries = new Map<number, Entry>();
  /**
   * Why each record that is foreign, damaged or of a higher format cannot be read: no process may use these worker IDs.
   */
  readonly unreadable: IdError[] = [];
  readonly #marks: number[] = [];
  readonly #records = new Map<number, WorkerRecord>();

  constructor(entries: readonly Entry[], range: CandidateRange, rules: AvailabilityRules) {
    this.#range = range;
    this.#rules = rules;
    for (const entry of entries) {
      const workerIndex = parseWorkerKey(entry.key);
      if (workerIndex === undefined) continue;
      const slot = readWorkerSlot(entry);
      if (slot.kind !== "unreadable") this.#marks.push((slot.kind === "record" ? slot.record : slot.fence).markMs);
      if (!this.#isInRange(workerIndex)) continue;
      this.#entries.set(workerIndex, entry);
      if (slot.kind === "record") this.#records.set(workerIndex, slot.record);
      else this.unreadable.push(slot.error);
    }
  }

  /** Worker IDs that this process may ask for, taken or not. */
  get total(): number {
    const { layout, count, datacenterIds } = this.#range;
    if (datacenterIds === "all" || count === 1) return count;
    if (count < layout.workerCount) return this.#isInRange(this.#range.first) ? count : 0;
    return datacenterIds.length * 2 ** layout.worker.bits;
  }

  /**
   * Worker IDs that have no holder, as far as the records show. In a store with locks, those of a dead holder count as
   * held.
   */
  get free(): number {
    let taken = this.unreadable.length;
    for (const { availability } of this.recorded()) if (availability.kind !== "free") taken += 1;
    return this.total - taken;
  }

  /** The mark of each record that shows one, including worker IDs that this process may not ask for; in no order. */
  get marks(): readonly number[] {
    return this.#marks;
  }

  /** Worker IDs with a record, in no order. */
  *recorded(): Generator<Candidate> {
    for (const workerIndex of this.#records.keys()) yield this.#candidate(workerIndex);
  }

  /**
   * Yields the worker IDs that `accept` takes, in random order: first those outside of the reserve, then the reserve.
   * Within each part the free ones come first, then those whose lock has to be tried.
   *
   * @param random - From 0 inclusive to 1 exclusive.
   */
  *inRandomOrder(accept: (candidate: Candidate) => boolean, random: () => number): Generator<Candidate> {
    for (const isReserve of [false, true]) {
      const later: Candidate[] = [];
      for (const workerIndex of this.#randomIndexes(isReserve, random)) {
        if (this.#entries.has(workerIndex) && !this.#records.has(workerIndex)) continue;
        const candidate = this.#candidate(workerIndex);
        if (candidate.availability.kind === "held" || !accept(candidate)) continue;
        if (candidate.availability.kind === "free") yield candidate;
        else later.push(candidate);
      }
      yield* later;
    }
  }

  #candidate(workerIndex: number): Candidate {
    const entry = this.#entries.get(workerIndex);
    const record = this.#records.get(workerIndex);
    const unusedFromMs = entry && this.#rules.unused.startMs(entry);
    if (record !== undefined && unusedFromMs !== undefined) {
      return { workerIndex, entry, record: { ...record, markMs: unusedFromMs }, availability: { kind: "free" } };
    }
    return { workerIndex, entry, record, availability: judgeAvailability(entry, record, this.#rules) };
  }

  *#randomIndexes(isReserve: boolean, random: () => number): Generator<number> {
    const { layout, first, count } = this.#range;
    const fromId = reserveFrom(this.#range);
    const isOfPart = (index: number): boolean =>
      this.#isInRange(index) && splitWorkerIndex(layout, index).workerId >= fromId === isReserve;
    if (count > enumeratedMax) {
      for (let draw = 0; draw < drawsMax; draw += 1) {
        const workerIndex = first + Math.floor(random() * count);
        if (isOfPart(workerIndex)) yield workerIndex;
      }
      return;
    }
    const indexes = Array.from({ length: count }, (_, offset) => first + offset).filter(isOfPart);
    for (let left = indexes.length; left > 0; left -= 1) {
      const chosen = Math.floor(random() * left);
      const workerIndex = indexes[chosen]!;
      indexes[chosen] = indexes[left - 1]!;
      yield workerIndex;
    }
  }

  #isInRange(workerIndex: number): boolean {
    const { layout, first, count, datacenterIds } = this.#range;
    if (workerIndex < first || workerIndex >= first + count) return false;
    return datacenterIds === "all" || datacenterIds.includes(splitWorkerIndex(layout, workerIndex).datacenterId);
  }
}
