/**
 * The sequences of one namespace in a SQLite file of their own. In the file of the worker records a busy strict
 * sequence would starve the renewals of the worker ID, because SQLite's lock is not fair.
 *
 * Synchronous; it runs in a thread of its own (sqlite-sequence-thread.ts). Everything that it throws is an IdError.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { systemClock } from "../../clock/clock.ts";
import type { OpenFile } from "../../store/sqlite/open-file.ts";
import { StoreFile, type StoreFileOptions } from "../../store/sqlite/store-file.ts";
import {
  type CounterKey,
  counterId,
  type GiveBackRequest,
  type ListRange,
  type Look,
  type Mark,
  type NewSequence,
  openAheadMaxMs,
  openAheadMs,
  type OpenOutcome,
  periodAheadMaxMs,
  raisedAheadMs,
  type RaiseRequest,
  type Replacement,
  type TakeRequest,
} from "../sequence-store.ts";
import { earliestStartMs } from "../period.ts";
import type { StoredSequence } from "../sequence.ts";
import { definitionColumns, type SequenceRow, storedOf, valuesOf } from "./sequence-row.ts";

/** Where the file is, how it is used, and for which namespace. */
export interface SequenceFileOptions extends StoreFileOptions {
  readonly namespace: string;
}

const format = {
  /** "SNWS". */
  applicationId: 0x534e5753,
  version: 1,
  tablesSql: `
    CREATE TABLE snowlane_sequence (namespace TEXT NOT NULL, name TEXT NOT NULL, start_value INTEGER NOT NULL,
      increment INTEGER NOT NULL, value_max INTEGER NOT NULL, allocation TEXT NOT NULL, step_min INTEGER NOT NULL,
      step_max INTEGER NOT NULL, period TEXT NOT NULL, time_zone TEXT NOT NULL, text_template TEXT NOT NULL,
      description TEXT NOT NULL, disabled INTEGER NOT NULL, created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL,
      sequence_id TEXT NOT NULL, PRIMARY KEY (namespace, name)) STRICT, WITHOUT ROWID;
    CREATE TABLE snowlane_sequence_counter (namespace TEXT NOT NULL, name TEXT NOT NULL, period_key TEXT NOT NULL,
      used_count INTEGER NOT NULL, write_id TEXT NOT NULL, PRIMARY KEY (namespace, name, period_key))
      STRICT, WITHOUT ROWID;
    CREATE TABLE snowlane_sequence_place (namespace TEXT PRIMARY KEY, identity TEXT NOT NULL, stopped TEXT NOT NULL,
      revision INTEGER NOT NULL, open_ms INTEGER NOT NULL, raised_count INTEGER NOT NULL,
      raised_until_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
};

/** The conditions of a take, as a subquery that has a row where they hold. */
const placeIsOpen = `EXISTS (SELECT 1 FROM snowlane_sequence_place p WHERE p.namespace = :namespace AND p.stopped = ''
  AND p.revision = :revision AND p.identity = :identity
  AND (p.open_ms <= :clockMs OR p.open_ms > :clockMs + ${openAheadMaxMs}))`;
const maySequence = `${placeIsOpen} AND EXISTS (SELECT 1 FROM snowlane_sequence s WHERE s.namespace = :namespace
  AND s.name = :name AND s.sequence_id = :sequenceId AND s.disabled = 0)`;
const counterIsKey = "namespace = :namespace AND name = :name AND period_key = :periodKey";

const sql = {
  place: "SELECT identity, stopped, revision, open_ms FROM snowlane_sequence_place WHERE namespace = :namespace",
  makePlace: `INSERT INTO snowlane_sequence_place SELECT :namespace, :identity, :stopped, 1, 0, 0, 0
    WHERE NOT EXISTS (SELECT 1 FROM snowlane_sequence WHERE namespace = :namespace)
    AND NOT EXISTS (SELECT 1 FROM snowlane_sequence_counter WHERE namespace = :namespace)`,
  sequence: `SELECT ${definitionColumns} FROM snowlane_sequence WHERE namespace = :namespace AND name = :name`,
  counter: `SELECT used_count FROM snowlane_sequence_counter WHERE ${counterIsKey}`,
  list: `SELECT ${definitionColumns} FROM snowlane_sequence WHERE namespace = :namespace AND name > :afterName
    AND substr(name, 1, length(:prefix)) = :prefix ORDER BY name LIMIT :count`,
  create: `INSERT INTO snowlane_sequence (namespace, ${definitionColumns})
    SELECT :namespace, :name, :startValue, :increment, :valueMax, :allocation, :stepMin, :stepMax, :period, :timeZone,
    :textTemplate, :description, :disabled, :createdMs, :updatedMs, :sequenceId WHERE ${placeIsOpen}
    AND NOT EXISTS (SELECT 1 FROM snowlane_sequence WHERE namespace = :namespace AND name = :name)
    AND NOT EXISTS (SELECT 1 FROM snowlane_sequence_counter WHERE ${counterIsKey})`,
  createCounter: `INSERT INTO snowlane_sequence_counter SELECT namespace, :name, :periodKey, raised_count, :writeId
    FROM snowlane_sequence_place WHERE namespace = :namespace`,
  replace: `UPDATE snowlane_sequence SET description = :description, value_max = :valueMax, step_min = :stepMin,
    step_max = :stepMax, disabled = :disabled, updated_ms = :updatedMs WHERE namespace = :namespace AND name = :name
    AND sequence_id = :sequenceId AND description = :descriptionBefore AND value_max = :valueMaxBefore
    AND step_min = :stepMinBefore AND step_max = :stepMaxBefore AND disabled = :disabledBefore`,
  take: `UPDATE snowlane_sequence_counter SET used_count = used_count + :count, write_id = :writeId
    WHERE ${counterIsKey} AND used_count < :endCount AND used_count <= 9223372036854775807 - :count AND ${maySequence}
    RETURNING used_count`,
  beginPeriod: `INSERT INTO snowlane_sequence_counter SELECT :namespace, :name, :periodKey,
    CASE WHEN :startMs < raised_until_ms THEN raised_count ELSE 0 END, :writeId FROM snowlane_sequence_place
    WHERE namespace = :namespace AND :startMs <= :clockMs + ${periodAheadMaxMs} AND ${maySequence}
    AND EXISTS (SELECT 1 FROM snowlane_sequence_counter WHERE namespace = :namespace AND name = :name AND period_key = '')
    ON CONFLICT DO NOTHING`,
  giveBack: `UPDATE snowlane_sequence_counter SET used_count = :firstIndex, write_id = :newWriteId
    WHERE ${counterIsKey} AND used_count = :endIndex AND write_id = :writeId AND ${maySequence}`,
  raiseTo: `INSERT INTO snowlane_sequence_counter SELECT :namespace, :name, :periodKey,
    max(:index, CASE WHEN :startMs < raised_until_ms THEN raised_count ELSE 0 END), :writeId
    FROM snowlane_sequence_place WHERE namespace = :namespace
    ON CONFLICT DO UPDATE SET used_count = :index, write_id = :writeId WHERE used_count < :index`,
  cover: `UPDATE snowlane_sequence_counter SET used_count = :index, write_id = :writeId
    WHERE ${counterIsKey} AND used_count < :index`,
  coverPeriod: `INSERT INTO snowlane_sequence_counter SELECT :namespace, :name, :periodKey, max(:index, raised_count),
    :writeId FROM snowlane_sequence_place WHERE namespace = :namespace AND :periodKey <> '' AND :startMs < raised_until_ms
    ON CONFLICT DO NOTHING`,
  raiseBy: `UPDATE snowlane_sequence_counter SET write_id = :writeId,
    used_count = CASE WHEN used_count > 9223372036854775807 - :count THEN 9223372036854775807 ELSE used_count + :count END
    WHERE ${counterIsKey}`,
  raiseAll: `UPDATE snowlane_sequence_counter SET write_id = :writeId,
    used_count = CASE WHEN used_count > 9223372036854775807 - :count THEN 9223372036854775807 ELSE used_count + :count END
    WHERE namespace = :namespace`,
  raisePlace: `UPDATE snowlane_sequence_place SET raised_until_ms = :clockMs + ${raisedAheadMs}, raised_count =
    CASE WHEN raised_count > 9223372036854775807 - :count THEN 9223372036854775807 ELSE raised_count + :count END
    WHERE namespace = :namespace AND stopped <> ''`,
  stop: `UPDATE snowlane_sequence_place SET stopped = :reason, revision = revision + 1
    WHERE namespace = :namespace AND revision = :revision AND stopped = ''`,
  missing: `SELECT s.name FROM snowlane_sequence s WHERE s.namespace = :namespace AND NOT EXISTS
    (SELECT 1 FROM snowlane_sequence_counter c WHERE c.namespace = s.namespace AND c.name = s.name AND c.period_key = '')
    ORDER BY s.name LIMIT 10`,
  open: `UPDATE snowlane_sequence_place SET stopped = '', identity = :identity, revision = max(revision + 1, :clockMs),
    open_ms = :clockMs + ${openAheadMs} WHERE namespace = :namespace AND stopped <> '' RETURNING revision`,
} as const;

type Values = Readonly<Record<string, SQLInputValue>>;

/** An open database, and its statements by their texts. They end with it. */
interface Prepared {
  readonly database: DatabaseSync;
  readonly byText: Map<string, StatementSync>;
}

/** A database within one transaction, and what every statement of it may name. */
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
   * Gives whole numbers as integers: node:sqlite binds a number as REAL, by which a counter above 2^53 would lose
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

/** See the head of this file, and SequenceStore for what each method does. */
export class SequenceFile {
  readonly #namespace: string;
  readonly #file: StoreFile;
  #prepared: Prepared | undefined;

  constructor(options: SequenceFileOptions) {
    this.#namespace = options.namespace;
    this.#file = new StoreFile(options, format);
  }

  look(keys: readonly CounterKey[]): Look {
    return this.#file.use((file) => {
      const clockMs = systemClock.nowMs();
      const identity = file.life.identity;
      const read = (): Omit<Look, "identity" | "clockMs"> =>
        file.read((database) => this.#look(this.#statements(database, file, clockMs), keys));
      const found = read();
      if (found.place !== undefined) return { ...found, identity, clockMs };
      this.#makePlace(file, clockMs);
      return { ...read(), identity, clockMs };
    });
  }

  list({ afterName, prefix, count }: ListRange): readonly StoredSequence[] {
    return this.#file.use((file) =>
      file.read((database) =>
        this.#statements(database, file, 0)
          .all(sql.list, { afterName, prefix, count })
          .map((row) => storedOf(row as unknown as SequenceRow)),
      ),
    );
  }

  create({ stored, writeId }: NewSequence, revision: number): boolean {
    return this.#write((statements) => {
      const values = { ...valuesOf(stored), periodKey: "", writeId, revision };
      return statements.run(sql.create, values) === 1 && statements.run(sql.createCounter, values) === 1;
    });
  }

  replace({ sequenceId, before, after, updatedMs }: Replacement, name: string): boolean {
    const values = {
      name,
      sequenceId,
      updatedMs,
      description: after.description,
      valueMax: after.valueMax,
      stepMin: after.stepMin,
      stepMax: after.stepMax,
      disabled: after.disabled ? 1 : 0,
      descriptionBefore: before.description,
      valueMaxBefore: before.valueMax,
      stepMinBefore: before.stepMin,
      stepMaxBefore: before.stepMax,
      disabledBefore: before.disabled ? 1 : 0,
    };
    return this.#write((statements) => statements.run(sql.replace, values) === 1);
  }

  /**
   * Takes for several sequences in one transaction.
   *
   * @returns The first index of each, undefined where none was taken.
   */
  takeAll(requests: readonly TakeRequest[]): readonly (bigint | undefined)[] {
    let taken: readonly (bigint | undefined)[] = [];
    this.#write((statements) => {
      taken = requests.map((request) => {
        const [row] = statements.all(sql.take, { ...request });
        return row === undefined ? undefined : (row["used_count"] as bigint) - BigInt(request.count);
      });
      return taken.some((firstIndex) => firstIndex !== undefined);
    });
    return taken;
  }

  beginPeriod(request: TakeRequest, startMs: number): void {
    this.#write((statements) => statements.run(sql.beginPeriod, { ...request, startMs }) === 1);
  }

  giveBack(request: GiveBackRequest): boolean {
    return this.#write((statements) => statements.run(sql.giveBack, { ...request }) === 1);
  }

  cover(marks: readonly Mark[], writeId: string): void {
    this.#write((statements) => {
      const raised = marks.map((mark) => {
        const values = { ...mark, startMs: earliestStartMs(mark.periodKey), writeId };
        return statements.run(sql.cover, values) + statements.run(sql.coverPeriod, values);
      });
      return raised.includes(1);
    });
  }

  raise(request: RaiseRequest, writeId: string): number {
    let raisedCount = 0;
    this.#write((statements) => {
      if (request.kind === "all") {
        const { count } = request;
        if (statements.run(sql.raisePlace, { count }) === 0) return false;
        raisedCount = statements.run(sql.raiseAll, { count, writeId });
        return true;
      }
      const values = { ...request.key, writeId };
      raisedCount =
        request.kind === "to"
          ? statements.run(sql.raiseTo, { ...values, startMs: earliestStartMs(values.periodKey), index: request.index })
          : statements.run(sql.raiseBy, { ...values, count: request.count });
      return raisedCount > 0;
    });
    return raisedCount;
  }

  stop(reason: string, revision: number): boolean {
    return this.#write((statements) => statements.run(sql.stop, { reason, revision }) === 1);
  }

  open(): OpenOutcome {
    let outcome: OpenOutcome = { kind: "was-open" };
    this.#write((statements) => {
      const names = statements.all(sql.missing).map((row) => String(row["name"]));
      if (names.length > 0) {
        outcome = { kind: "missing", names };
        return false;
      }
      const [row] = statements.all(sql.open);
      if (row === undefined) return false;
      outcome = { kind: "opened", revision: Number(row["revision"]) };
      return true;
    });
    return outcome;
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

  #look(statements: Statements, keys: readonly CounterKey[]): Omit<Look, "identity" | "clockMs"> {
    const [row] = statements.all(sql.place);
    const sequences = new Map<string, StoredSequence>();
    const counters = new Map<string, bigint>();
    for (const key of keys) {
      const [sequence] = sequences.has(key.name) ? [] : statements.all(sql.sequence, { name: key.name });
      if (sequence !== undefined) sequences.set(key.name, storedOf(sequence as unknown as SequenceRow));
      const [counter] = statements.all(sql.counter, { ...key });
      if (counter !== undefined) counters.set(counterId(key), counter["used_count"] as bigint);
    }
    const place = row && {
      identity: String(row["identity"]),
      stopped: String(row["stopped"]),
      revision: Number(row["revision"]),
      openMs: Number(row["open_ms"]),
    };
    return { place, sequences, counters };
  }

  /** A new file where another one stood may have lost values that were handed out: it begins stopped. */
  #makePlace(file: OpenFile, clockMs: number): void {
    const isNew = file.life.emptyMeans === "new";
    const stopped = isNew ? "" : "the file is new, and traces beside it show that another one stood there";
    file.write((database) => this.#statements(database, file, clockMs).run(sql.makePlace, { stopped }) === 1);
  }
}
