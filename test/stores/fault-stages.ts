import { createConnection } from "mysql2/promise";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { FakedClock } from "../fault/faked-clock.ts";
import { createFaultyDisk, createServerDisk } from "../fault/faulty-disk.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { setEtcdSpaceAlarm, startEtcd } from "../support/servers/etcd-server.ts";
import { FakeKubernetes } from "../support/servers/fake-kubernetes.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres, startStandby } from "../support/servers/postgres-server.ts";
import { askRedis } from "../support/servers/redis-replicas.ts";
import { endSaving, letSave } from "../support/servers/redis-saves.ts";
import { withPort } from "../support/servers/remote-stores.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { startZooKeeper } from "../support/servers/zookeeper-server.ts";

/** A store, and a fault that can be laid on it. */
export interface Stage {
  readonly url: string;
  /** Of `snowlane`, beside the machine's own. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly befall: () => unknown;
  readonly end: () => unknown;
  readonly stop: () => Promise<void>;
}

/** A fault of one kind of store. */
export interface StagedFault {
  readonly store: string;
  readonly fault: string;
  readonly set: () => Promise<Stage>;
}

const remotes: Readonly<Record<string, () => Promise<TestServer>>> = {
  postgres: () => startPostgres(),
  mariadb: () => startMariadb(),
  redis: () => startRedis({ persistence: "every-write" }),
  etcd: () => startEtcd(),
  zookeeper: () => startZooKeeper(),
};

/** What can happen to every server. */
const ofServers: Readonly<Record<string, (server: TestServer) => Promise<Stage>>> = {
  frozen: async (server) => ({
    url: server.url,
    befall: () => server.pause(),
    end: () => server.resume(),
    stop: () => server.stop(),
  }),
  killed: async (server) => ({
    url: server.url,
    befall: () => server.kill(),
    end: () => server.restart(),
    stop: () => server.stop(),
  }),
  "cut off by the network": async (server) => {
    const proxy = await TcpProxy.start(server.port);
    return {
      url: withPort(server, proxy.port),
      befall: () => {
        proxy.mode = "black-hole";
      },
      end: () => proxy.reopen(),
      stop: async () => {
        await proxy.stop();
        await server.stop();
      },
    };
  },
};

/** All faults of the page, in its order. */
export const stagedFaults: readonly StagedFault[] = [
  { store: "sqlite", fault: "locked by another program", set: lockedFile },
  { store: "sqlite", fault: "on a full disk", set: fullDisk },
  ...Object.entries(remotes).flatMap(([store, start]) =>
    Object.entries(ofServers).map(([fault, lay]) => ({ store, fault, set: async () => lay(await start()) })),
  ),
  { store: "postgres", fault: "read only", set: readOnlyPostgres },
  { store: "postgres", fault: "on a full disk during a backup", set: () => fullPostgres(backUp) },
  { store: "postgres", fault: "its log on a full disk", set: () => fullPostgres(fillLog) },
  { store: "postgres", fault: "its primary killed, and later its standby promoted", set: promotedPostgres },
  {
    store: "postgres",
    fault: "emptied by TRUNCATE",
    set: () => emptied(startPostgres(), ({ url }) => runSql(url, "TRUNCATE snowlane_record")),
  },
  { store: "mariadb", fault: "read only", set: readOnlyMariadb },
  { store: "mariadb", fault: "a second server of the URL takes writes, too", set: twoWriters },
  {
    store: "mariadb",
    fault: "its binary log on a full disk",
    set: () => fullBinaryLog((environment) => startMariadb(["--log-bin=binary"], environment)),
  },
  { store: "mariadb", fault: "its clock 40 s behind", set: () => mariadbBehind(120_000) },
  { store: "mariadb", fault: "its clock before its own start", set: () => mariadbBehind(0) },
  { store: "mysql", fault: "read only", set: readOnlyMysql },
  { store: "mysql", fault: "its binary log on a full disk", set: () => fullBinaryLog((env) => startMysql([], env)) },
  {
    store: "redis",
    fault: "out of memory",
    set: () => commandedRedis("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
  },
  {
    store: "redis",
    fault: "with fewer replicas than min-replicas-to-write",
    set: () => commandedRedis("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"),
  },
  { store: "redis", fault: "cannot save, as on a full disk", set: redisThatCannotSave },
  {
    store: "redis",
    fault: "made a replica of another server",
    set: () => commandedRedis("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
  },
  {
    store: "redis",
    fault: "emptied by FLUSHALL",
    set: () => emptied(startRedis({ persistence: "every-write" }), ({ port }) => askRedis(port, "FLUSHALL")),
  },
  { store: "etcd", fault: "out of space", set: fullEtcd },
  {
    store: "kubernetes",
    fault: "frozen",
    set: () =>
      fakeKubernetes(
        (api) => api.pause(),
        (api) => api.resume(),
      ),
  },
  {
    store: "kubernetes",
    fault: "killed",
    set: () =>
      fakeKubernetes(
        (api) => api.kill(),
        (api) => api.restart(),
      ),
  },
  {
    store: "kubernetes",
    fault: "answers with errors",
    set: () =>
      fakeKubernetes(
        (api) => void (api.failWith = 500),
        (api) => void (api.failWith = undefined),
      ),
  },
];

async function readOnlyPostgres(): Promise<Stage> {
  const server = await startPostgres();
  const set = async (value: string): Promise<void> => {
    await runSql(server.url, `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await runSql(server.url, "SELECT pg_reload_conf()");
  };
  return { url: server.url, befall: () => set("on"), end: () => set("off"), stop: () => server.stop() };
}

/** @param use - What another program does, so that the room that is left is used up. */
async function fullPostgres(use: (other: Client) => Promise<void>): Promise<Stage> {
  const disk = await createServerDisk();
  const server = await startPostgres([], disk.environment);
  const other = new Client({ connectionString: server.url });
  other.on("error", () => {});
  await other.connect();
  return {
    url: server.url,
    befall: async () => {
      disk.fill();
      await use(other);
    },
    end: async () => {
      disk.empty();
      await other.end().catch(() => {});
      if (!server.process.isRunning) await server.restart();
    },
    stop: async () => {
      await server.stop();
      disk.remove();
    },
  };
}

/** Reads as a backup does: it keeps the room of rows that are replaced meanwhile, so that the table has to grow. */
async function backUp(other: Client): Promise<void> {
  await other.query("BEGIN ISOLATION LEVEL REPEATABLE READ; TABLE snowlane_record");
}

/** Begins new files of the write-ahead log until there is no room for another. */
async function fillLog(other: Client): Promise<void> {
  for (let files = 0; files < 100; files += 1) {
    const isDown = await other.query("SELECT pg_switch_wal(), pg_logical_emit_message(true, '', '')").then(
      () => false,
      () => true,
    );
    if (isDown) return;
  }
  throw new Error("the server goes on without room for its log");
}

/** A commit waits until there is room for it in the binary log. */
async function fullBinaryLog(
  start: (environment: Readonly<Record<string, string>>) => Promise<TestServer>,
): Promise<Stage> {
  const disk = await createServerDisk();
  const server = await start(disk.environment);
  return {
    url: server.url,
    befall: disk.fill,
    end: disk.empty,
    stop: async () => {
      await server.stop();
      disk.remove();
    },
  };
}

async function promotedPostgres(): Promise<Stage> {
  const primary = await startPostgres();
  const standby = await startStandby(primary);
  return {
    url: primary.url.replace(/127[^/]*/, (host) => `${host},127.0.0.1:${standby.port}`),
    befall: () => primary.kill(),
    end: () => runSql(standby.url, "SELECT pg_promote(true, 120)"),
    stop: async () => {
      await standby.stop();
      await primary.stop();
    },
  };
}

/** Lost records do not come back. */
async function emptied(starting: Promise<TestServer>, empty: (server: TestServer) => unknown): Promise<Stage> {
  const server = await starting;
  return { url: server.url, befall: () => empty(server), end: () => {}, stop: () => server.stop() };
}

/** A replica that somebody opens for writes. */
async function twoWriters(): Promise<Stage> {
  const [one, other] = await Promise.all([startMariadb(), startMariadb(["--read-only=1"])]);
  const set = (value: 0 | 1) => runSql(other.url, `SET GLOBAL read_only = ${value}`);
  return {
    url: one.url.replace(/127[^/]*/, (host) => `${host},127.0.0.1:${other.port}`),
    befall: () => set(0),
    end: () => set(1),
    stop: async () => void (await Promise.all([one.stop(), other.stop()])),
  };
}

async function readOnlyMariadb(): Promise<Stage> {
  const server = await startMariadb();
  const admin = await createConnection(server.url);
  await admin.query("CREATE USER worker");
  await admin.query("GRANT SELECT, INSERT, UPDATE, CREATE ON test.* TO worker");
  return {
    url: server.url.replace("root@", "worker@"),
    befall: () => admin.query("SET GLOBAL read_only = 1"),
    end: () => admin.query("SET GLOBAL read_only = 0"),
    stop: async () => {
      admin.destroy();
      await server.stop();
    },
  };
}

async function readOnlyMysql(): Promise<Stage> {
  const server = await startMysql();
  return {
    url: server.url,
    befall: () => runSql(server.url, "SET GLOBAL super_read_only = 1"),
    end: () => runSql(server.url, "SET GLOBAL read_only = 0"),
    stop: () => server.stop(),
  };
}

async function commandedRedis(befall: string, end: string): Promise<Stage> {
  const server = await startRedis({ persistence: "every-write" });
  return {
    url: server.url,
    befall: () => askRedis(server.port, befall),
    end: () => askRedis(server.port, end),
    stop: () => server.stop(),
  };
}

async function redisThatCannotSave(): Promise<Stage> {
  const server = await startRedis({ persistence: "every-write" });
  return {
    url: server.url,
    befall: () => endSaving(server),
    end: () => letSave(server),
    stop: () => server.stop(),
  };
}

/** @param ageMs - For how long the server has run by its own clock when that is set back. */
async function mariadbBehind(ageMs: number): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-behind-"));
  const clock = await FakedClock.create(join(folder, "offset"));
  clock.step(-ageMs);
  const server = await startMariadb([], clock.environment);
  clock.step(ageMs);
  return {
    url: server.url,
    befall: () => clock.step(-40_000),
    end: () => clock.step(40_000),
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The Lease API in this process: `npm run all -- kube` has the real one. */
async function fakeKubernetes(
  befall: (api: FakeKubernetes) => unknown,
  end: (api: FakeKubernetes) => unknown,
): Promise<Stage> {
  const api = new FakeKubernetes();
  await api.listen();
  return { url: api.url, befall: () => befall(api), end: () => end(api), stop: () => api.stop() };
}

async function fullEtcd(): Promise<Stage> {
  const server = await startEtcd();
  return {
    url: server.url,
    befall: () => setEtcdSpaceAlarm(server, "ACTIVATE"),
    end: () => setEtcdSpaceAlarm(server, "DEACTIVATE"),
    stop: () => server.stop(),
  };
}

async function lockedFile(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-locked-"));
  const path = join(folder, "ids.db");
  let other: DatabaseSync | undefined;
  return {
    url: `sqlite:${path}`,
    befall: () => {
      other = new DatabaseSync(path, { timeout: 10_000 });
      other.exec("BEGIN EXCLUSIVE");
    },
    end: () => other?.close(),
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function fullDisk(): Promise<Stage> {
  const base = mkdtempSync(join(tmpdir(), "snowlane-full-"));
  const { folder, environment, fill, empty } = await createFaultyDisk(base, "preloaded");
  return {
    url: `sqlite:${join(folder, "ids.db")}`,
    environment,
    befall: () => fill(process.pid),
    end: () => empty(process.pid),
    stop: async () => rmSync(base, { recursive: true, force: true }),
  };
}
