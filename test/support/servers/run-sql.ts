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

/** Opens a session on the PostgreSQL or MariaDB that a URL names. */
export async function openSqlSession(url: string): Promise<TestSession> {
  if (url.startsWith("postgres")) {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    return { run: async (statement) => (await client.query(statement)).rows, end: () => client.end() };
  }
  const link = await mysql.createConnection({ uri: url, supportBigNumbers: true, bigNumberStrings: true });
  link.on("error", () => {});
  return {
    run: async (statement) => {
      const [rows] = await link.query(statement);
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    },
    end: () => link.end(),
  };
}
