/** The reports that an operator gets of lasting states. */
import { describe, expect, test } from "vitest";
import { HolderWorld, type TestProcess } from "../../test/support/worlds/holder-world.ts";
import type { WorkerEvent } from "../lease/worker-event.ts";

/** The events of one kind. */
function eventsOf<K extends WorkerEvent["kind"]>({ events }: TestProcess, kind: K) {
  return events.filter((event): event is Extract<WorkerEvent, { kind: K }> => event.kind === kind);
}

const times = { windowMs: 30_000, windowMaxMs: 30_000, renewalPeriodMs: 5_000, ttlMs: 33_000 };

describe("a store that does not answer", () => {
  test("is reported each minute, with for how long, and until when IDs are given out (it was reported once)", async () => {
    const world = new HolderWorld({ hasClock: true });
    const process = world.process({ options: { ...times, windowMs: 90_000, windowMaxMs: 90_000, ttlMs: 93_000 } });
    await process.start();
    process.store.fault = () => "lost";
    await world.time.run(200_000);
    const [first, second, third, ...more] = eventsOf(process, "store-still-failing");
    expect(more).toEqual([]);
    expect([first, second, third].map((event) => Math.floor(event!.forMs / 60_000))).toEqual([1, 2, 3]);
    expect(first!.servesUntilMs).toBeTypeOf("number");
    expect(second!.servesUntilMs).toBeUndefined();
    process.store.fault = () => "none";
    await world.time.run(120_000);
    expect(eventsOf(process, "store-still-failing")).toHaveLength(3);
    expect(process.kinds()).toContain("store-answers-again");
  });

  test("has half of the window gone once an outage, not between two rare renewals", async () => {
    const world = new HolderWorld({ hasClock: true });
    const process = world.process({ options: { ...times, renewalPeriodMs: 15_000 } });
    await process.start();
    await world.time.run(120_000);
    expect(eventsOf(process, "window-half-gone")).toEqual([]);
    for (let outage = 1; outage <= 2; outage += 1) {
      process.store.fault = () => "lost";
      await world.time.run(27_000);
      process.store.fault = () => "none";
      await world.time.run(60_000);
      expect(eventsOf(process, "window-half-gone")).toHaveLength(outage);
    }
    const [{ leftMs, error } = { leftMs: 0, error: undefined }] = eventsOf(process, "window-half-gone");
    expect([leftMs > 0 && leftMs < 15_000, error?.reason]).toEqual([true, "STORE_UNAVAILABLE"]);
  });
});

test("a wait for a worker ID is reported each minute, with what it waits for", async () => {
  const world = new HolderWorld({ hasClock: true });
  const first = world.process({ name: "a", options: { ...times, datacenterId: 0, workerId: 0 } });
  await first.start();
  const options = { ...times, datacenterId: 0, workerId: 0, workerIdPatienceMs: 3_600_000 };
  const second = world.process({ name: "b", options });
  second.holder.start().catch(() => {});
  await world.time.run(130_000);
  const told = eventsOf(second, "still-waiting");
  expect(told).toHaveLength(2);
  expect(told[0]!.detail).toContain("it is held by a:7609");
});

describe("a store's clock", () => {
  test("that is 40 s behind is named at once by a warning and an error (it stopped the fleet without a word)", async () => {
    let behindMs = 0;
    const world = new HolderWorld({ clockMs: () => world.time.nowMs() - behindMs });
    const process = world.process({ options: times });
    await process.start();
    await world.time.run(10_000);
    expect(process.kinds()).toEqual(["new-deployment", "acquired"]);
    behindMs = 40_000;
    await world.time.run(6_000);
    expect(eventsOf(process, "clock-offset")).toEqual([{ kind: "clock-offset", aheadMs: 40_000 }]);
    expect(eventsOf(process, "clock-off")).toEqual([{ kind: "clock-off", aheadMs: 40_000 }]);
    await world.time.run(30_000);
    const [end] = eventsOf(process, "grant-ended");
    expect(end!.detail).toBe(
      "the window ended: the store's clock is 40.0 s behind, so that renewals could not move its end",
    );
  });

  test("that is 2 s off is named once, and again after it was right", async () => {
    let behindMs = 0;
    const world = new HolderWorld({ clockMs: () => world.time.nowMs() - behindMs });
    const process = world.process({ options: times });
    await process.start();
    for (const [offsetMs, count] of [
      [1_900, 0],
      [2_000, 1],
      [1_500, 1],
      [-2_500, 1],
      [0, 1],
      [-2_500, 2],
    ] as const) {
      behindMs = offsetMs;
      await world.time.run(11_000);
      expect([offsetMs, eventsOf(process, "clock-offset").length]).toEqual([offsetMs, count]);
    }
    expect(eventsOf(process, "clock-off")).toEqual([]);
  });
});

test("a first start on an empty store is one report, also where an empty store may be an emptied one", async () => {
  for (const emptyMeans of ["new", "lost"] as const) {
    const world = new HolderWorld({ hasClock: true, emptyMeans });
    const process = world.process({ options: times });
    await process.start(40_000);
    expect(process.kinds()).toEqual(["new-deployment", "acquired"]);
    const [event] = eventsOf(process, "new-deployment");
    expect(event!.untilMs === undefined).toBe(emptyMeans === "new");
    await process.close();
    const again = world.process({ name: "b", options: times });
    await again.start();
    expect(eventsOf(again, "new-deployment")).toEqual([]);
  }
});
