import { Client } from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { IdError } from "../../src/errors.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres, startStandby } from "../support/servers/postgres-server.ts";
import { askRedis, follow, startReplicable } from "../support/servers/redis-replicas.ts";
import { startRedisSentinel } from "../support/servers/redis-sentinel.ts";
import type { TestServer } from "../support/servers/test-server.ts";

const patience = { timeout: 90_000, interval: 100 };

/** Every worker of this file wants the same worker ID. */
const pinned = {
  datacenterId: 1,
  workerId: 5,
  sequenceSpread: false,
  windowMs: 4_000,
  windowMaxMs: 4_000,
  renewalPeriodMs: 500,
  ttlMs: 7_000,
  storeTimeoutMs: 2_000,
};

async function running(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting;
  onTestFinished(() => server.stop());
  return server;
}

/** The URL of servers in this order. */
function urlOf([first, ...others]: readonly TestServer[], query = ""): string {
  const hosts = [`127.0.0.1:${first!.port}`, ...others.map(({ port }) => `127.0.0.1:${port}`)];
  return first!.url.replace(hosts[0]!, hosts.join(",")) + query;
}

async function open(url: string, callTimeoutMs = 10_000): Promise<RecordStore> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs });
  onTestFinished(() => store.close());
  return store;
}

function start(storeUrl: string, instance: string): Promise<IssuingWorker> {
  return IssuingWorker.start({ ...pinned, storeUrl, instance });
}

async function startWhenFree(storeUrl: string, instance: string): Promise<IssuingWorker> {
  for (;;) {
    try {
      return await start(storeUrl, instance);
    } catch (error) {
      if ((error as IdError).reason !== "NO_FREE_WORKER_ID") throw error;
      await sleep(500);
    }
  }
}

async function query<Row>({ port }: TestServer, sql: string): Promise<readonly Row[]> {
  const client = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Makes a standby a primary, without a word to its old one. */
async function promote(standby: TestServer): Promise<void> {
  await query(standby, "SELECT pg_promote()");
}

/** Waits until they have issued that many IDs together. */
async function issueMore(workers: readonly IssuingWorker[], count: number): Promise<void> {
  const issued = (): number => workers.reduce((sum, { ids }) => sum + ids.length, 0);
  const before = issued();
  await expect.poll(issued, patience).toBeGreaterThan(before + count);
}

/** What went wrong with a worker's store, each thing once. */
function problemsOf(worker: IssuingWorker): readonly string[] {
  return worker.events.flatMap((event) => (event.kind === "store-problem" ? [event.error.message] : []));
}

/** The servers as the error names them. */
function namesOf(servers: readonly { readonly port: number }[]): string {
  return servers
    .map(({ port }) => `127.0.0.1:${port}`)
    .toSorted()
    .join(" and ");
}

test("a standby of PostgreSQL that is promoted beside a primary that goes on: all who see both use it, and no ID of one worker ID comes twice", async () => {
  const old = await running(startPostgres());
  await (await start(old.url, "first")).stop();
  const next = await running(startStandby(old));
  const holder = await start(urlOf([old, next]), "holder");
  await issueMore([holder], 100);
  for (const server of [old, next]) {
    const sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'snowlane'";
    expect(await query(server, sql)).toHaveLength(1);
  }
  await promote(next);
  const heir = await start(urlOf([next, old]), "heir").catch((error: unknown) => error);
  if (!(heir instanceof IssuingWorker)) expect(heir).toMatchObject({ reason: "NO_FREE_WORKER_ID" });
  const workers = heir instanceof IssuingWorker ? [holder, heir] : [holder];
  // Either of them may have the worker ID now.
  await issueMore(workers, 1_000);
  // Not one renewal has reached the old primary since.
  const writes = "SELECT text FROM snowlane_record WHERE key LIKE 'worker-%'";
  const standing = await query(old, writes);
  await issueMore(workers, 500);
  expect(await query(old, writes)).toEqual(standing);
  // And nobody goes back to it.
  await next.kill();
  await expect.poll(() => problemsOf(holder).join(), patience).toContain("older timeline");
  for (const worker of workers) await expect.poll(() => worker.source.state.kind, patience).not.toBe("serving");
  await Promise.all(workers.map((worker) => worker.stop(100)));
  expect(duplicatesOf(...workers.map(({ ids }) => ids))).toEqual([]);
});

test("two primaries of PostgreSQL of which each server sees one go unseen, and IDs of one worker ID come twice", async () => {
  const old = await running(startPostgres());
  await (await start(old.url, "first")).stop();
  const next = await running(startStandby(old));
  const holder = await start(old.url, "holder");
  await promote(next);
  // The record that the standby brought along is the holder's until its time is over.
  const heir = await startWhenFree(next.url, "heir");
  await Promise.all([issueMore([holder], 1_500), issueMore([heir], 1_500)]);
  await Promise.all([holder.stop(), heir.stop()]);
  expect(duplicatesOf(holder.ids, heir.ids).length).toBeGreaterThan(0);
  expect([...problemsOf(holder), ...problemsOf(heir)]).toEqual([]);
});

test("two standbys of PostgreSQL that are promoted to one timeline: nothing is granted or renewed until one of them stops", async () => {
  const old = await running(startPostgres());
  await (await start(old.url, "first")).stop();
  const standbys = [await running(startStandby(old)), await running(startStandby(old))];
  const url = urlOf([old, ...standbys]);
  const holder = await start(url, "holder");
  await issueMore([holder], 100);
  await old.kill();
  await Promise.all(standbys.map(promote));
  const names = namesOf(standbys);
  const sentence = `Several servers of the postgres store take writes: ${names}. Nothing is granted or renewed until only one of them does. Fence the old primary: stop it, or make it a standby.`;
  await expect.poll(() => problemsOf(holder), patience).toContain(sentence);
  await expect.poll(() => holder.source.state.kind, patience).not.toBe("serving");
  await expect((await open(url)).list()).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE", message: sentence });
  await standbys[1]!.kill();
  await issueMore([holder], 500);
  await holder.stop();
  expect(duplicatesOf(holder.ids)).toEqual([]);
});

test("two servers of MariaDB that both take writes: nothing is written until one of them is read_only, and one server under two names is one", async () => {
  const [one, other] = await Promise.all([running(startMariadb()), running(startMariadb())]);
  const store = await open(urlOf([one, other]));
  const names = namesOf([one, other]);
  const several = {
    reason: "STORE_UNAVAILABLE",
    message: `Several servers of the mysql store take writes: ${names}. Nothing is granted or renewed until only one of them does. Fence the old primary; a replica needs read_only=1.`,
  };
  await expect(store.compareAndSet("worker-1", undefined, "text")).rejects.toMatchObject(several);
  await setReadOnly(other, 1);
  expect((await store.compareAndSet("worker-1", undefined, "text")).kind).toBe("applied");
  await setReadOnly(other, 0);
  await expect(store.read("worker-1")).rejects.toMatchObject(several);
  const twice = await open(one.url.replace("127.0.0.1", `localhost:${one.port},127.0.0.1`));
  expect((await twice.read("worker-1")).entry?.text).toBe("text");
});

async function setReadOnly({ url }: TestServer, value: 0 | 1): Promise<void> {
  const { createConnection } = await import("mysql2/promise");
  const client = await createConnection(url);
  await client.query(`SET GLOBAL read_only = ${value}`);
  await client.end();
}

test("two primaries of Redis that both take writes: nothing is written until one of them is a replica", async () => {
  const [one, other] = await Promise.all([startReplicable(), startReplicable()]);
  const store = await open(urlOf([one, other], "?replicas=0"));
  const names = namesOf([one, other]);
  await expect(store.compareAndSet("worker-1", undefined, "text")).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: `Several servers of the redis store take writes: ${names}. Nothing is granted or renewed until only one of them does. Stop the old primary, or make it a replica.`,
  });
  await follow([other], one);
  expect((await store.compareAndSet("worker-1", undefined, "text")).kind).toBe("applied");
});

test("two servers of Redis in a URL are a primary and its replica: alone, a primary has no majority", async () => {
  const [one, other] = await Promise.all([startReplicable(), startReplicable()]);
  const store = await open(urlOf([one, other]));
  await expect(store.list()).rejects.toMatchObject({
    message: expect.stringContaining("it has 0 of the 1 replicas that make a majority"),
  });
  await follow([other], one);
  expect((await store.compareAndSet("worker-1", undefined, "text")).kind).toBe("applied");
});

test("two sentinels that name two primaries: nothing is written until they agree", async () => {
  const [one, other] = await Promise.all([startReplicable(), startReplicable()]);
  const sentinels = await Promise.all(
    [one, other].map(({ port }) => startRedisSentinel({ primaryPort: port, quorum: 2 })),
  );
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",");
  const store = await open(`redis://${hosts}?sentinel=primary`);
  await expect(store.list()).rejects.toMatchObject({
    message: expect.stringContaining(`${namesOf([one, other])}. Nothing is granted`),
  });
  const moved = await askRedis(
    sentinels[1]!.port,
    `SENTINEL REMOVE primary\r\nSENTINEL MONITOR primary 127.0.0.1 ${one.port} 2`,
  );
  expect(moved).toMatch(/^[+]OK\r\n[+]OK/);
  expect((await store.compareAndSet("worker-1", undefined, "text")).kind).toBe("applied");
});

test("a host that does not answer holds calls up for no longer than a moment, and is not evidence", async () => {
  const primary = await running(startPostgres());
  const standby = await running(startStandby(primary));
  // A call that waited for the silent host would outlast this test.
  const store = await open(urlOf([standby, primary]), 900_000);
  expect((await store.compareAndSet("worker-1", undefined, "text")).kind).toBe("applied");
  standby.pause();
  for (let call = 0; call < 20; call += 1) expect((await store.read("worker-1")).entry?.text).toBe("text");
  await sleep(1_000);
  expect((await store.read("worker-1")).entry?.text).toBe("text");
  standby.resume();
});
