import { describe, expect, test } from "vitest";
import { InvariantError } from "../assert.ts";
import { type GeneratorOptions, reserveCountMax, SnowflakeGenerator } from "./generator.ts";
import { createLayout, decomposeId } from "./layout.ts";
import { layouts } from "./presets.ts";
import { idsOf } from "./run.ts";
import {
  startMs,
  still,
  reason,
  generatorOf,
  granted,
  grant,
  countOf,
  nextOf,
} from "../../test/support/worlds/granted-generator.ts";

const { twitter, sonyflake } = layouts;
const half = (): number => 0.5;

describe("the parts of an ID", () => {
  test("the tick of the clock, the granted worker, and a sequence that starts again with each tick", () => {
    const generator = granted();
    expect(decomposeId(twitter, generator.next(startMs, still))).toEqual({
      ticks: startMs - twitter.epochMs,
      datacenterId: 3,
      workerId: 7,
      sequence: 0,
    });
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs, sequence: 1 });
    expect(nextOf(generator, startMs + 5)).toEqual({ ms: startMs + 5, sequence: 0 });
  });

  test("a reservation and one-by-one calls give the same IDs in the same order", () => {
    const one = granted();
    const other = granted();
    const reservation = other.reserve(40_000, startMs, "unary", still);
    if (reservation.kind !== "runs") throw new Error(reservation.kind);
    for (const id of idsOf(reservation.runs)) expect(one.next(startMs, still)).toBe(id);
    expect(one.next(startMs, still)).toBe(other.next(startMs, still));
  });

  test("with the worker in the lowest bits, successive IDs differ by the stride", () => {
    const generator = granted({ layout: sonyflake });
    const reservation = generator.reserve(3, startMs, "unary", still);
    expect(reservation).toMatchObject({ runs: [{ count: 3, stride: 65_536n }] });
    const first = generator.next(startMs, still);
    expect(generator.next(startMs, still) - first).toBe(65_536n);
  });

  test.each([14, 28])("a sequence of 8 bits counts on where %d bits are below it", (bits) => {
    const layout = createLayout({
      ...twitter,
      tickNs: 10_000_000_000,
      fields: [
        { kind: "timestamp", bits: 27 },
        { kind: "sequence", bits: 8 },
        { kind: "worker", bits },
      ],
    });
    const generator = granted({ layout });
    for (let sequence = 0; sequence < 256; sequence++) {
      expect(decomposeId(layout, generator.next(startMs, still))).toMatchObject({ workerId: 7, sequence });
    }
  });

  test("a layout without a sequence gives one ID a tick", () => {
    const layout = createLayout({ ...twitter, tickNs: 1_000, fields: [{ kind: "timestamp", bits: 52 }] });
    const generator = generatorOf({ layout });
    generator.grant({ datacenterId: 0, workerId: 0, fromMs: startMs, untilMs: startMs + 1_000 }, startMs);
    const reservation = generator.reserve(5, startMs, "unary", still);
    expect(reservation.kind === "runs" && reservation.runs.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1]);
    const first = BigInt((startMs - layout.epochMs) * 1_000);
    expect(reservation.kind === "runs" && [...idsOf(reservation.runs)].map((id) => id - first)).toEqual([
      0n,
      1n,
      2n,
      3n,
      4n,
    ]);
  });
});

describe("the ends of a layout's life", () => {
  test("a clock before the epoch is refused, and nothing is lost", () => {
    const generator = granted();
    const first = generator.next(startMs, still);
    expect(() => generator.next(twitter.epochMs - 1, still)).toThrow(reason("CLOCK_BEFORE_EPOCH"));
    expect(() => generator.next(Number.NaN, still)).toThrow(reason("CLOCK_BEFORE_EPOCH"));
    expect(generator.next(startMs, still)).toBe(first + 1n);
  });

  test("after the last tick there is nothing, for ever", () => {
    const generator = generatorOf();
    const lastMs = twitter.endMs - 1;
    grant(generator, lastMs, twitter.endMs + 60_000, lastMs);
    expect(countOf(generator.reserve(10_000, lastMs, "unary", still))).toBe(4_096);
    expect(() => generator.next(lastMs, still)).toThrow(reason("TIMESTAMP_EXHAUSTED"));
    expect(() => generator.reserve(1, lastMs + 1, "bulk", still)).toThrow(reason("TIMESTAMP_EXHAUSTED"));
    expect(() => generator.next(lastMs - 1, still)).toThrow(reason("TIMESTAMP_EXHAUSTED"));
  });
});

describe("the spread of sequence numbers", () => {
  const spread = { sequenceSpread: true, random: () => 0.999 };

  test("an idle worker draws the first sequence number from the lower quarter", () => {
    const generator = granted(spread);
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs, sequence: 1_022 });
    expect(nextOf(generator, startMs + 1)).toEqual({ ms: startMs + 1, sequence: 1_022 });
    expect(nextOf(granted({ ...spread, random: () => 0 }), startMs)).toEqual({ ms: startMs, sequence: 0 });
  });

  test("a tick after one that was used up starts at 0", () => {
    const generator = granted(spread);
    generator.reserve(4_096 - 1_022, startMs, "unary", still);
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs + 1, sequence: 0 });
    const later = granted(spread);
    later.reserve(4_096 - 1_022, startMs, "unary", still);
    expect(nextOf(later, startMs + 1)).toEqual({ ms: startMs + 1, sequence: 0 });
  });

  test("a used-up tick further back does not count", () => {
    const generator = granted(spread);
    generator.reserve(4_096 - 1_022, startMs, "unary", still);
    expect(nextOf(generator, startMs + 2)).toEqual({ ms: startMs + 2, sequence: 1_022 });
  });

  test("the start of a grant does not count as used up", () => {
    const generator = generatorOf(spread);
    grant(generator, startMs + 50, startMs + 60_000);
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs + 50, sequence: 1_022 });
    grant(generator, startMs + 51, startMs + 60_000);
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs + 51, sequence: 1_022 });
  });

  test("it is on unless it is switched off", () => {
    const on = new SnowflakeGenerator({ layout: twitter, random: half });
    grant(on, startMs, startMs + 1_000);
    expect(nextOf(on, startMs).sequence).toBe(512);
    expect(nextOf(granted({ random: half }), startMs).sequence).toBe(0);
  });

  test.each([1, -0.001, Number.NaN])("a random source that gives %d stops the process", (value) => {
    expect(() => granted({ ...spread, random: () => value }).next(startMs, still)).toThrow(InvariantError);
  });
});

describe("what a caller learns", () => {
  test.each([0, -1, 1.5, Number.NaN, reserveCountMax + 1, 2 ** 32 - 1])(
    "a count of %d is COUNT_OUT_OF_RANGE",
    (count) => {
      expect(() => granted().reserve(count, startMs, "unary", still)).toThrow(reason("COUNT_OUT_OF_RANGE"));
    },
  );

  test("next throws what reserve would answer", () => {
    const generator = granted();
    generator.reserve(reserveCountMax, startMs, "unary", still);
    expect(() => generator.next(startMs, still)).toThrow(
      expect.objectContaining({ reason: "BURST_EXCEEDED", retryAfterMs: 1 }),
    );
  });

  test.each<Partial<GeneratorOptions>>([
    { burstMs: -1 },
    { burstMs: Number.NaN },
    { leadMaxMs: Number.POSITIVE_INFINITY },
    { burstMs: 3_000 },
    { policy: "ignore" as "advance" },
  ])("%j is INVALID_CONFIG", (options) => {
    expect(() => generatorOf(options)).toThrow(reason("INVALID_CONFIG"));
  });

  test("a layout with the sequence above the timestamp can be read, but not issued", () => {
    const layout = createLayout({
      ...twitter,
      fields: [
        { kind: "sequence", bits: 12 },
        { kind: "timestamp", bits: 41 },
      ],
    });
    expect(() => generatorOf({ layout })).toThrow(reason("INVALID_LAYOUT"));
  });

  test("next throws what wait would wait for", () => {
    const generator = granted({ policy: "wait" });
    generator.next(startMs, still);
    const error = expect.objectContaining({ reason: "CLOCK_ROLLED_BACK", retryAfterMs: 5 });
    expect(() => generator.next(startMs - 5, still)).toThrow(error);
  });

  test("lengths of time can be set", () => {
    const generator = granted({ burstMs: 100, leadMaxMs: 500 });
    expect(generator.leadMaxMs).toBe(500);
    expect(countOf(generator.reserve(reserveCountMax, startMs, "unary", still))).toBe(101 * 4_096);
    expect(generator.reserve(1, startMs - 401, "unary", still)).toMatchObject({ kind: "rolled-back" });
  });
});
