import { describe, expect, test } from "vitest";
import type { Fault, FaultyCall } from "../../test/support/worlds/faulty-store.ts";
import { HolderWorld, smallLayout } from "../../test/support/worlds/holder-world.ts";
import { createLayout } from "../snowflake/layout.ts";
import { recordKeys } from "../lease/records/record-text.ts";
import { encodeWorkerRecord } from "../lease/records/worker-record.ts";

/** Q: the longest window, the lead, and the error of two clocks. */
const quarantineMs = 13_000;

/** The store refuses worker records: an acquire sees everything, and then fails. */
function failingAtTheWrite({ kind, key }: FaultyCall): Fault {
  return kind === "compareAndSet" && key?.startsWith("worker-") ? "lost" : "none";
}

test("a store that is silent for minutes is asked less and less, and is found again soon after it is back", async () => {
  const world = new HolderWorld({ hasClock: true });
  const process = world.process();
  process.store.fault = () => "lost";
  void process.holder.start();
  await world.time.run(60_000);
  const { length } = process.store.calls;
  await world.time.run(240_000);
  expect(process.store.calls.length - length).toBeGreaterThan(5);
  expect(process.store.calls.length - length).toBeLessThan(40);
  process.store.fault = () => "none";
  await world.time.run(31_000);
  expect(process.holder.grant).toBeDefined();
});

test("a store that refuses a process that had a worker ID is asked less and less (it was asked each second)", async () => {
  const world = new HolderWorld({ hasClock: true });
  const process = world.process();
  await process.start();
  // The store refuses us, for example because a password is no longer right.
  process.store.fault = () => "barred";
  await world.time.run(80_000);
  const { length } = process.store.calls;
  await world.time.run(240_000);
  expect(process.store.calls.length - length).toBeGreaterThan(5);
  expect(process.store.calls.length - length).toBeLessThan(40);
  process.store.fault = () => "none";
  await world.time.run(31_000);
  expect(process.holder.grant).toBeDefined();
});

test("where every worker ID has a holder, the message has the time at which the first may become free", async () => {
  const world = new HolderWorld({ hasClock: true });
  const pinned = { options: { datacenterId: 0, workerId: 0 } };
  await world.process(pinned).start();
  const untilMs = world.record(0)!.expiresMs;
  await expect(world.process({ ...pinned, name: "b" }).start()).rejects.toMatchObject({
    reason: "NO_FREE_WORKER_ID",
    message: expect.stringContaining(
      `One becomes free at ${new Date(untilMs).toISOString()} unless its holder renews.`,
    ),
    metadata: { free_from_unix_ms: `${untilMs}` },
  });
});

test("processes that wait for a worker ID look less and less often (each listed all records each second)", async () => {
  const world = new HolderWorld({ hasClock: true });
  const pinned = { datacenterId: 0, workerId: 0 };
  const holder = world.process({ options: pinned });
  await holder.start();
  const second = world.process({ name: "b", options: { ...pinned, workerIdPatienceMs: 3_600_000 } });
  void second.holder.start();
  const looks = (): number => second.store.calls.filter(({ kind }) => kind === "list").length;
  await world.time.run(10_000);
  expect(looks()).toBeGreaterThan(8);
  await world.time.run(90_000);
  const before = looks();
  await world.time.run(100_000);
  expect(looks() - before).toBeGreaterThan(30);
  expect(looks() - before).toBeLessThan(75);
  // A worker ID that becomes free is found with the next look.
  await holder.close();
  await world.time.run(4_000);
  expect(second.holder.grant).toBeDefined();
});

test("a start that waits for a worker ID for two minutes ends then, not at its next look", async () => {
  const world = new HolderWorld({ hasClock: true });
  const pinned = { datacenterId: 0, workerId: 0 };
  await world.process({ options: pinned }).start();
  const second = world.process({ name: "b", options: { ...pinned, workerIdPatienceMs: 120_000 } });
  let endedMs = 0;
  const fromMs = world.time.nowMs();
  second.holder.start().catch(() => {
    endedMs = world.time.nowMs() - fromMs;
  });
  await world.time.run(140_000);
  expect(endedMs).toBeGreaterThanOrEqual(120_000);
  expect(endedMs).toBeLessThan(121_000);
});

describe("what an acquire that then failed has seen counts:", () => {
  test("the layout: a store that is emptied before the next try is not taken for a new one", async () => {
    const world = new HolderWorld({ hasClock: true, emptyMeans: "new" });
    const process = world.process();
    process.store.fault = failingAtTheWrite;
    void process.holder.start();
    await world.time.run(10);
    expect(process.holder.grant).toBeUndefined();
    world.database.records.clear();
    const emptiedMs = world.time.nowMs();
    process.store.fault = () => "none";
    await world.time.run(30_000);
    expect(process.holder.counters.quarantines).toBe(1);
    expect(process.holder.grant!.fromMs).toBeGreaterThanOrEqual(emptiedMs + quarantineMs);
  });

  test("the layout: where that record alone is lost before the next try, it is written again as it was", async () => {
    const world = new HolderWorld({ hasClock: true });
    await world.process({ name: "b" }).start();
    const process = world.process();
    process.store.fault = failingAtTheWrite;
    void process.holder.start();
    await world.time.run(10);
    const { text } = world.database.entry(recordKeys.layout)!;
    world.database.records.delete(recordKeys.layout);
    process.store.fault = () => "none";
    await world.time.run(30_000);
    expect(world.database.entry(recordKeys.layout)!.text).toBe(text);
    expect(process.issue()).toBe(1);
  });

  test("the life of the store: it is reported that another one answers", async () => {
    const world = new HolderWorld({ hasClock: true });
    await world.process({ name: "b" }).start();
    world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
    const layout = createLayout({ ...smallLayout, epochMs: smallLayout.epochMs + 1 });
    const process = world.process({ layout });
    await expect(process.start()).rejects.toMatchObject({ reason: "LAYOUT_MISMATCH" });
    expect(process.kinds()).toContain("incarnation-changed");
  });

  test("the records: how many worker IDs are free shows, and those that are damaged are reported", async () => {
    const world = new HolderWorld();
    await world.process({ name: "b", options: { datacenterId: 1 } }).start();
    world.database.records.set("worker-0", "not ours");
    const process = world.process();
    process.store.fault = failingAtTheWrite;
    void process.holder.start();
    await world.time.run(10);
    expect(process.holder.grant).toBeUndefined();
    expect(process.holder.candidates).toMatchObject({ total: 4, free: 2 });
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "store-problem", during: "list" }));
  });

  test("the marks: a quarantine after a loss begins at the highest that was in any record", async () => {
    const world = new HolderWorld({ hasClock: true, emptyMeans: "new" });
    const other = world.process({ name: "b" });
    await other.start();
    const entry = world.database.entry(other.holder.grant!.key)!;
    const highestMs = world.time.nowMs() + 60_000;
    world.database.write(entry.key, entry, encodeWorkerRecord({ ...other.holder.grant!.record, markMs: highestMs }));
    other.crash();
    const process = world.process();
    process.store.fault = failingAtTheWrite;
    void process.holder.start();
    await world.time.run(10);
    world.database.records.clear();
    process.store.fault = () => "none";
    await world.time.run(3_000);
    const written = process.events.find((event) => event.kind === "quarantine-written");
    expect(written).toMatchObject({ untilMs: highestMs });
  });
});

test("a start that a clock far from the store's holds back says so", async () => {
  const world = new HolderWorld({ hasClock: true });
  const process = world.process({ clockAheadMs: -400_000 });
  await expect(process.start()).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
  expect(process.events).toContainEqual({ kind: "clock-off", aheadMs: -400_000 });
});
