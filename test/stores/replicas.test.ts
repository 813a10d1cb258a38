import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { askRedis, follow, promote, startReplicable } from "../support/servers/redis-replicas.ts";
import type { TestServer } from "../support/servers/test-server.ts";

const patience = { timeout: 90_000, interval: 100 };
const unavailable = expect.objectContaining({ reason: "STORE_UNAVAILABLE" });

interface Trio {
  readonly primary: TestServer;
  readonly replicas: readonly [TestServer, TestServer];
  /** Names all three. */
  readonly url: string;
}

/** A primary and two replicas that are in step with it. */
async function startTrio(): Promise<Trio> {
  const [primary, one, other] = await Promise.all([startReplicable(), startReplicable(), startReplicable()]);
  await follow([one, other], primary);
  const hosts = [primary, one, other].map(({ port }) => `127.0.0.1:${port}`);
  return { primary, replicas: [one, other], url: `redis://${hosts.join(",")}?replicas=2` };
}

async function open(url: string, callTimeoutMs = 30_000): Promise<RecordStore> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs });
  onTestFinished(() => store.close());
  return store;
}

test("a write that no majority of Redis servers has is neither applied nor shown, until a majority has it", async () => {
  const { primary, replicas, url } = await startTrio();
  const written = await (await open(url)).compareAndSet("worker-1", undefined, "old");
  if (written.kind !== "applied") throw new Error("the first write was not applied");
  const store = await open(url, 1_000);
  for (const replica of replicas) replica.pause();
  // The primary has it: who asked there alone would take it for done. A try may end before anything was sent.
  const held = async (): Promise<string> => {
    await expect(store.compareAndSet("worker-1", written.entry, "new")).rejects.toEqual(unavailable);
    return await askRedis(primary.port, "HGET snowlane:{default} worker-1");
  };
  await expect.poll(held, patience).toContain("new");
  await expect(store.read("worker-1")).rejects.toEqual(unavailable);
  await expect(store.list()).rejects.toEqual(unavailable);
  // Nor does a connection that has written nothing itself.
  await expect((await open(url, 1_000)).read("worker-1")).rejects.toEqual(unavailable);
  replicas[0].resume();
  expect((await (await open(url)).read("worker-1")).entry?.text).toBe("new");
  expect((await (await open(url)).list()).entries.map(({ key }) => key)).toEqual(["worker-1"]);
  replicas[1].resume();
});

test("a failover to a replica that lacks the last renewals is another life: quarantine, and no ID comes twice", async () => {
  const { primary, replicas, url } = await startTrio();
  const [next, other] = replicas;
  const times = { windowMs: 4_000, windowMaxMs: 4_000, renewalPeriodMs: 500, ttlMs: 7_000, storeTimeoutMs: 1_000 };
  const pinned = { storeUrl: url, datacenterId: 1, workerId: 5, sequenceSpread: false, ...times };
  const holder = await IssuingWorker.start({ ...pinned, instance: "holder" });
  // What the primary takes from here on, neither replica has: the renewals that were sent are only there.
  const { ambiguous } = holder.source.status().counters;
  const untilMs = (): number => holder.source.status().grant?.untilMs ?? 0;
  for (const replica of replicas) replica.pause();
  await expect.poll(() => holder.source.status().counters.ambiguous, patience).toBeGreaterThan(ambiguous);
  const confirmedMs = untilMs();
  await expect.poll(() => holder.source.status().counters.ambiguous, patience).toBeGreaterThan(ambiguous + 1);
  // Reading the primary again settled nothing.
  expect(untilMs() === confirmedMs || untilMs() === 0).toBe(true);
  await primary.kill();
  for (const replica of replicas) replica.resume();
  await promote(next, [other]);
  const grants = (worker: IssuingWorker) => worker.events.filter((event) => event.kind === "acquired");
  const heir = await IssuingWorker.start({ ...pinned, workerId: 6, instance: "heir" });
  await expect.poll(() => holder.source.state.kind, patience).toBe("serving");
  const count = holder.ids.length;
  await expect.poll(() => holder.ids.length, patience).toBeGreaterThan(count + 50);
  await Promise.all([holder.stop(), heir.stop()]);
  expect(duplicatesOf(holder.ids, heir.ids)).toEqual([]);
  // Nobody was granted a window below what the old primary may have confirmed to anybody.
  const after = [...grants(holder).slice(1), ...grants(heir)];
  expect(after.length).toBeGreaterThan(0);
  for (const { fromMs } of after) expect(fromMs).toBeGreaterThanOrEqual(confirmedMs);
  const events = [...holder.events, ...heir.events];
  expect(events.some((event) => event.kind === "waiting" && event.for === "quarantine")).toBe(true);
});
