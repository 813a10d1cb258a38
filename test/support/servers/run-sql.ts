import mysql from "mysql2/promise";
import { Client } from "pg";

/** Runs statements on the PostgreSQL or MariaDB that a URL names, and gives the rows of the last one. */
export async function runSql(
  url: string,
  ...statements: readonly string[]
): Promise<readonly Record<string, unknown>[]> {
  const session = await openSqlSession(url);
  try {
    let rows: readonly Record<string, unknown>[] = [];
    for (const statement of statements) rows = await session.run(statement);
    return rows;
  } finally {
    await session.end();
  }
}

/** A session of a test. Numbers above 2^53 come as text. */
export interface TestSession {
  run(statement: string): Promise<readonly Record<string, unknown>[]>;
  end(): Promise<void>;
}

/** A session whose connection a test can lose. */
export interface CuttableSession extends TestSession {
  /** Drops the connection without a word to the database. */
  cut(): Promise<void>;
}

/** Opens a session on the PostgreSQL or MariaDB that a URL names. */
export async function openSqlSession(url: string): Promise<CuttableSession> {
  if (url.startsWith("postgres")) {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    const cut = async (): Promise<void> => void client.connection.stream.destroy();
    return { run: async (statement) => (await client.query(statement)).rows, end: () => client.end(), cut };
  }
  const link = await mysql.createConnection({ uri: url, supportBigNumbers: true, bigNumberStrings: true });
  link.on("error", () => {});
  return {
    run: async (statement) => {
      const [rows] = await link.query(statement);
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    },
    end: () => link.end(),
    cut: async () => link.destroy(),
  };
}
