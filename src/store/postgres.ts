/**
 * Records in PostgreSQL: one table for all namespaces, compared by value.
 *
 * Every statement is a transaction of its own, and commits durably.
 */
import {
  createTable,
  durableCommit,
  isRefusedStatement,
  openPostgresDatabase,
  type PostgresConnection,
  type PostgresDatabase,
  writeDurably,
} from "./link/postgres-link.ts";
import { adviseOnPostgres } from "./postgres-advice.ts";
import { MadeOnce } from "./link/made-once.ts";
import type { StoreLink } from "./link/store-link.ts";
import {
  type Entry,
  type ListAnswer,
  momentOf,
  type ReadAnswer,
  type RecordKey,
  type RecordStore,
  serverTiming,
  type StoreAdvice,
  type StoreMoment,
  type StoreOptions,
  type WriteAnswer,
} from "./record-store.ts";

const kind = "postgres";

interface RecordRow {
  readonly key: string;
  readonly text: string;
}

/**
 * Opens a PostgreSQL store; the server may start later.
 *
 * @param url - See {@link openPostgresDatabase}.
 * @throws IdError INVALID_CONFIG.
 */
export async function openPostgresStore(url: string, options: StoreOptions): Promise<RecordStore> {
  return new PostgresStore(await openPostgresDatabase(url, options), options);
}

class PostgresStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "durable";
  readonly readsMayBeUndone = true;
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = serverTiming;
  readonly #database: PostgresDatabase;
  readonly #namespace: string;
  readonly #table: string;
  readonly #sql: Statements;
  readonly #link: StoreLink<PostgresConnection>;

  constructor(database: PostgresDatabase, { namespace, whereNew }: StoreOptions) {
    this.#database = database;
    this.#namespace = namespace;
    const table = database.qualify("snowlane_record");
    const sql = writeStatements(table);
    const make = (connection: PostgresConnection): Promise<void> => createTable(connection, sql.createTable);
    this.#table = table;
    this.#sql = sql;
    this.#link = database.link(new MadeOnce({ kind, noun: "table", names: [table], whereNew, make }));
  }

  moment(): Promise<StoreMoment> {
    return this.#link.call((connection) => this.#moment(connection));
  }

  list(): Promise<ListAnswer> {
    return this.#link.call(async (connection) => {
      const { rows } = await connection.client.query<RecordRow>(this.#sql.list, [this.#namespace]);
      return { entries: rows.map(({ key, text }) => ({ key, text })), moment: await this.#moment(connection) };
    });
  }

  read(key: RecordKey): Promise<ReadAnswer> {
    return this.#link.call(async (connection) => {
      const { rows } = await connection.client.query<RecordRow>(this.#sql.read, [this.#namespace, key]);
      return { entry: rows[0] && { key, text: rows[0].text }, moment: await this.#moment(connection) };
    });
  }

  compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    return this.#link.call(async (connection) => {
      const values = [this.#namespace, key, next];
      let row: { readonly count: number } | undefined;
      try {
        [row] = await (expected === undefined
          ? writeDurably<{ count: number }>(connection, this.#sql.create, values)
          : writeDurably<{ count: number }>(connection, this.#sql.replace, [...values, expected.text]));
      } catch (error) {
        if (isRefusedStatement(error)) return { kind: "refused", error: this.#link.refusal(error) };
        throw error;
      }
      const moment = await this.#moment(connection);
      if (row?.count !== 1) return { kind: "conflict", moment };
      return { kind: "applied", entry: { key, text: next }, moment };
    }, "write");
  }

  advise(): Promise<readonly StoreAdvice[]> {
    return this.#link.call(adviseOnPostgres);
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  async #moment(connection: PostgresConnection): Promise<StoreMoment> {
    return momentOf(await this.#database.moment(connection, this.#table));
  }
}

type Statements = ReturnType<typeof writeStatements>;

function writeStatements(table: string) {
  return {
    createTable: `CREATE TABLE IF NOT EXISTS ${table} (
      namespace text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL,
      PRIMARY KEY (namespace, key))`,
    list: `SELECT key, text FROM ${table} WHERE namespace = $1`,
    read: `SELECT key, text FROM ${table} WHERE namespace = $1 AND key = $2`,
    create: `WITH ${durableCommit}, done AS (
      INSERT INTO ${table} (namespace, key, text) SELECT $1, $2, $3 FROM durable ON CONFLICT DO NOTHING RETURNING 1)
      SELECT count(*)::int AS count FROM done`,
    replace: `WITH ${durableCommit}, done AS (
      UPDATE ${table} SET text = $3 FROM durable WHERE namespace = $1 AND key = $2 AND text = $4 RETURNING 1)
      SELECT count(*)::int AS count FROM done`,
  } as const;
}
