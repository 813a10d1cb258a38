import { createConnection } from "mysql2/promise";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { setEtcdSpaceAlarm, startEtcd } from "../support/servers/etcd-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { askRedis } from "../support/servers/redis-replicas.ts";
import { endSaving, letSave } from "../support/servers/redis-saves.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";

/** A store that can be told to refuse all writes while it is read as before. */
interface Refusing {
  readonly url: string;
  readonly refuse: () => Promise<unknown>;
  readonly allow: () => Promise<unknown>;
}

/** Longer than 16 writes that each fail at once: that many used to end all writing. */
const refusedMs = 18_000;
const times = { windowMs: 28_000, windowMaxMs: 28_000, renewalPeriodMs: 1_000, ttlMs: 31_000, storeTimeoutMs: 2_000 };

async function running(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting;
  onTestFinished(() => server.stop());
  return server;
}

async function postgres(): Promise<Refusing> {
  const { port } = await running(startPostgres());
  const admin = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
  await admin.connect();
  onTestFinished(() => admin.end());
  await admin.query("CREATE ROLE worker LOGIN; GRANT CREATE ON SCHEMA public TO worker");
  return {
    url: `postgres://worker@127.0.0.1:${port}/postgres`,
    refuse: () => admin.query("REVOKE UPDATE ON snowlane_record FROM worker"),
    allow: () => admin.query("GRANT UPDATE ON snowlane_record TO worker"),
  };
}

async function mariadb(): Promise<Refusing> {
  const { url } = await running(startMariadb());
  const admin = await createConnection(url);
  onTestFinished(() => admin.end());
  await admin.query("CREATE USER worker");
  await admin.query("GRANT SELECT, INSERT, UPDATE, CREATE ON test.* TO worker");
  return {
    url: url.replace("root@", "worker@"),
    refuse: () => admin.query("SET GLOBAL read_only = 1"),
    allow: () => admin.query("SET GLOBAL read_only = 0"),
  };
}

async function mysql(): Promise<Refusing> {
  const { url } = await running(startMysql());
  const admin = await createConnection(url);
  onTestFinished(() => admin.end());
  return {
    url,
    refuse: () => admin.query("SET GLOBAL super_read_only = 1"),
    allow: () => admin.query("SET GLOBAL read_only = 0"),
  };
}

async function redis(): Promise<Refusing> {
  const { url, port } = await running(startRedis());
  return {
    url,
    refuse: () => askRedis(port, "CONFIG SET maxmemory 1"),
    allow: () => askRedis(port, "CONFIG SET maxmemory 0"),
  };
}

async function redisWithoutReplicas(): Promise<Refusing> {
  const { url, port } = await running(startRedis());
  return {
    url,
    refuse: () => askRedis(port, "CONFIG SET min-replicas-to-write 1"),
    allow: () => askRedis(port, "CONFIG SET min-replicas-to-write 0"),
  };
}

async function redisThatCannotSave(): Promise<Refusing> {
  const server = await running(startRedis());
  return { url: server.url, refuse: () => endSaving(server), allow: () => letSave(server) };
}

test.each([
  ["PostgreSQL", postgres],
  ["MariaDB", mariadb],
  ["MySQL", mysql],
  ["Redis without memory", redis],
  ["Redis without replicas (NOREPLICAS)", redisWithoutReplicas],
  ["Redis that cannot save (MISCONF)", redisThatCannotSave],
] as const)("%s: a write that is refused did not happen, and is answered so", async (_name, start) => {
  const { url, refuse, allow } = await start();
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  const written = await store.compareAndSet("worker-1", undefined, "old");
  if (written.kind !== "applied") throw new Error("the first write was not applied");
  await refuse();
  const refused = await store.compareAndSet("worker-1", written.entry, "new");
  expect(refused).toMatchObject({
    kind: "refused",
    error: { reason: expect.stringMatching(/^(STORE_UNAVAILABLE|INVALID_CONFIG)$/) },
  });
  expect((await store.read("worker-1")).entry?.text).toBe("old");
  await allow();
  expect((await store.compareAndSet("worker-1", written.entry, "new")).kind).toBe("applied");
});

/** A Redis with one record, and a store that is connected to it. */
async function connectedRedis() {
  const { url, port } = await running(startRedis());
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  const written = await store.compareAndSet("worker-1", undefined, "old");
  if (written.kind !== "applied") throw new Error("the first write was not applied");
  const text = async (): Promise<string | undefined> =>
    /"?\b(old|new)\b/.exec(await askRedis(port, "HGET snowlane:{default} worker-1"))?.[1];
  return { store, port, text, replace: () => store.compareAndSet("worker-1", written.entry, "new") };
}

test("Redis that has become a replica (READONLY): a write did not happen, and is answered so", async () => {
  const { port, text, replace } = await connectedRedis();
  await askRedis(port, "REPLICAOF 127.0.0.1 1");
  expect(await replace()).toMatchObject({
    kind: "refused",
    error: { reason: "STORE_UNAVAILABLE", message: expect.stringContaining("READONLY") },
  });
  await askRedis(port, "REPLICAOF NO ONE");
  expect(await text()).toBe("old");
  expect((await replace()).kind).toBe("applied");
  expect(await text()).toBe("new");
});

test("Redis: where the script may not read the time or INFO, it has not written before", async () => {
  const { port, text, replace } = await connectedRedis();
  for (const command of ["time", "info"]) {
    await askRedis(port, `ACL SETUSER default -${command}`);
    await expect(replace()).rejects.toThrow(/^The redis store (cannot be used|refuses us)/);
    await askRedis(port, `ACL SETUSER default +${command}`);
    expect(await text()).toBe("old");
  }
});

test("etcd: a write for which there is no space is left open, because some versions apply it before they say so", async () => {
  const server = await running(startEtcd());
  const store = await openStore(server.url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  const written = await store.compareAndSet("worker-1", undefined, "old");
  if (written.kind !== "applied") throw new Error("the first write was not applied");
  await setEtcdSpaceAlarm(server, "ACTIVATE");
  await expect(store.compareAndSet("worker-1", written.entry, "new")).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: expect.stringContaining("database space exceeded"),
  });
  const { entry } = await store.read("worker-1");
  await setEtcdSpaceAlarm(server, "DEACTIVATE");
  expect((await store.compareAndSet("worker-1", entry, "newer")).kind).toBe("applied");
});

test("after writes were refused for less than a window, the holder goes on, and no call was refused", async () => {
  const { url, refuse, allow } = await postgres();
  const worker = await IssuingWorker.start({ ...times, storeUrl: url });
  await refuse();
  await sleep(refusedMs);
  expect(worker.source.status().counters.ambiguous).toBeGreaterThan(5);
  await allow();
  const untilMs = worker.source.status().grant!.untilMs;
  await expect.poll(() => worker.source.status().grant?.untilMs).toBeGreaterThan(untilMs);
  await worker.stop();
  expect(worker.failedCount).toBe(0);
  expect(worker.source.status().counters).toMatchObject({ acquired: 1, lapsed: 0, lost: 0 });
  expect(duplicatesOf(worker.ids)).toEqual([]);
});
