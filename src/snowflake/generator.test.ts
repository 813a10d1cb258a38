import { describe, expect, test } from "vitest";
import { InvariantError } from "../assert.ts";
import { type GeneratorOptions, reserveCountMax, SnowflakeGenerator } from "./generator.ts";
import { createLayout, decomposeId, type Layout } from "./layout.ts";
import { layouts } from "./presets.ts";
import type { Reservation } from "./reservation.ts";
import { idsOf } from "./run.ts";

const { twitter, sonyflake } = layouts;
const startMs = Date.UTC(2026, 10, 21);
const still = (): number => 0;
const half = (): number => 0.5;
const reason = (name: string): unknown => expect.objectContaining({ reason: name });

function generatorOf(options: Partial<GeneratorOptions> = {}): SnowflakeGenerator {
  return new SnowflakeGenerator({ layout: twitter, sequenceSpread: false, random: () => 0, ...options });
}

/** A generator that holds worker 7 of datacenter 3 for a minute from startMs. */
function granted(options: Partial<GeneratorOptions> = {}): SnowflakeGenerator {
  const generator = generatorOf(options);
  grant(generator, startMs, startMs + 60_000);
  return generator;
}

function grant(generator: SnowflakeGenerator, fromMs: number, untilMs: number, nowMs = startMs, workerId = 7): void {
  const datacenterId = Math.min(3, generator.layout.datacenter.max);
  generator.grant({ datacenterId, workerId, fromMs, untilMs }, nowMs);
}

function countOf(reservation: Reservation): number {
  return reservation.kind === "runs" ? reservation.runs.reduce((sum, { count }) => sum + count, 0) : 0;
}

function partsOf(layout: Layout, reservation: Reservation): { ms: number; sequence: number }[] {
  if (reservation.kind !== "runs") throw new Error(reservation.kind);
  return [...idsOf(reservation.runs)].map((id) => {
    const { ticks, sequence } = decomposeId(layout, id);
    return { ms: layout.epochMs + (ticks * layout.tickNs) / 1_000_000, sequence };
  });
}

/** The time and sequence of the next ID. */
function nextOf(generator: SnowflakeGenerator, nowMs: number, mono = still): { ms: number; sequence: number } {
  const { ticks, sequence } = decomposeId(generator.layout, generator.next(nowMs, mono));
  return { ms: generator.layout.epochMs + (ticks * generator.layout.tickNs) / 1_000_000, sequence };
}

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

describe("the lead rule", () => {
  test("a burst is served from the next ticks, and no further", () => {
    const generator = granted();
    const reservation = generator.reserve(reserveCountMax, startMs, "unary", still);
    expect(countOf(reservation)).toBe(11 * 4096);
    expect(generator.burstCount).toBe(10 * 4096);
    expect(generator.leadMs(startMs)).toBe(10);
    expect(generator.reserve(1, startMs, "unary", still)).toEqual({
      kind: "wait",
      cause: "burst",
      untilMs: startMs + 1,
    });
    expect(nextOf(generator, startMs + 1)).toEqual({ ms: startMs + 11, sequence: 0 });
  });

  test("a coarse tick is borrowed whole", () => {
    const generator = granted({ layout: sonyflake });
    expect(countOf(generator.reserve(10_000, startMs, "unary", still))).toBe(2 * 256);
    expect(generator.reserve(1, startMs + 3, "unary", still)).toMatchObject({ kind: "wait", untilMs: startMs + 10 });
    expect(nextOf(generator, startMs + 10)).toEqual({ ms: startMs + 20, sequence: 0 });
  });

  test("the last sixteenth of the furthest tick is for unary calls", () => {
    const generator = granted();
    const bulk = generator.reserve(reserveCountMax, startMs, "bulk", still);
    expect(countOf(bulk)).toBe(11 * 4096 - 256);
    expect(generator.reserve(1, startMs, "bulk", still)).toMatchObject({ kind: "wait", untilMs: startMs + 1 });
    expect(nextOf(generator, startMs)).toEqual({ ms: startMs + 10, sequence: 3840 });
    expect(countOf(generator.reserve(1_000, startMs, "unary", still))).toBe(255);
    expect(generator.reserve(1, startMs, "unary", still)).toMatchObject({ kind: "wait", untilMs: startMs + 1 });
  });

  test("what was kept is not lost: the next tick of the clock opens it to everyone", () => {
    const generator = granted();
    generator.reserve(reserveCountMax, startMs, "bulk", still);
    expect(countOf(generator.reserve(reserveCountMax, startMs + 1, "bulk", still))).toBe(4096);
  });

  test("a unary caller is served after a bulk caller took all that it may, by the same reading", () => {
    const generator = granted();
    generator.next(startMs, still);
    generator.reserve(reserveCountMax, startMs, "bulk", still);
    expect(generator.tryNext(startMs, still)).toBeDefined();
  });

  test("trying again at untilMs works", () => {
    // Worker 7 is granted, and mastodon has no worker; baidu's time ran out.
    for (const layout of Object.values(layouts).filter(({ name }) => name !== "baidu" && name !== "mastodon")) {
      for (const kind of ["unary", "bulk"] as const) {
        const generator = granted({ layout });
        let nowMs = startMs;
        for (let round = 0; round < 50; round++) {
          const answer = generator.reserve(reserveCountMax, nowMs, kind, still);
          if (answer.kind === "runs") continue;
          if (answer.kind !== "wait") throw new Error(answer.kind);
          expect(answer.untilMs).toBeGreaterThan(nowMs);
          nowMs = answer.untilMs;
          expect(generator.reserve(1, nowMs, kind, still).kind).toBe("runs");
        }
      }
    }
  });
});

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
    // Nor does it hide that the clock has come back.
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

  test.each([Number.NaN, 0.5, Number.POSITIVE_INFINITY])("a window at %d ms is none", (ms) => {
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

describe("what a caller gets told", () => {
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
