/** Sequences in PostgreSQL: separate tables, in the database of the worker records or in any other. */
import {
  areTablesThere,
  durableCommit,
  isDuplicateKey,
  isLostRace,
  isRefusedStatement,
  openPostgresDatabase,
  type PostgresConnection,
  type PostgresDatabase,
  transactDurably,
  writeDurably,
} from "../../store/link/postgres-link.ts";
import type { MovableStore } from "../movable-store.ts";
import type { SequenceStoreOptions } from "../sequence-store.ts";
import { countBegun, type SchemaRules, tableNames } from "./migrations.ts";
import { type NamedValues, bindValues } from "./named-values.ts";
import { type SqlDriver, SqlSequences } from "./sql-sequences.ts";
import type { Row, SqlSession } from "./sql-session.ts";
import type { Dialect } from "./statements.ts";

const kind = "postgres";
/** The key of the advisory lock that a process holds while it changes the tables: "snowlane" in ASCII. */
const lockKey = 0x736e_6f77_6c61_6e65n;

/**
 * Opens the sequences of a PostgreSQL database; the server may start later.
 *
 * @param url - See {@link openPostgresDatabase}.
 * @throws IdError INVALID_CONFIG.
 */
export async function openPostgresSequences(url: string, options: SequenceStoreOptions): Promise<MovableStore> {
  return new SqlSequences(driverOf(await openPostgresDatabase(url, options)), options);
}

function driverOf(database: PostgresDatabase): SqlDriver<PostgresConnection> {
  const tables = {
    sequence: database.qualify(tableNames.sequence),
    counter: database.qualify(tableNames.counter),
    databases: database.qualify(tableNames.databases),
    witness: database.qualify(tableNames.witness),
    schema: database.qualify(tableNames.schema),
  } as const;
  const dialects = new WeakMap<PostgresConnection, Dialect>();
  return {
    kind,
    database,
    schema: schemaOf(tables),
    dialect: (connection) => {
      const known = dialects.get(connection) ?? dialectOf(tables, database.expressions(connection, tables.counter));
      dialects.set(connection, known);
      return known;
    },
    session: sessionOf,
    transact: transactDurably,
    take: async (connection, statement, values) => {
      const { text, values: bound } = bindValues(statement, values, parameters);
      const [row] = await writeDurably<{ used_count: string }>(connection, text, bound);
      return row && BigInt(row.used_count);
    },
    isRefused: isRefusedStatement,
    isLostRace,
    isDuplicate: isDuplicateKey,
  };
}

const parameters = { text: (index: number) => `$${index}::text`, number: (index: number) => `$${index}::bigint` };

function sessionOf({ client }: PostgresConnection): SqlSession {
  const query = (text: string, values: NamedValues = {}) => {
    const bound = bindValues(text, values, parameters);
    return client.query<Row>(bound.text, [...bound.values]);
  };
  return {
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
    all: async (text, values) => (await query(text, values)).rows,
  };
}

type Tables = Readonly<Record<keyof typeof tableNames, string>>;

function dialectOf(
  { sequence, counter, databases, witness }: Tables,
  server: Pick<Dialect, "identity" | "clockMs">,
): Dialect {
  return {
    sequence,
    counter,
    databases,
    witness,
    ...server,
    keepDatabase: "FOR SHARE OF p",
    lockDatabase: "FOR UPDATE OF p",
    lockSequence: "FOR UPDATE OF s",
    unlessThere: "ON CONFLICT DO NOTHING",
    unlessDatabaseThere: "ON CONFLICT DO NOTHING",
    unlessWitnessThere: "ON CONFLICT DO NOTHING",
    // The witness is updated first, which locks its row: a subquery would read the row as it was when the statement
    // began.
    writeTake: ({ usedCount, takenCount, ofWitness, ofCounter }) => `WITH ${durableCommit},
      noted AS (UPDATE ${witness} t SET write_id = :noteAfter FROM durable WHERE ${ofWitness} RETURNING 1)
      UPDATE ${counter} c SET used_count = ${usedCount}, taken_count = ${takenCount}, write_id = :writeId
      FROM noted WHERE ${ofCounter} RETURNING c.used_count`,
    // PostgreSQL's time to plan a union grows with the square of the number of rows.
    rows: (columns, rows) => {
      const values = rows.map((row) => `(${row.join(", ")})`).join(", ");
      return `(SELECT * FROM (VALUES ${values}) v (${columns.join(", ")}))`;
    },
    updateFrom: ({ table, source, set, where }) => `UPDATE ${table} c SET ${set} FROM ${source} m WHERE ${where}`,
  };
}

function schemaOf(tables: Tables): SchemaRules<PostgresConnection> {
  const { sequence, counter, databases, witness, schema } = tables;
  const names = [sequence, counter, databases, witness, schema];
  return {
    kind,
    names,
    laterNames: { 3: [witness] },
    steps: [
      [
        `CREATE TABLE IF NOT EXISTS ${sequence} (namespace text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
          start_value bigint NOT NULL, increment bigint NOT NULL, value_max bigint NOT NULL, allocation text NOT NULL,
          step_min bigint NOT NULL, step_max bigint NOT NULL, period text NOT NULL, time_zone text NOT NULL,
          text_template text NOT NULL, description text NOT NULL, disabled boolean NOT NULL, created_ms bigint NOT NULL,
          updated_ms bigint NOT NULL, sequence_id text NOT NULL, PRIMARY KEY (namespace, name))`,
        `CREATE TABLE IF NOT EXISTS ${counter} (namespace text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
          period_key text COLLATE "C" NOT NULL, used_count bigint NOT NULL, write_id text NOT NULL,
          PRIMARY KEY (namespace, name, period_key))`,
        `CREATE TABLE IF NOT EXISTS ${databases} (namespace text COLLATE "C" NOT NULL PRIMARY KEY, identity text NOT NULL,
          stopped text NOT NULL, revision bigint NOT NULL, open_ms bigint NOT NULL, raised_count bigint NOT NULL,
          raised_until_ms bigint NOT NULL)`,
      ],
      [
        `ALTER TABLE ${databases} ADD COLUMN IF NOT EXISTS store_id text NOT NULL DEFAULT '',
          ADD COLUMN IF NOT EXISTS stripe_index int NOT NULL DEFAULT 0,
          ADD COLUMN IF NOT EXISTS stripe_count int NOT NULL DEFAULT 1,
          ADD COLUMN IF NOT EXISTS members text NOT NULL DEFAULT ''`,
      ],
      [
        `ALTER TABLE ${sequence} ADD COLUMN IF NOT EXISTS epoch bigint NOT NULL DEFAULT 0`,
        `ALTER TABLE ${counter} ADD COLUMN IF NOT EXISTS taken_count bigint NOT NULL DEFAULT 0`,
        `UPDATE ${databases} SET store_id = md5(random()::text || clock_timestamp()::text || namespace) WHERE store_id = ''`,
        `ALTER TABLE ${databases} ADD COLUMN IF NOT EXISTS epoch bigint NOT NULL DEFAULT 0,
          ADD COLUMN IF NOT EXISTS raised_revision bigint NOT NULL DEFAULT -1,
          ADD COLUMN IF NOT EXISTS raised_identity text NOT NULL DEFAULT '',
          ADD COLUMN IF NOT EXISTS emptied_revision bigint NOT NULL DEFAULT -1`,
        `CREATE TABLE IF NOT EXISTS ${witness} (namespace text COLLATE "C" NOT NULL, process_id text COLLATE "C" NOT NULL,
          line int NOT NULL, write_id text NOT NULL, seen_ms bigint NOT NULL, epoch bigint NOT NULL,
          server text NOT NULL, PRIMARY KEY (namespace, process_id, line))`,
        `ALTER TABLE ${schema} ADD COLUMN IF NOT EXISTS program text`,
      ],
      [
        `ALTER TABLE ${databases} ADD COLUMN IF NOT EXISTS move_state text NOT NULL DEFAULT ''`,
        `ALTER TABLE ${sequence} ADD COLUMN IF NOT EXISTS closed_before text COLLATE "C" NOT NULL DEFAULT '',
          ADD COLUMN IF NOT EXISTS begun_count bigint NOT NULL DEFAULT 0,
          ADD COLUMN IF NOT EXISTS year_start text NOT NULL DEFAULT '',
          ADD COLUMN IF NOT EXISTS late_max_ms bigint NOT NULL DEFAULT 0`,
        countBegun(sequence, counter),
      ],
    ],
    areThere: areTablesThere,
    session: sessionOf,
    alone: (connection, work) =>
      transactDurably(connection, async () => {
        await connection.client.query(`SELECT pg_advisory_xact_lock(${lockKey})`);
        await work();
      }),
  };
}
