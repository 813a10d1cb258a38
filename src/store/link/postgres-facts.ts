/**
 * What a PostgreSQL server reveals of its life, fact by fact: managed and hardened servers hide some facts from their
 * users. docs/stores.md says which losses are not noticed without each.
 */
import type { Client } from "pg";

/** The facts that a server may hide from us. */
export const factNames = ["system", "timeline", "started", "database"] as const;
export type FactName = (typeof factNames)[number];

/**
 * The SQL expression of each fact. The timeline grows with each promotion and each recovery to a point in time. The
 * database's object ID changes when a copy takes its name: a copy made by TEMPLATE keeps the object ID of the table.
 */
export const facts: Readonly<Record<FactName, string>> = {
  system: "(SELECT system_identifier::text FROM pg_control_system())",
  timeline: "left(pg_walfile_name(pg_current_wal_lsn()), 8)",
  started: "extract(epoch FROM pg_postmaster_start_time())",
  database: "(SELECT oid::text FROM pg_database WHERE datname = current_database())",
};

/** Whether a transaction may write: on a standby none may, regardless of its settings. */
export const takesWrites = "current_setting('transaction_read_only') = 'off'";

/** The timeline of a server that takes writes; null on a standby, which would fail the statement. */
export const writersTimeline = `CASE WHEN ${takesWrites} THEN ${facts.timeline} END`;

/** The codes of a missing right, a missing function, and a function that this server does not support. */
const keptCodes: ReadonlySet<unknown> = new Set(["42501", "42883", "0A000"]);

/** Finds the facts that a server reveals to its user, with a single query if it reveals all of them. */
export async function findTold(client: Client): Promise<ReadonlySet<FactName>> {
  if (await tells(client, factNames)) return new Set(factNames);
  const told = new Set<FactName>();
  for (const name of factNames) if (await tells(client, [name])) told.add(name);
  return told;
}

async function tells(client: Client, names: readonly FactName[]): Promise<boolean> {
  const expressions = names.map((name) => (name === "timeline" ? writersTimeline : facts[name]));
  try {
    await client.query(`SELECT ${expressions.join(", ")}`);
    return true;
  } catch (error) {
    if (keptCodes.has((error as { readonly code?: unknown }).code)) return false;
    throw error;
  }
}
