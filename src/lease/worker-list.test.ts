import { expect, test } from "vitest";
import { HolderWorld } from "../../test/support/worlds/holder-world.ts";
import { listWorkers, type WorkerList } from "./worker-list.ts";
import { encodeQuarantineRecord } from "./records/quarantine-record.ts";
import { noneAdded } from "./records/added-fields.ts";
import { recordKeys } from "./records/record-text.ts";
import { workerKey } from "./records/worker-record.ts";
import { layouts } from "../snowflake/presets.ts";

const windowMs = 10_000;
const ttlMs = 13_000;
const leadMaxMs = 2_000;

async function look(world: HolderWorld): Promise<WorkerList> {
  const store = world.database.open();
  return listWorkers(store, await store.list(), world.time.nowMs());
}

function states({ workers }: WorkerList): Readonly<Record<number, string>> {
  return Object.fromEntries(workers.map(({ workerIndex, state }) => [workerIndex, state]));
}

const at = (datacenterId: number, workerId: number) => ({ options: { datacenterId, workerId } });

test("a namespace that nothing was started on has no worker IDs, and a look changes nothing", async () => {
  const world = new HolderWorld();
  expect(await look(world)).toMatchObject({ layoutRecord: undefined, workers: [], total: 0, free: 0 });
  expect(world.database.records.size).toBe(0);
});

test("held, released, expired and quarantined are distinguished, and free worker IDs are counted", async () => {
  const world = new HolderWorld({ hasClock: true });
  const [held, released, crashed] = [at(0, 1), at(1, 0), at(1, 1)].map((setup, index) =>
    world.process({ ...setup, name: `p${index}` }),
  );
  for (const process of [held, released, crashed]) await process!.start();
  released!.issue(1);
  await released!.close();
  crashed!.crash();
  const first = await look(world);
  expect(states(first)).toEqual({ 1: "held", 2: "released", 3: "held" });
  expect([first.total, first.free]).toEqual([4, 2]);
  expect(first.workers[0]).toMatchObject({
    datacenterId: 0,
    workerId: 1,
    record: { generation: 1, holder: { instance: "p0:7609", host: "p0", processId: 1 } },
    windowLeftMs: windowMs,
    freeFromMs: world.time.nowMs() + ttlMs,
  });
  await world.time.run(ttlMs + 1);
  const later = await look(world);
  expect(states(later)).toEqual({ 1: "held", 2: "released", 3: "expired" });
  expect([later.total, later.free, later.quarantine]).toEqual([4, 3, undefined]);
});

test("a holder that died with a mark far ahead leaves its worker ID quarantined until the clock is near the mark", async () => {
  const world = new HolderWorld({ liveness: "lock" });
  const process = world.process(at(0, 0));
  await process.start();
  const markMs = world.record(0)!.markMs;
  await process.close();
  // Nothing was issued, so it was given back with the mark at which it began; the test raises the mark again.
  const entry = world.database.entry("worker-0")!;
  const text = entry.text.replace(/"hwmMs":\d+/, `"hwmMs":${markMs}`);
  world.database.write("worker-0", entry, text);
  const [worker] = (await look(world)).workers;
  expect(worker).toMatchObject({ state: "quarantined", freeFromMs: markMs - leadMaxMs, windowLeftMs: undefined });
  await world.time.run(windowMs - leadMaxMs);
  expect(states(await look(world))).toEqual({ 0: "released" });
});

test("where locks show whether a holder runs, a dead one counts as held until its window is over, and no lock is touched", async () => {
  const world = new HolderWorld({ liveness: "lock" });
  const process = world.process(at(0, 0));
  await process.start();
  process.crash();
  expect(states(await look(world))).toEqual({ 0: "held" });
  await world.time.run(windowMs);
  expect(states(await look(world))).toEqual({ 0: "expired" });
  expect(world.database.locks.size).toBe(0);
});

test("a quarantine of the whole store leaves nothing free, and holders held", async () => {
  const world = new HolderWorld({ hasClock: true });
  await world.process(at(0, 0)).start();
  const released = world.process({ ...at(0, 1), name: "b" });
  await released.start();
  await released.close();
  const untilMs = world.time.nowMs() + 60_000;
  const mark = encodeQuarantineRecord({ sinceMs: world.time.nowMs(), untilMs, reason: "restored", added: noneAdded });
  world.database.write(recordKeys.quarantine, undefined, mark);
  const list = await look(world);
  expect(list.quarantine).toMatchObject({ untilMs, reason: "restored" });
  expect([states(list), list.free]).toEqual([{ 0: "held", 1: "quarantined" }, 0]);
  expect(list.workers[1]!.freeFromMs).toBe(untilMs - leadMaxMs);
});

test("a store that started again shows its quarantine before anyone has noted it", async () => {
  const world = new HolderWorld({ hasClock: true });
  await world.process().start();
  world.database.incarnation = { ...world.database.incarnation, identity: "another" };
  const { quarantine } = await look(world);
  expect(quarantine?.untilMs).toBe(world.time.nowMs() + windowMs + leadMaxMs + 1_000);
  expect(world.database.entry(recordKeys.incarnation)!.text).not.toContain("another");
});

test("a record that cannot be read is shown, and counts as taken", async () => {
  const world = new HolderWorld();
  await world.process(at(0, 0)).start();
  world.database.write("worker-2", undefined, "{}");
  world.database.write("worker-77", undefined, "{}");
  const list = await look(world);
  expect([states(list), list.free]).toEqual([{ 0: "held", 2: "unreadable" }, 2]);
});

test("a thousand worker IDs are judged a few in each turn (they held the event loop for one long turn)", async () => {
  const world = new HolderWorld();
  await world.process({ ...at(0, 0), layout: layouts.twitter }).start();
  const { text } = world.database.entry(workerKey(0))!;
  for (let index = 1; index < 1_024; index++) world.database.write(workerKey(index), undefined, text);
  const watch = { turns: 0, isOver: false };
  const countTurns = (): void => {
    watch.turns += 1;
    if (!watch.isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const { workers } = await look(world);
  watch.isOver = true;
  expect(workers.map(({ workerIndex }) => workerIndex)).toEqual([...Array(1_024).keys()]);
  expect(watch.turns).toBeGreaterThanOrEqual(16);
});

test("the dead of a store that may lose data count as held until every clock has passed their mark", async () => {
  const world = new HolderWorld({ hasClock: true, durability: "lossy" });
  const process = world.process(at(0, 0));
  await process.start();
  process.crash();
  const entry = world.database.entry("worker-0")!;
  const expired = entry.text.replace(/"expiresMs":\d+/, `"expiresMs":${world.time.nowMs()}`);
  world.database.write("worker-0", entry, expired);
  expect((await look(world)).workers[0]).toMatchObject({
    state: "held",
    freeFromMs: world.record(0)!.markMs + 1_000,
  });
});
