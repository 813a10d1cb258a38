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
  type PruneOutcome,
  type PruneRequest,
  periodAheadMaxMs,
  raisedAheadMs,
  type RaiseRequest,
  type Replacement,
  type LookNote,
  type SequenceStore,
  type ServerRow,
  type StopRequest,
  type TakeRequest,
  type WitnessRequest,
} from "../../../src/sequence/sequence-store.ts";
import { earliestStartMs } from "../../../src/sequence/period.ts";
import type { Note, TakeWitness } from "../../../src/sequence/take-witness.ts";
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
  readonly raisedRevision: number;
  readonly raisedIdentity: string;
  readonly epoch: number;
  readonly emptiedRevision: number;
  readonly move: string;
  readonly member: Member;
}

/** Everything that a database of sequences keeps, so that a test can put an older copy back. */
export interface SequenceData {
  readonly database: DatabaseState | undefined;
  readonly sequences: ReadonlyMap<string, StoredSequence>;
  readonly counters: ReadonlyMap<string, Counter>;
  /** The rows of a process by its process_id. */
  readonly witness: ReadonlyMap<string, ServerRow & { readonly lines: ReadonlyMap<number, string> }>;
}

interface Counter {
  readonly used: bigint;
  readonly taken: bigint;
  readonly writeId: string;
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
  "take-ignores-witness",
  "no-taken-count",
  "give-back-keeps-taken-count",
  "give-back-ignores-write-id",
  "give-back-counts-again",
  "give-back-after-move",
  "opens-at-once",
  "no-begun-count",
  "pruned-begins-again",
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
  #counters = new Map<string, Counter>();
  #witness = new Map<string, ServerRow & { readonly lines: ReadonlyMap<number, string> }>();
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
    const [sequences, counters] = [new Map(this.#sequences), new Map(this.#counters)];
    return { database: this.#database, sequences, counters, witness: new Map(this.#witness) };
  }

  /** Puts a copy in the database of all data. */
  restore({ database, sequences, counters, witness }: SequenceData): void {
    this.#witness = new Map(witness);
    this.#database = database;
    this.#sequences = new Map(sequences);
    this.#counters = new Map(counters);
  }

  /** Puts the counters of a copy in the database of the existing ones, and changes nothing else. */
  restoreCounters({ counters }: SequenceData): void {
    this.#counters = new Map(counters);
  }

  /** Sets a counter by hand. */
  editCounter(key: CounterKey, used: bigint): void {
    const counter = this.#counters.get(counterId(key));
    if (counter !== undefined) this.#counters.set(counterId(key), { ...counter, used });
  }

  /** Loses the counter of one sequence and period. */
  loseCounter(key: CounterKey): void {
    this.#counters.delete(counterId(key));
  }

  look(keys: readonly CounterKey[], processId = ""): Look {
    if (this.#database === undefined && this.#sequences.size === 0 && this.#counters.size === 0) {
      const { identity } = this;
      const { storeId, stripeIndex: index, stripeCount: count } = this.#member;
      const member = { storeId, index, count, members: "" };
      const raised = { raisedCount: 0n, raisedUntilMs: 0, raisedRevision: -1, raisedIdentity: "" };
      this.#database = {
        identity,
        stopped: "",
        revision: 1,
        openMs: 0,
        ...raised,
        epoch: 0,
        emptiedRevision: -1,
        move: "",
        member,
      };
    }
    const sequences = new Map<string, StoredSequence>();
    const counters = new Map<string, bigint>();
    const lowered = new Map<string, bigint>();
    for (const key of keys) {
      const stored = this.#sequences.get(key.name);
      if (stored !== undefined) sequences.set(key.name, { ...stored, revision: this.#database?.revision ?? -1 });
      const counter = this.#counters.get(counterId(key));
      if (counter !== undefined) counters.set(counterId(key), counter.used);
      if (counter !== undefined && counter.used < counter.taken) lowered.set(counterId(key), counter.taken);
    }
    const witness = this.#witness.get(processId)?.lines ?? new Map<number, string>();
    const { identity } = this;
    return { database: this.#database, identity, clockMs: this.nowMs(), sequences, counters, lowered, witness };
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
    this.#sequences.set(name, { ...stored, epoch: 0, closedBefore: "", begunCount: 0, revision: -1 });
    this.#counters.set(id, { used: this.#database!.raisedCount, taken: 0n, writeId });
    return true;
  }

  replace({ sequenceId, before, after, updatedMs }: Replacement, name: string): boolean {
    const stored = this.#sequences.get(name);
    if (stored?.sequenceId !== sequenceId || !equalDefinitions(stored.definition, before)) return false;
    this.#sequences.set(name, { ...stored, definition: after, updatedMs });
    if (after.disabled && !before.disabled) this.#raiseEpoch(name);
    return true;
  }

  take(request: TakeRequest, note: Note): bigint | undefined {
    const { count, endCount, writeId } = request;
    // As in PostgreSQL, where the row is written although nothing is taken then.
    if (!this.#note(note) && this.#mutant !== "take-ignores-witness") return undefined;
    if (!this.#mayTake(request)) return undefined;
    const id = counterId(request);
    const zero = this.#mutant === "missing-counter-is-zero" ? { used: 0n, taken: 0n, writeId: "" } : undefined;
    const counter = this.#counters.get(id) ?? zero;
    if (counter === undefined || counter.used >= endCount || counter.used > indexMax - BigInt(count)) return undefined;
    if (counter.taken > counter.used) return undefined;
    const taken = this.#mutant === "no-taken-count" ? 0n : counter.taken + BigInt(count);
    this.#counters.set(id, { used: counter.used + BigInt(count), taken, writeId });
    return counter.used;
  }

  beginPeriod(request: TakeRequest, startMs: number): number {
    const stored = this.#sequences.get(request.name);
    const lostCount = Math.max(0, (stored?.begunCount ?? 0) - this.#periodsOf(request.name).length);
    const isLost = lostCount > 0 && this.#mutant !== "no-begun-count";
    const isClosed = request.periodKey < (stored?.closedBefore ?? "") && this.#mutant !== "pruned-begins-again";
    if (isLost) return lostCount;
    if (!isClosed) this.#beginPeriod(request, startMs);
    return 0;
  }

  prune({ name, before, mode }: PruneRequest): PruneOutcome {
    const keys = this.#periodsOf(name).toSorted();
    const newest = keys
      .slice(-2)
      .toReversed()
      .find((key) => key < before);
    if (newest !== undefined) return { kind: "newest", key: newest };
    const old = keys.filter((key) => key < before);
    const stored = this.#sequences.get(name);
    if (mode === "write" && stored !== undefined) {
      for (const periodKey of old) this.#counters.delete(counterId({ name, periodKey }));
      const closedBefore = stored.closedBefore < before ? before : stored.closedBefore;
      this.#sequences.set(name, { ...stored, closedBefore });
      this.#notePeriods(name);
    }
    return { kind: "pruned", count: old.length };
  }

  /** The keys of the periods that have a counter. */
  #periodsOf(name: string): readonly string[] {
    return [...this.#counters.keys()].filter((id) => id.startsWith(`${name}\n`)).map((id) => id.slice(name.length + 1));
  }

  #notePeriods(name: string): void {
    const stored = this.#sequences.get(name);
    if (stored !== undefined) this.#sequences.set(name, { ...stored, begunCount: this.#periodsOf(name).length });
  }

  #beginPeriod(request: TakeRequest, startMs: number): void {
    const id = counterId(request);
    const hasFirst = this.#counters.has(counterId({ name: request.name, periodKey: "" }));
    if (!this.#mayTake(request) || !hasFirst || this.#counters.has(id)) return;
    if (startMs > this.nowMs() + periodAheadMaxMs) return;
    this.#counters.set(id, { used: this.#baseOf(startMs), taken: 0n, writeId: request.writeId });
    this.#notePeriods(request.name);
  }

  giveBack(request: GiveBackRequest): boolean {
    const counter = this.#counters.get(counterId(request));
    const mayGive = this.#mutant === "give-back-after-move" || this.#mayTake(request);
    if (!mayGive || counter?.used !== request.endIndex) return false;
    const isAgain = this.#mutant === "give-back-counts-again" && this.#given.has(request.newWriteId);
    const isOwn = counter.writeId === request.writeId || this.#mutant === "give-back-ignores-write-id";
    if (!isOwn && !isAgain) return false;
    this.#given.add(request.newWriteId);
    const given = this.#mutant === "give-back-keeps-taken-count" ? 0n : request.endIndex - request.firstIndex;
    const taken = counter.taken - given;
    this.#counters.set(counterId(request), { used: request.firstIndex, taken, writeId: request.newWriteId });
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
    if (request.kind !== "all") {
      const isRaised =
        request.kind === "to"
          ? this.#raiseTo(request.key, request.index, writeId)
          : this.#raiseBy(counterId(request.key), request.count, writeId);
      if (isRaised) this.#raiseEpoch(request.key.name);
      return isRaised ? 1 : 0;
    }
    if (this.#database === undefined || this.#database.stopped === "") return undefined;
    const raisedCount = least(this.#database.raisedCount + request.count, indexMax);
    const aheadMs = this.#mutant === "raise-ends-now" ? 0 : raisedAheadMs;
    const [raisedRevision, raisedIdentity] = [this.#database.revision, this.identity];
    const raised = { raisedCount, raisedUntilMs: this.nowMs() + aheadMs, raisedRevision, raisedIdentity };
    this.#database = { ...this.#database, ...raised };
    // A period that was lost begins above the raise.
    for (const name of this.#sequences.keys()) this.#notePeriods(name);
    return [...this.#counters.keys()].filter((id) => this.#raiseBy(id, request.count, writeId)).length;
  }

  stop({ reason, revision, emptiesStock, by }: StopRequest): boolean {
    if (this.#database === undefined || (this.#database.stopped !== "" && by === "server")) return false;
    if (this.#database.revision !== revision && this.#mutant !== "stop-ignores-revision") return false;
    const emptiedRevision = emptiesStock ? this.#database.revision + 1 : this.#database.emptiedRevision;
    this.#database = { ...this.#database, stopped: reason, revision: this.#database.revision + 1, emptiedRevision };
    return true;
  }

  open(): OpenOutcome {
    const names = [...this.#sequences.keys()].filter((name) => !this.#counters.has(counterId({ name, periodKey: "" })));
    if (names.length > 0) return { kind: "missing", names: names.toSorted().slice(0, 10) };
    if (this.#database === undefined || this.#database.stopped === "") return { kind: "was-open" };
    const { raisedRevision, raisedIdentity } = this.#database;
    const isRaised = raisedRevision === this.#database.revision && raisedIdentity === this.identity;
    if (!isRaised) return { kind: "not-raised" };
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

  makeWitness({ rows, formerId, ...server }: WitnessRequest): void {
    this.#witness.delete(formerId);
    if (this.#witness.has(server.processId)) return;
    const lines = new Map(rows.map(({ line, writeId }) => [line, writeId]));
    this.#witness.set(server.processId, { ...server, lines });
  }

  noteLook(note: LookNote): boolean {
    if (!this.#note(note)) return false;
    const { processId, seenMs, epoch } = note;
    this.#witness.set(processId, { ...this.#witness.get(processId)!, seenMs, epoch });
    return true;
  }

  servers(): readonly ServerRow[] {
    const servers = [...this.#witness.values()].map(serverOf);
    return servers.toSorted((a, b) => (`${a.server} ${a.processId}` < `${b.server} ${b.processId}` ? -1 : 1));
  }

  dropWitness(processId: string, seenMs?: number): void {
    if (seenMs === undefined || this.#witness.get(processId)?.seenMs === seenMs) this.#witness.delete(processId);
  }

  #note({ processId, line, before, after }: Note): boolean {
    const row = this.#witness.get(processId);
    if (row?.lines.get(line) !== before && (this.#mutant !== "take-ignores-witness" || row === undefined)) return false;
    this.#witness.set(processId, { ...row, lines: new Map(row.lines).set(line, after) });
    return true;
  }

  #raiseEpoch(name: string): void {
    const epoch = Math.max(this.#database!.epoch + 1, this.nowMs());
    this.#database = { ...this.#database!, epoch };
    const stored = this.#sequences.get(name);
    if (stored !== undefined) this.#sequences.set(name, { ...stored, epoch });
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
    const stored = this.#sequences.get(key.name);
    if (counter === undefined && key.periodKey !== "" && key.periodKey < (stored?.closedBefore ?? "")) return false;
    const base =
      counter === undefined && this.#database !== undefined ? this.#baseOf(earliestStartMs(key.periodKey)) : 0n;
    const taken = counter?.taken ?? 0n;
    this.#counters.set(counterId(key), { used: base > index ? base : index, taken, writeId });
    if (counter === undefined && this.#periodsOf(key.name).length > (stored?.begunCount ?? 0))
      this.#notePeriods(key.name);
    return true;
  }

  #raiseBy(id: string, count: bigint, writeId: string): boolean {
    const counter = this.#counters.get(id);
    if (counter === undefined) return false;
    this.#counters.set(id, { ...counter, used: least(counter.used + count, indexMax), writeId });
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
  // One call at a time on each line, as on a connection.
  const lines: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
  let turn = 0;
  const take = async (request: TakeRequest, witness: TakeWitness): Promise<bigint | undefined> => {
    turn = (turn + 1) % lines.length;
    const line = turn;
    const call = lines[line]!.then(async () => {
      const note = witness.begin(line + 1);
      const firstIndex = await carry(() => database().take(request, note), "take");
      if (firstIndex !== undefined) witness.confirm(note);
      return firstIndex;
    });
    lines[line] = call.catch(() => {});
    return call;
  };
  return {
    kind: "sqlite",
    lineCount: lines.length,
    look: (keys, processId) => carry(() => database().look(keys, processId), "look"),
    list: (range) => carry(() => database().list(range), "list"),
    create: (sequence, revision) => carry(() => database().create(sequence, revision), "create"),
    replace: (replacement, name) => carry(() => database().replace(replacement, name), "replace"),
    take,
    beginPeriod: (request, startMs) => carry(() => database().beginPeriod(request, startMs), "beginPeriod"),
    prune: (request) => carry(() => database().prune(request), "prune"),
    giveBack: (request) => carry(() => database().giveBack(request), "giveBack"),
    cover: (marks, writeId) => carry(() => database().cover(marks, writeId), "cover"),
    raise: (request, writeId) => carry(() => database().raise(request, writeId), "raise"),
    stop: (request) => carry(() => database().stop(request), "stop"),
    open: () => carry(() => database().open(), "open"),
    join: (request) => carry(() => database().join(request), "join"),
    makeWitness: (request) => carry(() => database().makeWitness(request), "makeWitness"),
    noteLook: (note) => carry(() => database().noteLook(note), "noteLook"),
    servers: () => carry(() => database().servers(), "servers"),
    dropWitness: (processId, seenMs) => carry(() => database().dropWitness(processId, seenMs), "dropWitness"),
    close: async () => {},
  };
}

function serverOf({ processId, server, seenMs, epoch }: ServerRow): ServerRow {
  return { processId, server, seenMs, epoch };
}
