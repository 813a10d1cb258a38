import { expect, test } from "vitest";
import { JournalDisk } from "../../test/support/worlds/memory-journal.ts";
import { type HolderSetup, HolderWorld, type TestProcess } from "../../test/support/worlds/holder-world.ts";

const windowMs = 10_000;
/** Q: the longest window, the lead, and the error of two clocks. */
const quarantineMs = windowMs + 2_000 + 1_000;

async function holding(setup: HolderSetup = {}): Promise<{ world: HolderWorld; process: TestProcess }> {
  const world = new HolderWorld({ hasClock: true });
  const process = world.process(setup);
  await process.start();
  process.store.calls.splice(0);
  return { world, process };
}

const writesOf = ({ store }: TestProcess, key: string): number =>
  store.calls.filter((call) => call.kind === "compareAndSet" && call.key === key).length;

test("a window's end that is wanted at every moment is asked for again once each gap", async () => {
  const { world, process } = await holding();
  const key = `worker-${process.holder.grant!.workerIndex}`;
  for (let elapsedMs = 0; elapsedMs < 1_000; elapsedMs += 10) {
    process.holder.wantWindow();
    await world.time.run(10);
  }
  expect(writesOf(process, key)).toBeGreaterThan(1);
  expect(writesOf(process, key)).toBeLessThan(12);
});

test("an answer that comes when the heartbeat has ended its grant changes nothing", async () => {
  const { world, process } = await holding();
  process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "held" : "none");
  await world.time.run(windowMs + 1_000);
  expect(process.holder.counters).toMatchObject({ lapsed: 1, renewed: 0 });
  const detail = "the window ended before a renewal was confirmed";
  expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "lapsed", detail }));
  process.store.fault = () => "none";
  process.store.resume();
  await world.time.run(2_000);
  expect(process.kinds().filter((kind) => kind === "grant-ended")).toHaveLength(1);
  expect(process.holder.counters).toMatchObject({ lapsed: 1, lost: 0 });
});

test("another life of the store is noted once, and the next step waits for that", async () => {
  const { world, process } = await holding();
  world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
  process.store.fault = ({ kind, key }) => (kind === "compareAndSet" && key === "incarnation" ? "held" : "none");
  await world.time.run(7_000);
  expect(writesOf(process, "incarnation")).toBe(1);
  process.store.fault = () => "none";
  process.store.resume();
  await world.time.run(2_000);
  expect(process.kinds()).toContain("incarnation-changed");
  expect(process.holder.counters).toMatchObject({ lapsed: 0, lost: 0 });
});

test("a move to another worker ID is over before the next renewal is sent", async () => {
  const { world, process } = await holding();
  const key = `worker-${process.holder.grant!.workerIndex}`;
  process.issue(10);
  world.time.stepWall(-3_600_000);
  process.store.fault = ({ kind }) => (kind === "list" ? "held" : "none");
  process.issue();
  await world.time.run(3_000);
  expect(writesOf(process, key)).toBe(0);
  process.store.fault = () => "none";
  process.store.resume();
  await world.time.run(1);
  expect(process.holder.counters).toMatchObject({ rebased: 1, lost: 0 });
});

test("a spare worker ID is looked for each second, however far the next renewal is", async () => {
  const { world, process } = await holding({ options: { windowMs: 60_000, renewalPeriodMs: 20_000 } });
  const others = ["b", "c", "d"].map((name) => world.process({ name, options: { windowMs: 60_000 } }));
  for (const other of others) await other.start();
  process.issue(10);
  world.time.stepWall(-3_600_000);
  process.issue();
  await world.time.run(5);
  expect(process.holder.phase).toEqual({ kind: "rebasing", spare: "none" });
  process.store.calls.splice(0);
  await world.time.run(6_000);
  expect(process.store.calls.filter(({ kind }) => kind === "list").length).toBeGreaterThan(3);
  expect(process.kinds().filter((kind) => kind === "rebase")).toHaveLength(1);
});

test("after a move, renewals of the old worker ID that failed delay none of the new one", async () => {
  const { world, process } = await holding();
  const old = `worker-${process.holder.grant!.workerIndex}`;
  process.issue(10);
  process.store.fault = ({ kind, key }) => (kind === "compareAndSet" && key === old ? "lost" : "none");
  await world.time.run(5_000);
  expect(process.holder.counters.ambiguous).toBeGreaterThan(2);
  world.time.stepWall(-3_600_000);
  process.issue();
  await world.time.run(1_000);
  expect(process.holder.counters.rebased).toBe(1);
  const { renewed } = process.holder.counters;
  process.holder.wantWindow();
  await world.time.run(200);
  expect(process.holder.counters.renewed).toBe(renewed + 1);
});

test("callers that wait for the window's end are called as soon as a renewal has moved it", async () => {
  const { world, process } = await holding();
  await world.time.run(1_200);
  const { untilMs } = process.holder.grant!;
  const seenMs: number[] = [];
  process.onChange = () => seenMs.push(process.holder.grant!.untilMs);
  process.holder.wantWindow();
  await world.time.run(0);
  expect(seenMs.at(-1)).toBe(untilMs + 1_200);
});

test("once a renewal is answered again, a window's end that is wanted is asked for at once", async () => {
  const { world, process } = await holding();
  process.store.fault = () => "lost";
  await world.time.run(4_000);
  process.store.fault = () => "none";
  await world.time.run(1_000);
  const { renewed } = process.holder.counters;
  expect(renewed).toBeGreaterThan(0);
  process.holder.wantWindow();
  await world.time.run(150);
  expect(process.holder.counters.renewed).toBe(renewed + 1);
});

test("a worker ID is given back only when its successor's resume record is written", async () => {
  const world = new HolderWorld();
  const disk = new JournalDisk();
  const process = world.process({ disk });
  await process.start();
  process.issue(10);
  const { workerIndex } = process.holder.grant!;
  let write = (): void => {};
  disk.stall = new Promise((resolve) => {
    write = resolve;
  });
  world.time.stepWall(-3_600_000);
  process.issue();
  await world.time.run(1_000);
  expect(process.holder.counters.acquired).toBe(1);
  expect(world.record(workerIndex)?.token).not.toBe("");
  write();
  await world.time.run(1);
  expect(process.events).toContainEqual(expect.objectContaining({ kind: "rebase", outcome: "moved" }));
  expect(process.holder.grant?.workerIndex).not.toBe(workerIndex);
  expect(world.record(workerIndex)?.token).toBe("");
});

test("renewals that all land without an answer move the window's end, too", async () => {
  const { world, process } = await holding();
  process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "answer-lost" : "none");
  await world.time.run(windowMs + 2_000);
  expect(process.issue()).toBe(1);
  expect(process.holder.counters).toMatchObject({ acquired: 1, lapsed: 0, renewed: 0 });
});

test.each([
  { off: "behind", behindMs: 600_000, detail: "the window ended: the store's clock is 600.0 s behind" },
  { off: "ahead", behindMs: -600_000, detail: "the window ended before a renewal was confirmed" },
])("a store whose clock is far $off is reported once, and looked at each second", async ({ behindMs, detail }) => {
  let offMs = 0;
  const world: HolderWorld = new HolderWorld({ clockMs: () => world.time.nowMs() - offMs });
  const process = world.process();
  await process.start();
  offMs = behindMs;
  let changes = 0;
  await world.time.run(2_500);
  process.onChange = () => (changes += 1);
  await world.time.run(5_000);
  expect(process.events.filter((event) => event.kind === "clock-off")).toMatchObject([{ aheadMs: behindMs }]);
  // Two beats each second, and one try to renew.
  expect(changes).toBeGreaterThan(12);
  expect(changes).toBeLessThan(18);
  await world.time.run(windowMs);
  expect(process.events).toContainEqual(
    expect.objectContaining({ kind: "grant-ended", end: "lapsed", detail: expect.stringContaining(detail) }),
  );
});

test("a window that ended says what the store answered instead of a renewal", async () => {
  const { world, process } = await holding();
  process.store.fault = () => "lost";
  await world.time.run(windowMs + 1_000);
  expect(process.events).toContainEqual(
    expect.objectContaining({
      kind: "grant-ended",
      detail: expect.stringMatching(/^the window ended before a renewal was confirmed: no answer to /),
    }),
  );
});

test("each loss is counted, and each wait after one is reported", async () => {
  const { world, process } = await holding();
  for (const lost of [1, 2]) {
    world.database.records.clear();
    await world.time.run(quarantineMs + 3_000);
    expect(process.holder.phase.kind).toBe("holding");
    expect(process.holder.counters).toMatchObject({ lost, lapsed: 0, acquired: lost + 1 });
  }
  const waits = process.events.filter((event) => event.kind === "waiting");
  expect(waits.map((event) => event.for)).toEqual(["quarantine", "quarantine"]);
});

test("callers that wait are called twice a second, whatever happens", async () => {
  const { world, process } = await holding();
  process.store.fault = () => "held";
  let changes = 0;
  process.onChange = () => (changes += 1);
  await world.time.run(5_000);
  expect(changes).toBeGreaterThan(8);
});

test("a process that stood still counts that, says so, and asks for its window at once", async () => {
  const { world, process } = await holding({ options: { renewalPeriodMs: 5_000 } });
  const key = `worker-${process.holder.grant!.workerIndex}`;
  await world.time.run(1_000);
  expect(writesOf(process, key)).toBe(0);
  world.time.stall(1_600);
  await world.time.run(0);
  expect(process.holder.counters.pauses).toBe(1);
  expect(process.events).toContainEqual(expect.objectContaining({ kind: "pause" }));
  await world.time.run(100);
  expect(writesOf(process, key)).toBeGreaterThan(0);
});

test("a resume record is carried ahead of use by the heartbeat, between two renewals", async () => {
  const world = new HolderWorld();
  const process = world.process({ disk: new JournalDisk(), options: { renewalPeriodMs: 5_000 } });
  await process.start();
  for (let elapsedMs = 0; elapsedMs < 4_900; elapsedMs += 100) {
    await world.time.run(100);
    expect(process.issue()).toBe(1);
  }
  expect(process.holder.counters.renewed).toBe(0);
});

test("a window's end that is wanted while there is no grant hurries nothing", async () => {
  const world = new HolderWorld();
  const process = world.process();
  process.store.fault = () => "lost";
  process.holder.start().catch(() => {});
  await world.time.run(10_000);
  process.store.calls.splice(0);
  for (let elapsedMs = 0; elapsedMs < 2_000; elapsedMs += 10) {
    process.holder.wantWindow();
    await world.time.run(10);
  }
  expect(process.store.calls.length).toBeLessThan(20);
});
