import type { PostgresConnection } from "./link/postgres-link.ts";
import { type FactName, factNames } from "./link/postgres-facts.ts";
import { connectionAdvice } from "./connection-advice.ts";
import type { StoreAdvice } from "./record-store.ts";

interface SettingsRow {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly connections: number;
  readonly connected: number;
}

/** By fact: the loss that is not noticed if a server hides the fact from its user, and what to do about it. */
const unseen: Readonly<Record<FactName, StoreAdvice>> = {
  system: {
    detail:
      "The user may not call pg_control_system(): where two hosts take writes, it is unknown which has the older timeline, so neither is used.",
    hint: "GRANT EXECUTE ON FUNCTION pg_control_system() to the user, if your service allows it.",
  },
  timeline: {
    detail:
      "The user may not call pg_current_wal_lsn() and pg_walfile_name(): a failover, or a recovery to a point in time, shows by the server's start alone.",
    hint: "GRANT EXECUTE ON FUNCTION pg_current_wal_lsn(), pg_walfile_name(pg_lsn) to the user, if your service allows it.",
  },
  started: {
    detail: "The user may not call pg_postmaster_start_time(): a restart on an older data folder is not noticed.",
    hint: "GRANT EXECUTE ON FUNCTION pg_postmaster_start_time() to the user. Otherwise follow the runbook of docs/store-losses.md after each restore.",
  },
  database: {
    detail: "The user may not read pg_database: a copy of the database that takes its name is not noticed.",
    hint: "GRANT SELECT ON pg_database to the user. Otherwise follow the runbook of docs/store-losses.md when you swap databases.",
  },
};

/** Checks the facts that a server hides, and its settings. */
export async function adviseOnPostgres({ client, told }: PostgresConnection): Promise<readonly StoreAdvice[]> {
  const { rows } = await client.query<SettingsRow>(`SELECT current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - COALESCE(current_setting('reserved_connections', true)::int, 0) AS connections,
    (SELECT count(*)::int FROM pg_stat_activity WHERE datid IS NOT NULL) AS connected`);
  const { connected, connections, ...switches } = rows[0]!;
  const advice = factNames.filter((name) => !told.has(name)).map((name) => unseen[name]);
  for (const [name, value] of Object.entries(switches)) {
    if (value !== "off") continue;
    advice.push({
      detail: `${name} is off: after a crash of the machine, answered writes are gone or the records are damaged.`,
      hint: `Set ${name} = on.`,
    });
  }
  return [...advice, ...connectionAdvice({ connected, max: connections })];
}
