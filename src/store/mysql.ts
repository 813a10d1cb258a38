/**
 * Records in MySQL or MariaDB: one table for all namespaces, compared by value, byte for byte.
 *
 * Every statement is a transaction of its own.
 */
import type { ResultSetHeader, RowDataPacket } from "mysql2/promise";
import {
  isDuplicateKey,
  isRefusedStatement,
  type MysqlConnection,
  type MysqlDatabase,
  openMysqlDatabase,
} from "./link/mysql-link.ts";
import { adviseOnMysql } from "./mysql-advice.ts";
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

const kind = "mysql";
const table = "snowlane_record";

interface RecordRow extends RowDataPacket {
  readonly key: Buffer;
  readonly text: Buffer;
}

/**
 * Opens a MySQL or MariaDB store; the server may start later.
 *
 * @param url - See {@link openMysqlDatabase}.
 * @throws IdError INVALID_CONFIG.
 */
export async function openMysqlStore(url: string, options: StoreOptions): Promise<RecordStore> {
  return new MysqlStore(await openMysqlDatabase(url, options), options);
}

class MysqlStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "durable";
  readonly readsMayBeUndone = true;
  readonly skipsEqualWrites = true;
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = serverTiming;
  readonly #database: MysqlDatabase;
  readonly #namespace: string;
  readonly #link: StoreLink<MysqlConnection>;

  constructor(database: MysqlDatabase, { namespace, whereNew }: StoreOptions) {
    this.#database = database;
    this.#namespace = namespace;
    this.#link = database.link(new MadeOnce({ kind, noun: "table", names: [table], whereNew, make: createTable }));
  }

  moment(): Promise<StoreMoment> {
    return this.#link.call((connection) => this.#moment(connection));
  }

  list(): Promise<ListAnswer> {
    return this.#link.call(async (connection) => {
      const [rows] = await connection.client.execute<RecordRow[]>(sql.list, [this.#namespace]);
      const entries = rows.map(({ key, text }) => ({ key: key.toString(), text: text.toString() }));
      return { entries, moment: await this.#moment(connection) };
    });
  }

  read(key: RecordKey): Promise<ReadAnswer> {
    return this.#link.call(async (connection) => {
      const [rows] = await connection.client.execute<RecordRow[]>(sql.read, [this.#namespace, key]);
      return { entry: rows[0] && { key, text: rows[0].text.toString() }, moment: await this.#moment(connection) };
    });
  }

  compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    return this.#link.call(async (connection) => {
      let isApplied: boolean;
      try {
        isApplied =
          expected === undefined
            ? await create(connection, [this.#namespace, key, next])
            : await replace(connection, [next, this.#namespace, key, expected.text]);
      } catch (error) {
        if (isRefusedStatement(error)) return { kind: "refused", error: this.#link.refusal(error) };
        throw error;
      }
      const moment = await this.#moment(connection);
      if (!isApplied) return { kind: "conflict", moment };
      return { kind: "applied", entry: { key, text: next }, moment };
    }, "write");
  }

  advise(): Promise<readonly StoreAdvice[]> {
    return this.#link.call(adviseOnMysql);
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  async #moment(connection: MysqlConnection): Promise<StoreMoment> {
    return momentOf(await this.#database.moment(connection, table));
  }
}

/** Columns are binary, so that texts that differ only in case or in a trailing space are not equal. */
const sql = {
  createTable: `CREATE TABLE IF NOT EXISTS ${table} (
    namespace VARBINARY(63) NOT NULL, \`key\` VARBINARY(40) NOT NULL, text VARBINARY(1024) NOT NULL,
    PRIMARY KEY (namespace, \`key\`)) ENGINE = InnoDB`,
  list: `SELECT \`key\`, text FROM ${table} WHERE namespace = ?`,
  read: `SELECT \`key\`, text FROM ${table} WHERE namespace = ? AND \`key\` = ?`,
  create: `INSERT INTO ${table} (namespace, \`key\`, text) VALUES (?, ?, ?)`,
  replace: `UPDATE ${table} SET text = ? WHERE namespace = ? AND \`key\` = ? AND text = ?`,
} as const;

async function createTable({ client }: MysqlConnection): Promise<void> {
  await client.query(sql.createTable);
}

async function create({ client }: MysqlConnection, values: readonly string[]): Promise<boolean> {
  try {
    const [{ affectedRows }] = await client.execute<ResultSetHeader>(sql.create, [...values]);
    return affectedRows === 1;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

async function replace({ client }: MysqlConnection, values: readonly string[]): Promise<boolean> {
  const [{ affectedRows }] = await client.execute<ResultSetHeader>(sql.replace, [...values]);
  return affectedRows === 1;
}
