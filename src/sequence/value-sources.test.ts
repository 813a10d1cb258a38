import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { systemTimers } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import type { ReserveValues } from "./value-source.ts";
import { scale } from "../../test/support/worlds/scale.ts";
import { SequenceWorld } from "../../test/support/worlds/sequence-world.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Draws one value every `everyMs` milliseconds, and returns the errors with the moment at which each call began. */
async function drawAt(world: SequenceWorld, everyMs: number, count: number) {
  const errors: { readonly error: IdError; readonly waitedMs: number }[] = [];
  const calls: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    const beganMs = world.time.monotonicMs();
    const call = world.draw("orders").then((outcome) => {
      if (outcome instanceof IdError) errors.push({ error: outcome, waitedMs: world.time.monotonicMs() - beganMs });
    });
    calls.push(call);
    await world.time.run(everyMs);
  }
  return { errors, calls };
}

test("a clock that goes back goes on counting where the earlier period was, and comes back to the later one", async () => {
  const world = new SequenceWorld();
  await world.create({ name: "orders", period: "day", allocation: "strict" });
  const draw = async () => {
    const drawn = world.draw("orders");
    await world.time.run(10);
    return drawn;
  };
  const dayMs = 86_400_000;
  expect([await draw(), await draw()]).toEqual([[1n], [2n]]);
  world.time.stepWall(dayMs);
  expect(await draw()).toEqual([1n]);
  world.time.stepWall(-dayMs);
  expect(await draw()).toEqual([3n]);
  world.time.stepWall(dayMs);
  expect(await draw()).toEqual([2n]);
});

describe("an outage of the database", () => {
  test("of 0.9 steps at the rate of callers is noticed by nobody, at whatever moment it begins", async () => {
    const [step, everyMs] = [200, 50];
    for (let moment = 0; moment < step; moment += 20) {
      const world = new SequenceWorld();
      await world.create({ name: "orders", stepMin: step, stepMax: step });
      expect((await drawAt(world, everyMs, step + moment)).errors).toEqual([]);
      world.isDown = true;
      expect((await drawAt(world, everyMs, 0.9 * step)).errors).toEqual([]);
      world.isDown = false;
      const after = await drawAt(world, everyMs, 2 * step);
      await Promise.all(after.calls);
      expect(after.errors).toEqual([]);
    }
  });

  test("that is longer: callers get STORE_UNAVAILABLE with a time to retry, after their wait, none earlier", async () => {
    const world = new SequenceWorld(1_000);
    await world.create({ name: "orders", stepMin: 10, stepMax: 10 });
    const first = world.draw("orders");
    await world.time.run(10);
    expect(await first).toEqual([1n]);
    world.isDown = true;
    // Everything that is in memory is handed out first.
    const left = await drawAt(world, 0, 19);
    await Promise.all(left.calls);
    expect(left.errors).toEqual([]);
    const { errors, calls } = await drawAt(world, 50, 60);
    await world.time.run(5_000);
    await Promise.all(calls);
    expect(errors.length).toBe(60);
    for (const { error } of errors) {
      expect(error).toMatchObject({ reason: "STORE_UNAVAILABLE" });
      expect(error.retryAfterMs).toBeGreaterThan(0);
    }
    expect(errors.map(({ waitedMs }) => waitedMs)).toEqual(Array.from({ length: 60 }, () => 1_000));
    world.isDown = false;
    const later = world.draw("orders");
    await world.time.run(1_000);
    expect(await later).toEqual([expect.any(BigInt)]);
  });

  test("that is ten waits old when the values in memory end: callers wait as long as any other", async () => {
    const world = new SequenceWorld(1_000);
    await world.create({ name: "orders", stepMin: 20, stepMax: 20 });
    expect((await drawAt(world, 10, 20)).errors).toEqual([]);
    world.isDown = true;
    expect((await drawAt(world, 500, 20)).errors).toEqual([]);
    const { errors, calls } = await drawAt(world, 1_500, 1);
    await Promise.all(calls);
    expect(errors).toMatchObject([{ error: { reason: "STORE_UNAVAILABLE" }, waitedMs: 1_000 }]);
    // The next one comes alone, and the database is back while it waits.
    const waiting = world.draw("orders");
    await world.time.run(100);
    world.isDown = false;
    await world.time.run(800);
    expect(await waiting).toEqual([expect.any(BigInt)]);
  });

  test("that has been over for an hour: the first call of a rare sequence gets its value", async () => {
    const world = new SequenceWorld(1_000);
    await world.create({ name: "orders", allocation: "strict" });
    world.isDown = true;
    const inVain = world.draw("orders");
    await world.time.run(2_000);
    expect(await inVain).toMatchObject({ reason: "STORE_UNAVAILABLE" });
    world.isDown = false;
    await world.time.run(3_600_000);
    const first = world.draw("orders");
    await world.time.run(10);
    expect(await first).toEqual([1n]);
  });
});

test("callers of a strict sequence that wait together share a take, of a thousand values at most and none ahead", async () => {
  const world = new SequenceWorld(60_000);
  await world.create({ name: "invoices", allocation: "strict" });
  world.delayMs = 5;
  const calls = Promise.all(Array.from({ length: 2_500 }, () => world.draw("invoices")));
  await world.time.run(1_000);
  const values = (await calls).flat() as bigint[];
  expect(values.toSorted((a, b) => Number(a - b))).toEqual(Array.from({ length: 2_500 }, (_, at) => BigInt(at + 1)));
  // One for the first caller, and then 1,000, 1,000 and 499 for those that came meanwhile.
  expect([world.countOf("take"), world.most.get("take")]).toEqual([4, 1]);
  const next = world.draw("invoices");
  await world.time.run(100);
  expect(await next).toEqual([2_501n]);
});

test("callers wait in turn, each until its own deadline or until it is cancelled, and no value is taken for those", async () => {
  const world = new SequenceWorld(10_000);
  await world.create({ name: "invoices", allocation: "strict" });
  const first = world.draw("invoices");
  await world.time.run(10);
  expect(await first).toEqual([1n]);
  const source = await world.sources.open("invoices");
  world.delayMs = 1_000;
  const ends: string[] = [];
  const wait = async (caller: string, more: Partial<ReserveValues>): Promise<void> => {
    try {
      const { runs } = await source.reserve({ count: 1, priority: "unary", ...more });
      ends.push(`${caller} ${runs[0]!.firstValue}`);
    } catch (error) {
      ends.push(`${caller} ${error instanceof IdError ? error.reason : String(error)}`);
    }
  };
  const cancelled = new AbortController();
  void wait("a", {});
  void wait("b", { deadlineMs: world.time.monotonicMs() + 300 });
  void wait("c", { signal: cancelled.signal });
  void wait("d", {});
  await world.time.run(299);
  expect(ends).toEqual([]);
  await world.time.run(1);
  cancelled.abort("cancelled");
  await world.time.run(3_000);
  expect(ends).toEqual(["b STORE_UNAVAILABLE", "c cancelled", "a 2", "d 3"]);
  const next = world.draw("invoices");
  await world.time.run(1_000);
  expect(await next).toEqual([4n]);
});

test("10,000 sequences in memory hold less than 20 MB", async () => {
  const world = new SequenceWorld(60_000, systemTimers, 10_000);
  const names = Array.from({ length: 10_000 }, (_, index) => `orders-${index}`);
  await world.create(...names.map((name) => ({ name, stepMin: 1_000 })));
  const before = heapBytes();
  for (let at = 0; at < names.length; at += 1_000) {
    await Promise.all(names.slice(at, at + 1_000).map((name) => world.draw(name)));
  }
  world.calls.length = 0;
  expect(world.sources.size).toBe(10_000);
  expect(heapBytes() - before).toBeLessThan(20e6);
});

describe("a name that does not exist", () => {
  /** 100,000 calls; `SNOWLANE_TEST_SCALE=10 vitest run --project core value-sources` makes a million. */
  test("costs callers one look at a time, of at most a thousand names, and bounded memory", {
    timeout: 120_000 * scale,
  }, async () => {
    const world = new SequenceWorld(60_000, systemTimers);
    await world.create({ name: "orders" });
    const refused = expect.objectContaining({ reason: "SEQUENCE_NOT_FOUND" });
    const before = heapBytes();
    const [batch, count] = [5_000, 100_000 * scale];
    for (let at = 0; at < count; at += batch) {
      const names = Array.from({ length: batch }, (_, index) => `none-${at + index}`);
      const [first, ...rest] = await Promise.all(names.map((name) => world.draw(name)));
      expect(first).toEqual(refused);
      if (rest.some((outcome) => !(outcome instanceof IdError))) expect.fail("a name that nobody made has a value");
    }
    const looks = world.calls.filter(({ name }) => name === "look");
    expect(Math.max(...looks.map(({ keyCount }) => keyCount))).toBe(1_000);
    expect(world.most.get("look")).toBe(1);
    expect(looks.length).toBeLessThan(count / 900);
    world.calls.length = 0;
    expect(heapBytes() - before).toBeLessThan(10e6);
    // A name that was asked for a moment ago is refused without a look.
    expect([await world.draw(`none-${count - 1}`), world.countOf("look")]).toEqual([refused, 0]);
  });

  test("or cannot exist is refused without a look, and so are calls beyond those that may wait", async () => {
    const world = new SequenceWorld();
    await world.create({ name: "orders" });
    for (const name of ["", "A", "a\n", "-a", "x".repeat(64), "x".repeat(100_000)]) {
      expect(await world.draw(name)).toMatchObject({ reason: "SEQUENCE_NOT_FOUND" });
    }
    expect(await world.draw("")).toMatchObject({ message: 'The call names no sequence: give its "name".' });
    expect(world.countOf("look")).toBe(0);
    world.isDown = true;
    const waiting = Array.from({ length: 10_001 }, (_, index) => world.draw(`none-${index}`));
    expect(await waiting.at(-1)).toMatchObject({ reason: "BURST_EXCEEDED" });
    await world.time.run(2_000);
    const outcomes = await Promise.all(waiting);
    expect(outcomes[0]).toMatchObject({ reason: "STORE_UNAVAILABLE" });
  });
});
