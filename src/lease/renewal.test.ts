import { IdError } from "../errors.ts";
import { lengthOfTime } from "../clock/length-of-time.ts";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Fault, FaultyCall } from "../../test/support/worlds/faulty-store.ts";
import { type HolderSetup, HolderWorld, type TestProcess } from "../../test/support/worlds/holder-world.ts";
import type { MemoryDatabaseOptions } from "../../test/support/worlds/memory-store.ts";
import { encodeWorkerRecord, workerKey } from "./records/worker-record.ts";

const windowMs = 10_000;
const periodMs = 2_000;

type WorldOptions = MemoryDatabaseOptions & { readonly hasClock?: boolean };

async function holding(
  options: WorldOptions = {},
  setup: HolderSetup = {},
): Promise<{ world: HolderWorld; process: TestProcess }> {
  const world = new HolderWorld(options);
  const process = world.process(setup);
  await process.start();
  return { world, process };
}

/** Makes every write of a worker record meet `fault`; everything else passes. */
function onWrites(fault: Fault): (call: FaultyCall) => Fault {
  return ({ kind, key }) => (kind === "compareAndSet" && key?.startsWith("worker-") ? fault : "none");
}

describe("a renewal", () => {
  test("moves the mark one window ahead of the clock, every period", async () => {
    const { world, process } = await holding();
    const startMs = world.time.nowMs();
    await world.time.run(periodMs);
    const { workerIndex, untilMs } = process.holder.grant!;
    expect(untilMs).toBe(startMs + periodMs + windowMs);
    expect(world.record(workerIndex)!.markMs).toBe(untilMs);
    await world.time.run(60_000);
    expect(process.holder.counters).toMatchObject({ renewed: 31, lost: 0, lapsed: 0 });
  });

  test("lets timestamps be used only when its answer is here", async () => {
    const { world, process } = await holding();
    const { untilMs } = process.holder.grant!;
    process.store.fault = onWrites("held");
    await world.time.run(periodMs);
    expect(world.database.records.size).toBe(3);
    expect(process.holder.grant!.untilMs).toBe(untilMs);
    expect(process.generator.untilMs).toBe(untilMs);
    process.store.resume();
    await world.time.run(0);
    expect(process.generator.untilMs).toBe(untilMs + periodMs);
  });

  test("that stays without an answer leaves the window as it is, and IDs go on up to its end", async () => {
    const { world, process } = await holding();
    const { untilMs } = process.holder.grant!;
    process.store.fault = () => "lost";
    await world.time.run(windowMs - 1);
    expect(process.issue()).toBe(1);
    expect(process.holder.grant!.untilMs).toBe(untilMs);
    await world.time.run(500);
    expect(process.issue()).toBe("no-grant");
    expect(process.holder.counters).toMatchObject({ lapsed: 1, lost: 0 });
  });

  // Such an error used to pass through the renewal and end the process.
  test("OPERATIONS 1: for which the kernel gives no random bits is a failed try, and the next one renews", async () => {
    const { world, process } = await holding();
    const draw = world.random128.bind(world);
    world.random128 = () => {
      throw new IdError("STORE_UNAVAILABLE", "/dev/urandom cannot be read (EMFILE)");
    };
    await world.time.run(periodMs + 1_000);
    expect(process.holder.counters).toMatchObject({ renewed: 0, lapsed: 0 });
    expect(process.holder.counters.ambiguous).toBeGreaterThan(0);
    world.random128 = draw;
    await world.time.run(periodMs);
    expect(process.holder.counters.renewed).toBeGreaterThan(0);
    expect(process.issue()).toBe(1);
  });

  test("whose answer was lost is found by its writeId, and the window grows then", async () => {
    const { world, process } = await holding();
    const { untilMs } = process.holder.grant!;
    process.store.fault = onWrites("answer-lost");
    await world.time.run(periodMs);
    expect(process.holder.grant!.untilMs).toBe(untilMs);
    process.store.fault = () => "none";
    await world.time.run(1_000);
    expect(process.holder.grant!.untilMs).toBeGreaterThanOrEqual(untilMs + periodMs);
    expect(process.holder.counters.lost).toBe(0);
  });

  test("that lands late, after another was confirmed, changes nothing", async () => {
    const { world, process } = await holding();
    process.store.fault = onWrites("late");
    await world.time.run(periodMs);
    process.store.fault = () => "none";
    await world.time.run(1_000);
    const { untilMs } = process.holder.grant!;
    await process.store.deliverLate();
    await world.time.run(periodMs);
    expect(process.holder.grant!.untilMs).toBeGreaterThan(untilMs);
    expect(process.holder.counters.lost).toBe(0);
  });

  test("that lands late, before another was sent, is confirmed by the next", async () => {
    const { world, process } = await holding();
    process.store.fault = onWrites("late");
    await world.time.run(periodMs);
    await process.store.deliverLate();
    process.store.fault = () => "none";
    await world.time.run(1_000);
    expect(process.holder.counters).toMatchObject({ lost: 0, lapsed: 0 });
    expect(process.issue()).toBe(1);
  });

  test("never lowers the mark, also when the clock went back", async () => {
    const { world, process } = await holding({}, { policy: "wait" });
    const { markMs } = world.record(process.holder.grant!.workerIndex)!;
    process.clockAheadMs = -60_000;
    await world.time.run(periodMs);
    expect(process.holder.counters.renewed).toBe(1);
    expect(world.record(process.holder.grant!.workerIndex)!.markMs).toBe(markMs);
  });

  test("asks for no more than the store's clock allows, however far ahead our own is", async () => {
    const { world, process } = await holding({ hasClock: true });
    for (let step = 0; step < 20; step += 1) {
      process.clockAheadMs += 1_000;
      await world.time.run(periodMs);
    }
    const { grant } = process.holder;
    const markMs = world.record(grant?.workerIndex ?? 0)?.markMs ?? 0;
    expect(markMs).toBeLessThanOrEqual(world.time.nowMs() + windowMs + 2_000 + 1_000);
  });

  test("gives no more than the store's clock allows as it answers, and takes nothing back", async () => {
    let setBackMs = 0;
    const world: HolderWorld = new HolderWorld({ clockMs: () => world.time.nowMs() - setBackMs });
    const process = world.process();
    await process.start();
    const { grant } = process.holder;
    const { untilMs } = grant!;
    process.store.fault = onWrites("held");
    await world.time.run(periodMs);
    setBackMs = 60_000;
    process.store.resume();
    await world.time.run(0);
    expect(process.holder.counters.renewed).toBe(1);
    expect(process.holder.grant!.untilMs).toBe(untilMs);
  });

  test("is held back while our clock is more than five minutes behind the store's", async () => {
    const { world, process } = await holding({ hasClock: true }, { policy: "wait" });
    process.clockAheadMs = -300_100;
    await world.time.run(periodMs);
    expect(process.kinds()).toContain("clock-off");
    expect(process.holder.counters.renewed).toBe(0);
    process.clockAheadMs = 0;
    await world.time.run(periodMs);
    expect(process.holder.counters.renewed).toBeGreaterThan(0);
  });

  test("on a lossy store is held back while our clock is a window behind the store's", async () => {
    const { world, process } = await holding({ hasClock: true, durability: "lossy" });
    process.clockAheadMs = -windowMs - 100;
    await world.time.run(periodMs);
    expect(process.kinds()).toContain("clock-off");
  });

  test("is sent early when the window runs low", async () => {
    const world = new HolderWorld({ timing: { windowMs: 10_000, renewalPeriodMs: 5_000, ttlMs: 13_000 } });
    const process = world.process();
    await process.start();
    // A step forward that is followed at once takes 1.9 s off the window.
    await world.time.run(3_400);
    world.time.stepWall(1_900);
    await world.time.run(600);
    expect(process.holder.counters.renewed).toBe(1);
  });
});

describe("a grant is lost, and not one more ID is issued under it,", () => {
  test("when somebody took the record over while its machine was held, which is not a reason for a quarantine", async () => {
    const { world, process } = await holding();
    const { key, record } = process.holder.grant!;
    const taken = { ...record, generation: 2, token: "f".repeat(32), writeId: "e".repeat(32) };
    world.database.write(key, world.database.entry(key), encodeWorkerRecord(taken));
    await world.time.run(periodMs);
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "lost" }));
    expect(process.events).not.toContainEqual(expect.objectContaining({ kind: "quarantine-written" }));
    expect(process.holder.grant?.key).not.toBe(key);
  });

  test.each([
    { pastMarkMs: -1, end: "regressed" },
    { pastMarkMs: 999, end: "regressed" },
    { pastMarkMs: 1_000, end: "lost" },
  ])(
    "where data may be lost, a record above ours is a takeover only once each clock has passed our mark: $pastMarkMs ms after it, $end",
    async ({ pastMarkMs, end }) => {
      let storeMs: number | undefined;
      const world: HolderWorld = new HolderWorld({
        durability: "lossy",
        clockMs: () => storeMs ?? world.time.nowMs(),
      });
      const process = world.process();
      await process.start();
      const { key, record } = process.holder.grant!;
      process.store.fault = onWrites("held");
      await world.time.run(periodMs);
      const taken = {
        ...record,
        generation: 2,
        token: "f".repeat(32),
        writeId: "e".repeat(32),
        markMs: record.markMs + 1,
      };
      world.database.write(key, world.database.entry(key), encodeWorkerRecord(taken));
      storeMs = record.markMs + pastMarkMs;
      process.store.resume();
      await world.time.run(0);
      expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end }));
    },
  );

  test.each([
    { durability: "durable", end: "lost" },
    { durability: "lossy", end: "regressed" },
  ] as const)(
    "when its generation is released, which on a $durability store means: $end",
    async ({ durability, end }) => {
      const { world, process } = await holding({ hasClock: true, durability });
      const { key, record } = process.holder.grant!;
      const released = { ...record, token: "", writeId: "e".repeat(32), markMs: record.markMs - 1, expiresMs: 0 };
      world.database.write(key, world.database.entry(key), encodeWorkerRecord(released));
      await world.time.run(periodMs);
      expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end }));
    },
  );

  test("when another process's write is in the record, and its mark is below ours", async () => {
    const { world, process } = await holding();
    const { key, record } = process.holder.grant!;
    const taken = {
      ...record,
      generation: 2,
      token: "f".repeat(32),
      writeId: "e".repeat(32),
      markMs: record.markMs - 1,
    };
    world.database.write(key, world.database.entry(key), encodeWorkerRecord(taken));
    await world.time.run(periodMs);
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "regressed" }));
    expect(process.issue()).not.toBe(1);
  });

  test("when an older record of its own is there, and the log says so (it was called another's)", async () => {
    const { world, process } = await holding();
    const { key } = process.holder.grant!;
    const older = world.database.entry(key)!.text;
    await world.time.run(2 * periodMs);
    world.database.write(key, world.database.entry(key), older);
    await world.time.run(periodMs);
    const detail = `the record is an older one of our own, with a mark ${lengthOfTime(2 * periodMs)} below the confirmed one`;
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "regressed", detail }));
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "quarantine-written", reason: detail }));
  });

  test("when the record of the previous holder is there, released: that is not a record of its own", async () => {
    const world = new HolderWorld();
    const before = world.process({ name: "before" });
    await before.start();
    await before.close();
    const key = [...world.database.records.keys()].find((name) => name.startsWith("worker-"))!;
    const older = world.database.entry(key)!.text;
    const process = world.process({
      options: { datacenterId: Number(key.at(-1)) >> 1, workerId: Number(key.at(-1)) & 1 },
    });
    await process.start();
    world.database.write(key, world.database.entry(key), older);
    await world.time.run(periodMs);
    const detail = "the record is a released one (generation 1, ours 2)";
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "regressed", detail }));
  });

  test("when a write that is not ours is there under our own token: the process was copied", async () => {
    const { world, process } = await holding();
    const { key, record } = process.holder.grant!;
    const copied = { ...record, writeId: "e".repeat(32), markMs: record.markMs + 2_000 };
    world.database.write(key, world.database.entry(key), encodeWorkerRecord(copied));
    await world.time.run(periodMs);
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "lost" }));
    expect(process.holder.counters.quarantines).toBe(0);
  });

  test("when one of two copies of it has renewed: at most one passes its next renewal", async () => {
    const { world, process } = await holding();
    const copy = world.process({ name: "copy" });
    // The same memory: the same grant, confirmed by the same entry.
    await copy.start();
    const { grant } = copy.holder;
    Object.assign(grant!, process.holder.grant, { unanswered: new Map() });
    await world.time.run(3 * periodMs);
    const ended = [process, copy].filter(({ events }) => events.some((event) => event.kind === "grant-ended"));
    expect(ended).toHaveLength(1);
  });

  test("when it was taken over rightly after a silence of a whole TTL, without a quarantine for the others", async () => {
    const world = new HolderWorld({ hasClock: true });
    const process = world.process({ policy: "wait" });
    await process.start();
    const { key, record } = process.holder.grant!;
    process.store.fault = () => "lost";
    // Its wall clock stands still, so it does not lapse.
    for (let second = 0; second < 14; second += 1) {
      await world.time.run(1_000);
      process.clockAheadMs -= 1_000;
    }
    const taken = { ...record, generation: 2, token: "f".repeat(32), writeId: "e".repeat(32) };
    world.database.write(key, world.database.entry(key), encodeWorkerRecord(taken));
    process.store.fault = () => "none";
    await world.time.run(1_000);
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "lost" }));
    expect(process.holder.counters.quarantines).toBe(0);
  });

  test("when the window was over before the renewal was sent", async () => {
    const { world, process } = await holding();
    const { generation, workerIndex } = process.holder.grant!;
    await world.time.pause(windowMs);
    expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "lapsed" }));
    expect(process.kinds()).toContain("pause");
    // It was acquired again, never renewed.
    await world.time.run(100);
    const now = process.holder.grant!;
    expect([now.workerIndex, now.generation]).not.toEqual([workerIndex, generation]);
    expect(world.record(workerIndex)!.markMs).toBeGreaterThan(0);
  });

  test("when the window was over before the answer to the renewal came, although it had landed", async () => {
    const { world, process } = await holding();
    const { workerIndex, token } = process.holder.grant!;
    await world.time.run(periodMs - 1);
    process.store.fault = onWrites("held");
    await world.time.run(1);
    // On waking, the answer comes before the heartbeat.
    world.time.stall(windowMs - periodMs + 500);
    process.store.resume();
    await setImmediate();
    expect(process.holder.counters.lapsed).toBe(1);
    await world.time.run(0);
    expect(process.holder.grant?.token).not.toBe(token);
    expect(world.record(workerIndex)!.token).toBe(token);
  });

  test("and waiters learn of it", async () => {
    const { world, process } = await holding();
    const grant = process.holder.grant!;
    await world.time.pause(windowMs);
    await expect(grant.ended).resolves.toBe("lapsed");
  });
});

test("a lost grant is replaced within a second, without a word from anyone", async () => {
  const { world, process } = await holding();
  const { key, record } = process.holder.grant!;
  const copied = { ...record, writeId: "e".repeat(32), markMs: record.markMs + 2_000 };
  world.database.write(key, world.database.entry(key), encodeWorkerRecord(copied));
  await world.time.run(periodMs + 1_000);
  expect(process.holder.grant?.key).not.toBe(workerKey(-1));
  expect(process.issue()).toBe(1);
});

describe("while writes fail and reads are answered for minutes, within a window of eleven,", () => {
  const failing = async (fault: Fault, options: WorldOptions = {}) => {
    const { world, process } = await holding({ hasClock: true, ...options }, { options: { windowMs: 660_000 } });
    process.store.fault = onWrites(fault);
    for (let second = 0; second < 500; second += 1) {
      await world.time.run(1_000);
      expect(process.issue(10)).toBe(10);
    }
    return { world, process };
  };

  test.each<Fault>(["lost", "refused"])(
    "a holder writes on after the 32nd that was %s, and goes on when one is taken (it stopped to write)",
    async (fault) => {
      const { world, process } = await failing(fault);
      const { untilMs } = process.holder.grant!;
      process.store.fault = () => "none";
      await world.time.run(5_000);
      expect(process.holder.grant!.untilMs).toBeGreaterThan(untilMs + 490_000);
      expect(process.holder.counters).toMatchObject({ acquired: 1, lost: 0, lapsed: 0 });
    },
  );

  test("no refused write is an open question, and of the others a bounded number is", async () => {
    const sizes = await Promise.all(
      (["refused", "lost"] as const).map(async (fault) => (await failing(fault)).process.holder.grant!.unanswered.size),
    );
    expect(sizes).toEqual([0, 32]);
  });

  test.each<WorldOptions>([
    { durability: "durable" },
    { durability: "durable", readsMayBeUndone: true },
    { durability: "lossy" },
  ])(
    "a write that was forgotten and lands all the same costs the worker ID, and repeats nothing: %j",
    async (options) => {
      const { world, process } = await failing("late", options);
      const { key, generation, untilMs } = process.holder.grant!;
      // Of all writes that were sent, the first is carried out: each of the others finds that it came too late.
      await process.store.deliverLate();
      process.store.fault = () => "none";
      await world.time.run(5_000);
      expect(process.holder.counters).toMatchObject({ acquired: 2, lost: 1 });
      const { grant } = process.holder;
      expect([grant!.key, grant!.generation]).not.toEqual([key, generation]);
      expect(grant!.key !== key || grant!.fromMs >= untilMs).toBe(true);
      expect(process.events.map(({ kind }) => kind)).not.toContain("quarantine-written");
      const detail = expect.stringContaining("did not send, or forgot");
      expect(process.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "lost", detail }));
      expect(process.issue(10)).toBe(10);
    },
  );
});

test("an outage shorter than window, period and a second is noticed by nobody", async () => {
  const { world, process } = await holding();
  await world.time.run(periodMs - 1);
  process.store.fault = () => "lost";
  for (let second = 0; second < 7; second += 1) {
    await world.time.run(1_000);
    expect(process.issue(100)).toBe(100);
  }
  process.store.fault = () => "none";
  for (let second = 0; second < 20; second += 1) {
    await world.time.run(1_000);
    expect(process.issue(100)).toBe(100);
  }
  expect(process.holder.counters).toMatchObject({ lapsed: 0, lost: 0, acquired: 1 });
});
