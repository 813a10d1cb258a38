import { describe, expect, test } from "vitest";
import { HolderWorld, smallLayout } from "../../test/support/worlds/holder-world.ts";
import { createLayout } from "../snowflake/layout.ts";
import { encodeQuarantineRecord } from "./records/quarantine-record.ts";
import { noneAdded } from "./records/added-fields.ts";
import { recordKeys } from "./records/record-text.ts";
import { workerKey } from "./records/worker-record.ts";

const windowMs = 10_000;
const ttlMs = 13_000;
const leadMaxMs = 2_000;

/** The layout pinned to its first worker: there is no other. */
const pinned = { datacenterId: 0, workerId: 0 };

describe("acquire", () => {
  test("the first process of a namespace writes layout and incarnation, and takes a worker ID under a window from now on", async () => {
    const world = new HolderWorld();
    const process = world.process();
    await process.start();
    const grant = process.holder.grant!;
    const startMs = world.time.nowMs();
    expect(grant).toMatchObject({ generation: 1, fromMs: startMs, untilMs: startMs + windowMs });
    expect([...world.database.records.keys()].toSorted()).toEqual(["incarnation", "layout", grant.key]);
    expect(world.record(grant.workerIndex)).toMatchObject({ markMs: startMs + windowMs, expiresMs: startMs + ttlMs });
    expect(process.issue(3)).toBe(3);
  });

  test("processes take different worker IDs, and one more than there are gets NO_FREE_WORKER_ID at once", async () => {
    const world = new HolderWorld();
    const processes = ["a", "b", "c", "d"].map((name) => world.process({ name }));
    await Promise.all(processes.map((process) => process.start()));
    expect(new Set(processes.map(({ holder }) => holder.grant!.workerIndex))).toEqual(new Set([0, 1, 2, 3]));
    const fifth = world.process({ name: "e" });
    await expect(fifth.start()).rejects.toMatchObject({ reason: "NO_FREE_WORKER_ID" });
    expect(fifth.holder.phase.kind).toBe("failed");
  });

  test("another layout is refused, and every field that differs is named", async () => {
    const world = new HolderWorld();
    await world.process().start();
    const layout = createLayout({
      ...smallLayout,
      epochMs: smallLayout.epochMs + 1,
      fields: [{ kind: "timestamp", bits: 42 }, ...smallLayout.fields.slice(1)],
    });
    const other = world.process({ name: "b", layout });
    await expect(other.start()).rejects.toMatchObject({
      reason: "LAYOUT_MISMATCH",
      metadata: { fields: "epochMs,fields", namespace: "default" },
    });
    const wide = world.process({ name: "c", options: { windowMs: windowMs + 1 } });
    await expect(wide.start()).rejects.toMatchObject({
      reason: "LAYOUT_MISMATCH",
      metadata: { fields: "windowMaxMs" },
    });
  });

  test("a successor after a crash begins at the mark, whatever its clock shows", async () => {
    const world = new HolderWorld({ hasClock: true });
    const crashed = world.process({ options: pinned });
    await crashed.start();
    crashed.issue(5);
    crashed.crash();
    await world.time.run(ttlMs);
    const successor = world.process({ name: "b", options: pinned, clockAheadMs: -2_500 });
    await successor.start();
    const grant = successor.holder.grant!;
    expect(grant.generation).toBe(2);
    expect(grant.fromMs).toBe(Math.max(crashed.holder.grant!.untilMs, world.time.nowMs() - 2_500));
    successor.issue(5);
    expect(world.ledger.count).toBe(10);
  });

  test("a record is held until it expires by the store's clock", async () => {
    const world = new HolderWorld({ hasClock: true });
    const crashed = world.process({ options: pinned });
    await crashed.start();
    crashed.crash();
    const startMs = world.time.nowMs();
    // A restart of the same instance waits for it; another one is refused.
    const other = world.process({ name: "b", options: pinned });
    await expect(other.start()).rejects.toMatchObject({ reason: "NO_FREE_WORKER_ID" });
    const restart = world.process({ options: pinned });
    void restart.holder.start();
    await world.time.run(ttlMs - 1);
    expect(restart.holder.grant).toBeUndefined();
    await world.time.run(1_001);
    expect(restart.holder.grant?.sinceMs).toBeGreaterThanOrEqual(startMs + ttlMs);
  });

  test("without a clock of the store, a record is expired only if it also stood still for its TTL before our eyes", async () => {
    const world = new HolderWorld();
    const crashed = world.process({ options: pinned });
    await crashed.start();
    crashed.crash();
    await world.time.run(ttlMs + 5_000);
    const startMs = world.time.monotonicMs();
    const successor = world.process({ options: pinned });
    void successor.holder.start();
    await world.time.run(ttlMs - 1);
    expect(successor.holder.grant).toBeUndefined();
    await world.time.run(1_001);
    expect(successor.holder.grant?.confirmedAtMs).toBeGreaterThanOrEqual(startMs + ttlMs);
  });

  test("a start that finds only dead holders' records watches them to the end, instead of failing for ever", async () => {
    const world = new HolderWorld();
    const crashed = world.process({ options: pinned });
    await crashed.start();
    crashed.crash();
    await world.time.run(ttlMs + 5_000);
    const successor = world.process({ name: "b", options: pinned });
    void successor.holder.start();
    await world.time.run(1_000);
    expect(successor.holder.phase).toMatchObject({ kind: "waiting", for: "silence" });
    await world.time.run(ttlMs);
    expect(successor.holder.phase.kind).toBe("holding");
  });

  test("a clock far ahead takes nothing from a holder that renews", async () => {
    const world = new HolderWorld();
    const holder = world.process({ options: pinned });
    await holder.start();
    const hasty = world.process({ name: "b", options: pinned, clockAheadMs: 3_600_000 });
    const starting = hasty.start();
    starting.catch(() => {});
    await world.time.run(60_000);
    await expect(starting).rejects.toMatchObject({ reason: "NO_FREE_WORKER_ID" });
    expect(holder.holder.grant?.generation).toBe(1);
  });

  test("on a store that loses data, a record that was not released is taken over only past its mark and two clock errors", async () => {
    const world = new HolderWorld({ hasClock: true, durability: "lossy", timing: { ttlMs: 13_000 } });
    const crashed = world.process({ options: pinned });
    await crashed.start();
    // Its clock is ahead: the mark lies beyond what the TTL covers.
    crashed.clockAheadMs = 1_900;
    await world.time.run(2_000);
    const { markMs, expiresMs } = world.record(0)!;
    crashed.crash();
    const successor = world.process({ options: pinned });
    void successor.holder.start();
    await world.time.run(40_000);
    expect(successor.holder.grant!.sinceMs).toBeGreaterThanOrEqual(Math.max(expiresMs, markMs + 1_000));
  });

  test("a restart prefers the worker ID that it had", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    for (const name of ["a", "b", "c"]) await world.process({ name }).start();
    const last = world.process({ name: "d" });
    await last.start();
    const { workerIndex } = last.holder.grant!;
    await last.close();
    const again = world.process({ name: "d" });
    await again.start();
    expect(again.holder.grant).toMatchObject({ workerIndex, generation: 2 });
  });

  test("where locks tell, a crashed holder's worker ID is free at once, and a living one's never", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    const [living, crashed] = [
      world.process({ options: pinned }),
      world.process({ name: "b", options: { datacenterId: 0, workerId: 1 } }),
    ];
    await living.start();
    await crashed.start();
    crashed.crash();
    const successor = world.process({ name: "c", options: { datacenterId: 0, workerId: 1 } });
    void successor.holder.start();
    await world.time.run(windowMs - leadMaxMs + 1_000);
    expect(successor.holder.grant?.workerIndex).toBe(1);
    const refused = world.process({ name: "d", options: pinned });
    await expect(refused.start(1_000)).rejects.toMatchObject({
      reason: "NO_FREE_WORKER_ID",
      message: expect.stringContaining("held by a:7609"),
    });
  });

  test("a pinned worker waits until its mark is at most the lead ahead of the clock, and says so", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    const crashed = world.process({ options: pinned });
    await crashed.start();
    const { markMs } = world.record(0)!;
    crashed.crash();
    const restart = world.process({ options: pinned });
    void restart.holder.start();
    await world.time.run(0);
    expect(restart.holder.phase).toMatchObject({ kind: "waiting", for: "mark", untilMs: markMs - leadMaxMs });
    expect(restart.kinds()).toEqual(["waiting"]);
    await world.time.run(windowMs - leadMaxMs - 1);
    expect(restart.holder.grant).toBeUndefined();
    await world.time.run(1);
    expect(restart.holder.grant?.fromMs).toBe(markMs);
  });

  test("a pinned datacenter alone takes only worker IDs of that datacenter", async () => {
    const world = new HolderWorld();
    const processes = ["a", "b"].map((name) => world.process({ name, options: { datacenterId: 1 } }));
    for (const process of processes) await process.start();
    expect(processes.map(({ holder }) => holder.grant!.workerIndex).toSorted((one, other) => one - other)).toEqual([
      2, 3,
    ]);
    const third = world.process({ name: "c", options: { datacenterId: 1 } });
    await expect(third.start()).rejects.toMatchObject({ reason: "NO_FREE_WORKER_ID" });
  });

  test("a store that is bound to datacenters hands out no others", async () => {
    const world = new HolderWorld();
    await world.process({ options: { datacenterIds: [1] } }).start();
    const unbound = world.process({ name: "b" });
    await unbound.start();
    expect(unbound.holder.grant!.workerIndex).toBeGreaterThanOrEqual(2);
    const foreign = world.process({ name: "c", options: { datacenterId: 0 } });
    await expect(foreign.start()).rejects.toMatchObject({ reason: "INVALID_CONFIG", metadata: { allowed: "1" } });
    const other = world.process({ name: "d", options: { datacenterIds: [0, 1] } });
    await expect(other.start()).rejects.toMatchObject({
      reason: "LAYOUT_MISMATCH",
      metadata: { fields: "datacenterIds" },
    });
  });

  describe("a store that is bound to a range of worker IDs", () => {
    const fields = [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: 3 },
      { kind: "sequence", bits: 2 },
    ] as const;
    const layout = createLayout({ name: "workers", epochMs: 0, tickNs: 1_000_000, fields });
    const workerIds = { first: 5, last: 6 };

    test("hands out no others, also to processes that leave the range out", async () => {
      const world = new HolderWorld();
      const processes = ["a", "b"].map((name, at) => world.process({ name, layout, options: at ? {} : { workerIds } }));
      for (const process of processes) await process.start();
      const taken = processes.map(({ holder }) => holder.grant!.workerIndex);
      expect(taken.toSorted((one, other) => one - other)).toEqual([5, 6]);
      await expect(world.process({ name: "c", layout }).start()).rejects.toMatchObject({ reason: "NO_FREE_WORKER_ID" });
      const pinned = world.process({ name: "d", layout, options: { workerId: 7 } });
      await expect(pinned.start()).rejects.toMatchObject({ reason: "INVALID_CONFIG", metadata: { allowed: "5-6" } });
    });

    test("refuses another range, and a range where it was bound to none", async () => {
      const bound = new HolderWorld();
      await bound.process({ layout, options: { workerIds } }).start();
      const unbound = new HolderWorld();
      await unbound.process({ layout }).start();
      const wider = { first: 5, last: 7 };
      for (const [world, options] of [
        [bound, { workerIds: wider }],
        [unbound, { workerIds }],
      ] as const) {
        const other = world.process({ name: "b", layout, options });
        await expect(other.start()).rejects.toMatchObject({
          reason: "LAYOUT_MISMATCH",
          metadata: { fields: "workerIds" },
        });
      }
    });

    test("is refused for a layout with datacenters, and outside of the layout", () => {
      const world = new HolderWorld();
      const invalid = expect.objectContaining({ reason: "INVALID_CONFIG" });
      expect(() => world.process({ options: { workerIds: { first: 0, last: 1 } } })).toThrow(invalid);
      for (const range of [
        { first: 0, last: 8 },
        { first: 3, last: 2 },
        { first: -1, last: 2 },
      ])
        expect(() => world.process({ layout, options: { workerIds: range } })).toThrow(invalid);
      expect(() => world.process({ layout, options: { workerIds, workerId: 4 } })).toThrow(invalid);
    });
  });

  test("a damaged record is left alone, reported, and keeps nobody from the other worker IDs", async () => {
    const world = new HolderWorld();
    await world.process({ name: "b", options: { datacenterId: 1 } }).start();
    world.database.records.set("worker-0", "not ours");
    const process = world.process({ options: { datacenterId: 0 } });
    await process.start();
    expect(process.holder.grant!.workerIndex).toBe(1);
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "store-problem", during: "list" }));
    expect(world.database.records.get("worker-0")).toBe("not ours");
  });
});

describe("where locks show whether a holder runs, a lock that is taken for a moment", () => {
  const key = workerKey(0);

  test("by a process that reads the records is waited for, and not taken for a holder's", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    const crashed = world.process({ name: "crashed", options: pinned });
    await crashed.start();
    crashed.crash();
    world.database.locks.set(key, world.database.open());
    const process = world.process({ options: pinned });
    const started = process.holder.start();
    started.catch(() => {});
    await world.time.run(500);
    expect(process.holder.phase.kind).toBe("acquiring");
    world.database.locks.delete(key);
    // Its mark has to pass.
    await world.time.run(10_000);
    await started;
    expect(process.issue()).toBe(1);
  });

  test("is reported as a holder's when it stays, with the holder's name", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    await world.process({ name: "holding", options: pinned }).start();
    const refused = world.process({ options: pinned }).start(1_000);
    await expect(refused).rejects.toMatchObject({
      reason: "NO_FREE_WORKER_ID",
      message: expect.stringContaining("held by holding:7609"),
    });
  });

  test("and whose record is free is reported as a busy store when it stays, not as held", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    const before = world.process({ name: "before", options: pinned });
    await before.start();
    await before.close();
    world.database.locks.set(key, world.database.open());
    const process = world.process({ options: { ...pinned, startPatienceMs: 5_000 } });
    await expect(process.start(10_000)).rejects.toMatchObject({
      reason: "STORE_UNAVAILABLE",
      message: expect.stringContaining("is busy"),
    });
  });
});

describe("an acquire without an answer", () => {
  test("counts if our own write is there", async () => {
    const world = new HolderWorld();
    const process = world.process();
    process.store.fault = ({ kind, key }) =>
      kind === "compareAndSet" && key?.startsWith("worker") ? "answer-lost" : "none";
    await process.start();
    expect(process.holder.grant?.generation).toBe(1);
    process.store.fault = () => "none";
    await world.time.run(5_000);
    expect(process.holder.grant?.record.generation).toBe(1);
  });

  test("does not count if it does not, and nothing is issued under it even if it lands later", async () => {
    const world = new HolderWorld();
    const process = world.process({ options: pinned });
    let writes = 0;
    process.store.fault = ({ kind, key }) =>
      kind === "compareAndSet" && key === "worker-0" && ++writes === 1 ? "late" : "none";
    void process.holder.start();
    await world.time.run(1);
    expect(process.holder.grant).toBeUndefined();
    await process.store.deliverLate();
    await world.time.run(1_000);
    // The record that landed late is ours and unused: it is taken by another write.
    expect(process.holder.grant?.generation).toBe(2);
    expect(process.holder.grant?.token).toBe(world.record(0)!.token);
  });

  test("uses up no worker ID with each try: what landed unseen is found again, and begins where it began", async () => {
    const world = new HolderWorld();
    const process = world.process();
    let isWritten = false;
    process.store.fault = ({ kind, key }) => {
      if (kind === "compareAndSet" && key?.startsWith("worker-")) isWritten = true;
      return isWritten && kind !== "list" ? "answer-lost" : "none";
    };
    const startMs = world.time.nowMs();
    void process.holder.start();
    await world.time.run(60);
    process.store.fault = () => "none";
    await world.time.run(2_000);
    expect(process.holder.grant!.generation).toBeGreaterThan(1);
    expect(process.holder.grant!.fromMs).toBeLessThan(startMs + 1_000);
    expect([...world.database.records.keys()].filter((key) => key.startsWith("worker-"))).toHaveLength(1);
  });

  test("gives up when the patience for a store that does not answer is over, and says what it said last", async () => {
    const world = new HolderWorld();
    const process = world.process({ options: { startPatienceMs: 10_000 } });
    process.store.fault = () => "lost";
    await expect(process.start(20_000)).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
    expect(process.holder.phase.kind).toBe("failed");
  });

  test("goes on until the store answers, with growing pauses", async () => {
    const world = new HolderWorld();
    const process = world.process();
    process.store.fault = () => "lost";
    void process.holder.start();
    await world.time.run(10_000);
    expect(process.store.calls.length).toBeGreaterThan(8);
    expect(process.store.calls.length).toBeLessThan(40);
    expect(process.holder.phase).toMatchObject({ kind: "acquiring", problem: { reason: "STORE_UNAVAILABLE" } });
    expect(process.kinds()).toEqual(["store-problem"]);
    process.store.fault = () => "none";
    await world.time.run(1_000);
    expect(process.holder.phase.kind).toBe("holding");
    expect(process.kinds()).toEqual(["store-problem", "store-answers-again", "new-deployment", "acquired"]);
  });
});

describe("a grant is dropped", () => {
  test("if the store's incarnation changed before its answer", async () => {
    const world = new HolderWorld({ hasClock: true });
    const process = world.process();
    process.store.onWritten = (key) => {
      if (key.startsWith("worker"))
        world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
    };
    void process.holder.start();
    await world.time.run(0);
    expect(process.holder.grant).toBeUndefined();
    expect(process.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine" });
  });

  test("if the store was emptied between the look and the write, although the same server answers", async () => {
    const world = new HolderWorld({ hasClock: true, emptyMeans: "lost" });
    const process = world.process();
    process.store.fault = ({ kind, key }) => {
      if (kind === "compareAndSet" && key?.startsWith("worker")) world.database.records.clear();
      return "none";
    };
    void process.holder.start();
    await world.time.run(13_000);
    expect(process.holder.grant).toBeUndefined();
    process.store.fault = () => "none";
    // The mark that it asked for itself may have been lost: the quarantine is counted from that mark.
    await world.time.run(24_000);
    expect(process.holder.grant).toBeDefined();
  });

  test("if a quarantine mark was put down before its answer", async () => {
    const world = new HolderWorld({ hasClock: true });
    const process = world.process();
    const untilMs = world.time.nowMs() + 20_000;
    process.store.onWritten = (key) => {
      if (!key.startsWith("worker")) return;
      const mark = { sinceMs: 0, untilMs, reason: "test", added: noneAdded };
      world.database.write(recordKeys.quarantine, undefined, encodeQuarantineRecord(mark));
    };
    void process.holder.start();
    await world.time.run(0);
    expect(process.holder.grant).toBeUndefined();
    await world.time.run(20_000);
    expect(process.holder.grant!.fromMs).toBeGreaterThanOrEqual(untilMs);
  });

  test("if its window was over when the answer came", async () => {
    const world = new HolderWorld();
    const process = world.process();
    let writes = 0;
    process.store.fault = ({ kind, key }) =>
      kind === "compareAndSet" && key?.startsWith("worker") && ++writes === 1 ? "held" : "none";
    void process.holder.start();
    await world.time.run(windowMs);
    process.store.resume();
    await world.time.run(0);
    expect(process.holder.grant!.untilMs).toBeGreaterThan(world.time.nowMs());
    expect(process.holder.grant!.generation).toBe(2);
  });
});

describe("at start", () => {
  test("a clock before the epoch, or before this release, is refused", async () => {
    const world = new HolderWorld();
    const early = world.process({ clockAheadMs: smallLayout.epochMs - world.time.nowMs() - 1 });
    await expect(early.start()).rejects.toMatchObject({ reason: "CLOCK_BEFORE_EPOCH" });
    const layout = createLayout({ ...smallLayout, epochMs: 0 });
    const reset = world.process({ layout, clockAheadMs: -world.time.nowMs() + 1_000_000_000_000 });
    await expect(reset.start()).rejects.toMatchObject({ reason: "CLOCK_BEFORE_EPOCH" });
    expect(world.database.records.size).toBe(0);
  });

  test.each([300_001, -300_001])("a clock %d ms from the store's is refused", async (clockAheadMs) => {
    const world = new HolderWorld({ hasClock: true });
    await expect(world.process({ clockAheadMs }).start()).rejects.toMatchObject({
      reason: "INVALID_CONFIG",
      metadata: { clock_ahead_ms: String(clockAheadMs) },
    });
  });

  test("a clock a little behind the store's is taken", async () => {
    const world = new HolderWorld({ hasClock: true });
    const process = world.process({ clockAheadMs: -200_000 });
    await process.start();
    expect(process.issue()).toBe(1);
  });

  test("a foreign layout record is refused as such", async () => {
    const world = new HolderWorld();
    world.database.records.set("layout", "{}");
    await expect(world.process().start()).rejects.toMatchObject({
      reason: "INVALID_CONFIG",
      metadata: { record: "layout" },
    });
  });
});
