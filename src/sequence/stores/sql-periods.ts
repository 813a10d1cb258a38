/** How many periods of a sequence have a counter, by statements on one connection. */
import type { NamedValues } from "./named-values.ts";
import type { SqlSession } from "./sql-session.ts";
import type { Statements } from "./statements.ts";

/** Prevents other processes from creating or deleting counters of periods, and reads what is noted about them. */
export async function lockPeriods(statements: Statements, session: SqlSession, values: NamedValues) {
  // The locks are taken in the same order as by takes and changes.
  await session.all(statements.keepDatabase, values);
  const [row] = await session.all(statements.lockSequence, values);
  return { closedBefore: String(row?.["closed_before"] ?? ""), begunCount: Number(row?.["begun_count"] ?? 0) };
}

/** Notes how many periods have a counter. A separate SELECT counts them, because takes may hold their rows. */
export async function notePeriods(statements: Statements, session: SqlSession, values: NamedValues): Promise<void> {
  const begunCount = await countOf(session, statements.countPeriods, values);
  await session.run(statements.notePeriods, { ...values, begunCount });
}

/** Reads the number that a statement counts. */
export async function countOf(session: SqlSession, text: string, values: NamedValues): Promise<number> {
  return Number((await session.all(text, values))[0]?.["there_count"] ?? 0);
}
