/** Acquire at the edges of its rules: each of these tests detects a small mistake in one of them. */
import { describe, expect, test } from "vitest";
import { HolderWorld, type TestProcess } from "../../test/support/worlds/holder-world.ts";
import { IdError } from "../errors.ts";
import { createLayout } from "../snowflake/layout.ts";
import { noneAdded } from "./records/added-fields.ts";
import { encodeQuarantineRecord } from "./records/quarantine-record.ts";
import { recordKeys } from "./records/record-text.ts";
import { encodeWorkerRecord } from "./records/worker-record.ts";

const windowMs = 10_000;
const leadMaxMs = 2_000;
const ttlMs = 13_000;
const pinned = { datacenterId: 0, workerId: 0 };

/** Puts a store under a quarantine that ends the given time ahead of the clock. @returns Its end: Unix milliseconds. */
function putUnderQuarantine({ database, time }: HolderWorld, aheadMs: number): number {
  const untilMs = time.nowMs() + aheadMs;
  const mark = { sinceMs: time.nowMs(), untilMs, reason: "restored", added: noneAdded };
  database.write(recordKeys.quarantine, undefined, encodeQuarantineRecord(mark));
  return untilMs;
}

/** A process that issued and gave its worker ID back, by a clock that is ahead. @returns The mark that it left. */
async function usedAhead(world: HolderWorld, workerId: number, clockAheadMs: number): Promise<number> {
  const ahead = world.process({ name: `ahead-${workerId}`, options: { datacenterId: 0, workerId }, clockAheadMs });
  await ahead.start();
  ahead.issue(5);
  await ahead.close();
  return world.record(workerId)!.markMs;
}

/** Starts, and lets everything that is due at once happen. */
async function begin(process: TestProcess): Promise<TestProcess> {
  process.holder.start().catch(() => {});
  await process.time.run(0);
  return process;
}

describe("under a quarantine, a start", () => {
  const quarantined = async (aheadMs: number) => {
    const world = new HolderWorld({ hasClock: true });
    const before = world.process({ name: "before", options: pinned });
    await before.start();
    await before.close();
    const untilMs = putUnderQuarantine(world, aheadMs);
    return { world, untilMs, process: await begin(world.process({ options: pinned })) };
  };

  test("waits until its end is the lead ahead of the clock, says so, and begins at its end", async () => {
    const { world, untilMs, process } = await quarantined(20_000);
    expect(process.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine", untilMs: untilMs - leadMaxMs });
    await world.time.run(20_000 - leadMaxMs - 1);
    expect(process.holder.grant).toBeUndefined();
    await world.time.run(1);
    expect(process.holder.grant?.fromMs).toBe(untilMs);
  });

  test("does not wait where its end is just the lead ahead", async () => {
    const { untilMs, process } = await quarantined(leadMaxMs);
    expect(process.kinds()).toEqual(["acquired"]);
    expect(process.holder.grant?.fromMs).toBe(untilMs);
  });
});

describe("of the causes that prevent it, a start names", () => {
  test("the mark of a worker ID that another instance gave back, whose lock it leaves meanwhile", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    const markMs = await usedAhead(world, 0, 5_000);
    const process = await begin(world.process({ options: pinned }));
    expect(process.holder.phase).toMatchObject({ kind: "waiting", for: "mark", untilMs: markMs - leadMaxMs });
    expect(world.database.locks.size).toBe(0);
    await world.time.run(5_000);
    expect(process.holder.grant?.fromMs).toBe(markMs);
  });

  test("the mark that passes first", async () => {
    const world = new HolderWorld();
    const firstMs = await usedAhead(world, 0, 5_000);
    await usedAhead(world, 1, 8_000);
    const { holder } = await begin(world.process({ options: { datacenterId: 0 } }));
    expect(holder.phase).toMatchObject({ kind: "waiting", for: "mark", untilMs: firstMs - leadMaxMs });
  });

  test("the holder whose time is over first", async () => {
    const world = new HolderWorld({ hasClock: true });
    await world.process({ name: "first", options: pinned }).start();
    const { expiresMs } = world.record(0)!;
    await world.time.run(1_000);
    await world.process({ name: "second", options: { datacenterId: 0, workerId: 1 } }).start();
    await expect(world.process({ options: { datacenterId: 0 } }).start()).rejects.toMatchObject({
      message: expect.stringContaining(`One becomes free at ${new Date(expiresMs).toISOString()}`),
    });
  });
});

describe("a grant that cannot be kept", () => {
  test("gives its lock back before the next look", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    const process = world.process({ options: pinned });
    const { liveness } = process.store;
    if (liveness.kind !== "lock") throw new Error("The store has locks.");
    const { unlock } = liveness;
    const isHeldUp = Promise.withResolvers<void>();
    Object.assign(liveness, {
      unlock: async (key: string) => {
        await isHeldUp.promise;
        await unlock(key);
      },
    });
    process.store.onWritten = (key) => void (key.startsWith("worker") && putUnderQuarantine(world, 20_000));
    await begin(process);
    const looks = (): number => process.store.calls.filter(({ kind }) => kind === "list").length;
    expect([looks(), world.database.locks.size]).toEqual([1, 1]);
    isHeldUp.resolve();
    await world.time.run(0);
    expect([looks(), world.database.locks.size]).toEqual([2, 0]);
    expect(process.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine" });
  });

  test("because the store went back under its own name while it was asked, is dropped", async () => {
    const world = new HolderWorld({ hasClock: true, hasPosition: true });
    const process = world.process({ options: pinned });
    process.store.onWritten = (key) => void (key.startsWith("worker") && (world.database.position -= 2n));
    await begin(process);
    expect(process.holder.grant).toBeUndefined();
    expect(process.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine" });
  });

  test("because its store says that it is another one by now, is dropped, although its text is there", async () => {
    const world = new HolderWorld({ hasClock: true });
    const process = world.process({ options: pinned });
    process.store.onWritten = (key) => {
      if (key.startsWith("worker")) throw new IdError("STORE_WENT_BACK", "The file was replaced.");
    };
    await begin(process);
    expect(world.record(0)).toBeDefined();
    await world.time.run(1_000);
    expect(process.holder.grant).toBeUndefined();
    expect(process.kinds()).toContain("quarantine-written");
  });
});

test("a grant is used no further than the store's clock allows when the answer comes", async () => {
  let behindMs = 0;
  const world: HolderWorld = new HolderWorld({ clockMs: () => world.time.nowMs() - behindMs });
  const process = world.process({ options: pinned });
  process.store.fault = ({ kind, key }) => {
    if (kind === "compareAndSet" && key?.startsWith("worker")) behindMs = 4_000;
    return "none";
  };
  await begin(process);
  const nowMs = world.time.nowMs();
  expect(world.record(0)!.markMs).toBe(nowMs + windowMs);
  expect(process.holder.grant!.untilMs).toBe(nowMs - behindMs + windowMs + leadMaxMs + 1_000);
});

test("a grant that was used is not an unused one: when it lapsed, its worker ID is left alone like any other", async () => {
  const world = new HolderWorld({ hasClock: true });
  const process = await begin(world.process({ options: pinned }));
  process.issue(10);
  process.store.fault = () => "lost";
  await world.time.run(windowMs + 500);
  process.store.fault = () => "none";
  await world.time.run(ttlMs - windowMs - 501);
  expect(process.holder.grant).toBeUndefined();
  await world.time.run(1_100);
  expect(process.holder.grant?.generation).toBe(2);
});

test("a write that landed late, and made the next one conflict, is our own and unused: it is taken again at once", async () => {
  const world = new HolderWorld({ hasClock: true });
  const process = world.process({ options: pinned });
  let writes = 0;
  process.store.fault = ({ kind, key }) => {
    if (kind !== "compareAndSet" || !key?.startsWith("worker")) return "none";
    writes += 1;
    if (writes === 2) void process.store.deliverLate();
    return writes === 1 ? "late" : "none";
  };
  await begin(process);
  await world.time.run(1_900);
  expect(writes).toBe(3);
  expect(process.holder.grant?.generation).toBe(2);
});

test("a worker ID that a copy of the process gave back below what this one issued is taken up above that", async () => {
  const world = new HolderWorld();
  const process = await begin(world.process({ options: pinned }));
  const beginMs = world.time.nowMs();
  world.time.stepWall(5_000);
  await world.time.run(15_000);
  process.issue(10);
  const usedMs = process.generator.markMs;
  world.time.stepWall(-1_500);
  const entry = world.database.entry("worker-0");
  const released = { ...world.record(0)!, token: "", writeId: "0".repeat(32), markMs: beginMs + 1 };
  world.database.write("worker-0", entry, encodeWorkerRecord(released));
  process.holder.wantWindow();
  await world.time.run(500);
  expect(process.holder.counters).toMatchObject({ acquired: 2, lost: 1 });
  expect(process.holder.grant!.fromMs).toBeGreaterThanOrEqual(usedMs);
});

test("a look for a spare worker ID leaves the lock of the one that is held", async () => {
  const world = new HolderWorld({ liveness: "lock" });
  const process = await begin(world.process());
  for (const name of ["b", "c", "d"]) await world.process({ name }).start();
  process.issue(10);
  world.time.stepWall(-5_000);
  process.issue();
  await world.time.run(1_000);
  expect(process.holder.phase).toEqual({ kind: "rebasing", spare: "none" });
  expect(world.database.locks.has(process.holder.grant!.key)).toBe(true);
});

test("of a store that is bound to a range, a pinned process gets exactly its worker ID, or is refused on either side", async () => {
  const world = new HolderWorld();
  const fields = [
    { kind: "timestamp", bits: 41 },
    { kind: "worker", bits: 3 },
    { kind: "sequence", bits: 2 },
  ] as const;
  const layout = createLayout({ name: "workers", epochMs: 0, tickNs: 1_000_000, fields });
  const workerIds = { first: 3, last: 5 };
  await world.process({ name: "first", layout, options: { workerIds, workerId: 4 } }).start();
  for (const workerId of [3, 5]) {
    const process = world.process({ name: `at-${workerId}`, layout, options: { workerId } });
    await process.start();
    expect(process.holder.grant!.workerIndex).toBe(workerId);
  }
  for (const workerId of [0, 2, 6, 7]) {
    const process = world.process({ name: `at-${workerId}`, layout, options: { workerId } });
    await expect(process.start()).rejects.toMatchObject({ reason: "INVALID_CONFIG", metadata: { allowed: "3-5" } });
  }
});

test("what fails in this process itself ends the search, and does not pass for a fault of the store", async () => {
  const world = new HolderWorld();
  const process = world.process();
  let end: unknown;
  world.random128 = () => {
    process.holder.close(1_000).catch((cause: unknown) => (end = cause));
    throw new RangeError("no random bits");
  };
  await expect(process.start()).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
  expect(end).toBeInstanceOf(RangeError);
});
