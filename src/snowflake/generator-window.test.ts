import { describe, expect, test } from "vitest";
import { InvariantError } from "../assert.ts";
import { reserveCountMax } from "./generator.ts";
import { createLayout } from "./layout.ts";
import { layouts } from "./presets.ts";
import {
  startMs,
  still,
  reason,
  generatorOf,
  granted,
  grant,
  countOf,
  partsOf,
  nextOf,
} from "../../test/support/worlds/granted-generator.ts";

const { twitter, sonyflake } = layouts;

describe("the window", () => {
  test("nothing is issued at or above the mark, and extending it goes on", () => {
    const generator = generatorOf();
    grant(generator, startMs, startMs + 2);
    expect(countOf(generator.reserve(reserveCountMax, startMs, "unary", still))).toBe(2 * 4_096);
    expect(generator.reserve(1, startMs, "unary", still)).toMatchObject({ kind: "wait", cause: "window" });
    expect(() => generator.next(startMs + 1, still)).toThrow(reason("WINDOW_EXPIRED"));
    generator.extend(startMs + 1);
    expect(generator.untilMs).toBe(startMs + 2);
    expect(generator.tryNext(startMs, still)).toBeUndefined();
    generator.extend(startMs + 3);
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs + 2, sequence: 0 });
    expect(generator.untilMs).toBe(startMs + 3);
  });

  test("a mark inside a coarse tick bounds the ticks that begin below it", () => {
    const generator = generatorOf({ layout: sonyflake });
    grant(generator, startMs + 1, startMs + 11);
    expect(partsOf(sonyflake, generator.reserve(10_000, startMs, "unary", still)).map(({ ms }) => ms)).toEqual(
      Array<number>(256).fill(startMs + 10),
    );
  });

  test("a grant begins at its first millisecond though the clock is behind", () => {
    const generator = generatorOf();
    grant(generator, startMs + 1_200, startMs + 60_000);
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs + 1_200, sequence: 0 });
    expect(generator.debtMs).toBeGreaterThan(1_000);
  });

  test("after revoking not one more ID, and the mark stays readable", () => {
    const generator = granted();
    generator.next(startMs, still);
    generator.revoke();
    for (const nowMs of [startMs, startMs + 1, startMs + 100_000]) {
      expect(() => generator.next(nowMs, still)).toThrow(reason("WORKER_LEASE_LOST"));
      expect(() => generator.reserve(1, nowMs, "bulk", still)).toThrow(reason("WORKER_LEASE_LOST"));
    }
    expect(generator.untilMs).toBe(0);
    expect(generator.markMs).toBe(startMs + 1);
    expect(() => {
      generator.extend(startMs + 100_000);
    }).toThrow(InvariantError);
  });

  test("before the first grant nothing is issued", () => {
    expect(() => generatorOf().next(startMs, still)).toThrow(reason("WORKER_LEASE_LOST"));
  });

  test("the mark is the first millisecond above every issued timestamp", () => {
    const generator = granted();
    expect(generator.markMs).toBe(startMs);
    generator.reserve(4_097, startMs, "unary", still);
    expect(generator.lastMs).toBe(startMs + 1);
    expect(generator.markMs).toBe(startMs + 2);
    const coarse = granted({ layout: sonyflake });
    coarse.next(startMs, still);
    expect(coarse.markMs).toBe(startMs + 10);
  });

  test("a refusal does not move the mark", () => {
    const generator = generatorOf();
    grant(generator, startMs, startMs + 5);
    generator.next(startMs, still);
    expect(generator.tryNext(startMs + 100, still)).toBeUndefined();
    expect(generator.markMs).toBe(startMs + 1);
  });

  test("a tick that is all kept for unary calls does not move the mark when it is refused to a bulk caller", () => {
    const layout = createLayout({ ...twitter, tickNs: 1_000_000_000, fields: [{ kind: "timestamp", bits: 40 }] });
    const generator = generatorOf({ layout });
    generator.grant({ datacenterId: 0, workerId: 0, fromMs: startMs, untilMs: startMs + 60_000 }, startMs);
    generator.reserve(1, startMs, "bulk", still);
    const { markMs } = generator;
    expect(generator.reserve(1, startMs, "bulk", still).kind).toBe("wait");
    expect(generator.markMs).toBe(markMs);
    expect(generator.tryNext(startMs, still)).toBeDefined();
  });

  test("the same worker is not granted again from below what was issued", () => {
    const generator = granted();
    generator.reserve(4_097, startMs, "unary", still);
    expect(() => {
      grant(generator, startMs + 1, startMs + 100);
    }).toThrow(InvariantError);
    grant(generator, startMs + 2, startMs + 100);
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs + 2, sequence: 0 });
  });

  test("another worker may begin lower, after a rebase", () => {
    const generator = granted();
    generator.next(startMs, still);
    const { risingSpan } = generator;
    grant(generator, startMs - 3_600_000, startMs, startMs - 3_600_000, 8);
    expect(nextOf(generator, startMs - 3_600_000)).toEqual({ ms: startMs - 3_600_000, sequence: 0 });
    expect(generator.risingSpan).toBe(risingSpan + 1);
  });

  test.each([Number.NaN, 0.5, Number.POSITIVE_INFINITY])("a window at %d ms is refused", (ms) => {
    const generator = generatorOf();
    expect(() => {
      grant(generator, ms, startMs + 1);
    }).toThrow(InvariantError);
    expect(() => {
      grant(generator, startMs, ms);
    }).toThrow(InvariantError);
  });

  test.each([
    [32, 0],
    [0, 32],
    [-1, 0],
    [0, 0.5],
  ])("datacenter %d and worker %d do not fit", (datacenterId, workerId) => {
    const generator = generatorOf();
    expect(() => {
      generator.grant({ datacenterId, workerId, fromMs: startMs, untilMs: startMs + 1 }, startMs);
    }).toThrow(InvariantError);
  });
});
