import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { test } from "vitest";
import { IdError } from "../../src/errors.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { openStore } from "../../src/store/open-store.ts";
import { writeQuarantine } from "../../src/lease/quarantine.ts";
import type { Entry, RecordStore } from "../../src/store/record-store.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { askPort } from "../support/servers/ask-port.ts";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { FakeKubernetes } from "../support/servers/fake-kubernetes.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { startZooKeeper } from "../support/servers/zookeeper-server.ts";

/** The server of a store, and a way to lose data that docs/stores.md says nobody sees. */
interface Victim {
  readonly url: string;
  /** W: longer than a loss takes, lest a holder lapses meanwhile and acquires before the quarantine is put down. */
  readonly windowMs: number;
  /** Keeps what there is now. */
  readonly keep: () => Promise<void>;
  /** Puts back what was kept last. */
  readonly lose: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const victims: readonly { readonly name: string; readonly start: () => Promise<Victim> }[] = [
  { name: "postgres: older rows in the table that stands", start: async () => rewritten(await startPostgres()) },
  { name: "mysql: older rows in the table that stands", start: async () => rewritten(await startMariadb()) },
  { name: "zookeeper: older texts in the znodes that stand", start: async () => rewritten(await startZooKeeper()) },
  {
    name: "zookeeper: a standalone server restarts on an older data folder",
    start: async () => restored(await startZooKeeper()),
  },
  { name: "redis: an older hash put back into the server that runs", start: copiedBack },
  { name: "etcd: a restart on an older data folder", start: async () => restored(await startEtcd()) },
  { name: "kubernetes: older leases", start: kubernetes },
];

const patience = { timeout: 90_000, interval: 50 };

test.concurrent.for(victims)(
  "goes unseen, and with the step of the runbook no ID comes twice: $name",
  async ({ start }, { onTestFinished, expect }) => {
    const victim = await start();
    onTestFinished(() => victim.stop());
    await (await startPinned(victim)).stop();
    await victim.keep();
    await (await startPinned(victim)).stop();
    await victim.lose();
    const unaware = await startPinned(victim);
    expect(unaware.events.filter(({ kind }) => kind === "waiting" || kind === "incarnation-changed")).toEqual([]);
    await unaware.stop();

    await victim.keep();
    const holder = await startPinned(victim);
    const { renewed } = holder.source.status().counters;
    await expect.poll(() => holder.source.status().counters.renewed, patience).toBeGreaterThan(renewed);
    const grants = (worker: IssuingWorker | undefined) =>
      (worker?.events ?? []).filter((event) => event.kind === "acquired");
    const before = grants(holder).length;
    await victim.lose();
    const untilMs = await quarantine(victim);
    const other = await startPinned(victim).catch(takenBack);
    const after = () => [...grants(holder).slice(before), ...grants(other)];
    await expect.poll(() => after().length, patience).toBeGreaterThan(0);
    await Promise.all([holder.stop(), other?.stop()]);
    expect(duplicatesOf(holder.ids, other?.ids ?? [])).toEqual([]);
    for (const { fromMs } of after()) expect(fromMs).toBeGreaterThanOrEqual(untilMs);
  },
);

test("an emptied store is new to a process that never saw it; when all have been stopped for a window and 3 s, no ID comes twice", async ({
  onTestFinished,
  expect,
}) => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const victim = { url: server.url, windowMs: 5_000 };
  const empty = async (): Promise<void> => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query("DELETE FROM snowlane_record");
    await client.end();
  };
  await (await startPinned(victim)).stop();
  await empty();
  const unaware = await startPinned(victim);
  expect(unaware.events.filter(({ kind }) => kind === "waiting" || kind === "incarnation-changed")).toEqual([]);
  await unaware.stop();
  await empty();
  await sleep(victim.windowMs + 3_000);
  const later = await startPinned(victim);
  await expect.poll(() => later.ids.length, patience).toBeGreaterThan(0);
  await later.stop();
  expect(duplicatesOf(unaware.ids, later.ids)).toEqual([]);
});

/** The store and settings that a worker is started with. */
type Place = Pick<Victim, "url" | "windowMs">;

function startPinned({ url: storeUrl, windowMs }: Place): Promise<IssuingWorker> {
  const ttlMs = windowMs + 3_000;
  const times = { windowMs, windowMaxMs: windowMs, renewalPeriodMs: 2_000, ttlMs, storeTimeoutMs: 10_000 };
  return IssuingWorker.start({ storeUrl, datacenterId: 1, workerId: 5, sequenceSpread: false, ...times });
}

/** Both want the worker ID after the quarantine: where the holder is faster, the other is told so and ends. */
function takenBack(error: unknown): undefined {
  if (!(error instanceof IdError) || error.reason !== "NO_FREE_WORKER_ID") throw error;
}

/** Writes the same as `snowlane workers quarantine`. */
async function quarantine({ url, windowMs }: Victim): Promise<number> {
  return withStore(url, async (store) => {
    const sinceMs = systemClock.nowMs();
    const mark = { sinceMs, untilMs: sinceMs + windowMs + 3_000, reason: "restored by an operator" };
    return (await writeQuarantine(store, mark)).untilMs;
  });
}

async function withStore<T>(url: string, work: (store: RecordStore) => Promise<T>): Promise<T> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 60_000 });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Older texts are written over those that stand, by statements like any others. */
function rewritten(server: { readonly url: string; readonly stop: () => Promise<void> }): Victim {
  const { url } = server;
  let kept: readonly Entry[] = [];
  return {
    url,
    windowMs: 8_000,
    keep: async () => {
      kept = await withStore(url, async (store) => (await store.list()).entries);
    },
    lose: () =>
      withStore(url, async (store) => {
        for (const { key, text } of kept) await overwrite(store, key, text);
      }),
    stop: () => server.stop(),
  };
}

/** Holders write meanwhile. */
async function overwrite(store: RecordStore, key: string, text: string): Promise<void> {
  for (;;) {
    const { entry } = await store.read(key);
    if ((await store.compareAndSet(key, entry, text)).kind === "applied") return;
  }
}

function restored(server: TestServer): Victim {
  return {
    url: server.url,
    windowMs: 20_000,
    keep: () => server.backUp(),
    lose: () => server.restore(),
    stop: () => server.stop(),
  };
}

async function copiedBack(): Promise<Victim> {
  const server = await startRedis({ persistence: "every-write" });
  const copy = async (from: string, to: string): Promise<void> => {
    await askPort(server.port, `COPY ${from} ${to} REPLACE\r\nQUIT\r\n`);
  };
  return {
    url: server.url,
    windowMs: 8_000,
    keep: () => copy("snowlane:{default}", "backup"),
    lose: () => copy("backup", "snowlane:{default}"),
    stop: () => server.stop(),
  };
}

async function kubernetes(): Promise<Victim> {
  const api = new FakeKubernetes();
  await api.listen();
  return rewritten(api);
}
