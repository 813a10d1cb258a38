import {
  type CounterKey,
  counterId,
  type GiveBackRequest,
  type JoinRequest,
  type ListRange,
  type Look,
  type Mark,
  type Member,
  newMember,
  type NewSequence,
  openAheadMaxMs,
  openAheadMs,
  type OpenOutcome,
  periodAheadMaxMs,
  raisedAheadMs,
  type RaiseRequest,
  type Replacement,
  type SequenceStore,
  type TakeRequest,
} from "../../../src/sequence/sequence-store.ts";
import { earliestStartMs } from "../../../src/sequence/period.ts";
import { equalDefinitions, type StoredSequence } from "../../../src/sequence/sequence.ts";

const indexMax = 2n ** 63n - 1n;
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

interface DatabaseState {
  readonly identity: string;
  readonly stopped: string;
  readonly revision: number;
  readonly openMs: number;
  readonly raisedCount: bigint;
  readonly raisedUntilMs: number;
  readonly member: Member;
}

/** Everything that a database of sequences keeps, so that a test can put an older copy back. */
export interface SequenceData {
  readonly database: DatabaseState | undefined;
  readonly sequences: ReadonlyMap<string, StoredSequence>;
  readonly counters: ReadonlyMap<string, { readonly used: bigint; readonly writeId: string }>;
}

/** Rules of the database that a mutant leaves out. */
export const sequenceMutants = [
  "missing-counter-is-zero",
  "period-below-raise",
  "raise-ends-now",
  "cover-makes-lost-counter",
  "take-ignores-identity",
  "take-ignores-revision",
  "take-ignores-sequence-id",
  "give-back-ignores-write-id",
  "give-back-counts-again",
  "give-back-after-move",
  "opens-at-once",
  "stop-ignores-revision",
] as const;
export type SequenceMutant = (typeof sequenceMutants)[number];

/** A database of sequences in memory: what the three real ones do, statement by statement. */
export class MemorySequences {
  identity: string;
  nowMs: () => number;
  readonly #mutant: SequenceMutant | undefined;
  readonly #member: ReturnType<typeof newMember>;
  #database: DatabaseState | undefined;
  #sequences = new Map<string, StoredSequence>();
  #counters = new Map<string, { used: bigint; writeId: string }>();
  /** The write_ids of the ranges that went back. */
  readonly #given = new Set<string>();

  constructor(identity: string, nowMs: () => number, mutant?: SequenceMutant, member = newMember()) {
    this.#member = member;
    this.identity = identity;
    this.nowMs = nowMs;
    this.#mutant = mutant;
  }

  /** A copy of all data. */
  copy(): SequenceData {
    return { database: this.#database, sequences: new Map(this.#sequences), counters: new Map(this.#counters) };
  }

  /** Puts a copy in the place of all data. */
  restore({ database, sequences, counters }: SequenceData): void {
    this.#database = database;
    this.#sequences = new Map(sequences);
    this.#counters = new Map(counters);
  }

  /** Puts the counters of a copy in the place of those that stand, and changes nothing else. */
  restoreCounters({ counters }: SequenceData): void {
    this.#counters = new Map(counters);
  }

  /** Loses the counter of one sequence and period. */
  loseCounter(key: CounterKey): void {
    this.#counters.delete(counterId(key));
  }

  look(keys: readonly CounterKey[]): Look {
    if (this.#database === undefined && this.#sequences.size === 0 && this.#counters.size === 0) {
      const { identity } = this;
      const { storeId, stripeIndex: index, stripeCount: count } = this.#member;
      const member = { storeId, index, count, members: "" };
      this.#database = { identity, stopped: "", revision: 1, openMs: 0, raisedCount: 0n, raisedUntilMs: 0, member };
    }
    const sequences = new Map<string, StoredSequence>();
    const counters = new Map<string, bigint>();
    for (const key of keys) {
      const stored = this.#sequences.get(key.name);
      if (stored !== undefined) sequences.set(key.name, stored);
      const counter = this.#counters.get(counterId(key));
      if (counter !== undefined) counters.set(counterId(key), counter.used);
    }
    return { database: this.#database, identity: this.identity, clockMs: this.nowMs(), sequences, counters };
  }

  list({ afterName, prefix, count }: ListRange): readonly StoredSequence[] {
    return [...this.#sequences.values()]
      .filter(({ definition: { name } }) => name > afterName && name.startsWith(prefix))
      .toSorted((a, b) => (a.definition.name < b.definition.name ? -1 : 1))
      .slice(0, count);
  }

  create({ stored, writeId }: NewSequence, revision: number): boolean {
    const { name } = stored.definition;
    const id = counterId({ name, periodKey: "" });
    if (!this.#isOpen(revision) || this.#sequences.has(name) || this.#counters.has(id)) return false;
    this.#sequences.set(name, stored);
    this.#counters.set(id, { used: this.#database!.raisedCount, writeId });
    return true;
  }

  replace({ sequenceId, before, after, updatedMs }: Replacement, name: string): boolean {
    const stored = this.#sequences.get(name);
    if (stored?.sequenceId !== sequenceId || !equalDefinitions(stored.definition, before)) return false;
    this.#sequences.set(name, { ...stored, definition: after, updatedMs });
    return true;
  }

  take(request: TakeRequest): bigint | undefined {
    const { count, endCount, writeId } = request;
    if (!this.#mayTake(request)) return undefined;
    const id = counterId(request);
    const zero = this.#mutant === "missing-counter-is-zero" ? { used: 0n, writeId: "" } : undefined;
    const counter = this.#counters.get(id) ?? zero;
    if (counter === undefined || counter.used >= endCount || counter.used > indexMax - BigInt(count)) return undefined;
    this.#counters.set(id, { used: counter.used + BigInt(count), writeId });
    return counter.used;
  }

  beginPeriod(request: TakeRequest, startMs: number): void {
    const id = counterId(request);
    const hasFirst = this.#counters.has(counterId({ name: request.name, periodKey: "" }));
    if (!this.#mayTake(request) || !hasFirst || this.#counters.has(id)) return;
    if (startMs > this.nowMs() + periodAheadMaxMs) return;
    this.#counters.set(id, { used: this.#baseOf(startMs), writeId: request.writeId });
  }

  giveBack(request: GiveBackRequest): boolean {
    const counter = this.#counters.get(counterId(request));
    const mayGive = this.#mutant === "give-back-after-move" || this.#mayTake(request);
    if (!mayGive || counter?.used !== request.endIndex) return false;
    const isAgain = this.#mutant === "give-back-counts-again" && this.#given.has(request.newWriteId);
    const isOwn = counter.writeId === request.writeId || this.#mutant === "give-back-ignores-write-id";
    if (!isOwn && !isAgain) return false;
    this.#given.add(request.newWriteId);
    this.#counters.set(counterId(request), { used: request.firstIndex, writeId: request.newWriteId });
    return true;
  }

  cover(marks: readonly Mark[], writeId: string): void {
    for (const mark of marks) {
      const isThere = this.#counters.has(counterId(mark));
      const isRaised = mark.periodKey !== "" && earliestStartMs(mark.periodKey) < (this.#database?.raisedUntilMs ?? 0);
      if (isThere || isRaised || this.#mutant === "cover-makes-lost-counter") this.#raiseTo(mark, mark.index, writeId);
    }
  }

  raise(request: RaiseRequest, writeId: string): number | undefined {
    if (request.kind === "to") return this.#raiseTo(request.key, request.index, writeId) ? 1 : 0;
    if (request.kind === "by") return this.#raiseBy(counterId(request.key), request.count, writeId) ? 1 : 0;
    if (this.#database === undefined || this.#database.stopped === "") return undefined;
    const raisedCount = least(this.#database.raisedCount + request.count, indexMax);
    const aheadMs = this.#mutant === "raise-ends-now" ? 0 : raisedAheadMs;
    this.#database = { ...this.#database, raisedCount, raisedUntilMs: this.nowMs() + aheadMs };
    return [...this.#counters.keys()].filter((id) => this.#raiseBy(id, request.count, writeId)).length;
  }

  stop(reason: string, revision: number): boolean {
    if (this.#database === undefined || this.#database.stopped !== "") return false;
    if (this.#database.revision !== revision && this.#mutant !== "stop-ignores-revision") return false;
    this.#database = { ...this.#database, stopped: reason, revision: this.#database.revision + 1 };
    return true;
  }

  open(): OpenOutcome {
    const names = [...this.#sequences.keys()].filter((name) => !this.#counters.has(counterId({ name, periodKey: "" })));
    if (names.length > 0) return { kind: "missing", names: names.toSorted().slice(0, 10) };
    if (this.#database === undefined || this.#database.stopped === "") return { kind: "was-open" };
    const revision = Math.max(this.#database.revision + 1, this.nowMs());
    const { identity } = this;
    const openMs = this.nowMs() + (this.#mutant === "opens-at-once" ? 0 : openAheadMs);
    this.#database = { ...this.#database, stopped: "", identity, revision, openMs };
    return { kind: "opened", revision };
  }

  join({ storeId, before, after, index }: JoinRequest): boolean {
    const member = this.#database?.member;
    if (this.#database === undefined || member?.storeId !== storeId || member.members !== before) return false;
    this.#database = { ...this.#database, member: { ...member, index, members: after } };
    return true;
  }

  /** Where a counter begins whose row may have been lost. */
  #baseOf(startMs: number): bigint {
    const { raisedCount, raisedUntilMs } = this.#database!;
    return startMs < raisedUntilMs && this.#mutant !== "period-below-raise" ? raisedCount : 0n;
  }

  #isOpen(revision: number): boolean {
    const database = this.#database;
    if (database === undefined || database.stopped !== "") return false;
    if (database.revision !== revision && this.#mutant !== "take-ignores-revision") return false;
    if (database.identity !== this.identity && this.#mutant !== "take-ignores-identity") return false;
    const aheadMs = database.openMs - this.nowMs();
    return aheadMs <= 0 || aheadMs > openAheadMaxMs;
  }

  #mayTake({ name, sequenceId, revision }: Pick<TakeRequest, "name" | "sequenceId" | "revision">): boolean {
    const stored = this.#sequences.get(name);
    if (stored === undefined || stored.definition.disabled || !this.#isOpen(revision)) return false;
    return stored.sequenceId === sequenceId || this.#mutant === "take-ignores-sequence-id";
  }

  #raiseTo(key: CounterKey, index: bigint, writeId: string): boolean {
    const counter = this.#counters.get(counterId(key));
    if (counter !== undefined && counter.used >= index) return false;
    const base =
      counter === undefined && this.#database !== undefined ? this.#baseOf(earliestStartMs(key.periodKey)) : 0n;
    this.#counters.set(counterId(key), { used: base > index ? base : index, writeId });
    return true;
  }

  #raiseBy(id: string, count: bigint, writeId: string): boolean {
    const counter = this.#counters.get(id);
    if (counter === undefined) return false;
    this.#counters.set(id, { used: least(counter.used + count, indexMax), writeId });
    return true;
  }
}

/** Runs one statement on the database of a test: at once, late, without an answer, or not at all. */
export type Carry = <T>(statement: () => T, name: string) => Promise<T>;

/** A store over a database in memory. */
export function memorySequenceStore(
  database: () => MemorySequences,
  carry: Carry = async (statement) => statement(),
): SequenceStore {
  return {
    kind: "sqlite",
    look: (keys) => carry(() => database().look(keys), "look"),
    list: (range) => carry(() => database().list(range), "list"),
    create: (sequence, revision) => carry(() => database().create(sequence, revision), "create"),
    replace: (replacement, name) => carry(() => database().replace(replacement, name), "replace"),
    take: (request) => carry(() => database().take(request), "take"),
    beginPeriod: (request, startMs) => carry(() => database().beginPeriod(request, startMs), "beginPeriod"),
    giveBack: (request) => carry(() => database().giveBack(request), "giveBack"),
    cover: (marks, writeId) => carry(() => database().cover(marks, writeId), "cover"),
    raise: (request, writeId) => carry(() => database().raise(request, writeId), "raise"),
    stop: (reason, revision) => carry(() => database().stop(reason, revision), "stop"),
    open: () => carry(() => database().open(), "open"),
    join: (request) => carry(() => database().join(request), "join"),
    close: async () => {},
  };
}
