import type { DatabaseSync } from "node:sqlite";

/** Runs some work in a transaction: commits what it returns, rolls back what it throws. */
export function inTransaction<T>(database: DatabaseSync, begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => T): T {
  database.exec(begin);
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (cause) {
    try {
      // SQLite may have rolled back by itself (a full disk); then there is nothing to roll back.
      if (database.isTransaction) database.exec("ROLLBACK");
    } catch {
      // The first error is more useful.
    }
    throw cause;
  }
}
