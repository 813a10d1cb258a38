/**
 * Faults that other programs for segments of numbers have, or had: the name of each test says in brackets what happens
 * there.
 */
import { describe, expect, test } from "vitest";
import { SequenceWorld } from "../support/worlds/sequence-world.ts";

const unavailable = expect.objectContaining({ reason: "STORE_UNAVAILABLE" });
const isSorted = (values: readonly bigint[]): boolean =>
  values.every((value, at) => at === 0 || values[at - 1]! < value);

describe("Leaf", () => {
  test("callers at a first start share one take, and each gets another value (they race for the first segment)", async () => {
    const world = new SequenceWorld();
    await world.create({ name: "orders", stepMin: 10_000 });
    world.delayMs = 5;
    const calls = Promise.all(Array.from({ length: 500 }, () => world.draw("orders")));
    await world.time.run(100);
    const values = (await calls).flat() as bigint[];
    expect(new Set(values).size).toBe(500);
    expect([Math.min(...values.map(Number)), Math.max(...values.map(Number))]).toEqual([1, 500]);
    expect([world.countOf("take"), world.most.get("take")]).toEqual([1, 1]);
  });

  test("however many call while a take is slow, one is under way (there is a thread for each load)", async () => {
    const world = new SequenceWorld(60_000);
    await world.create({ name: "orders", stepMin: 10, stepMax: 100 });
    world.delayMs = 400;
    const calls = Promise.all(Array.from({ length: 2_000 }, () => world.draw("orders")));
    await world.time.run(30_000);
    expect((await calls).every((values) => Array.isArray(values))).toBe(true);
    expect(world.most.get("take")).toBe(1);
  });

  test("callers wait until there are values, and none gets an error (both segments are not ready)", async () => {
    const world = new SequenceWorld(10_000);
    await world.create({ name: "orders", stepMin: 5, stepMax: 5 });
    const first = world.draw("orders", 5);
    await world.time.run(10);
    expect(await first).toHaveLength(5);
    world.delayMs = 3_000;
    const calls = Promise.all(Array.from({ length: 12 }, () => world.draw("orders")));
    await world.time.run(20_000);
    expect(new Set((await calls).flat()).size).toBe(12);
  });

  test("a database that is down, a name that is not there and a used-up sequence are errors (they are -1, -2 and -3 as IDs)", async () => {
    const world = new SequenceWorld();
    await world.create({ name: "few", valueMax: 1n });
    await world.create({ name: "orders" });
    const outcomeOf = async (name: string) => {
      const call = world.draw(name);
      await world.time.run(5_000);
      return call;
    };
    expect(await outcomeOf("few")).toEqual([1n]);
    expect(await outcomeOf("few")).toMatchObject({ reason: "VALUES_EXHAUSTED" });
    expect(await outcomeOf("none")).toMatchObject({ reason: "SEQUENCE_NOT_FOUND" });
    world.isDown = true;
    expect(await outcomeOf("orders")).toEqual(unavailable);
  });
});

describe("Tinyid", () => {
  test("the values of one server rise, also where answers to takes are late (segments come out of order)", async () => {
    const world = new SequenceWorld(60_000);
    await world.create({ name: "orders", stepMin: 3, stepMax: 30 });
    const values: bigint[] = [];
    for (let call = 0; call < 200; call += 1) {
      world.delayMs = [0, 700, 20][call % 3]!;
      const drawn = world.draw("orders");
      await world.time.run(800);
      values.push(...((await drawn) as bigint[]));
    }
    expect(isSorted(values)).toBe(true);
    expect(values.length).toBe(200);
  });

  test("a take reads nothing before it writes (a read under REPEATABLE READ is stale)", async () => {
    const world = new SequenceWorld();
    await world.create({ name: "orders", stepMin: 10 });
    const opened = world.draw("orders");
    await world.time.run(10);
    await opened;
    world.calls.length = 0;
    const more = Promise.all([world.draw("orders", 500), world.draw("orders", 500)]);
    await world.time.run(100);
    expect(((await more).flat() as bigint[]).length).toBeGreaterThan(10);
    expect(world.calls.map(({ name }) => name)).toEqual(world.calls.map(() => "take"));
  });
});

describe("CosId", () => {
  test("a clock that is set back or ahead repeats no value of any period (the process's clock resets the numbers)", async () => {
    const world = new SequenceWorld();
    await world.create({ name: "daily", period: "day", stepMin: 4, stepMax: 4 });
    const seen = new Set<string>();
    const dayMs = 86_400_000;
    for (const stepMs of [0, -dayMs, dayMs, 2 * dayMs, -2 * dayMs, 3_600_000, -3_600_000, 0]) {
      world.time.stepWall(stepMs);
      for (let call = 0; call < 7; call += 1) {
        const drawn = (async () => {
          const source = await world.sources.open("daily");
          return source.reserve({ count: 1, priority: "unary" });
        })().catch((error: unknown) => error as { readonly reason: string });
        await world.time.run(2_000);
        const outcome = await drawn;
        // A period that begins more than a day ahead of the database's clock has no values yet.
        if ("reason" in outcome) continue;
        const value = `${outcome.periodKey} ${outcome.runs[0]!.firstValue}`;
        expect(seen.has(value)).toBe(false);
        seen.add(value);
      }
    }
    expect(new Set([...seen].map((value) => value.slice(0, 10))).size).toBeGreaterThan(2);
  });
});
