/**
 * Sequences in MySQL or MariaDB: separate tables, in the database of the worker records or in any other.
 *
 * The durability of an answered take depends on the server's settings, as for worker records.
 */
import type { ResultSetHeader, RowDataPacket } from "mysql2/promise";
import { IdError } from "../../errors.ts";
import {
  areTablesThere,
  isDuplicateColumn,
  isDuplicateKey,
  isLostRace,
  isRefusedStatement,
  type MysqlConnection,
  type MysqlDatabase,
  openMysqlDatabase,
  transact,
} from "../../store/link/mysql-link.ts";
import type { MovableStore } from "../movable-store.ts";
import type { SequenceStoreOptions } from "../sequence-store.ts";
import { countBegun, type SchemaRules, tableNames } from "./migrations.ts";
import { type NamedValues, bindValues } from "./named-values.ts";
import { type SqlDriver, SqlSequences } from "./sql-sequences.ts";
import type { Row, SqlSession } from "./sql-session.ts";
import { type Dialect, unionRows } from "./statements.ts";

const kind = "mysql";
/** How long a process that wants to change the tables waits for another one that is doing so. */
const lockTimeoutS = 5;

/**
 * Opens the sequences of a MySQL or MariaDB database; the server may start later.
 *
 * @param url - See {@link openMysqlDatabase}.
 * @throws IdError INVALID_CONFIG.
 */
export async function openMysqlSequences(url: string, options: SequenceStoreOptions): Promise<MovableStore> {
  return new SqlSequences(driverOf(await openMysqlDatabase(url, options)), options);
}

function driverOf(database: MysqlDatabase): SqlDriver<MysqlConnection> {
  return {
    kind,
    database,
    schema,
    dialect: (connection) => ({ ...common, ...database.expressions(connection, tableNames.counter) }),
    session: sessionOf,
    transact,
    take: async (connection, statement, values) => {
      const header = await execute<ResultSetHeader>(connection, statement, values);
      // Two rows: the counter and the witness. The driver returns the count as a text if a number would lose digits.
      return header.affectedRows === 2 ? BigInt(header.insertId) : undefined;
    },
    isRefused: isRefusedStatement,
    isLostRace,
    isDuplicate: isDuplicateKey,
  };
}

const common: Omit<Dialect, "identity" | "clockMs"> = {
  sequence: tableNames.sequence,
  counter: tableNames.counter,
  databases: tableNames.databases,
  witness: tableNames.witness,
  keepDatabase: "LOCK IN SHARE MODE",
  lockDatabase: "FOR UPDATE",
  lockSequence: "FOR UPDATE",
  unlessThere: `ON DUPLICATE KEY UPDATE ${tableNames.counter}.write_id = ${tableNames.counter}.write_id`,
  unlessDatabaseThere: `ON DUPLICATE KEY UPDATE ${tableNames.databases}.identity = ${tableNames.databases}.identity`,
  unlessWitnessThere: `ON DUPLICATE KEY UPDATE ${tableNames.witness}.line = ${tableNames.witness}.line`,
  // Changes both rows or neither. Their order is not fixed, so each is set only from its own columns.
  writeTake: ({ usedCount, takenCount, ofWitness, ofCounter }) =>
    `UPDATE ${tableNames.counter} c JOIN ${tableNames.witness} t ON ${ofWitness}
      SET c.used_count = LAST_INSERT_ID(${usedCount}), c.taken_count = ${takenCount}, c.write_id = :writeId,
      t.write_id = :noteAfter WHERE ${ofCounter}`,
  rows: unionRows,
  updateFrom: ({ table, source, set, where }) => `UPDATE ${table} c CROSS JOIN ${source} m SET ${set} WHERE ${where}`,
};

/** The driver binds a number as DOUBLE, with which takes above 2^53 would get equal ranges. */
const parameters = { text: () => "?", number: () => "CAST(? AS SIGNED)" };

async function execute<Result extends ResultSetHeader | RowDataPacket[]>(
  { client }: MysqlConnection,
  text: string,
  values: NamedValues = {},
): Promise<Result> {
  const bound = bindValues(text, values, parameters);
  const [result] = await client.execute<Result>(bound.text, [...bound.values]);
  return result;
}

function sessionOf(connection: MysqlConnection): SqlSession {
  return {
    run: async (text, values) => (await execute<ResultSetHeader>(connection, text, values)).affectedRows,
    all: async (text, values) => (await execute<RowDataPacket[]>(connection, text, values)).map(textual),
  };
}

/** Reads the texts of a row, which are stored as bytes so that they are compared byte by byte. */
function textual(row: RowDataPacket): Row {
  const entries = Object.entries(row).map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString() : value]);
  return Object.fromEntries(entries) as Row;
}

const { sequence, counter, databases, witness, schema: steps } = tableNames;

const schema: SchemaRules<MysqlConnection> = {
  kind,
  names: [sequence, counter, databases, witness, steps],
  laterNames: { 3: [witness] },
  steps: [
    [
      `CREATE TABLE IF NOT EXISTS ${sequence} (namespace VARBINARY(63) NOT NULL, name VARBINARY(63) NOT NULL,
        start_value BIGINT NOT NULL, increment BIGINT NOT NULL, value_max BIGINT NOT NULL,
        allocation VARBINARY(20) NOT NULL, step_min BIGINT NOT NULL, step_max BIGINT NOT NULL,
        period VARBINARY(20) NOT NULL, time_zone VARBINARY(100) NOT NULL, text_template VARBINARY(400) NOT NULL,
        description VARBINARY(800) NOT NULL, disabled BOOLEAN NOT NULL, created_ms BIGINT NOT NULL,
        updated_ms BIGINT NOT NULL, sequence_id VARBINARY(32) NOT NULL, PRIMARY KEY (namespace, name))
        ENGINE = InnoDB`,
      `CREATE TABLE IF NOT EXISTS ${counter} (namespace VARBINARY(63) NOT NULL, name VARBINARY(63) NOT NULL,
        period_key VARBINARY(10) NOT NULL, used_count BIGINT NOT NULL, write_id VARBINARY(32) NOT NULL,
        taken_count BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (namespace, name, period_key)) ENGINE = InnoDB`,
      `CREATE TABLE IF NOT EXISTS ${databases} (namespace VARBINARY(63) NOT NULL PRIMARY KEY,
        identity VARBINARY(200) NOT NULL, stopped VARBINARY(2000) NOT NULL, revision BIGINT NOT NULL,
        open_ms BIGINT NOT NULL, raised_count BIGINT NOT NULL, raised_until_ms BIGINT NOT NULL) ENGINE = InnoDB`,
    ],
    [
      `ALTER TABLE ${databases} ADD COLUMN store_id VARBINARY(32) NOT NULL DEFAULT '',
        ADD COLUMN stripe_index INT NOT NULL DEFAULT 0, ADD COLUMN stripe_count INT NOT NULL DEFAULT 1,
        ADD COLUMN members VARBINARY(2200) NOT NULL DEFAULT ''`,
    ],
    [
      `ALTER TABLE ${sequence} ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0`,
      // Adding the column makes the table again, which looks like a loss: raise by 0 and open. A new table has the
      // column.
      `ALTER TABLE ${counter} ADD COLUMN taken_count BIGINT NOT NULL DEFAULT 0`,
      `UPDATE ${databases} SET store_id = REPLACE(UUID(), '-', '') WHERE store_id = ''`,
      `ALTER TABLE ${databases} ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0,
        ADD COLUMN raised_revision BIGINT NOT NULL DEFAULT -1,
        ADD COLUMN raised_identity VARBINARY(200) NOT NULL DEFAULT '',
        ADD COLUMN emptied_revision BIGINT NOT NULL DEFAULT -1`,
      `CREATE TABLE IF NOT EXISTS ${witness} (namespace VARBINARY(63) NOT NULL, process_id VARBINARY(32) NOT NULL,
        line INT NOT NULL, write_id VARBINARY(60) NOT NULL, seen_ms BIGINT NOT NULL, epoch BIGINT NOT NULL,
        server VARBINARY(400) NOT NULL, PRIMARY KEY (namespace, process_id, line)) ENGINE = InnoDB`,
      `ALTER TABLE ${steps} ADD COLUMN program VARBINARY(40)`,
    ],
    [
      `ALTER TABLE ${databases} ADD COLUMN move_state VARBINARY(400) NOT NULL DEFAULT ''`,
      `ALTER TABLE ${sequence} ADD COLUMN closed_before VARBINARY(10) NOT NULL DEFAULT '',
        ADD COLUMN begun_count BIGINT NOT NULL DEFAULT 0, ADD COLUMN year_start VARBINARY(5) NOT NULL DEFAULT '',
        ADD COLUMN late_max_ms BIGINT NOT NULL DEFAULT 0`,
      countBegun(sequence, counter),
    ],
  ],
  areThere: areTablesThere,
  isDone: isDuplicateColumn,
  session: sessionOf,
  alone: async ({ client }, work) => {
    // The name of a lock may have 64 characters. MySQL 9 no longer has SHA1.
    const lock = "CONCAT('snowlane ', LEFT(SHA2(DATABASE(), 256), 40))";
    const [[taken]] = await client.query<RowDataPacket[]>(`SELECT GET_LOCK(${lock}, ${lockTimeoutS}) AS is_taken`);
    if (Number(taken?.["is_taken"]) !== 1) throw new Error("another process changes the tables of sequences");
    try {
      await work();
    } finally {
      // A lost connection has released the lock already.
      await client.query(`SELECT RELEASE_LOCK(${lock})`).catch(() => {});
    }
  },
  check: refuseStatementLog,
};

/**
 * Statements of a take ask the server who it is. A replica that repeats such a statement is another server, so it would
 * take nothing: its counters would not advance.
 */
async function refuseStatementLog({ client }: MysqlConnection): Promise<void> {
  const [rows] = await client.query<RowDataPacket[]>(
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format')",
  );
  const variables = new Map(rows.map((row) => [`${row["Variable_name"]}`, `${row["Value"]}`]));
  if (variables.get("log_bin") !== "ON" || variables.get("binlog_format") !== "STATEMENT") return;
  const message =
    "The mysql server logs statements for its replicas, which would not repeat takes of values. Set binlog_format to ROW or MIXED.";
  throw new IdError("INVALID_CONFIG", message, { metadata: { store: kind, binlog_format: "STATEMENT" } });
}
