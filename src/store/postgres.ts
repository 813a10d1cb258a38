/** Records in PostgreSQL. Every write commits durably, regardless of the server's setting. */
import {
  createTable,
  durableCommit,
  isRefusedStatement,
  openPostgresDatabase,
  type PostgresConnection,
  writeDurably,
} from "./link/postgres-link.ts";
import { adviseOnPostgres } from "./postgres-advice.ts";
import type { RecordStore, StoreOptions } from "./record-store.ts";
import { recordTable, SqlRecords } from "./sql-records.ts";

/**
 * Opens a PostgreSQL store; the server may start later.
 *
 * @param url - See {@link openPostgresDatabase}.
 * @throws IdError INVALID_CONFIG.
 */
export async function openPostgresStore(url: string, options: StoreOptions): Promise<RecordStore> {
  const database = await openPostgresDatabase(url, options);
  const table = database.qualify(recordTable);
  const sql = statementsOn(table);
  return new SqlRecords<PostgresConnection>(
    {
      kind: "postgres",
      database,
      table,
      createTable: (connection) => createTable(connection, sql.createTable),
      list: async ({ client }, namespace) => {
        const { rows } = await client.query<{ key: string; text: string }>(sql.list, [namespace]);
        return rows.map(({ key, text }) => ({ key, text }));
      },
      read: async ({ client }, ...values) => (await client.query<{ text: string }>(sql.read, values)).rows[0]?.text,
      create: (connection, ...values) => isWritten(connection, sql.create, values),
      replace: (connection, { namespace, key, expected, text }) =>
        isWritten(connection, sql.replace, [namespace, key, text, expected]),
      isRefused: isRefusedStatement,
      advise: adviseOnPostgres,
    },
    options,
  );
}

function statementsOn(table: string) {
  return {
    createTable: `CREATE TABLE IF NOT EXISTS ${table} (
      namespace text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL,
      PRIMARY KEY (namespace, key))`,
    list: `SELECT key, text FROM ${table} WHERE namespace = $1`,
    read: `SELECT text FROM ${table} WHERE namespace = $1 AND key = $2`,
    create: `WITH ${durableCommit}, done AS (
      INSERT INTO ${table} (namespace, key, text) SELECT $1, $2, $3 FROM durable ON CONFLICT DO NOTHING RETURNING 1)
      SELECT count(*)::int AS count FROM done`,
    replace: `WITH ${durableCommit}, done AS (
      UPDATE ${table} SET text = $3 FROM durable WHERE namespace = $1 AND key = $2 AND text = $4 RETURNING 1)
      SELECT count(*)::int AS count FROM done`,
  } as const;
}

async function isWritten(connection: PostgresConnection, statement: string, values: string[]): Promise<boolean> {
  const [row] = await writeDurably<{ count: number }>(connection, statement, values);
  return row?.count === 1;
}
