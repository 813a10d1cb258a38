import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { systemClock } from "../../clock/clock.ts";
import type { OpenFile } from "../../store/sqlite/open-file.ts";
import { version } from "../../version.ts";
import { StoreFile, type StoreFileOptions } from "../../store/sqlite/store-file.ts";
import {
  type CounterKey,
  counterId,
  type GiveBackRequest,
  type JoinRequest,
  type ListRange,
  type Look,
  type LookNote,
  type Mark,
  newMember,
  type NewSequence,
  type OpenOutcome,
  type PruneOutcome,
  type PruneRequest,
  type RaiseRequest,
  type Replacement,
  type ServerRow,
  type StopRequest,
  type TakeRequest,
  type WitnessRequest,
} from "../sequence-store.ts";
import type { MoveRequest } from "../movable-store.ts";
import { earliestStartMs } from "../period.ts";
import type { StoredSequence } from "../sequence.ts";
import type { Note, WitnessRows } from "../take-witness.ts";
import {
  neverRead,
  databaseOf,
  replacementValues,
  type SequenceRow,
  serverOf,
  storedOf,
  valuesOf,
} from "./sequence-row.ts";
import { countBegun } from "./migrations.ts";
import { markOf, moveWrites } from "./move-writes.ts";
import { markValues, rangeValues, unionRows, writeStatements } from "./statements.ts";

/** The path of the file, how it is used, and the namespace. */
export interface SequenceFileOptions extends StoreFileOptions {
  /** Sequences of other namespaces in the file are ignored. */
  readonly namespace: string;
  /** The number of stripes of a file that is created: 1 to 64. Default: 1. */
  readonly stripeCount?: number | undefined;
}

const witnessSql = `
    CREATE TABLE snowlane_sequence_witness (namespace TEXT NOT NULL, process_id TEXT NOT NULL, line INTEGER NOT NULL,
      write_id TEXT NOT NULL, seen_ms INTEGER NOT NULL, epoch INTEGER NOT NULL, server TEXT NOT NULL,
      PRIMARY KEY (namespace, process_id, line)) STRICT, WITHOUT ROWID;
    CREATE TABLE snowlane_program AS SELECT '${version}' AS version;`;

const format = {
  /** "SNWS" in ASCII. */
  applicationId: 0x534e5753,
  version: 4,
  tablesSql: `
    CREATE TABLE snowlane_sequence (namespace TEXT NOT NULL, name TEXT NOT NULL, start_value INTEGER NOT NULL,
      increment INTEGER NOT NULL, value_max INTEGER NOT NULL, allocation TEXT NOT NULL, step_min INTEGER NOT NULL,
      step_max INTEGER NOT NULL, period TEXT NOT NULL, time_zone TEXT NOT NULL, text_template TEXT NOT NULL,
      description TEXT NOT NULL, disabled INTEGER NOT NULL, created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL,
      sequence_id TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0, closed_before TEXT NOT NULL DEFAULT '',
      begun_count INTEGER NOT NULL DEFAULT 0, year_start TEXT NOT NULL DEFAULT '', late_max_ms INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (namespace, name)) STRICT, WITHOUT ROWID;
    CREATE TABLE snowlane_sequence_counter (namespace TEXT NOT NULL, name TEXT NOT NULL, period_key TEXT NOT NULL,
      used_count INTEGER NOT NULL, write_id TEXT NOT NULL, taken_count INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (namespace, name, period_key)) STRICT, WITHOUT ROWID;
    CREATE TABLE snowlane_sequence_place (namespace TEXT PRIMARY KEY, identity TEXT NOT NULL, stopped TEXT NOT NULL,
      revision INTEGER NOT NULL, open_ms INTEGER NOT NULL, raised_count INTEGER NOT NULL,
      raised_until_ms INTEGER NOT NULL, store_id TEXT NOT NULL DEFAULT '', stripe_index INTEGER NOT NULL DEFAULT 0,
      stripe_count INTEGER NOT NULL DEFAULT 1, members TEXT NOT NULL DEFAULT '', epoch INTEGER NOT NULL DEFAULT 0,
      raised_revision INTEGER NOT NULL DEFAULT -1, raised_identity TEXT NOT NULL DEFAULT '',
      emptied_revision INTEGER NOT NULL DEFAULT -1, move_state TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
    ${witnessSql}`,
  upgrades: {
    1: `ALTER TABLE snowlane_sequence_place ADD COLUMN store_id TEXT NOT NULL DEFAULT '';
      ALTER TABLE snowlane_sequence_place ADD COLUMN stripe_index INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE snowlane_sequence_place ADD COLUMN stripe_count INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE snowlane_sequence_place ADD COLUMN members TEXT NOT NULL DEFAULT '';`,
    2: `ALTER TABLE snowlane_sequence ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE snowlane_sequence_counter ADD COLUMN taken_count INTEGER NOT NULL DEFAULT 0;
      UPDATE snowlane_sequence_place SET store_id = lower(hex(randomblob(16))) WHERE store_id = '';
      ALTER TABLE snowlane_sequence_place ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE snowlane_sequence_place ADD COLUMN raised_revision INTEGER NOT NULL DEFAULT -1;
      ALTER TABLE snowlane_sequence_place ADD COLUMN raised_identity TEXT NOT NULL DEFAULT '';
      ALTER TABLE snowlane_sequence_place ADD COLUMN emptied_revision INTEGER NOT NULL DEFAULT -1;
      ${witnessSql}`,
    3: `ALTER TABLE snowlane_sequence_place ADD COLUMN move_state TEXT NOT NULL DEFAULT '';
      ALTER TABLE snowlane_sequence ADD COLUMN closed_before TEXT NOT NULL DEFAULT '';
      ALTER TABLE snowlane_sequence ADD COLUMN begun_count INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE snowlane_sequence ADD COLUMN year_start TEXT NOT NULL DEFAULT '';
      ALTER TABLE snowlane_sequence ADD COLUMN late_max_ms INTEGER NOT NULL DEFAULT 0;
      ${countBegun("snowlane_sequence", "snowlane_sequence_counter")};
      UPDATE snowlane_program SET version = '${version}';`,
  },
};

const sql = writeStatements({
  sequence: "snowlane_sequence",
  counter: "snowlane_sequence_counter",
  databases: "snowlane_sequence_place",
  witness: "snowlane_sequence_witness",
  identity: ":identity",
  clockMs: ":clockMs",
  // A transaction that writes has exclusive use of the file.
  keepDatabase: "",
  lockDatabase: "",
  lockSequence: "",
  unlessThere: "ON CONFLICT DO NOTHING",
  unlessDatabaseThere: "ON CONFLICT DO NOTHING",
  unlessWitnessThere: "ON CONFLICT DO NOTHING",
  // The witness row is written by a separate statement of the transaction, once for all takes.
  writeTake: ({ usedCount, takenCount, ofCounter }) => `UPDATE snowlane_sequence_counter AS c
    SET used_count = ${usedCount}, taken_count = ${takenCount}, write_id = :writeId WHERE ${ofCounter}
    RETURNING used_count`,
  rows: unionRows,
  updateFrom: ({ table, source, set, where }) => `UPDATE ${table} AS c SET ${set} FROM ${source} m WHERE ${where}`,
});
const giveBackText = sql.giveBack(1);
const coverPeriodText = sql.coverPeriods(1);
const coverText = sql.coverCounters(1);

type Values = Readonly<Record<string, SQLInputValue>>;

/** A write that shares its transaction with others. */
export type SharedUpdate =
  | { readonly kind: "take"; readonly request: TakeRequest }
  | { readonly kind: "give-back"; readonly request: GiveBackRequest };

/** The answers of writes that shared a transaction. */
export interface SharedAnswers {
  readonly answers: readonly (bigint | undefined)[];
  readonly isNoted: boolean;
}

/** An open database, and its prepared statements by their texts. They are valid only while it is open. */
interface Prepared {
  readonly database: DatabaseSync;
  readonly byText: Map<string, StatementSync>;
}

/** A database within one transaction, and the values that every statement in it may name. */
class Statements {
  readonly #prepared: Prepared;
  readonly #common: Values;

  constructor(prepared: Prepared, common: Values) {
    this.#prepared = prepared;
    this.#common = common;
  }

  /** @returns How many rows were written. */
  run(text: string, values: Values = {}): number {
    return Number(this.#prepare(text).run(this.#bind(values)).changes);
  }

  all(text: string, values: Values = {}): readonly Readonly<Record<string, unknown>>[] {
    return this.#prepare(text).all(this.#bind(values));
  }

  /**
   * Binds whole numbers as integers: node:sqlite binds a number as REAL, with which a counter above 2^53 would lose
   * digits.
   */
  #bind(values: Values): Record<string, SQLInputValue> {
    return Object.fromEntries(
      Object.entries({ ...this.#common, ...values }).map(([name, value]) => [
        name,
        typeof value === "number" ? BigInt(value) : value,
      ]),
    );
  }

  #prepare(text: string): StatementSync {
    const { database, byText } = this.#prepared;
    const known = byText.get(text);
    if (known !== undefined) return known;
    const statement = database.prepare(text);
    // Values above 2^53 would lose digits as numbers.
    statement.setReadBigInts(true);
    statement.setAllowUnknownNamedParameters(true);
    byText.set(text, statement);
    return statement;
  }
}

/**
 * The sequences of one namespace in a separate SQLite file. In the file of the worker records a busy strict sequence
 * would starve the renewals of the worker ID, because SQLite's lock is not fair.
 *
 * The folder beside the file shows that it went back, but not by how many values: docs/adr/0157 explains why.
 *
 * Synchronous; it runs in a thread of its own (sqlite-sequence-thread.ts). Everything that it throws is an IdError.
 *
 * SequenceStore says what each method does.
 */
export class SequenceFile {
  readonly #namespace: string;
  readonly #stripeCount: number | undefined;
  readonly #file: StoreFile;
  #prepared: Prepared | undefined;

  constructor(options: SequenceFileOptions) {
    this.#namespace = options.namespace;
    this.#stripeCount = options.stripeCount;
    this.#file = new StoreFile(options, format);
  }

  look(keys: readonly CounterKey[], processId: string): Look {
    return this.#file.use((file) => {
      const clockMs = systemClock.nowMs();
      const identity = file.life.identity;
      const read = (): Omit<Look, "identity" | "clockMs"> =>
        file.read((database) => this.#look(this.#statements(database, file, clockMs), keys, processId));
      const found = read();
      if (found.database !== undefined) return { ...found, identity, clockMs };
      this.#makeDatabase(file, clockMs);
      return { ...read(), identity, clockMs };
    });
  }

  list({ afterName, prefix, count }: ListRange): readonly StoredSequence[] {
    return this.#file.use((file) =>
      file.read((database) =>
        this.#statements(database, file, 0)
          .all(sql.list(count), { afterName, prefix })
          .map((row) => storedOf(row as unknown as SequenceRow, neverRead)),
      ),
    );
  }

  create({ stored, writeId }: NewSequence, revision: number): boolean {
    return this.#write((statements) => {
      const values = { ...valuesOf(stored), periodKey: "", writeId, revision };
      return statements.run(sql.create, values) === 1 && statements.run(sql.createCounter, values) === 1;
    });
  }

  replace(replacement: Replacement, name: string): boolean {
    const values = { ...replacementValues(replacement), name };
    const { before, after } = replacement;
    return this.#write((statements) => {
      if (statements.run(sql.replace, values) === 0) return false;
      if (after.disabled && !before.disabled) raiseEpoch(statements, name);
      return true;
    });
  }

  /**
   * Takes values of several sequences, and gives back ranges of others, in one transaction.
   *
   * @param note - The note of the takes. Nothing is taken if the row of their process holds another write.
   * @returns The first index of each range, undefined if nothing was done for it; and whether the note was written.
   */
  updateAll(updates: readonly SharedUpdate[], note: Note | undefined): SharedAnswers {
    let firstIndexes: readonly (bigint | undefined)[] = [];
    let mayTake = false;
    const isWritten = this.#write((statements) => {
      mayTake = note !== undefined && statements.run(sql.note, noteValues(note)) === 1;
      firstIndexes = updates.map(({ kind, request }) => {
        if (kind === "give-back") {
          const { revision, newWriteId, firstIndex } = request;
          const range = { ...rangeValues([request]), revision, newWriteId };
          return statements.run(giveBackText, range) === 1 ? firstIndex : undefined;
        }
        if (!mayTake) return undefined;
        const [row] = statements.all(sql.take, { ...request });
        return row && (row["used_count"] as bigint) - BigInt(request.count);
      });
      return mayTake || firstIndexes.some((firstIndex) => firstIndex !== undefined);
    });
    return { answers: firstIndexes, isNoted: isWritten && mayTake };
  }

  beginPeriod(request: TakeRequest, startMs: number): number {
    let lostCount = 0;
    this.#write((statements) => {
      const [row] = statements.all(sql.lockSequence, { ...request });
      const { closed_before: closedBefore, begun_count: begunCount } = row ?? { closed_before: "", begun_count: 0 };
      lostCount = Math.max(0, Number(begunCount) - countOf(statements, sql.countPeriods, { ...request }));
      if (lostCount > 0 || request.periodKey < (closedBefore as string)) return false;
      const isMade = statements.run(sql.beginPeriod, { ...request, startMs }) === 1;
      if (isMade) notePeriods(statements, request.name);
      return isMade;
    });
    return lostCount;
  }

  prune({ name, before, mode }: PruneRequest): PruneOutcome {
    let outcome: PruneOutcome = { kind: "pruned", count: 0 };
    const values = { name, before };
    this.#write((statements) => {
      const newest = statements.all(sql.newestPeriods, values).map((row) => String(row["period_key"]));
      const reached = newest.find((key) => key < before);
      const count = countOf(statements, sql.countBefore, values);
      outcome = reached === undefined ? { kind: "pruned", count } : { kind: "newest", key: reached };
      if (reached !== undefined || mode === "plan") return false;
      for (const text of [sql.deletePeriods, sql.closePeriods]) statements.run(text, values);
      notePeriods(statements, name);
      return true;
    });
    return outcome;
  }

  counters({ name, periodKey }: CounterKey, count: number): readonly Mark[] {
    return this.#file.use((file) =>
      file.read((database) =>
        this.#statements(database, file, 0).all(sql.counters(count), { name, periodKey }).map(markOf),
      ),
    );
  }

  move(request: MoveRequest): boolean {
    return this.#write((statements) => {
      const { condition, writes } = moveWrites(sql, request);
      const { text, values, kind } = condition;
      const count = kind === "read" ? statements.all(text, values).length : statements.run(text, values);
      if (count === 0) return false;
      for (const write of writes) statements.run(write.text, write.values);
      return true;
    });
  }

  cover(marks: readonly Mark[], writeId: string): void {
    this.#write((statements) => {
      const counts = marks.map((mark) => {
        const values = { ...markValues([mark]), writeId };
        return { made: statements.run(coverPeriodText, values), raised: statements.run(coverText, values) };
      });
      const isMade = counts.some(({ made }) => made > 0);
      if (isMade) statements.run(sql.noteMorePeriods);
      return isMade || counts.some(({ raised }) => raised > 0);
    });
  }

  raise(request: RaiseRequest, writeId: string): number | undefined {
    let raisedCount: number | undefined;
    this.#write((statements) => {
      if (request.kind === "all") {
        const { count } = request;
        if (statements.run(sql.raiseDatabase, { count }) === 0) return false;
        raisedCount = statements.run(sql.raiseAll, { count, writeId });
        statements.run(sql.recountPeriods);
        return true;
      }
      const values = { ...request.key, writeId };
      const { name } = request.key;
      if (request.kind === "by") raisedCount = statements.run(sql.raiseBy, { ...values, count: request.count });
      else {
        const raise = { ...values, startMs: earliestStartMs(values.periodKey), index: request.index };
        raisedCount = statements.run(sql.makeRaised, raise) + statements.run(sql.raiseTo, raise);
        if (raisedCount > 0) statements.run(sql.noteMorePeriods);
      }
      if (raisedCount > 0) raiseEpoch(statements, name);
      return raisedCount > 0;
    });
    return raisedCount;
  }

  stop({ reason, revision, emptiesStock, by }: StopRequest): boolean {
    const values = { reason, revision, emptiesStock: emptiesStock ? 1 : 0, isAgain: by === "operator" ? 1 : 0 };
    return this.#write((statements) => statements.run(sql.stop, values) === 1);
  }

  open(): OpenOutcome {
    let outcome: OpenOutcome = { kind: "was-open" };
    this.#write((statements) => {
      const names = statements.all(sql.missing).map((row) => String(row["name"]));
      if (names.length > 0) {
        outcome = { kind: "missing", names };
        return false;
      }
      const [database] = statements.all(sql.database);
      if (database === undefined || database["stopped"] === "") return false;
      const { move } = databaseOf(database);
      if (move !== "") {
        outcome = { kind: "moved", move };
        return false;
      }
      if (statements.run(sql.open) === 0) {
        outcome = { kind: "not-raised" };
        return false;
      }
      const [row] = statements.all(sql.database);
      outcome = { kind: "opened", revision: Number(row?.["revision"]) };
      return true;
    });
    return outcome;
  }

  join(request: JoinRequest): boolean {
    return this.#write((statements) => statements.run(sql.join, { ...request }) === 1);
  }

  makeWitness({ rows, formerId, ...server }: WitnessRequest): void {
    this.#write((statements) => {
      const dropped = formerId === "" ? 0 : statements.run(sql.dropWitness, { processId: formerId });
      const made = rows.map((row) => statements.run(sql.makeWitness, { ...server, ...row }));
      return dropped > 0 || made.includes(1);
    });
  }

  noteLook(note: LookNote): boolean {
    return this.#write((statements) => statements.run(sql.noteLook, { ...note }) === 1);
  }

  servers(): readonly ServerRow[] {
    return this.#file.use((file) =>
      file.read((database) => this.#statements(database, file, systemClock.nowMs()).all(sql.servers).map(serverOf)),
    );
  }

  dropWitness(processId: string, seenMs: number | undefined): void {
    this.#write((statements) => {
      if (seenMs !== undefined && statements.run(sql.dropUnseen, { processId, seenMs }) === 0) return false;
      return statements.run(sql.dropWitness, { processId }) > 0 || seenMs !== undefined;
    });
  }

  close(): void {
    this.#file.close();
  }

  #write(work: (statements: Statements) => boolean): boolean {
    return this.#file.use((file) => {
      const clockMs = systemClock.nowMs();
      return file.write((database) => work(this.#statements(database, file, clockMs)));
    });
  }

  #statements(database: DatabaseSync, file: OpenFile, clockMs: number): Statements {
    // A file that went back is opened again, as another database.
    if (this.#prepared?.database !== database) this.#prepared = { database, byText: new Map() };
    return new Statements(this.#prepared, { namespace: this.#namespace, identity: file.life.identity, clockMs });
  }

  #look(statements: Statements, keys: readonly CounterKey[], processId: string): Omit<Look, "identity" | "clockMs"> {
    const [row] = statements.all(sql.database);
    const database = row && databaseOf(row);
    const sequences = new Map<string, StoredSequence>();
    const counters = new Map<string, bigint>();
    const lowered = new Map<string, bigint>();
    for (const key of keys) {
      const [sequence] = sequences.has(key.name) ? [] : statements.all(sql.sequence, { name: key.name });
      if (sequence !== undefined) sequences.set(key.name, readSequence(sequence, database?.revision));
      const [counter] = statements.all(sql.counter, { ...key });
      if (counter === undefined) continue;
      const { used_count: used, taken_count: taken } = counter as Readonly<Record<string, bigint>>;
      counters.set(counterId(key), used!);
      if (used! < taken!) lowered.set(counterId(key), taken!);
    }
    const lines = processId === "" ? [] : statements.all(sql.witness, { processId });
    const witness: WitnessRows = new Map(lines.map((line) => [Number(line["line"]), String(line["write_id"])]));
    return { database, sequences, counters, lowered, witness };
  }

  /** A new file in place of an earlier one may lack values that were handed out, so it begins stopped. */
  #makeDatabase(file: OpenFile, clockMs: number): void {
    const isNew = file.life.emptyMeans === "new";
    const stopped = isNew ? "" : "the file is new, and traces beside it show that another one was there";
    const values = { stopped, ...newMember(this.#stripeCount) };
    file.write((database) => this.#statements(database, file, clockMs).run(sql.makeDatabase, values) === 1);
  }
}

function notePeriods(statements: Statements, name: string): void {
  statements.run(sql.notePeriods, { name, begunCount: countOf(statements, sql.countPeriods, { name }) });
}

function countOf(statements: Statements, text: string, values: Values): number {
  return Number(statements.all(text, values)[0]?.["there_count"] ?? 0);
}

function readSequence(row: Readonly<Record<string, unknown>>, revision = neverRead): StoredSequence {
  return storedOf(row as unknown as SequenceRow, revision);
}

function noteValues({ processId, line, before: noteBefore, after: noteAfter }: Note): Values {
  return { processId, line, noteBefore, noteAfter };
}

function raiseEpoch(statements: Statements, name: string): void {
  statements.run(sql.raiseEpoch);
  statements.run(sql.takeEpoch, { name });
}
