/**
 * The statements of sequences, shared by all databases. docs/adr/0195 explains why a take writes two rows.
 *
 * Values are named, as in `:name`. Every statement may name `:namespace`; its other names are those of the contract's
 * requests (sequence-store.ts). A statement that writes what it reads in a row of `databases` keeps that row unchanged
 * until the end of its transaction.
 */
import { earliestStartMs } from "../period.ts";
import {
  type CounterKey,
  type GiveBackRequest,
  type Mark,
  openAheadMaxMs,
  openAheadMs,
  periodAheadMaxMs,
  raisedAheadMs,
} from "../sequence-store.ts";
import type { NamedValues } from "./named-values.ts";
import { definitionColumns, newColumns, databaseColumns } from "./sequence-row.ts";

/** The parts of statements that differ between databases. */
export interface Dialect {
  /** The names of the tables. */
  readonly sequence: string;
  readonly counter: string;
  readonly databases: string;
  readonly witness: string;
  /** Expressions: the identity of the database, and its clock in Unix milliseconds. */
  readonly identity: string;
  readonly clockMs: string;
  /**
   * Ends a SELECT of the database `p`: its row is read in its newest form, and does not change before the transaction
   * ends.
   */
  readonly keepDatabase: string;
  /** Ends a SELECT of the database `p` that is changed afterwards. */
  readonly lockDatabase: string;
  /** The same for a sequence `s`. */
  readonly lockSequence: string;
  /** Ends an INSERT of a counter: does nothing if there is one already. */
  readonly unlessThere: string;
  /** The same for a database. */
  readonly unlessDatabaseThere: string;
  /** The same for a witness row. */
  readonly unlessWitnessThere: string;
  /**
   * Writes an UPDATE of one counter, `c`, which returns the new `used_count`, together with an UPDATE of one row of the
   * table `t` of witnesses. Neither row is changed unless the condition of the witness row holds.
   */
  readonly writeTake: (parts: TakeParts) => string;
  /** Writes rows of values as a source of a statement. A server may take too long to plan a union of hundreds. */
  readonly rows: (columns: readonly string[], rows: readonly (readonly string[])[]) => string;
  /** Writes an UPDATE of a table, `c`, with the rows of a source, `m`, that a condition chooses. */
  readonly updateFrom: (parts: {
    readonly table: string;
    readonly source: string;
    readonly set: string;
    readonly where: string;
  }) => string;
}

/** The pieces of a take's statement, with the columns of the tables `c` and `t`. */
interface TakeParts {
  /** The `used_count` of the counter after the take. */
  readonly usedCount: string;
  /** How many values were taken in all after the take, without those that were given back or left out. */
  readonly takenCount: string;
  /** True only for the witness row of this process and line, as the process last wrote it. */
  readonly ofWitness: string;
  /** True only for the counter, while its database is open and its sequence gives values. */
  readonly ofCounter: string;
}

/** An UPDATE of counters. */
interface CounterUpdate {
  readonly set: string;
  readonly where: string;
}

/** The statements of a database. */
export type Statements = ReturnType<typeof writeStatements>;

const columns = "namespace, name, period_key, used_count, write_id";
const isKey = "namespace = :namespace AND name = :name AND period_key = :periodKey";
const countMax = "9223372036854775807";
const addCount = `CASE WHEN used_count > ${countMax} - :count THEN ${countMax} ELSE used_count + :count END`;

/** Writes the statements of a database. */
export function writeStatements(dialect: Dialect) {
  const { identity, clockMs } = dialect;
  const databaseIsOpen = `p.namespace = :namespace AND p.stopped = '' AND p.revision = :revision
    AND p.identity = ${identity} AND (p.open_ms <= ${clockMs} OR p.open_ms > ${clockMs} + ${openAheadMaxMs})`;
  return {
    ...databaseStatements(dialect),
    ...sequenceStatements(dialect, databaseIsOpen),
    ...counterStatements(dialect, databaseIsOpen),
    ...raiseStatements(dialect),
    ...periodStatements(dialect),
    ...witnessStatements(dialect),
    ...moveStatements(dialect),
  } as const;
}

function databaseStatements(dialect: Dialect) {
  const { sequence, counter, databases, identity, clockMs, lockDatabase, unlessDatabaseThere } = dialect;
  return {
    database: `SELECT ${databaseColumns} FROM ${databases} p WHERE p.namespace = :namespace`,
    makeDatabase: `INSERT INTO ${databases} (namespace, identity, stopped, revision, open_ms, raised_count, raised_until_ms,
      store_id, stripe_index, stripe_count, members)
      SELECT :namespace, ${identity}, :stopped, 1, 0, 0, 0, :storeId, :stripeIndex, :stripeCount, ''
      FROM (SELECT 1 AS one) o
      WHERE NOT EXISTS (SELECT 1 FROM ${sequence} s WHERE s.namespace = :namespace)
      AND NOT EXISTS (SELECT 1 FROM ${counter} c WHERE c.namespace = :namespace) ${unlessDatabaseThere}`,
    /**
     * Everything that {@link SequenceStore.look} returns, in one statement: a row for each key, or one row if there are
     * no keys.
     */
    look: (count: number) => `SELECT ${identity} AS identity_now, ${clockMs} AS clock_ms, ${databaseColumns},
      ${count === 0 ? "" : `k.key_name, k.key_period, c.used_count, c.taken_count, ${ofSequence},`} 1 AS one
      FROM (SELECT 1 AS one) o LEFT JOIN ${databases} p ON p.namespace = :namespace ${
        count === 0
          ? ""
          : `CROSS JOIN ${rowsOf(dialect, keyColumns, count)} k
      LEFT JOIN ${sequence} s ON s.namespace = :namespace AND s.name = k.key_name
      LEFT JOIN ${counter} c ON c.namespace = :namespace AND c.name = k.key_name AND c.period_key = k.key_period`
      }`,
    // MySQL assigns from left to right: the revision changes last.
    stop: `UPDATE ${databases} SET stopped = :reason,
      emptied_revision = CASE WHEN :emptiesStock = 1 THEN revision + 1 ELSE emptied_revision END,
      revision = revision + 1
      WHERE namespace = :namespace AND revision = :revision AND move_state = '' AND (stopped = '' OR :isAgain = 1)`,
    join: `UPDATE ${databases} SET members = :after, stripe_index = :index
      WHERE namespace = :namespace AND store_id = :storeId AND members = :before`,
    /** Begins a change that other changes of the database, and takes, have to wait for. */
    lockDatabase: `SELECT p.stopped FROM ${databases} p WHERE p.namespace = :namespace ${lockDatabase}`,
    /** Begins a change during which the database stays as it is. */
    keepDatabase: `SELECT p.stopped FROM ${databases} p WHERE p.namespace = :namespace ${dialect.keepDatabase}`,
    /** Ends a change of a sequence that forbids or leaves out values. An epoch of a copy never comes again. */
    raiseEpoch: `UPDATE ${databases} SET epoch = CASE WHEN epoch + 1 > ${clockMs} THEN epoch + 1 ELSE ${clockMs} END
      WHERE namespace = :namespace`,
    takeEpoch: `UPDATE ${sequence} SET epoch = (SELECT p.epoch FROM ${databases} p WHERE p.namespace = :namespace)
      WHERE namespace = :namespace AND name = :name`,
    missing: `SELECT s.name FROM ${sequence} s WHERE s.namespace = :namespace AND NOT EXISTS
      (SELECT 1 FROM ${counter} c WHERE c.namespace = s.namespace AND c.name = s.name AND c.period_key = '')
      ORDER BY s.name LIMIT 10`,
    open: `UPDATE ${databases} SET stopped = '', identity = ${identity}, open_ms = ${clockMs} + ${openAheadMs},
      revision = CASE WHEN revision + 1 > ${clockMs} THEN revision + 1 ELSE ${clockMs} END
      WHERE namespace = :namespace AND stopped <> '' AND raised_revision = revision AND move_state = ''
      AND raised_identity = ${identity}`,
  } as const;
}

function sequenceStatements({ sequence, counter, databases, keepDatabase }: Dialect, databaseIsOpen: string) {
  return {
    sequence: `SELECT ${definitionColumns} FROM ${sequence} WHERE namespace = :namespace AND name = :name`,
    list: (
      count: number,
    ) => `SELECT ${definitionColumns} FROM ${sequence} WHERE namespace = :namespace AND name > :afterName
      AND substr(name, 1, length(:prefix)) = :prefix ORDER BY name LIMIT ${count}`,
    create: `INSERT INTO ${sequence} (namespace, ${newColumns})
      SELECT p.namespace, :name, :startValue, :increment, :valueMax, :allocation, :stepMin, :stepMax, :period,
      :timeZone, :textTemplate, :description, :disabled = 1, :createdMs, :updatedMs, :sequenceId,
      :yearStart, :lateMaxMs FROM ${databases} p
      WHERE ${databaseIsOpen}
      AND NOT EXISTS (SELECT 1 FROM ${sequence} s WHERE s.namespace = :namespace AND s.name = :name)
      AND NOT ${hasFirst(counter)} ${keepDatabase}`,
    createCounter: `INSERT INTO ${counter} (${columns}) SELECT p.namespace, :name, '', p.raised_count, :writeId
      FROM ${databases} p WHERE p.namespace = :namespace ${keepDatabase}`,
    replace: `UPDATE ${sequence} SET description = :description, value_max = :valueMax, step_min = :stepMin,
      step_max = :stepMax, disabled = (:disabled = 1), updated_ms = :updatedMs,
      late_max_ms = :lateMaxMs
      WHERE namespace = :namespace AND name = :name AND sequence_id = :sequenceId
      AND description = :descriptionBefore AND value_max = :valueMaxBefore AND step_min = :stepMinBefore
      AND step_max = :stepMaxBefore AND disabled = (:disabledBefore = 1)
      AND late_max_ms = :lateMaxMsBefore`,
  } as const;
}

function counterStatements(dialect: Dialect, databaseIsOpen: string) {
  const { sequence, counter, databases, clockMs, keepDatabase, unlessThere, updateFrom } = dialect;
  /** The conditions of a take. */
  const mayTake = `EXISTS (SELECT 1 FROM ${databases} p WHERE ${databaseIsOpen}) AND ${isEnabled(sequence)}`;
  return {
    counter: `SELECT used_count, taken_count FROM ${counter} WHERE ${isKey}`,
    take: dialect.writeTake({
      usedCount: "c.used_count + :count",
      takenCount: "c.taken_count + :count",
      ofWitness: `t.namespace = :namespace AND t.process_id = :processId AND t.line = :line
        AND t.write_id = :noteBefore`,
      ofCounter: `c.namespace = :namespace AND c.name = :name AND c.period_key = :periodKey
        AND c.used_count < :endCount AND c.used_count <= ${countMax} - :count AND c.taken_count <= c.used_count
        AND ${mayTake}`,
    }),
    /** Values: {@link rangeValues}, with `newWriteId`. */
    giveBack: (count: number) =>
      updateFrom({
        table: counter,
        source: rowsOf(dialect, rangeColumns, count),
        set: `used_count = m.first_index, taken_count = taken_count - (m.end_index - m.first_index),
          write_id = :newWriteId`,
        where: `c.namespace = :namespace AND c.name = m.range_name AND c.period_key = m.range_key
          AND c.used_count = m.end_index AND c.write_id = m.range_write_id
          AND EXISTS (SELECT 1 FROM ${databases} p WHERE ${databaseIsOpen})
          AND ${isEnabled(sequence, "m.range_name", "m.range_sequence_id")}`,
      }),
    /** The counters of {@link rangeValues} that a write has changed. */
    written: (count: number) => `SELECT c.name, c.period_key, c.used_count FROM ${rowsOf(dialect, keyColumns, count)} k
      JOIN ${counter} c ON c.namespace = :namespace AND c.name = k.key_name AND c.period_key = k.key_period
      WHERE c.write_id = :newWriteId`,
    beginPeriod: `INSERT INTO ${counter} (${columns}) SELECT p.namespace, :name, :periodKey,
      CASE WHEN :startMs < p.raised_until_ms THEN p.raised_count ELSE 0 END, :writeId FROM ${databases} p
      WHERE ${databaseIsOpen} AND ${isEnabled(sequence)} AND :startMs <= ${clockMs} + ${periodAheadMaxMs}
      AND ${hasFirst(counter)} ${keepDatabase} ${unlessThere}`,
  } as const;
}

function periodStatements({ sequence, counter, lockSequence }: Dialect) {
  const isPeriod = "namespace = :namespace AND name = :name AND period_key <> ''";
  return {
    /**
     * Begins every change that creates or deletes counters of periods: one process at a time does that. docs/adr/0202
     * explains why.
     */
    lockSequence: `SELECT s.closed_before, s.begun_count FROM ${sequence} s
      WHERE s.namespace = :namespace AND s.name = :name ${lockSequence}`,
    countPeriods: `SELECT count(*) AS there_count FROM ${counter} WHERE ${isPeriod}`,
    countBefore: `SELECT count(*) AS there_count FROM ${counter} WHERE ${isPeriod} AND period_key < :before`,
    newestPeriods: `SELECT period_key FROM ${counter} WHERE ${isPeriod} ORDER BY period_key DESC LIMIT 2`,
    deletePeriods: `DELETE FROM ${counter} WHERE ${isPeriod} AND period_key < :before`,
    closePeriods: `UPDATE ${sequence} SET closed_before = :before
      WHERE namespace = :namespace AND name = :name AND closed_before < :before`,
    /** Ends such a change: a counter that is missing later was lost. */
    notePeriods: `UPDATE ${sequence} SET begun_count = :begunCount WHERE namespace = :namespace AND name = :name`,
    /** Ends a raise of all: a period whose counter was lost begins above it. */
    recountPeriods: `UPDATE ${sequence} SET begun_count = (SELECT count(*) FROM ${counter} c
      WHERE c.namespace = ${sequence}.namespace AND c.name = ${sequence}.name AND c.period_key <> '')
      WHERE namespace = :namespace AND period <> 'none'`,
    /** Ends a raise or a cover that created counters again. */
    noteMorePeriods: `UPDATE ${sequence} SET begun_count = (SELECT count(*) FROM ${counter} c
      WHERE c.namespace = ${sequence}.namespace AND c.name = ${sequence}.name AND c.period_key <> '')
      WHERE namespace = :namespace AND period <> 'none' AND begun_count < (SELECT count(*) FROM ${counter} c
      WHERE c.namespace = ${sequence}.namespace AND c.name = ${sequence}.name AND c.period_key <> '')`,
  } as const;
}

function raiseStatements(dialect: Dialect) {
  const { sequence, counter, databases, identity, clockMs, keepDatabase, unlessThere, updateFrom } = dialect;
  return {
    /** Creates a missing counter, before {@link raiseTo}. */
    makeRaised: `INSERT INTO ${counter} (${columns}) SELECT p.namespace, :name, :periodKey,
      CASE WHEN :startMs < p.raised_until_ms AND p.raised_count > :index THEN p.raised_count ELSE :index END, :writeId
      FROM ${databases} p WHERE p.namespace = :namespace AND NOT ${isClosed(sequence, ":name", ":periodKey")}
      AND NOT EXISTS (SELECT 1 FROM ${counter} c WHERE c.namespace = :namespace AND c.name = :name
        AND c.period_key = :periodKey) ${keepDatabase} ${unlessThere}`,
    raiseTo: updateOf(counter, {
      set: "used_count = :index, write_id = :writeId",
      where: `${isKey} AND used_count < :index`,
    }),
    raiseBy: updateOf(counter, { set: `used_count = ${addCount}, write_id = :writeId`, where: isKey }),
    raiseAll: updateOf(counter, {
      set: `used_count = ${addCount}, write_id = :writeId`,
      where: "namespace = :namespace",
    }),
    raiseDatabase: `UPDATE ${databases} SET raised_until_ms = ${clockMs} + ${raisedAheadMs},
      raised_revision = revision, raised_identity = ${identity}, raised_count =
      CASE WHEN raised_count > ${countMax} - :count THEN ${countMax} ELSE raised_count + :count END
      WHERE namespace = :namespace AND stopped <> ''`,
    /** Creates the missing counters of marks, before {@link coverCounters}. */
    coverPeriods: (count: number) => `INSERT INTO ${counter} (${columns}) SELECT p.namespace, m.mark_name, m.mark_key,
      CASE WHEN p.raised_count > m.mark_index THEN p.raised_count ELSE m.mark_index END, :writeId
      FROM ${databases} p CROSS JOIN ${rowsOf(dialect, markColumns, count)} m
      WHERE p.namespace = :namespace AND m.mark_key <> '' AND m.start_ms < p.raised_until_ms
      AND NOT ${isClosed(sequence, "m.mark_name", "m.mark_key")}
      AND NOT EXISTS (SELECT 1 FROM ${counter} c WHERE c.namespace = :namespace AND c.name = m.mark_name
        AND c.period_key = m.mark_key) ${keepDatabase} ${unlessThere}`,
    coverCounters: (count: number) =>
      updateFrom({
        table: counter,
        source: rowsOf(dialect, markColumns, count),
        set: "used_count = m.mark_index, write_id = :writeId",
        where: `c.namespace = :namespace AND c.name = m.mark_name AND c.period_key = m.mark_key
          AND c.used_count < m.mark_index`,
      }),
  } as const;
}

/** The statements that move sequences from one database to another, or give a database the ID of one that is lost. */
function moveStatements({ sequence, counter, databases, witness, identity, clockMs, ...dialect }: Dialect) {
  const isEmpty = `NOT EXISTS (SELECT 1 FROM ${sequence} s WHERE s.namespace = :namespace)
    AND NOT EXISTS (SELECT 1 FROM ${counter} c WHERE c.namespace = :namespace)`;
  const isSeen = "namespace = :namespace AND revision = :revision";
  return {
    counters: (count: number) => `SELECT name, period_key, used_count FROM ${counter} WHERE namespace = :namespace
      AND (name > :name OR (name = :name AND period_key > :periodKey)) ORDER BY name, period_key LIMIT ${count}`,
    moveAway: `UPDATE ${databases} SET stopped = :reason, move_state = :move, revision = revision + 1
      WHERE ${isSeen} AND stopped = '' AND identity = ${identity}`,
    receive: `UPDATE ${databases} SET stopped = :reason, move_state = :move, revision = revision + 1,
      store_id = :storeId, stripe_index = :index, stripe_count = :count, members = :members,
      ${higher("raised_count", ":raisedCount")}, ${higher("raised_until_ms", ":raisedUntilMs")},
      ${higher("epoch", ":epoch")}
      WHERE ${isSeen} AND ((stopped <> '' AND store_id = :storeId) OR (${isEmpty}))`,
    receives: `SELECT p.revision FROM ${databases} p WHERE p.namespace = :namespace AND p.revision = :revision
      AND p.move_state <> '' ${dialect.lockDatabase}`,
    dropSequence: `DELETE FROM ${sequence} WHERE namespace = :namespace AND name = :name`,
    putSequence: `INSERT INTO ${sequence} (namespace, ${definitionColumns})
      SELECT p.namespace, :name, :startValue, :increment, :valueMax, :allocation, :stepMin, :stepMax, :period,
      :timeZone, :textTemplate, :description, :disabled = 1, :createdMs, :updatedMs, :sequenceId, :yearStart,
      :lateMaxMs, :epoch,
      :closedBefore, :begunCount FROM ${databases} p WHERE p.namespace = :namespace`,
    putCounter: `INSERT INTO ${counter} (${columns}) SELECT p.namespace, :name, :periodKey, :index, :writeId
      FROM ${databases} p WHERE p.namespace = :namespace AND NOT EXISTS (SELECT 1 FROM ${counter} c
        WHERE c.namespace = :namespace AND c.name = :name AND c.period_key = :periodKey) ${dialect.unlessThere}`,
    putServer: `INSERT INTO ${witness} (namespace, process_id, line, write_id, seen_ms, epoch, server)
      VALUES (:namespace, :processId, 0, '', :seenMs, :epoch, :server) ${dialect.unlessWitnessThere}`,
    openCopy: `UPDATE ${databases} SET stopped = '', move_state = '', identity = ${identity},
      open_ms = ${clockMs} + ${openAheadMs}, revision = CASE WHEN revision + 1 > ${clockMs} AND revision > :aboveRevision
      THEN revision + 1 WHEN ${clockMs} > :aboveRevision THEN ${clockMs} ELSE :aboveRevision + 1 END
      WHERE ${isSeen} AND move_state <> ''`,
    adopt: `UPDATE ${databases} SET stopped = CASE WHEN stopped = '' THEN :reason ELSE stopped END, move_state = '',
      store_id = :storeId, stripe_index = :index, revision = revision + 1
      WHERE ${isSeen} AND (stopped <> '' OR (${isEmpty}))`,
  } as const;
}

function witnessStatements({ witness, clockMs, unlessWitnessThere }: Dialect) {
  const isRow = "namespace = :namespace AND process_id = :processId";
  return {
    witness: `SELECT line, write_id FROM ${witness} WHERE ${isRow}`,
    makeWitness: `INSERT INTO ${witness} (namespace, process_id, line, write_id, seen_ms, epoch, server)
      VALUES (:namespace, :processId, :line, :writeId, :seenMs, :epoch, :server) ${unlessWitnessThere}`,
    /** Makes every take of a process that has a witness row fail. */
    fence: `UPDATE ${witness} SET write_id = 'moved' WHERE namespace = :namespace`,
    noteLook: `UPDATE ${witness} SET write_id = :after, seen_ms = :seenMs, epoch = :epoch
      WHERE ${isRow} AND line = 0 AND write_id = :before`,
    /** Writes the witness row of a take, if that is a separate statement of the same transaction. */
    note: `UPDATE ${witness} SET write_id = :noteAfter WHERE ${isRow} AND line = :line AND write_id = :noteBefore`,
    servers: `SELECT process_id, server, seen_ms, epoch, ${clockMs} AS clock_ms FROM ${witness}
      WHERE namespace = :namespace AND line = 0 ORDER BY server, process_id`,
    /** Begins {@link dropWitness}, if the process may have looked meanwhile. */
    dropUnseen: `DELETE FROM ${witness} WHERE ${isRow} AND line = 0 AND seen_ms = :seenMs`,
    dropWitness: `DELETE FROM ${witness} WHERE ${isRow}`,
  } as const;
}

/** Sets a column to a value, unless that is lower. */
function higher(column: string, value: string): string {
  return `${column} = CASE WHEN ${column} < ${value} THEN ${value} ELSE ${column} END`;
}

/** A condition: the sequence has the counter that it got at its creation. */
function hasFirst(counter: string): string {
  return `EXISTS (SELECT 1 FROM ${counter} f WHERE f.namespace = :namespace AND f.name = :name
    AND f.period_key = '')`;
}

/** A condition: the period was pruned. */
function isClosed(sequence: string, name: string, periodKey: string): string {
  return `EXISTS (SELECT 1 FROM ${sequence} z WHERE z.namespace = :namespace AND z.name = ${name}
    AND ${periodKey} <> '' AND z.closed_before > ${periodKey})`;
}

/** A condition: the sequence exists under its sequence_id, and is not disabled. */
function isEnabled(sequence: string, name = ":name", sequenceId = ":sequenceId"): string {
  return `EXISTS (SELECT 1 FROM ${sequence} s WHERE s.namespace = :namespace AND s.name = ${name}
    AND s.sequence_id = ${sequenceId} AND NOT s.disabled)`;
}

const ofSequence = definitionColumns
  .split(", ")
  .map((column) => `s.${column}`)
  .join(", ");

/** Columns of rows, and the names of their values, to which the number of the row is added: `name0`, `name1`. */
const keyColumns = { key_name: "name", key_period: "key" } as const;
const markColumns = { mark_name: "name", mark_key: "key", mark_index: "index", start_ms: "start" } as const;
/** See {@link rangeValues}. */
const rangeColumns = {
  range_name: "name",
  range_key: "key",
  range_sequence_id: "id",
  first_index: "first",
  end_index: "end",
  range_write_id: "write",
} as const;

function rowsOf({ rows }: Dialect, columns: Readonly<Record<string, string>>, count: number): string {
  const names = Object.values(columns);
  return rows(
    Object.keys(columns),
    Array.from({ length: count }, (_, index) => names.map((name) => `:${name}${index}`)),
  );
}

/** Writes rows in a form that every database accepts. */
export const unionRows: Dialect["rows"] = (columns, rows) => {
  const selects = rows.map((row) => `SELECT ${row.map((value, at) => `${value} AS ${columns[at]}`).join(", ")}`);
  return `(${selects.join(" UNION ALL ")})`;
};

/** The values of rows under the names of {@link rowsOf}. */
function rowValues(rows: readonly NamedValues[]): NamedValues {
  return Object.fromEntries(
    rows.flatMap((row, at) => Object.entries(row).map(([name, value]) => [`${name}${at}`, value])),
  );
}

/** The values of keys that are looked at. */
export function keyValues(keys: readonly CounterKey[]): NamedValues {
  return rowValues(keys.map(({ name, periodKey }) => ({ name, key: periodKey })));
}

/** The values of marks that are written. */
export function markValues(marks: readonly Mark[]): NamedValues {
  const rows = marks.map(({ name, periodKey, index }) => ({
    name,
    key: periodKey,
    index,
    start: earliestStartMs(periodKey),
  }));
  return rowValues(rows);
}

/** The values of ranges to be given back. */
export function rangeValues(ranges: readonly GiveBackRequest[]): NamedValues {
  const rows = ranges.map(({ name, periodKey, sequenceId, firstIndex, endIndex, writeId }) => ({
    name,
    key: periodKey,
    id: sequenceId,
    first: firstIndex,
    end: endIndex,
    write: writeId,
  }));
  return rowValues(rows);
}

function updateOf(counter: string, { set, where }: CounterUpdate): string {
  return `UPDATE ${counter} SET ${set} WHERE ${where}`;
}
