import { describe, expect, test } from "vitest";
import { reserveCountMax } from "./generator.ts";
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

const { twitter } = layouts;

describe("a clock that goes back, under advance", () => {
  test("by at most the greatest lead is noticed by nobody", () => {
    const generator = granted();
    const before = generator.reserve(5_000, startMs, "unary", still);
    const after = generator.reserve(4_096 * 3, startMs - 1_500, "unary", still);
    expect(partsOf(twitter, before).at(-1)?.ms).toBe(startMs + 1);
    expect(countOf(after)).toBe(4_096 * 3);
    expect(partsOf(twitter, after)[0]).toEqual({ ms: startMs + 1, sequence: 904 });
  });

  test("by more asks for another worker ID", () => {
    const generator = granted();
    generator.next(startMs, still);
    expect(generator.reserve(1, startMs - 2_000, "unary", still).kind).toBe("runs");
    expect(generator.reserve(1, startMs - 2_001, "unary", still)).toEqual({
      kind: "rolled-back",
      aheadMs: 2_001,
      untilMs: startMs - 2_000,
    });
    expect(() => generator.next(startMs - 2_001, still)).toThrow(reason("CLOCK_ROLLED_BACK"));
    expect(nextOf(generator, startMs - 2_000)).toEqual({ ms: startMs, sequence: 2 });
  });

  test("by more in sum asks for another worker ID", () => {
    const generator = granted();
    generator.next(startMs, still);
    expect(generator.reserve(1, startMs - 1_500, "unary", still).kind).toBe("runs");
    expect(generator.reserve(1, startMs - 3_000, "unary", still)).toMatchObject({
      kind: "rolled-back",
      aheadMs: 3_000,
    });
  });

  test("the reading that was refused does not open the tick it would have been issued in", () => {
    const generator = granted();
    generator.next(startMs, still);
    expect(generator.tryNext(startMs - 5_000, still)).toBeUndefined();
    expect(generator.tryNext(startMs - 5_000, still)).toBeUndefined();
    expect(generator.debtMs).toBe(5_000);
    // It does not hide either that the clock has come back.
    expect(generator.tryNext(startMs, still)).toBeDefined();
    expect(generator.debtMs).toBe(0);
  });

  test("at the greatest lead a wait is a rollback's", () => {
    const generator = granted();
    generator.next(startMs, still);
    const answer = generator.reserve(reserveCountMax, startMs - 1_995, "unary", still);
    expect(countOf(answer)).toBe(6 * 4_096 - 1);
    expect(generator.reserve(1, startMs - 1_995, "unary", still)).toEqual({
      kind: "wait",
      cause: "rollback",
      untilMs: startMs - 1_994,
    });
  });

  test("the monotonic clock is read only after a rollback", () => {
    const generator = granted();
    let reads = 0;
    const mono = (): number => ++reads;
    generator.next(startMs, mono);
    generator.next(startMs + 1, mono);
    expect(reads).toBe(0);
    generator.next(startMs, mono);
    expect(reads).toBe(1);
    expect(generator.debtMs).toBe(1);
    // With the clock where the last timestamp is, the debt is paid.
    generator.next(startMs + 1, mono);
    expect(generator.debtMs).toBe(0);
    expect(reads).toBe(2);
    generator.next(startMs + 2, mono);
    generator.next(startMs + 300, mono);
    expect(reads).toBe(2);
  });
});

describe("reject", () => {
  test("refuses at once until the clock shows what it has shown", () => {
    const generator = granted({ policy: "reject" });
    generator.next(startMs + 100, still);
    const error = reason("CLOCK_ROLLED_BACK");
    expect(() => generator.next(startMs + 99, still)).toThrow(error);
    expect(() => generator.reserve(1, startMs + 60, "bulk", still)).toThrow(
      expect.objectContaining({ retryAfterMs: 40 }),
    );
    expect(nextOf(generator, startMs + 100)).toEqual({ ms: startMs + 100, sequence: 1 });
  });

  test("does not take a burst for a rollback, and gets no more lead than it", () => {
    const generator = granted({ policy: "reject" });
    let elapsedMs = 0;
    const mono = (): number => elapsedMs++;
    expect(countOf(generator.reserve(reserveCountMax, startMs, "unary", mono))).toBe(11 * 4_096);
    expect(countOf(generator.reserve(reserveCountMax, startMs + 5, "unary", mono))).toBe(5 * 4_096);
    elapsedMs += 10;
    expect(() => generator.next(startMs, mono)).toThrow(reason("CLOCK_ROLLED_BACK"));
    elapsedMs += 10;
    expect(countOf(generator.reserve(reserveCountMax, startMs + 6, "unary", mono))).toBe(4_096);
  });

  test("issues nothing below the first millisecond of its grant", () => {
    const generator = generatorOf({ policy: "reject" });
    grant(generator, startMs + 5, startMs + 1_000);
    expect(() => generator.next(startMs, still)).toThrow(reason("CLOCK_ROLLED_BACK"));
    expect(nextOf(generator, startMs + 5)).toEqual({ ms: startMs + 5, sequence: 0 });
  });
});

describe("wait", () => {
  test("asks to wait while at most the greatest lead is missing, and refuses above", () => {
    const generator = granted({ policy: "wait" });
    generator.next(startMs, still);
    expect(generator.reserve(1, startMs - 2_000, "unary", still)).toEqual({
      kind: "wait",
      cause: "rollback",
      untilMs: startMs,
    });
    expect(generator.tryNext(startMs - 1, still)).toBeUndefined();
    expect(() => generator.tryNext(startMs - 2_001, still)).toThrow(reason("CLOCK_ROLLED_BACK"));
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs, sequence: 1 });
  });
});

describe("logical", () => {
  test("time advances only when the sequence is used up", () => {
    const generator = granted({ policy: "logical" });
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs, sequence: 0 });
    expect(nextOf(generator, startMs + 30_000)).toEqual({ ms: startMs, sequence: 1 });
    generator.reserve(4_094, startMs + 30_000, "unary", still);
    expect(nextOf(generator, startMs + 30_000)).toEqual({ ms: startMs + 1, sequence: 0 });
  });

  test("a step back is noticed only when the timestamps are ahead by more than the greatest lead", () => {
    const generator = granted({ policy: "logical" });
    generator.next(startMs, still);
    generator.next(startMs + 30_000, still);
    expect(nextOf(generator, startMs + 10_000)).toEqual({ ms: startMs, sequence: 2 });
    expect(nextOf(generator, startMs - 2_000)).toEqual({ ms: startMs, sequence: 3 });
    expect(generator.reserve(1, startMs - 2_001, "unary", still).kind).toBe("rolled-back");
  });

  test("the ceiling is that of the clock", () => {
    const generator = granted({ policy: "logical" });
    expect(countOf(generator.reserve(reserveCountMax, startMs + 100, "unary", still))).toBe(111 * 4_096);
  });
});

describe("reuse", () => {
  test("goes back with the clock, to what recent ticks left unused", () => {
    const generator = granted({ policy: "reuse" });
    const { risingSpan } = generator;
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs, sequence: 0 });
    expect(nextOf(generator, startMs + 100)).toEqual({ ms: startMs + 100, sequence: 0 });
    expect(generator.risingSpan).toBe(risingSpan);
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs, sequence: 1 });
    expect(generator.risingSpan).toBe(risingSpan + 1);
    expect(nextOf(generator, startMs + 50)).toEqual({ ms: startMs + 50, sequence: 0 });
    expect(nextOf(generator, startMs + 100)).toEqual({ ms: startMs + 100, sequence: 1 });
    expect(generator.risingSpan).toBe(risingSpan + 1);
  });

  test("passes over ticks that were used up, without a step back that nobody sees", () => {
    const generator = granted({ policy: "reuse" });
    const { risingSpan } = generator;
    generator.reserve(4_096 * 5 + 10, startMs, "unary", still);
    expect(nextOf(generator, startMs - 5)).toEqual({ ms: startMs + 5, sequence: 10 });
    expect(generator.risingSpan).toBe(risingSpan);
    expect(nextOf(generator, startMs + 3)).toEqual({ ms: startMs + 5, sequence: 11 });
  });

  test("after a step back at full load goes on at full load, as advance does", () => {
    const generator = granted({ policy: "reuse" });
    let nowMs = startMs;
    for (let step = 0; step < 1_500; step++) generator.reserve(reserveCountMax, nowMs++, "unary", still);
    nowMs -= 1_500;
    expect(generator.reserve(1, nowMs++, "unary", still)).toMatchObject({ kind: "wait", cause: "burst" });
    for (let step = 1; step <= 100; step++) {
      const mono = step;
      expect(countOf(generator.reserve(4_096, nowMs++, "unary", () => mono))).toBe(4_096);
    }
  });

  test("never goes below the first millisecond of its grant", () => {
    const generator = granted({ policy: "reuse" });
    generator.next(startMs + 100, still);
    expect(nextOf(generator, startMs - 500)).toEqual({ ms: startMs, sequence: 0 });
  });

  test("beyond the table asks for another worker ID, and follows the clock when it comes near again", () => {
    const generator = granted({ policy: "reuse" });
    generator.next(startMs + 10_000, still);
    expect(generator.reserve(1, startMs + 7_999, "unary", still)).toMatchObject({
      kind: "rolled-back",
      aheadMs: 2_001,
    });
    expect(nextOf(generator, startMs + 8_500)).toEqual({ ms: startMs + 8_500, sequence: 0 });
  });

  test("the mark stays above everything that was issued before the step back", () => {
    const generator = granted({ policy: "reuse" });
    generator.next(startMs + 100, still);
    generator.next(startMs, still);
    expect(generator.markMs).toBe(startMs + 101);
    expect(generator.lastMs).toBe(startMs + 100);
  });
});
