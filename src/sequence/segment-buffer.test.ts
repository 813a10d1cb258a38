import { array, assert, bigInt, boolean as anyBoolean, constant, integer, oneof, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { SegmentBuffer } from "./segment-buffer.ts";
import { completeDefinition, onlyStripe, type SequenceDraft, valueAt } from "./sequence.ts";

const bufferOf = (draft: Partial<SequenceDraft> = {}): SegmentBuffer =>
  new SegmentBuffer(completeDefinition({ name: "orders", ...draft }));
const segment = (first: number, count: number) => ({
  firstIndex: BigInt(first),
  count,
  writeId: `w${first}`,
  stripe: onlyStripe,
});

describe("the stock of a sequence", () => {
  test("wants the smallest step first, and the next one when a tenth is used", () => {
    const buffer = bufferOf({ stepMin: 100 });
    expect(buffer.tryNext()).toBeUndefined();
    expect(buffer.wants(1_000, 1)).toBe(100);
    expect(buffer.wants(1_000, 500)).toBeUndefined();
    buffer.arrived(segment(0, 100), 1_002);
    for (let at = 1n; at <= 9n; at += 1n) {
      expect(buffer.tryNext()).toBe(at);
      expect(buffer.isDue).toBe(false);
    }
    expect(buffer.tryNext()).toBe(10n);
    expect(buffer.isDue).toBe(true);
    expect(buffer.wants(2_000, 0)).toBe(200);
    expect(buffer.isDue).toBe(false);
    buffer.arrived(segment(100, 200), 2_002);
    expect(buffer.stockCount).toBe(290);
    expect(buffer.isDue).toBe(false);
  });

  test("wants another segment when what is left lasts less than two round trips, although one follows", () => {
    const buffer = bufferOf({ stepMin: 10, stepMax: 10 });
    buffer.wants(1_000, 1);
    buffer.arrived(segment(0, 10), 1_001);
    buffer.takeRun(9);
    expect(buffer.wants(1_100, 0)).toBe(10);
    // 9 values in 100 ms, and an answer after 300 ms: two of these use 54, and 11 are left.
    buffer.arrived(segment(10, 10), 1_400);
    expect([buffer.isDue, buffer.stockCount]).toEqual([true, 11]);
    expect(buffer.wants(1_400, 0)).toBe(10);
  });

  test("of 1,000 values a second takes 1,000, then 2,000, then 4,000, as its example says", () => {
    const buffer = bufferOf({ stepMin: 1_000 });
    expect(buffer.wants(1_000, 1)).toBe(1_000);
    buffer.arrived(segment(0, 1_000), 1_004);
    expect(buffer.takeRun(100)).toEqual({ firstValue: 1n, count: 100, increment: 1n });
    expect([buffer.isDue, buffer.wants(1_104, 0)]).toEqual([true, 2_000]);
    buffer.takeRun(4);
    buffer.arrived(segment(1_000, 2_000), 1_108);
    expect([buffer.isDue, buffer.stockCount]).toEqual([false, 2_896]);
    buffer.takeRun(896);
    buffer.takeRun(199);
    expect([buffer.isDue, buffer.stockCount]).toEqual([false, 1_801]);
    buffer.tryNext();
    expect([buffer.isDue, buffer.wants(2_204, 0)]).toEqual([true, 4_000]);
    // The next answer takes 400 ms: two round trips use 800 values at some 1,000 a second.
    buffer.takeRun(400);
    buffer.arrived(segment(3_000, 100), 2_604);
    buffer.takeRun(699);
    expect([buffer.isDue, buffer.stockCount]).toEqual([false, 801]);
    buffer.tryNext();
    expect([buffer.isDue, buffer.stockCount]).toEqual([true, 800]);
  });

  test("grows eightfold while callers wait, twofold otherwise, and shrinks by half", () => {
    const buffer = bufferOf({ stepMin: 10, stepMax: 1_000 });
    let at = 0;
    const take = (nowMs: number, waiting: number): number => {
      const count = buffer.wants(nowMs, waiting)!;
      buffer.arrived(segment(at, count), nowMs);
      at += count;
      return count;
    };
    expect(take(1_000, 1)).toBe(10);
    buffer.takeRun(10);
    expect(take(1_001, 1)).toBe(80);
    buffer.takeRun(80);
    expect(take(1_002, 1)).toBe(640);
    buffer.takeRun(640);
    expect(take(1_003, 1)).toBe(1_000);
    buffer.takeRun(999);
    expect(take(100_000_000, 0)).toBe(500);
  });

  test("of a strict sequence wants what callers wait for, and nothing ahead", () => {
    const buffer = bufferOf({ allocation: "strict" });
    expect(buffer.isDue).toBe(false);
    expect(buffer.wants(0, 0)).toBeUndefined();
    expect(buffer.wants(0, 3)).toBe(3);
    buffer.arrived(segment(0, 3), 1);
    expect([buffer.tryNext(), buffer.isDue, buffer.wants(1, 2)]).toEqual([1n, false, undefined]);
    expect(buffer.wants(1, 5_000)).toBe(1_000);
  });

  test("hands out nothing above the largest value", () => {
    const buffer = bufferOf({ valueMax: 5n });
    buffer.wants(0, 1);
    buffer.arrived(segment(0, 100), 0);
    expect(buffer.takeRun(100)).toEqual({ firstValue: 1n, count: 5, increment: 1n });
    expect(buffer.tryNext()).toBeUndefined();
  });

  test("gives back what adjoins the end of the last take, up to the value of the counter", () => {
    const rest = (segments: readonly [number, number][], used: number, draft: Partial<SequenceDraft> = {}) => {
      const buffer = bufferOf(draft);
      for (const [first, count] of segments) {
        buffer.wants(0, 1_000_000);
        buffer.arrived(segment(first, count), 0);
      }
      for (let left = used; left > 0; left -= 1) buffer.tryNext();
      const [first, ...more] = buffer.close();
      expect(more).toEqual([]);
      return first;
    };
    expect(rest([[0, 10]], 4)).toEqual({ firstIndex: 4n, endIndex: 10n, writeId: "w0", stripe: onlyStripe });
    expect(
      rest(
        [
          [0, 10],
          [10, 5],
        ],
        4,
      ),
    ).toEqual({ firstIndex: 4n, endIndex: 15n, writeId: "w10", stripe: onlyStripe });
    expect(
      rest(
        [
          [0, 10],
          [20, 5],
        ],
        4,
      ),
    ).toEqual({ firstIndex: 20n, endIndex: 25n, writeId: "w20", stripe: onlyStripe });
    expect(rest([[0, 10]], 10)).toBeUndefined();
    expect(rest([[0, 100]], 3, { valueMax: 5n })).toEqual({
      firstIndex: 3n,
      endIndex: 100n,
      writeId: "w0",
      stripe: onlyStripe,
    });
    expect(bufferOf().close()).toEqual([]);
  });

  test("hands out every value of its segments once, in order, and gives back only what is left", () => {
    const step = oneof(
      record({ kind: constant("take" as const), gap: integer({ min: 0, max: 20 }), isLost: anyBoolean() }),
      record({ kind: constant("next" as const) }),
      record({ kind: constant("run" as const), count: integer({ min: 1, max: 50 }) }),
    );
    const draft = record({
      startValue: bigInt(1n, 1_000n),
      increment: bigInt(1n, 100n),
      stepMin: integer({ min: 1, max: 40 }),
    });
    assert(
      property(draft, array(step, { maxLength: 100 }), (given, steps) => {
        const definition = completeDefinition({ name: "a", stepMax: 200, ...given });
        const buffer = new SegmentBuffer(definition);
        const expected: bigint[] = [];
        const got: bigint[] = [];
        let at = 0n;
        let now = 0;
        for (const action of steps) {
          now += 7;
          if (action.kind === "take") {
            const count = buffer.wants(now, 1 + buffer.stockCount);
            expect(count).toBeLessThanOrEqual(200);
            at += BigInt(action.gap);
            if (action.isLost) buffer.failed();
            else {
              buffer.arrived({ firstIndex: at, count: count!, writeId: "w", stripe: onlyStripe }, now + 1);
              for (let index = 0; index < count!; index += 1) expected.push(valueAt(definition, at + BigInt(index)));
            }
            at += BigInt(count!);
          } else if (action.kind === "next") {
            const value = buffer.tryNext();
            if (value !== undefined) got.push(value);
          } else {
            const run = buffer.takeRun(action.count);
            for (let index = 0; index < (run?.count ?? 0); index += 1) {
              got.push(run!.firstValue + BigInt(index) * run!.increment);
            }
          }
        }
        expect(got).toEqual(expected.slice(0, got.length));
        expect(buffer.stockCount).toBe(expected.length - got.length);
        const [rest] = buffer.close();
        if (rest === undefined) return;
        expect(got.every((value) => value < valueAt(definition, rest.firstIndex))).toBe(true);
        expect(expected.at(-1)).toBe(valueAt(definition, rest.endIndex - 1n));
      }),
    );
  });
});
