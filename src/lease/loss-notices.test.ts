import { expect, test } from "vitest";
import { HolderWorld } from "../../test/support/worlds/holder-world.ts";

test("a process that waits for its first worker ID puts down a mark above the end of a longer window than its own (it was below)", async () => {
  const world = new HolderWorld({ hasClock: true, emptyMeans: "new" });
  const pinned = { datacenterId: 0, workerId: 0 };
  const holder = world.process({ name: "long", options: { ...pinned, windowMs: 60_000, renewalPeriodMs: 20_000 } });
  await holder.start();
  const waiting = world.process({ name: "short", options: { ...pinned, workerIdPatienceMs: 3_600_000 } });
  void waiting.holder.start();
  await world.time.run(1_000);
  expect(waiting.holder.grant).toBeUndefined();
  // It has seen only its first mark: then the store is emptied, and a process that cannot know of it begins again.
  waiting.store.fault = () => "lost";
  await world.time.run(20_000);
  const { untilMs } = holder.holder.grant!;
  holder.store.fault = () => "lost";
  world.database.records.clear();
  await world.process({ name: "new", options: { datacenterId: 1, workerId: 1 } }).start();
  waiting.store.fault = () => "none";
  for (let second = 0; second < 90; second += 1) {
    await world.time.run(1_000);
    for (const process of [holder, waiting]) process.issue(10);
  }
  expect(waiting.holder.grant!.fromMs).toBeGreaterThanOrEqual(untilMs);
});

test.each([
  { windowMaxMs: 60_000, isLongEnough: true },
  { windowMaxMs: undefined, isLongEnough: false },
])(
  "a first start on a store that lost all waits for the longest window of its own settings, which must be that of all: %j",
  async ({ windowMaxMs, isLongEnough }) => {
    const world = new HolderWorld({ hasClock: true, emptyMeans: "lost" });
    const pinned = { datacenterId: 0, workerId: 0 };
    const holder = world.process({ name: "long", options: { ...pinned, windowMs: 60_000 } });
    await holder.start(70_000);
    const { untilMs } = holder.holder.grant!;
    holder.store.fault = () => "lost";
    world.database.records.clear();
    const first = world.process({ name: "first", options: { ...pinned, ...(windowMaxMs ? { windowMaxMs } : {}) } });
    await first.start(70_000);
    expect(first.holder.grant!.fromMs >= untilMs).toBe(isLongEnough);
  },
);
