import { expect, test } from "vitest";
import { type HolderSetup, HolderWorld, type TestProcess } from "../../test/support/worlds/holder-world.ts";

const windowMs = 10_000;

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
