import { createConnection } from "mysql2/promise";
import { expect, onTestFinished, test } from "vitest";
import { toolInPlaceOf } from "../support/fetch/tools.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres, startStandby } from "../support/servers/postgres-server.ts";
import { askRedis, startReplicable } from "../support/servers/redis-replicas.ts";
import { openSqlSession, runSql, type TestSession } from "../support/servers/run-sql.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { startZooKeeper, startZooKeeperEnsemble } from "../support/servers/zookeeper-server.ts";
import { runSnowlane } from "../text/run-snowlane.ts";

/** What doctor says of the settings of a store's server. */
async function settingsOf(url: string, ...args: readonly string[]): Promise<readonly string[]> {
  const command = ["doctor", "--json", "--listen", "127.0.0.1:0", "--store", url, ...args];
  const { exitCode, stdout } = await runSnowlane(command);
  expect(exitCode).toBe(0);
  const findings: readonly Record<string, string>[] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return findings.filter(({ check }) => check === "store settings").map(({ level, detail }) => `${level}: ${detail}`);
}

const good = ["ok: No setting of the server endangers the records."];

test("doctor warns of a Redis that forgets or deletes records, and of a window that a failover outlasts", async () => {
  const cache = await startRedis({ args: ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"] });
  onTestFinished(() => cache.stop());
  expect(await settingsOf(cache.url)).toEqual([
    expect.stringMatching(/^warn: appendonly is off/),
    expect.stringMatching(/^warn: maxmemory-policy is allkeys-lru/),
  ]);
  const kept = await startRedis({ persistence: "every-write" });
  onTestFinished(() => kept.stop());
  expect(await settingsOf(kept.url)).toEqual(good);
  // Without the majority that two hosts ask for by default: the second one is not there.
  const pair = `${kept.url},127.0.0.1:1?replicas=0`;
  expect(await settingsOf(pair)).toEqual([expect.stringMatching(/^warn: A window of 5 s .* for 7 to 12 s\.$/)]);
  expect(await settingsOf(pair, "--window", "20s")).toEqual(good);
});

test("doctor fails on a store that takes no writes, as a start would", async () => {
  const full = await startRedis({ args: ["--maxmemory", "1"] });
  onTestFinished(() => full.stop());
  const command = ["doctor", "--json", "--listen", "127.0.0.1:0", "--store", full.url];
  const finding = /"check":"writes","level":"fail","detail":"The redis store refuses to be written: OOM /;
  const fresh = await runSnowlane(command);
  expect([fresh.exitCode, fresh.stdout]).toEqual([4, expect.stringMatching(finding)]);
  // The same where there is a deployment: doctor then tries its own record.
  await askRedis(full.port, "CONFIG SET maxmemory 0");
  const window = ["--window", "1s", "--renewal-period", "300ms"];
  expect((await runSnowlane(["next", "--store", full.url, ...window])).exitCode).toBe(0);
  await askRedis(full.port, "CONFIG SET maxmemory 1");
  const known = await runSnowlane(command);
  expect([known.exitCode, known.stdout]).toEqual([4, expect.stringMatching(finding)]);
});

test("doctor warns of a standalone ZooKeeper, which shows no restart on an older data folder", async () => {
  const alone = await startZooKeeper();
  onTestFinished(() => alone.stop());
  expect(await settingsOf(alone.url)).toEqual([expect.stringMatching(/^warn: The server is standalone/)]);
  const members = await startZooKeeperEnsemble();
  onTestFinished(async () => void (await Promise.all(members.map((member) => member.stop()))));
  expect(await settingsOf(members[0]!.url)).toEqual(good);
});

/** MySQL has what waits for a copy in a plugin, by another name. */
const laxServers = {
  mariadb: { start: startMariadb, role: toolInPlaceOf("mariadb") === "mysql9" ? "source" : "master" },
  mysql: { start: startMysql, role: "source" },
} as const;

test.each(["mariadb", "mysql"] as const)(
  "doctor warns of a %s that answers before a commit is kept, or without a copy",
  async (kind) => {
    const { start, role } = laxServers[kind];
    const lax = await start([
      ...(role === "source" ? ["--plugin-load-add=semisync_source.so"] : []),
      "--innodb-flush-log-at-trx-commit=2",
      "--log-bin=binary",
      "--sync-binlog=0",
      `--rpl-semi-sync-${role}-enabled=ON`,
      `--rpl-semi-sync-${role}-timeout=100`,
      "--max-connections=10",
    ]);
    onTestFinished(() => lax.stop());
    expect(await settingsOf(lax.url)).toEqual([
      expect.stringMatching(/^warn: innodb_flush_log_at_trx_commit is 2/),
      expect.stringMatching(/^warn: sync_binlog is 0/),
      expect.stringContaining(`warn: rpl_semi_sync_${role}_timeout is 100 ms`),
      expect.stringMatching(/^warn: \d+ of 10 connections are in use/),
    ]);
  },
);

test.each(["mariadb", "mysql"] as const)(
  "doctor warns of a %s whose commits hang (it replaced a record by itself, which may not be written, and found nothing)",
  async (kind) => {
    const { start, role } = laxServers[kind];
    const server = await start([
      ...(role === "source" ? ["--plugin-load-add=semisync_source.so"] : []),
      "--log-bin=binary",
      `--rpl-semi-sync-${role}-timeout=3600000`,
    ]);
    onTestFinished(() => server.stop());
    expect((await runSnowlane(["next", "--store", server.url])).exitCode).toBe(0);
    const other = await createConnection(server.url);
    onTestFinished(() => other.end());
    const setWait = (value: string): Promise<unknown> =>
      other.query(`SET GLOBAL rpl_semi_sync_${role}_enabled = ${value}`);
    await setWait("ON");
    const command = ["doctor", "--listen", "127.0.0.1:0", "--store", server.url, "--store-timeout", "1s"];
    const { exitCode, stdout } = await runSnowlane(command);
    await setWait("OFF");
    expect([exitCode, stdout]).toEqual([4, expect.stringMatching(/^fail +writes .*no answer to a write within 1 s/m)]);
    expect(stdout).toMatch(/a lock, a full disk, or a copy that it waits for/);
  },
);

test("doctor warns of a PostgreSQL without fsync", async () => {
  const fast = await startPostgres();
  onTestFinished(() => fast.stop());
  expect(await settingsOf(fast.url)).toEqual([expect.stringMatching(/^warn: fsync is off/)]);
});

/** Servers that answer and take no writes. */
const readOnly: Readonly<Record<string, () => Promise<readonly TestServer[]>>> = {
  "PostgreSQL that is set to read only": async () => [await startPostgres(["-c", "default_transaction_read_only=on"])],
  "standby of PostgreSQL": async () => {
    const primary = await startPostgres();
    return [await startStandby(primary), primary];
  },
  "MariaDB that is set to read only": async () => [await startMariadb(["--read-only=1"])],
  "MySQL that is set to read only": async () => [await startMysql(["--super-read-only=1"])],
  "replica of Redis": async () => {
    const server = await startReplicable();
    await askRedis(server.port, "REPLICAOF 127.0.0.1 1");
    return [server];
  },
};

test.each(Object.keys(readOnly))(
  "doctor says what to do where a %s answers and takes no writes (it pointed at a firewall)",
  async (kind) => {
    const servers = await readOnly[kind]!();
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
    const { exitCode, stdout } = await runSnowlane(["doctor", "--listen", "127.0.0.1:0", "--store", servers[0]!.url]);
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/^fail +store +The \w+ store cannot be used: .*(standby|read.only|replica)/m);
    expect(stdout).toMatch(/\. Name the (server that takes writes|primary)/);
    expect(stdout).toMatch(/promote|read_only = (0|off)/i);
    expect(stdout).toContain("It answers, but takes no writes");
    expect(stdout).not.toContain("firewall");
  },
);

test.each([
  ["PostgreSQL", () => startPostgres(["-c", "max_connections=10"])],
  ["MariaDB", () => startMariadb(["--max-connections=10"])],
  ["MySQL", () => startMysql(["--max-connections=10"])],
] as const)(
  "doctor says what to do where a %s has no connection left (it pointed at a firewall)",
  async (_kind, start) => {
    const server = await start();
    onTestFinished(() => server.stop());
    // Administrators may have one more.
    const sessions: TestSession[] = [];
    while (sessions.length < 12) {
      const session = await openSqlSession(server.url).catch(() => undefined);
      if (session === undefined) break;
      sessions.push(session);
    }
    expect(sessions.length).toBeGreaterThan(8);
    const { exitCode, stdout } = await runSnowlane(["doctor", "--listen", "127.0.0.1:0", "--store", server.url]);
    await Promise.all(sessions.map((session) => session.end()));
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/^fail +store +The \w+ store cannot be used: 127.*too many (clients|connections)/im);
    expect(stdout).toContain("Raise max_connections, or put a pooler in front of it.");
    expect(stdout).toContain("It answers: its message says what to do.");
    expect(stdout).not.toContain("firewall");
  },
);

/** Two servers that both take writes, of each store whose URL may name several. */
const pairs: Readonly<Record<string, () => Promise<readonly [TestServer, TestServer]>>> = {
  postgres: async () => {
    const first = await startPostgres();
    const standbys = [await startStandby(first), await startStandby(first)] as const;
    // Both are promoted to one timeline, so that neither is the later one.
    await first.stop();
    for (const { url } of standbys) await runSql(url, "SELECT pg_promote()");
    return standbys;
  },
  mariadb: async () => [await startMariadb(), await startMariadb()],
  mysql: async () => [await startMysql(), await startMysql()],
  redis: async () => [await startReplicable(), await startReplicable()],
};

test.each(Object.keys(pairs))(
  "doctor fails where two hosts of %s take writes, and names both and what to do",
  async (kind) => {
    const servers = await pairs[kind]!();
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
    const [one, other] = servers;
    const hosts = [one, other].map(({ port }) => `127.0.0.1:${port}`);
    const query = kind === "redis" ? "?replicas=0" : "";
    const url = one.url.replace(hosts[0]!, hosts.join(",")) + query;
    const { exitCode, stdout } = await runSnowlane(["doctor", "--listen", "127.0.0.1:0", "--store", url]);
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(
      /^fail +store +Several servers of the \w+ store take writes: .*(Fence|Stop) the old primary/m,
    );
    for (const host of hosts) expect(stdout).toContain(host);
    expect(stdout).toContain("See docs/store-losses.md, Two primaries.");
    expect(stdout).not.toContain("firewall");
  },
);
