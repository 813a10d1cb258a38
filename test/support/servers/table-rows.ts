import { openSqlSession, runSql } from "./run-sql.ts";

/** The rows of tables by their names. */
type Rows = ReadonlyMap<string, readonly Record<string, unknown>[]>;

/** Reads all rows of tables. */
export async function readRows(url: string, tables: readonly string[]): Promise<Rows> {
  const rows = new Map<string, readonly Record<string, unknown>[]>();
  for (const table of tables) rows.set(table, await runSql(url, `SELECT * FROM ${table}`));
  return rows;
}

/** Puts the rows in place of the existing ones, in one transaction, and again where that loses a race. */
export async function writeRows(url: string, rows: Rows): Promise<void> {
  const session = await openSqlSession(url);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await session.run("BEGIN");
      for (const statement of statementsOf(rows)) await session.run(statement);
      await session.run("COMMIT");
      return await session.end();
    } catch (error) {
      await session.run("ROLLBACK");
      if (attempt === 10 || !/deadlock/i.test(String(error))) throw error;
    }
  }
}

function statementsOf(rows: Rows): readonly string[] {
  const statements: string[] = [];
  for (const [table, all] of rows) {
    statements.push(`DELETE FROM ${table}`);
    for (const row of all) {
      const values = Object.values(row).map((value) =>
        typeof value === "boolean" ? String(value) : `'${String(value)}'`,
      );
      statements.push(`INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${values.join(", ")})`);
    }
  }
  return statements;
}
