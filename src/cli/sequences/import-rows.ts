/** Reads the rows of a query from the database of another program, which is not changed. */
import { existsSync } from "node:fs";
import { IdError } from "../../errors.ts";
import { storeKindOf } from "../../store/store-kind.ts";

/** A row, column by column. */
export type ImportRow = readonly unknown[];

/** Gives the rows of a query. */
type ReadRows = (url: string, sql: string) => Promise<readonly ImportRow[]>;

const callTimeoutMs = 60_000;

const readers: Readonly<Record<string, ReadRows>> = {
  sqlite: readSqlite,
  postgres: readPostgres,
  mysql: readMysql,
};

/** Tells whether rows can be read from the database that a URL names. */
export function canRead(url: string): boolean {
  return readers[storeKindOf(url) ?? ""] !== undefined;
}

/**
 * Runs one query, in a transaction that may only read. Of several hosts, the one that takes writes is asked: a replica
 * that lags would report a maximum that is too low.
 *
 * @throws IdError INVALID_CONFIG, STORE_UNAVAILABLE; for a query that the database refuses, with the database's own
 * words.
 */
export async function readImportRows(url: string, sql: string): Promise<readonly ImportRow[]> {
  return readers[storeKindOf(url) ?? ""]!(url, sql);
}

async function readSqlite(url: string, sql: string): Promise<readonly ImportRow[]> {
  const { DatabaseSync } = await import("node:sqlite");
  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
  if (!existsSync(path)) throw unreadable("sqlite", `there is no file ${path}`);
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement.all() as unknown as readonly ImportRow[];
  } catch (error) {
    throw unreadable("sqlite", (error as Error).message);
  } finally {
    database.close();
  }
}

async function readPostgres(url: string, sql: string): Promise<readonly ImportRow[]> {
  const { openPostgresDatabase } = await import("../../store/link/postgres-link.ts");
  const link = (await openPostgresDatabase(url, { callTimeoutMs })).link();
  return link
    .call(async ({ client }) => {
      await client.query("BEGIN READ ONLY");
      try {
        const { rows } = await client.query<unknown[]>({ text: sql, rowMode: "array" }).catch(refuse("postgres"));
        return rows ?? [];
      } finally {
        await client.query("ROLLBACK");
      }
    })
    .finally(() => link.close());
}

async function readMysql(url: string, sql: string): Promise<readonly ImportRow[]> {
  const { openMysqlDatabase } = await import("../../store/link/mysql-link.ts");
  const link = (await openMysqlDatabase(url, { callTimeoutMs })).link();
  return link
    .call(async ({ client }) => {
      await client.query("START TRANSACTION READ ONLY");
      try {
        const [rows] = await client.query({ sql, rowsAsArray: true }).catch(refuse("mysql"));
        return Array.isArray(rows) ? (rows as unknown[][]) : [];
      } finally {
        await client.query("ROLLBACK");
      }
    })
    .finally(() => link.close());
}

/** Turns the refusal of a query into our error. */
function refuse(kind: string): (error: Error) => never {
  return (error) => {
    throw unreadable(kind, error.message);
  };
}

function unreadable(kind: string, problem: string): IdError {
  const message = `The query of --sql cannot be run on the ${kind} database of --from: ${problem}.`;
  return new IdError("INVALID_CONFIG", message, { metadata: { setting: "sql", kind, problem } });
}
