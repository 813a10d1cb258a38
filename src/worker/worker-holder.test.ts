import { describe, expect, test } from "vitest";
import {
  type HolderSetup,
  HolderWorld,
  smallLayout,
  type TestProcess,
} from "../../test/support/worlds/holder-world.ts";
import type { Fault, FaultyCall } from "../../test/support/worlds/faulty-store.ts";
import { JournalDisk } from "../../test/support/worlds/memory-journal.ts";
import type { MemoryDatabaseOptions } from "../../test/support/worlds/memory-store.ts";
import { decomposeId } from "../snowflake/layout.ts";

const leadMaxMs = 2_000;
const windowMs = 10_000;
/** Q: the longest window, the lead, and the error of two clocks. */
const quarantineMs = windowMs + leadMaxMs + 1_000;

async function holding(
  options: MemoryDatabaseOptions & { readonly hasClock?: boolean } = {},
  setup: HolderSetup = {},
): Promise<{ world: HolderWorld; process: TestProcess }> {
  const world = new HolderWorld(options);
  const process = world.process(setup);
  await process.start();
  return { world, process };
}

describe("a clock that goes back", () => {
  test("by no more than the lead is noticed by nobody", async () => {
    const { world, process } = await holding();
    process.issue(100);
    world.time.stepWall(-1_900);
    expect(process.issue(100)).toBe(100);
    await world.time.run(5_000);
    expect(process.issue(100)).toBe(100);
    expect(process.holder.counters).toMatchObject({ acquired: 1, rebased: 0 });
  });

  test("by more moves on to another worker ID at once, and only then gives the first back", async () => {
    const { world, process } = await holding();
    process.issue(100);
    const { workerIndex } = process.holder.grant!;
    const usedToMs = process.generator.markMs;
    const order: string[] = [];
    process.store.onWritten = (key) => {
      order.push(
        `${key === `worker-${workerIndex}` ? "old" : "new"}, issuing as ${process.holder.grant?.workerIndex === workerIndex ? "old" : "new"}`,
      );
    };
    world.time.stepWall(-3_600_000);
    expect(process.issue()).toBe("rolled-back");
    await world.time.run(1);
    expect(process.issue(100)).toBe(100);
    const moved = process.holder.grant!;
    expect(moved.workerIndex).not.toBe(workerIndex);
    expect(moved.fromMs).toBeLessThanOrEqual(world.time.nowMs());
    expect(order).toEqual(["new, issuing as old", "old, issuing as new"]);
    expect(world.record(workerIndex)).toMatchObject({ token: "", markMs: usedToMs });
    expect(process.holder.counters.rebased).toBe(1);
  });

  test("in several steps that sum to more, too", async () => {
    const { world, process } = await holding();
    const { workerIndex } = process.holder.grant!;
    process.issue(100);
    for (let step = 0; step < 3; step += 1) {
      world.time.stepWall(-1_500);
      process.issue(100);
      await world.time.run(1);
    }
    await world.time.run(500);
    expect(process.holder.grant!.workerIndex).not.toBe(workerIndex);
    expect(process.issue(100)).toBe(100);
  });

  test("moves only to a worker ID whose mark is not above the clock, and else waits, says so, and goes on when time is back", async () => {
    const { world, process } = await holding();
    for (const name of ["b", "c", "d"]) await world.process({ name }).start();
    process.issue(10);
    const { workerIndex } = process.holder.grant!;
    world.time.stepWall(-5_000);
    process.issue();
    await world.time.run(1_000);
    expect(process.holder.phase).toEqual({ kind: "rebasing", spare: "none" });
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "rebase", outcome: "no-spare" }));
    expect(process.issue()).toBe("rolled-back");
    await world.time.run(2_500);
    expect(process.holder.phase.kind).toBe("holding");
    expect(process.issue()).toBe(1);
    expect(process.holder.grant!.workerIndex).toBe(workerIndex);
  });

  test("leaves a pinned worker nowhere to go", async () => {
    const { world, process } = await holding({}, { options: { datacenterId: 0, workerId: 0 } });
    process.issue(10);
    world.time.stepWall(-5_000);
    process.issue();
    await world.time.run(1);
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "rebase", outcome: "pinned" }));
    await world.time.run(3_100);
    expect(process.issue()).toBe(1);
  });

  test("keeps its window renewed meanwhile", async () => {
    const { world, process } = await holding({}, { options: { datacenterId: 0, workerId: 0 } });
    process.issue(10);
    world.time.stepWall(-60_000);
    await world.time.run(58_500);
    expect(process.issue()).toBe(1);
    expect(process.holder.counters).toMatchObject({ acquired: 1, lapsed: 0, lost: 0 });
  });

  test("across a restart never repeats an ID", async () => {
    const { world, process } = await holding({ liveness: "lock" });
    process.issue(5_000);
    process.crash();
    world.time.stepWall(-3_600_000);
    for (const name of ["a", "b", "c"]) {
      const restart = world.process({ name });
      await restart.start();
      expect(restart.issue(5_000)).toBe(5_000);
    }
    expect(world.ledger.count).toBe(20_000);
  });
});

describe("a clock that steps forward", () => {
  test("by an hour fails no call: time goes on, the step is followed after ten seconds, and the worker ID is acquired again", async () => {
    const { world, process } = await holding();
    const { token } = process.holder.grant!;
    world.time.stepWall(3_600_000);
    const judgedMs = process.holder.judge.nowMs();
    expect(judgedMs).toBeLessThan(world.time.nowMs() - 3_590_000);
    for (let second = 0; second < 9; second += 1) {
      expect(process.issue(10)).toBe(10);
      await world.time.run(1_000);
    }
    expect(process.holder.grant!.token).toBe(token);
    await world.time.run(2_000);
    expect(process.holder.judge.nowMs()).toBe(world.time.nowMs());
    expect(process.holder.counters.lapsed).toBe(1);
    expect(process.issue(10)).toBe(10);
  });

  test("is followed at once if the store's clock says the same", async () => {
    const { world, process } = await holding({ hasClock: true });
    world.time.stepWall(60_000);
    await world.time.run(600);
    expect(process.holder.judge.nowMs()).toBe(world.time.nowMs());
    expect(process.issue()).toBe(1);
  });

  test("is not followed if the store's clock contradicts it, and burns no mark", async () => {
    const { world, process } = await holding({ hasClock: true });
    process.clockAheadMs = 3_600_000;
    await world.time.run(30_000);
    expect(process.holder.judge.state.kind).toBe("contradicted");
    expect(process.holder.judge.nowMs()).toBe(world.time.nowMs());
    expect(process.holder.counters).toMatchObject({ lapsed: 0, lost: 0, acquired: 1 });
    expect(world.record(process.holder.grant!.workerIndex)!.markMs).toBeLessThan(world.time.nowMs() + windowMs + 3_000);
    expect(process.issue()).toBe(1);
  });

  test("because the machine slept is followed at once, and the grant has lapsed", async () => {
    const { world, process } = await holding();
    world.time.suspend(3_600_000);
    await world.time.run(500);
    expect(process.holder.counters.lapsed).toBe(1);
    expect(process.issue()).toBe(1);
    expect(process.holder.judge.nowMs()).toBe(world.time.nowMs());
  });
});

describe("the ten-minute profile", () => {
  test("--window 660s outlives a store that is away for ten minutes, with no call refused and no ID twice", async () => {
    const world = new HolderWorld({ hasClock: true });
    const process = world.process({ options: { windowMs: 660_000 } });
    await process.start();
    await world.time.run(10_000);
    process.store.fault = () => "lost";
    for (let second = 0; second < 640; second += 1) {
      await world.time.run(1_000);
      expect(process.issue(10)).toBe(10);
    }
    process.store.fault = () => "none";
    await world.time.run(5_000);
    expect(process.issue(10)).toBe(10);
    expect(process.holder.counters).toMatchObject({ acquired: 1, lost: 0, lapsed: 0 });
    expect(process.holder.grant!.untilMs).toBeGreaterThan(world.time.nowMs() + 650_000);
  });

  test("asked for in a namespace that began with shorter windows, it is refused with what to do", async () => {
    const world = new HolderWorld({ hasClock: true });
    await world.process().start();
    const late = world.process({ name: "b", options: { windowMs: 660_000 } });
    await expect(late.start()).rejects.toMatchObject({ reason: "LAYOUT_MISMATCH" });
  });
});

describe("a store that loses data", () => {
  test("when it is new beside no trace needs no quarantine; when it may have lost everything, the first grant waits for Q", async () => {
    const fresh = new HolderWorld({ hasClock: true, emptyMeans: "new" });
    await fresh.process().start();
    const emptied = new HolderWorld({ hasClock: true, emptyMeans: "lost" });
    const startMs = emptied.time.nowMs();
    const process = emptied.process();
    void process.holder.start();
    await emptied.time.run(quarantineMs - leadMaxMs - 1);
    expect(process.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine" });
    await emptied.time.run(2_000);
    expect(process.holder.grant!.fromMs).toBeGreaterThanOrEqual(startMs + quarantineMs);
  });

  test("and starts again: new grants begin Q after its start, and a holder that has not lapsed goes on", async () => {
    const { world, process } = await holding({ hasClock: true });
    world.database.incarnation = { ...world.database.incarnation, startedMs: world.time.nowMs() };
    const startedMs = world.time.nowMs();
    const other = world.process({ name: "b" });
    void other.holder.start();
    await world.time.run(5_000);
    expect(other.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine" });
    expect(process.holder.counters).toMatchObject({ acquired: 1, lost: 0 });
    expect(process.holder.counters.renewed).toBeGreaterThan(1);
    await world.time.run(quarantineMs);
    expect(other.holder.grant!.fromMs).toBeGreaterThanOrEqual(startedMs + quarantineMs);
  });

  test("and starts again within two seconds of its start before: that is another start (it passed for the same one, and IDs came twice)", async () => {
    const world = new HolderWorld({ hasClock: true });
    const startedMs = world.time.nowMs();
    world.database.incarnation = { ...world.database.incarnation, startedMs };
    await world.process().start();
    world.database.incarnation = { ...world.database.incarnation, startedMs: startedMs + 1 };
    const other = world.process({ name: "b" });
    void other.holder.start();
    await world.time.run(5_000);
    expect(other.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine" });
  });

  test("long after its restart makes nobody wait: t0 is its start, not the first look", async () => {
    const { world } = await holding({ hasClock: true });
    world.database.incarnation = { ...world.database.incarnation, startedMs: world.time.nowMs() };
    await world.time.run(60_000);
    const other = world.process({ name: "b" });
    await other.start();
    expect(other.holder.grant!.fromMs).toBe(world.time.nowMs());
  });

  test("and is another one: a holder that renews notes it at once, so that a start long after does not wait", async () => {
    const { world, process } = await holding({ hasClock: true });
    world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
    await world.time.run(60_000);
    expect(process.kinds()).toEqual(["new-deployment", "acquired", "incarnation-changed"]);
    await world.process({ name: "b" }).start();
  });

  test("and is another one: t0 is the first look at it, for everyone the same", async () => {
    const { world, process } = await holding({ hasClock: true });
    process.crash();
    world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
    await world.time.run(60_000);
    const seenMs = world.time.nowMs();
    const first = world.process({ name: "b" });
    void first.holder.start();
    await world.time.run(5_000);
    const second = world.process({ name: "c" });
    void second.holder.start();
    await world.time.run(quarantineMs);
    for (const { holder } of [first, second]) {
      expect(holder.grant!.fromMs).toBeGreaterThanOrEqual(seenMs + quarantineMs);
      expect(holder.grant!.fromMs).toBeLessThan(seenMs + quarantineMs + 3_000);
    }
  });

  test("and becomes another one and the old one again: who saw it notes that, though the record names the present life", async () => {
    const { world, process } = await holding({ hasClock: true });
    const { incarnation } = world.database;
    const records = new Map(world.database.records);
    world.database.incarnation = { ...incarnation, identity: "system=memory-2" };
    await world.time.run(5_000);
    world.database.incarnation = incarnation;
    for (const key of ["incarnation", "layout"]) world.database.records.set(key, records.get(key)!);
    const backMs = world.time.nowMs();
    await world.time.run(5_000);
    expect(process.kinds()).toEqual(["new-deployment", "acquired", "incarnation-changed", "incarnation-changed"]);
    const other = world.process({ name: "b" });
    void other.holder.start();
    await world.time.run(quarantineMs + 3_000);
    expect(other.holder.grant!.fromMs).toBeGreaterThanOrEqual(backMs + quarantineMs);
  });

  test.each([
    { hasPosition: true, seen: "a lower position shows it" },
    { hasPosition: false, seen: "without one nobody sees it" },
  ])("and goes back under its own name: $seen", async ({ hasPosition }) => {
    const world = new HolderWorld({ hasClock: true, hasPosition });
    const options = { datacenterId: 0, workerId: 0 };
    const layoutMaker = world.process({ name: "a" });
    await layoutMaker.start();
    await layoutMaker.close();
    const backup = new Map(world.database.records);
    const backupAt = world.database.position;
    const holder = world.process({ name: "b", options });
    await holder.start();
    const other = world.process({ name: "c", options: { ...options, workerIdPatienceMs: 3_600_000 } });
    other.holder.start().catch(() => {});
    await world.time.run(5_000);
    // Before the holder looks again, the waiting process has its worker ID, as the store no longer knows of a holder.
    holder.store.fault = () => "lost";
    const lostMs = world.time.nowMs();
    world.database.records.clear();
    for (const [key, text] of backup) world.database.records.set(key, text);
    world.database.position = backupAt;
    await world.time.run(3_000);
    expect(other.holder.grant === undefined).toBe(hasPosition);
    if (!hasPosition) return;
    expect(other.kinds()).toContain("incarnation-changed");
    await world.time.run(quarantineMs);
    expect(other.holder.grant!.fromMs).toBeGreaterThanOrEqual(lostMs + windowMs);
  });

  test("and is two stores in turn: a start ends, and t0 still moves (starts noted each against the other for ever)", async () => {
    const { world, process } = await holding({ hasClock: true });
    process.crash();
    const { incarnation } = world.database;
    world.database.incarnation = { ...incarnation, identity: "system=memory-2" };
    const other = world.process({ name: "b" });
    other.holder.start().catch(() => {});
    await world.time.run(2_000);
    expect(other.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine" });
    other.crash();
    world.database.incarnation = incarnation;
    const backMs = world.time.nowMs();
    const third = world.process({ name: "c" });
    const problems: unknown[] = [];
    third.holder.start().catch((error: unknown) => problems.push(error));
    await world.time.run(1_000);
    expect(String(problems)).toMatch(/Two stores answer .*: name one writer/);
    await world.time.run(quarantineMs);
    const last = world.process({ name: "d" });
    await last.start(quarantineMs);
    expect(last.holder.grant!.fromMs).toBeGreaterThanOrEqual(backMs + quarantineMs);
  });

  test("and is emptied under a holder: it ends, puts a mark down for all, and nobody begins below what it knows", async () => {
    const world = new HolderWorld({ hasClock: true, emptyMeans: "lost" });
    const process = world.process();
    await process.start(quarantineMs);
    expect(process.holder.phase.kind).toBe("holding");
    process.issue(100);
    const { workerIndex } = process.holder.grant!;
    world.database.records.clear();
    await world.time.run(2_000);
    const ended = { kind: "grant-ended", end: "regressed", datacenterId: workerIndex >> 1, workerId: workerIndex & 1 };
    expect(process.events).toContainEqual(expect.objectContaining(ended));
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "quarantine-written" }));
    const highestMs = process.generator.untilMs;
    await world.time.run(30_000);
    expect(process.holder.grant!.fromMs).toBeGreaterThan(highestMs);
    expect(process.issue(100)).toBe(100);
  });

  test("and goes back to an older state: the mark is Q from now, when every window is over (it cost twice the window)", async () => {
    const { world, process } = await holding({ hasClock: true });
    const backup = new Map(world.database.records);
    await world.time.run(20_000);
    const knownMs = process.holder.grant!.untilMs;
    for (const [key, text] of backup) world.database.records.set(key, text);
    await world.time.run(2_000);
    const marked = process.events.find((event) => event.kind === "quarantine-written");
    expect(marked?.untilMs).toBeGreaterThanOrEqual(knownMs);
    expect(marked?.untilMs).toBeLessThanOrEqual(world.time.nowMs() + quarantineMs);
    await world.time.run(quarantineMs);
    expect(process.holder.grant!.fromMs).toBeGreaterThanOrEqual(knownMs);
  });

  test("where marks lie beyond Q, as a clock was wrong: the mark is the highest that was seen", async () => {
    const world = new HolderWorld();
    const ahead = world.process({ name: "ahead", clockAheadMs: 60_000, options: { datacenterId: 0, workerId: 0 } });
    await ahead.start();
    const aheadMs = ahead.holder.grant!.untilMs;
    const process = world.process({ name: "b", options: { datacenterId: 0, workerId: 1 } });
    await process.start();
    ahead.crash();
    world.database.records.clear();
    await world.time.run(3_000);
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "quarantine-written", untilMs: aheadMs }));
  });

  test("under a resumed grant: the quarantine is above its mark (it did not know it, and IDs came again)", async () => {
    const world = new HolderWorld();
    const disk = new JournalDisk();
    const options = { datacenterId: 0, workerId: 0 };
    const first = world.process({ name: "a", clockAheadMs: 60_000, options, disk });
    await first.start();
    first.issue(100);
    await world.time.run(3_000);
    const { untilMs } = first.holder.grant!;
    first.crash();
    // The clock is right again, the store is empty, and the process resumes from its record before it asks the store.
    world.database.records.clear();
    const again = world.process({ name: "a", options, disk });
    await again.start();
    expect(again.kinds()).toContain("resumed");
    again.issue(100);
    await world.time.run(3_000);
    const marked = again.events.find((event) => event.kind === "quarantine-written");
    expect(marked?.untilMs).toBeGreaterThanOrEqual(untilMs);
  });

  test.each([
    ["under the same identity", "system=memory-1"],
    ["under another identity", "system=memory-2"],
  ])(
    "and is emptied %s while a holder is away: when that one lapses it knows, and waits for those who have not",
    async (_, identity) => {
      const world = new HolderWorld({ hasClock: false, emptyMeans: "new" });
      const [lapsing, holding] = [world.process({ name: "a" }), world.process({ name: "b" })];
      await lapsing.start();
      lapsing.store.fault = () => "lost";
      await world.time.run(5_000);
      await holding.start();
      holding.store.fault = () => "lost";
      world.database.records.clear();
      world.database.incarnation = { ...world.database.incarnation, identity };
      const goneMs = world.time.nowMs();
      await world.time.run(6_000);
      expect([lapsing.issue(), holding.issue()]).toEqual(["no-grant", 1]);
      lapsing.store.fault = () => "none";
      await world.time.run(2_000);
      expect(lapsing.holder.phase).toMatchObject({ kind: "waiting", for: "quarantine" });
      expect(holding.issue()).toBe(1);
      await world.time.run(30_000);
      expect(lapsing.holder.grant!.fromMs).toBeGreaterThanOrEqual(goneMs + quarantineMs);
      expect(lapsing.events).toContainEqual(expect.objectContaining({ kind: "quarantine-written" }));
    },
  );

  test("and is emptied, and a process that cannot know begins again: a process that knows finds another deployment's layout, and waits", async () => {
    const world = new HolderWorld({ hasClock: true, emptyMeans: "new" });
    const process = world.process();
    await process.start();
    process.store.fault = () => "lost";
    await world.time.run(11_000);
    expect(process.holder.grant).toBeUndefined();
    world.database.records.clear();
    await world.process({ name: "b" }).start();
    const begunMs = world.time.nowMs();
    process.store.fault = () => "none";
    await world.time.run(40_000);
    expect(process.holder.grant!.fromMs).toBeGreaterThanOrEqual(begunMs + quarantineMs);
    expect(process.holder.counters.quarantines).toBe(1);
  });

  test("while it cannot be reached either: the mark is put down before anything else, however long that takes", async () => {
    const { world, process } = await holding({ hasClock: true });
    world.database.records.clear();
    await world.time.run(1_999);
    let isCut = false;
    process.store.onWritten = () => {};
    process.store.fault = ({ kind, key }) => {
      if (kind === "read" && key?.startsWith("worker-")) isCut = true;
      return isCut && kind !== "read" ? "lost" : "none";
    };
    await world.time.run(30_000);
    expect(process.holder.grant).toBeUndefined();
    expect(process.holder.counters.quarantines).toBe(0);
    process.store.fault = () => "none";
    await world.time.run(2_000);
    expect(process.holder.counters.quarantines).toBe(1);
    expect(process.holder.grant).toBeUndefined();
  });
});

test("a step of the clock is seen at the next heartbeat while there is no grant, too", async () => {
  const { world, process } = await holding();
  process.store.fault = () => "lost";
  await world.time.run(windowMs + 1_000);
  expect(process.holder.grant).toBeUndefined();
  // The next try waits for its answer, so that the heartbeat alone reads the clock.
  process.store.fault = () => "held";
  await world.time.run(2_000);
  const { stepsBack } = process.holder.judge;
  world.time.stepWall(-5_000);
  await world.time.run(600);
  expect(process.events.at(-1)).toMatchObject({ kind: "clock-step-back" });
  expect(process.holder.judge.stepsBack).toBe(stepsBack + 1);
});

test("writes that fail while reads go on, for all of a window but two seconds, end no grant", async () => {
  const { world, process } = await holding();
  process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "lost" : "none");
  await world.time.run(windowMs - 2_000);
  expect(process.holder.counters.ambiguous).toBeGreaterThan(10);
  process.store.fault = () => "none";
  await world.time.run(windowMs);
  expect(process.holder.counters).toMatchObject({ acquired: 1, lapsed: 0, lost: 0 });
});

describe("a holder whose renewals fail", () => {
  /** How many renewals it tries in 15 s, under a window and a fault that has lasted for a while. */
  const triesOf = async (windowMs: number, fault: (call: FaultyCall) => Fault): Promise<number> => {
    const { world, process } = await holding({}, { options: { windowMs, renewalPeriodMs: 5_000 } });
    process.store.fault = fault;
    await world.time.run(windowMs / 3);
    const { ambiguous } = process.holder.counters;
    await world.time.run(15_000);
    expect(process.holder.grant).toBeDefined();
    return process.holder.counters.ambiguous - ambiguous;
  };

  test("although the store can be read, tries it up to every two seconds (it tried each half second)", async () => {
    const lost = ({ kind }: FaultyCall): Fault => (kind === "compareAndSet" ? "lost" : "none");
    for (const ofWindowMs of [30_000, 60_000]) {
      const tries = await triesOf(ofWindowMs, lost);
      expect(tries).toBeGreaterThan(6);
      expect(tries).toBeLessThan(18);
    }
  });

  test("because nothing is answered goes on each half second, and under a window of minutes a tenth as often", async () => {
    expect(await triesOf(30_000, () => "lost")).toBeGreaterThan(28);
    const tries = await triesOf(600_000, () => "lost");
    expect(tries).toBeGreaterThan(2);
    expect(tries).toBeLessThan(8);
  });
});

test("a thousand periods later nothing has grown but the counters", async () => {
  const { world, process } = await holding();
  await world.time.run(2_000_000);
  expect(process.holder.counters).toMatchObject({ acquired: 1, renewed: 1_000, lost: 0 });
  expect(process.kinds()).toEqual(["new-deployment", "acquired"]);
  expect(process.holder.grant!.unanswered.size).toBe(0);
});

test("IDs carry the worker ID and the time that they were granted for", async () => {
  const { world, process } = await holding();
  const { judge, grant } = process.holder;
  const reservation = process.generator.reserve(1, judge.nowMs(), "unary", () => judge.monotonicMs());
  const { firstId } = (reservation as Extract<typeof reservation, { kind: "runs" }>).runs[0]!;
  const parts = decomposeId(smallLayout, firstId);
  expect(parts.datacenterId * 2 + parts.workerId).toBe(grant!.workerIndex);
  expect(parts.ticks).toBe(world.time.nowMs() - smallLayout.epochMs);
});
