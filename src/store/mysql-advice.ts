import type { RowDataPacket } from "mysql2/promise";
import type { MysqlConnection } from "./link/mysql-link.ts";
import { connectionAdvice } from "./connection-advice.ts";
import type { StoreAdvice } from "./record-store.ts";

/** Checks the settings on which the durability of a commit depends, and the number of connections. */
export async function adviseOnMysql({ client }: MysqlConnection): Promise<readonly StoreAdvice[]> {
  const [variables] = await client.query<RowDataPacket[]>(`SHOW GLOBAL VARIABLES WHERE Variable_name IN (
    'innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'max_connections') OR Variable_name LIKE 'rpl_semi_sync_%'`);
  const [statuses] = await client.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Threads_connected'");
  const values = new Map([...variables, ...statuses].map((row) => [`${row["Variable_name"]}`, `${row["Value"]}`]));
  const advice: StoreAdvice[] = [];
  const flush = values.get("innodb_flush_log_at_trx_commit");
  if (flush !== "1") {
    advice.push({
      detail: `innodb_flush_log_at_trx_commit is ${flush}: a crash undoes writes that were answered.`,
      hint: "Set innodb_flush_log_at_trx_commit = 1.",
    });
  }
  const sync = values.get("sync_binlog");
  if (values.get("log_bin") === "ON" && sync !== "1") {
    advice.push({
      detail: `sync_binlog is ${sync}: after a crash, replicas and the binary log lack writes that were answered.`,
      hint: "Set sync_binlog = 1. MariaDB has 0 by default.",
    });
  }
  for (const role of ["master", "source"]) {
    if (values.get(`rpl_semi_sync_${role}_enabled`) !== "ON") continue;
    const name = `rpl_semi_sync_${role}_timeout`;
    advice.push({
      detail: `${name} is ${values.get(name)} ms: after that, a commit is answered without a copy and without a warning, and a failover undoes it, which costs a quarantine.`,
      hint: `Set ${name} so high that it never ends a wait, if a quarantine after each failover is worse to you than an outage.`,
    });
  }
  const [connected, max] = [values.get("Threads_connected"), values.get("max_connections")].map(Number);
  return [...advice, ...connectionAdvice({ connected: connected!, max: max! })];
}
