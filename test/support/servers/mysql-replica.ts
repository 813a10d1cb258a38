import { expect } from "vitest";
import { runSql } from "./run-sql.ts";
import type { TestServer } from "./test-server.ts";

/** The arguments of a MySQL or MariaDB that replicas can follow. */
export const primaryArgs: readonly string[] = ["--log-bin=binary", "--server-id=1"];

/**
 * Starts a replica of a MySQL or MariaDB: it has everything that the primary takes from now on.
 *
 * @param start - Starts a server of the primary's kind.
 */
export async function startReplica(
  primary: TestServer,
  start: (args: readonly string[]) => Promise<TestServer>,
): Promise<TestServer> {
  const replica = await start(["--server-id=2"]);
  const { Log_name: file, File_size: position } = (await runSql(primary.url, "SHOW BINARY LOGS")).at(-1)!;
  const isMariadb = await saysMariadb(replica);
  const [change, word] = isMariadb ? ["MASTER", "MASTER"] : ["REPLICATION SOURCE", "SOURCE"];
  const at = { LOG_FILE: `'${String(file)}'`, LOG_POS: String(position) };
  const place = { HOST: "'127.0.0.1'", PORT: String(primary.port), USER: "'root'", ...at };
  const parts = Object.entries(place).map(([name, value]) => `${word}_${name}=${value}`);
  await runSql(replica.url, `CHANGE ${change} TO ${parts.join(", ")}`, "START REPLICA");
  return replica;
}

/** Waits until a query finds a row on a replica. */
export async function untilReplicated({ url }: TestServer, query: string): Promise<void> {
  await expect.poll(() => runSql(url, query).catch(() => []), { timeout: 60_000 }).toHaveLength(1);
}

/** Makes a replica a primary, without a word to its old one. */
export async function promoteReplica({ url }: TestServer): Promise<void> {
  await runSql(url, "STOP REPLICA", "RESET REPLICA ALL");
}

async function saysMariadb({ url }: TestServer): Promise<boolean> {
  const [row] = await runSql(url, "SELECT VERSION() AS version");
  return String(row?.["version"]).includes("MariaDB");
}
