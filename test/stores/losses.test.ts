import mysql from "mysql2/promise";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, test } from "vitest";
import { systemClock } from "../../src/clock/clock.ts";
import { IdError } from "../../src/errors.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Entry } from "../../src/store/record-store.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { askPort } from "../support/servers/ask-port.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { startZooKeeper, startZooKeeperEnsemble } from "../support/servers/zookeeper-server.ts";

/** A way to lose data that docs/stores.md calls detected. */
interface Loss {
  readonly name: string;
  /** Whether the server goes on meanwhile: where it starts again, part of the quarantine passes before it serves. */
  readonly isLive?: boolean;
  /** Whether it has to show in the store's identity: a holder that is back soon finds its own record older, too. */
  readonly isAnotherLife?: boolean;
  readonly start: () => Promise<TestServer>;
  /** Called when the store has its layout and a record that was given back, but not yet that of the holder. */
  readonly prepare?: (server: TestServer) => Promise<unknown>;
  readonly lose: (server: TestServer) => Promise<unknown>;
}

const durableRedis = (): Promise<TestServer> => startRedis({ persistence: "every-write" });

let older: readonly Entry[] = [];
/** A Redis that was a replica, and took over before the holder was granted anything. */
let promoted: TestServer | undefined;
let ensemble: readonly TestServer[] = [];

afterAll(async () => {
  await promoted?.stop();
  await Promise.all(ensemble.map((member) => member.stop()));
});

const losses: readonly Loss[] = [
  {
    name: "redis: FLUSHALL",
    isLive: true,
    start: durableRedis,
    lose: ({ port }) => askPort(port, "FLUSHALL\r\nQUIT\r\n"),
  },
  { name: "redis: a restart without persistence", start: () => startRedis(), lose: (server) => server.restart() },
  {
    name: "redis: a restart on an older append-only file",
    start: durableRedis,
    prepare: (server) => server.backUp(),
    lose: (server) => server.restore(),
  },
  {
    name: "redis: a failover and back, which keeps the run_id",
    isLive: true,
    start: durableRedis,
    prepare: async ({ port }) => {
      promoted = await durableRedis();
      await followAndPromote(promoted.port, port);
    },
    lose: ({ port }) => followAndPromote(port, promoted!.port),
  },
  {
    name: "postgres: a restart on an older data folder",
    start: () => startPostgres(),
    prepare: (server) => server.backUp(),
    lose: (server) => server.restore(),
  },
  {
    name: "postgres: an older table takes the place of the present one",
    isLive: true,
    start: () => startPostgres(),
    prepare: ({ url }) =>
      postgres(url, "CREATE TABLE old (LIKE snowlane_record INCLUDING ALL); INSERT INTO old TABLE snowlane_record"),
    lose: ({ url }) => postgres(url, "DROP TABLE snowlane_record; ALTER TABLE old RENAME TO snowlane_record"),
  },
  {
    name: "postgres: a copy made by TEMPLATE takes the name of the database",
    isLive: true,
    start: () => startPostgres(),
    prepare: ({ port }) => postgres(besideIds(port), "CREATE DATABASE ids_backup TEMPLATE postgres"),
    lose: async ({ port }) => {
      // One that others are connected to cannot be renamed.
      await postgres(besideIds(port), "ALTER DATABASE postgres ALLOW_CONNECTIONS false");
      await postgres(
        besideIds(port),
        `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = 'postgres';
        ALTER DATABASE postgres RENAME TO ids_broken; ALTER DATABASE ids_backup RENAME TO postgres`,
      );
    },
  },
  {
    name: "mysql: a restart on an older data folder",
    start: () => startMariadb(),
    prepare: (server) => server.backUp(),
    lose: (server) => server.restore(),
  },
  {
    name: "mysql: an older table takes the place of the present one",
    isLive: true,
    start: () => startMariadb(),
    prepare: ({ port }) =>
      mariadb(
        port,
        "DO SLEEP(1)",
        "CREATE TABLE old LIKE snowlane_record",
        "INSERT INTO old SELECT * FROM snowlane_record",
      ),
    lose: ({ port }) => mariadb(port, "DROP TABLE snowlane_record", "ALTER TABLE old RENAME TO snowlane_record"),
  },
  {
    name: "zookeeper: older znodes are put back into a new ensemble",
    start: () => startZooKeeper(),
    prepare: async ({ url }) => void (older = await listAll(url)),
    lose: async (server) => {
      await server.restartEmpty();
      await putBack(server.url, older);
    },
  },
  {
    name: "zookeeper: all members of an ensemble restart on older data folders",
    isAnotherLife: true,
    start: async () => {
      ensemble = await startZooKeeperEnsemble();
      return ensemble[0]!;
    },
    // One after the other, so that the others go on meanwhile.
    prepare: async () => {
      for (const member of ensemble) await member.backUp();
    },
    lose: async () => {
      // All before the first comes back: it would take the newer data from one that runs.
      await Promise.all(ensemble.map((member) => member.kill()));
      await Promise.all(ensemble.map((member) => member.restore()));
    },
  },
];

test.concurrent.for(losses)(
  "no ID comes twice, and new grants wait for the quarantine: $name",
  async ({ isLive, isAnotherLife, start, prepare, lose }, { onTestFinished, expect }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    await (await startPinned(server.url, 6)).stop();
    await prepare?.(server);
    const holder = await startPinned(server.url, 5);
    const { renewed } = holder.source.status().counters;
    await expect.poll(() => holder.source.status().counters.renewed, { timeout: 60_000 }).toBeGreaterThan(renewed + 1);
    const [lostAtMs, grantsBefore] = [systemClock.nowMs(), grantsOf(holder).length];
    await lose(server);
    // The store has forgotten that anybody ever had this worker ID, while its holder still issues.
    const other = await startPinned(server.url, 5).catch(takenBack);
    const newGrants = (): Grants => [...grantsOf(holder).slice(grantsBefore), ...grantsOf(other)];
    await expect.poll(() => newGrants().length, { timeout: 60_000 }).toBeGreaterThan(0);
    await sleep(500);
    await Promise.all([holder.stop(), other?.stop()]);
    expect(duplicatesOf(holder.ids, other?.ids ?? [])).toEqual([]);
    for (const { fromMs } of newGrants()) expect(fromMs).toBeGreaterThanOrEqual(lostAtMs + quarantineMs);
    const events = [...holder.events, ...(other?.events ?? [])];
    if (isAnotherLife) expect(events.map(({ kind }) => kind)).toContain("incarnation-changed");
    if (isLive) expect(events.some(isQuarantine), events.map(({ kind }) => kind).join()).toBe(true);
  },
);

/**
 * Both want the worker ID after the quarantine. Where the one that lost it is faster, the other is told so and ends.
 */
function takenBack(error: unknown): undefined {
  if (!(error instanceof IdError) || error.reason !== "NO_FREE_WORKER_ID") throw error;
}

type Grants = readonly Extract<IssuingWorker["events"][number], { kind: "acquired" }>[];

function grantsOf(worker: IssuingWorker | undefined): Grants {
  return (worker?.events ?? []).filter((event) => event.kind === "acquired");
}

function isQuarantine(event: IssuingWorker["events"][number]): boolean {
  return event.kind === "quarantine-written" || (event.kind === "waiting" && event.for === "quarantine");
}

const quarantineMs = 5_000;

/**
 * W = 2 s, so that the quarantine is 5 s. Without spread two that issue in the same millisecond repeat each other for
 * certain.
 */
function startPinned(storeUrl: string, workerId: number): Promise<IssuingWorker> {
  const times = { windowMs: 2_000, windowMaxMs: 2_000, renewalPeriodMs: 500, ttlMs: 5_000, storeTimeoutMs: 1_000 };
  return IssuingWorker.start({ storeUrl, datacenterId: 1, workerId, sequenceSpread: false, ...times });
}

/** Where statements run that need the store's own database to themselves. */
const besideIds = (port: number): string => `postgres://postgres@127.0.0.1:${port}/template1`;

async function postgres(url: string, statements: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statements);
  await client.end();
}

/** Makes a Redis server the replica of another one until it is in step, and then a primary. */
async function followAndPromote(port: number, primaryPort: number): Promise<void> {
  await askPort(port, `REPLICAOF 127.0.0.1 ${primaryPort}\r\nQUIT\r\n`);
  while (!/master_link_status:up/.test(await askPort(port, "INFO replication\r\nQUIT\r\n"))) await sleep(10);
  await askPort(port, "REPLICAOF NO ONE\r\nQUIT\r\n");
}

async function mariadb(port: number, ...statements: readonly string[]): Promise<void> {
  const connection = await mysql.createConnection({ host: "127.0.0.1", port, user: "root", database: "test" });
  for (const statement of statements) await connection.query(statement);
  connection.destroy();
}

async function listAll(url: string): Promise<readonly Entry[]> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 60_000 });
  const { entries } = await store.list();
  await store.close();
  return entries;
}

async function putBack(url: string, entries: readonly Entry[]): Promise<void> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 60_000 });
  for (const { key, text } of entries) await store.compareAndSet(key, undefined, text);
  await store.close();
}
