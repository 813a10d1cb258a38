import { describe, expect, test, vi } from "vitest";
import { type HolderSetup, HolderWorld, type TestProcess } from "../../../test/support/worlds/holder-world.ts";
import { JournalDisk } from "../../../test/support/worlds/memory-journal.ts";
import { parseResumeRecord } from "./resume-record.ts";
import { encodeWorkerRecord } from "../records/worker-record.ts";

const windowMs = 10_000;
const pinned = { datacenterId: 0, workerId: 0 };

interface Scene {
  readonly world: HolderWorld;
  readonly disk: JournalDisk;
  readonly process: TestProcess;
}

async function holding(setup: HolderSetup = {}): Promise<Scene> {
  const world = new HolderWorld({ hasClock: true });
  const disk = new JournalDisk();
  const process = world.process({ disk, ...setup });
  await process.start();
  return { world, disk, process };
}

/** Starts the same instance on the same disk; the store does not answer unless a test lets it. */
async function restart(
  { world, disk }: Scene,
  setup: HolderSetup = {},
  store: "down" | "up" = "down",
): Promise<TestProcess> {
  const process = world.process({ disk, ...setup });
  if (store === "down") process.store.fault = () => "lost";
  process.holder.start().catch(() => {});
  await world.time.run(0);
  return process;
}

function onDisk(disk: JournalDisk, workerIndex: number): ReturnType<typeof parseResumeRecord> {
  return parseResumeRecord(disk.texts.get(workerIndex) ?? "");
}

describe("a resume record", () => {
  test("is written before the first ID, and is at least a second ahead of every later one", async () => {
    const { world, disk, process } = await holding();
    const { workerIndex } = process.holder.grant!;
    for (let step = 0; step < 300; step += 1) {
      expect(process.issue(10)).toBe(10);
      const record = onDisk(disk, workerIndex)!;
      expect(record.localMarkMs).toBeGreaterThanOrEqual(process.generator.markMs + 999);
      expect(record.untilMs).toBeLessThanOrEqual(process.holder.grant!.untilMs);
      await world.time.run(100);
    }
  });

  test("keeps its mark when the clock goes back: IDs may be issued up to it while a lower one is being written", async () => {
    const { world, disk, process } = await holding({ policy: "wait" });
    await world.time.run(3_000);
    const { workerIndex } = process.holder.grant!;
    const { localMarkMs } = onDisk(disk, workerIndex)!;
    const written = disk.texts.get(workerIndex);
    process.clockAheadMs = -60_000;
    await world.time.run(2_000);
    expect(disk.texts.get(workerIndex)).not.toBe(written);
    expect(onDisk(disk, workerIndex)!.localMarkMs).toBeGreaterThanOrEqual(localMarkMs);
  });

  test("lets a restart serve while the store is down, from its mark on and below what was confirmed", async () => {
    const scene = await holding();
    const { world, disk, process } = scene;
    await world.time.run(3_000);
    process.issue(1_000);
    const { workerIndex, untilMs } = process.holder.grant!;
    const { localMarkMs } = onDisk(disk, workerIndex)!;
    process.crash();
    const again = await restart(scene);
    expect(again.kinds()).toContain("resumed");
    expect(again.holder.grant).toMatchObject({ workerIndex, fromMs: localMarkMs, untilMs });
    expect(again.issue(1_000)).toBe(1_000);
    await world.time.run(untilMs - world.time.nowMs() - 1);
    expect(again.issue()).toBe(1);
    await world.time.run(600);
    expect(again.issue()).toBe("no-grant");
    expect(world.ledger.count).toBe(2_001);
  });

  test("lets a restart go on for good when the store answers and the record is as it was last confirmed", async () => {
    const scene = await holding();
    await scene.world.time.run(3_000);
    scene.process.crash();
    const again = await restart(scene, {}, "up");
    await scene.world.time.run(60_000);
    expect(again.holder.counters).toMatchObject({ acquired: 1, lost: 0, lapsed: 0 });
    expect(again.holder.counters.renewed).toBeGreaterThan(20);
    expect(again.holder.grant!.generation).toBe(1);
    expect(again.issue()).toBe(1);
  });

  test("knows writes that were without an answer when it was written, and takes one that landed", async () => {
    const scene = await holding();
    const { world, process } = scene;
    process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "answer-lost" : "lost");
    await world.time.run(2_100);
    process.crash();
    const again = await restart(scene, {}, "up");
    await world.time.run(5_000);
    expect(again.holder.counters).toMatchObject({ acquired: 1, lost: 0 });
    expect(again.issue()).toBe(1);
  });

  test("does not name a write that was forgotten: where that one landed, a restart loses its grant, and repeats nothing", async () => {
    const options = { windowMs: 660_000 };
    const scene = await holding({ options });
    const { world, process } = scene;
    process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "late" : "none");
    for (let second = 0; second < 500; second += 1) {
      await world.time.run(1_000);
      expect(process.issue(10)).toBe(10);
    }
    process.crash();
    await process.store.deliverLate();
    const again = await restart(scene, { options }, "up");
    expect(again.kinds()).toContain("resumed");
    await world.time.run(5_000);
    expect(again.holder.counters).toMatchObject({ acquired: 2, lost: 1, quarantines: 0 });
    expect(again.issue(10)).toBe(10);
  });

  test("is worth nothing if the store shows another's record: lost, and not one more ID under it", async () => {
    const scene = await holding({ options: pinned });
    const { world, process } = scene;
    process.crash();
    const again = await restart(scene, { options: pinned });
    expect(again.issue(10)).toBe(10);
    const taken = {
      ...world.record(0)!,
      generation: 2,
      token: "f".repeat(32),
      markMs: world.record(0)!.markMs + 10_000,
    };
    world.database.write("worker-0", world.database.entry("worker-0"), encodeWorkerRecord(taken));
    again.store.fault = () => "none";
    await world.time.run(1_000);
    expect(again.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "lost" }));
    expect(again.issue()).toBe("no-grant");
    expect(scene.disk.texts.size).toBe(0);
  });

  test.each([
    ["another life", "system=memory-2"],
    ["a life that tells one more part", "system=memory-1 table=5"],
  ])(
    "under %s of the store is used up and not renewed; then a new grant waits for the quarantine",
    async (_, identity) => {
      const scene = await holding();
      const { world, process } = scene;
      await world.time.run(2_500);
      const { untilMs } = process.holder.grant!;
      process.crash();
      const { incarnation } = world.database;
      world.database.incarnation = { ...incarnation, identity };
      const again = await restart(scene, {}, "up");
      await world.time.run(5_000);
      expect(again.holder.grant!.untilMs).toBe(untilMs);
      expect(again.issue()).toBe(1);
      await world.time.run(untilMs - world.time.nowMs() + 600);
      expect(again.holder.counters.lapsed).toBe(1);
      expect(again.issue()).toBe("no-grant");
      await world.time.run(14_000);
      expect(again.holder.grant).toMatchObject({ isResumed: false });
    },
  );

  test.each([
    ["machine", { machineId: "other" }],
    ["boot", { bootId: "other" }],
    ["store", { storeUrl: "other:" }],
    ["namespace", { namespace: "other" }],
  ])("of another %s is not gone on from", async (_, place) => {
    const scene = await holding();
    scene.process.crash();
    scene.disk.place = { ...scene.disk.place, ...place };
    const again = await restart(scene);
    expect(again.holder.grant).toBeUndefined();
    expect(scene.disk.texts.size).toBe(0);
  });

  test("whose window is over is removed", async () => {
    const scene = await holding();
    scene.process.crash();
    await scene.world.time.run(windowMs);
    const again = await restart(scene);
    expect(again.holder.grant).toBeUndefined();
    expect(scene.disk.texts.size).toBe(0);
  });

  test("of another instance on the machine is left to it", async () => {
    const scene = await holding();
    scene.process.crash();
    const other = await restart(scene, { name: "b" });
    expect(other.holder.grant).toBeUndefined();
    const again = await restart(scene);
    expect(again.kinds()).toContain("resumed");
  });

  test("of another instance is removed by the process that finds it once its window is over", async () => {
    const scene = await holding();
    scene.process.crash();
    await scene.world.time.run(windowMs + 2_000);
    await restart(scene, { name: "b" });
    expect(scene.disk.texts.size).toBe(0);
  });

  test("whose process lives is nobody's", async () => {
    const scene = await holding();
    const twin = await restart(scene);
    expect(twin.holder.grant).toBeUndefined();
    expect(scene.process.issue()).toBe(1);
  });

  test("that is damaged is removed", async () => {
    const scene = await holding();
    scene.process.crash();
    for (const key of scene.disk.texts.keys()) scene.disk.texts.set(key, "{");
    const again = await restart(scene);
    expect(again.holder.grant).toBeUndefined();
    expect(scene.disk.texts.size).toBe(0);
  });

  test("is gone before a release is sent, and if it cannot be removed, none is", async () => {
    const { world, disk, process } = await holding();
    const { workerIndex } = process.holder.grant!;
    process.store.onWritten = () => expect(disk.texts.size).toBe(0);
    await process.close();
    expect(world.record(workerIndex)!.token).toBe("");

    const failing = await holding();
    failing.disk.fault = (operation) => (operation === "remove" ? "fails" : "none");
    const { workerIndex: kept } = failing.process.holder.grant!;
    await failing.process.close();
    expect(failing.world.record(kept)!.token).not.toBe("");
  });

  test("of a lost grant is gone before anything new is acquired", async () => {
    const { world, disk, process } = await holding();
    const { key, record } = process.holder.grant!;
    const copied = { ...record, writeId: "e".repeat(32), markMs: record.markMs + 2_000 };
    world.database.write(key, world.database.entry(key), encodeWorkerRecord(copied));
    disk.fault = (operation) => (operation === "remove" ? "fails" : "none");
    await world.time.run(10_000);
    expect(process.holder.grant).toBeUndefined();
    expect(process.kinds().filter((kind) => kind === "acquired")).toHaveLength(1);
    disk.fault = () => "none";
    await world.time.run(2_000);
    expect(process.issue()).toBe(1);
  });

  test("of the old worker ID is gone before a rebase gives it back, and the new one's is written before its first ID", async () => {
    const { world, disk, process } = await holding();
    process.issue(10);
    const { workerIndex } = process.holder.grant!;
    const standing: number[][] = [];
    process.store.onWritten = () => standing.push([...disk.texts.keys()]);
    world.time.stepWall(-3_600_000);
    process.issue();
    await world.time.run(1);
    const moved = process.holder.grant!.workerIndex;
    expect(moved).not.toBe(workerIndex);
    expect(standing).toEqual([[workerIndex], [moved]]);
    expect([...disk.texts.keys()]).toEqual([moved]);
    expect(process.issue(10)).toBe(10);
  });

  test("knows a renewal that landed when its answer was lost in the crash (it passed for a copy's write)", async () => {
    const scene = await holding();
    const { world, process } = scene;
    const crashed = vi.fn(() => process.crash());
    process.store.onWritten = crashed;
    await world.time.run(5_000);
    expect(crashed).toHaveBeenCalledTimes(1);
    const again = await restart(scene, {}, "up");
    await world.time.run(3_000);
    expect(again.kinds()).not.toContain("grant-ended");
    expect(again.holder.counters.renewed).toBeGreaterThan(0);
    expect(again.issue(10)).toBe(10);
  });

  test("that cannot be written is removed, and the grant goes on without", async () => {
    const { world, disk, process } = await holding();
    disk.fault = (operation) => (operation === "write" ? "fails" : "none");
    for (let step = 0; step < 50; step += 1) {
      await world.time.run(100);
      expect(process.issue(10)).toBe(10);
    }
    expect(disk.texts.size).toBe(0);
    expect(process.kinds()).toContain("store-problem");
  });

  test("that can be neither written nor removed holds every ID at its mark, until the disk is well", async () => {
    const scene = await holding();
    const { world, disk, process } = scene;
    const { workerIndex } = process.holder.grant!;
    disk.fault = () => "uncertain";
    await world.time.run(500);
    disk.fault = () => "fails";
    const { localMarkMs } = onDisk(disk, workerIndex) ?? { localMarkMs: process.generator.untilMs };
    await world.time.run(4_000);
    expect(process.issue()).toBe("window");
    expect(process.generator.markMs).toBeLessThanOrEqual(localMarkMs);
    disk.fault = () => "none";
    await world.time.run(1_000);
    expect(process.issue()).toBe(1);
  });

  test("is written beside the issuing: while the disk stalls for less than a second, nobody notices", async () => {
    const { world, disk, process } = await holding();
    const { promise, resolve } = Promise.withResolvers<void>();
    disk.stall = promise;
    for (let step = 0; step < 9; step += 1) {
      await world.time.run(100);
      expect(process.issue(10)).toBe(10);
    }
    disk.stall = undefined;
    resolve();
    for (let step = 0; step < 30; step += 1) {
      await world.time.run(100);
      expect(process.issue(10)).toBe(10);
    }
  });

  test("is not kept where the store is a local file with locks", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    const disk = new JournalDisk();
    await world.process({ disk }).start();
    expect(disk.texts.size).toBe(0);
  });

  test("survives a clock that is set back an hour with the restart, and nothing repeats", async () => {
    const scene = await holding();
    const { world, process } = scene;
    process.issue(5_000);
    process.crash();
    const again = await restart(scene, { clockAheadMs: -3_600_000 });
    expect(again.issue(10)).toBe("rolled-back");
    again.store.fault = () => "none";
    again.clockAheadMs = -100_000;
    await world.time.run(3_000);
    expect(again.issue(5_000)).toBe(5_000);
  });
});
