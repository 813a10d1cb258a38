/** Faults of other generators, each with what happened there in brackets. docs/architecture.md says whose they were. */
import { expect, test } from "vitest";
import { exhaustionOf } from "../../src/snowflake/exhaustion.ts";
import { SnowflakeGenerator } from "../../src/snowflake/generator.ts";
import { composeId, createLayout, decomposeId, type Layout } from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { type RollbackPolicy, rollbackPolicies } from "../../src/snowflake/rollback-policy.ts";
import { idsOf } from "../../src/snowflake/run.ts";

const { twitter, sonyflake, baidu, javascript } = layouts;
const startMs = Date.UTC(2026, 10, 21);
const still = (): number => 0;

function granted(policy: RollbackPolicy = "advance", layout: Layout = twitter): SnowflakeGenerator {
  const generator = new SnowflakeGenerator({ layout, policy, sequenceSpread: false, random: () => 0 });
  generator.grant({ datacenterId: 0, workerId: 0, fromMs: startMs, untilMs: startMs + 60_000 }, startMs);
  return generator;
}

/** All IDs that readings of the clock give, those refused left out. */
function issueAt(generator: SnowflakeGenerator, readings: readonly number[]): bigint[] {
  const ids: bigint[] = [];
  for (const nowMs of readings) {
    try {
      const id = generator.tryNext(nowMs, still);
      if (id !== undefined) ids.push(id);
    } catch (error) {
      expect(error).toMatchObject({ reason: "CLOCK_ROLLED_BACK" });
    }
  }
  return ids;
}

// https://github.com/twitter-archive/snowflake/issues/6
test.each(rollbackPolicies)(
  "%s: a time that comes again repeats no ID (the sequence was zeroed before the rollback check)",
  (policy) => {
    const readings = [startMs + 5, startMs + 5, startMs + 4, startMs + 5, startMs + 5];
    const ids = issueAt(granted(policy), readings);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(4);
  },
);

// https://github.com/dromara/hutool/issues/1206
test.each(rollbackPolicies)("%s: a rollback within two seconds repeats no ID (it was tolerated, and did)", (policy) => {
  const readings = Array.from({ length: 400 }, (_, index) => startMs + (index % 200) * 10);
  const ids = issueAt(granted(policy), readings);
  expect(new Set(ids).size).toBe(ids.length);
});

// https://github.com/bwmarrin/snowflake (Node.Generate: a reading other than the last, above it or below, sets the step
// to 0)
test.each(rollbackPolicies)("%s: a reading below the last one repeats no ID (it set the sequence to 0)", (policy) => {
  const ids = issueAt(granted(policy), [startMs + 1, startMs, startMs + 1, startMs, startMs + 1]);
  expect(new Set(ids).size).toBe(ids.length);
});

// https://github.com/bwmarrin/snowflake (the package variables Epoch, NodeBits and StepBits)
test("the layout of a running generator cannot be changed (it could)", () => {
  const generator = granted();
  expect(() => {
    (generator.layout as { epochMs: number }).epochMs = 0;
  }).toThrow(TypeError);
  expect(() => {
    (generator.layout.sequence as { bits: number }).bits = 1;
  }).toThrow(TypeError);
});

// https://github.com/sony/sonyflake (NextID sleeps while its mutex is held)
test("a generator says how long to wait, and never sleeps (one slept a whole clock step inside its lock)", () => {
  const generator = granted("wait", sonyflake);
  generator.next(startMs + 1_500, still);
  expect(generator.reserve(1, startMs, "unary", still)).toMatchObject({ kind: "wait", untilMs: startMs + 1_500 });
  const borrowing = granted("advance", sonyflake);
  borrowing.next(startMs + 1_500, still);
  expect(borrowing.reserve(1, startMs, "unary", still).kind).toBe("runs");
});

// https://github.com/baidu/uid-generator (28 bits of seconds from 2016-05-20 ended on 2024-11-20)
test("a layout that runs out is warned of, and then refused (the default one ran out in silence)", () => {
  expect(exhaustionOf(baidu, Date.UTC(2021, 0, 1)).state).toBe("warning");
  const generator = new SnowflakeGenerator({ layout: baidu, random: () => 0 });
  generator.grant({ datacenterId: 0, workerId: 0, fromMs: startMs, untilMs: startMs + 60_000 }, startMs);
  expect(() => generator.next(startMs, still)).toThrow(expect.objectContaining({ reason: "TIMESTAMP_EXHAUSTED" }));
});

// https://github.com/RobThree/IdGen (the timestamp was masked to its bits)
test("a time past the layout's life is refused (it was masked, and repeated the first IDs)", () => {
  const layout = createLayout({
    name: "custom",
    epochMs: startMs - 1_020,
    tickNs: 1_000_000,
    fields: [
      { kind: "timestamp", bits: 10 },
      { kind: "sequence", bits: 2 },
    ],
  });
  const generator = granted("advance", layout);
  const answer = generator.reserve(1_000, startMs, "unary", still);
  expect(answer.kind === "runs" && [...idsOf(answer.runs)]).toEqual(
    Array.from({ length: 16 }, (_, i) => 4_080n + BigInt(i)),
  );
  for (const nowMs of [startMs, startMs + 4, startMs + 1_024, startMs + 10_000]) {
    expect(() => generator.next(nowMs, still)).toThrow(expect.objectContaining({ reason: "TIMESTAMP_EXHAUSTED" }));
  }
});

// https://github.com/Meituan-Dianping/Leaf (Result with Status.EXCEPTION and the IDs -1, -2, -3)
test("an error is thrown, and reads as no ID (it was returned as one)", () => {
  const generator = granted("reject");
  generator.next(startMs + 10, still);
  expect(() => generator.next(startMs, still)).toThrow(expect.objectContaining({ reason: "CLOCK_ROLLED_BACK" }));
  expect(() => parseId(twitter, -3n)).toThrow(expect.objectContaining({ reason: "MALFORMED_ID" }));
});

test("a worker ID beyond its field is refused (the 33rd host got 33 in five bits, which is another host's 1)", () => {
  const generator = new SnowflakeGenerator({ layout: twitter, random: () => 0 });
  const window = { datacenterId: 0, workerId: 33, fromMs: startMs, untilMs: startMs + 60_000 };
  expect(() => {
    generator.grant(window, startMs);
  }).toThrow("I3");
});

test("an ID of the layout javascript keeps its digits as a JSON number (those of twitter lose the last ones)", () => {
  const id = granted().next(startMs, still);
  expect(BigInt(Number(id) + 1)).not.toBe(id + 1n);
  const last = { ticks: javascript.timestamp.max, datacenterId: 0, workerId: 63, sequence: 63 };
  const highest = composeId(javascript, last);
  expect(BigInt(JSON.parse(JSON.stringify(Number(highest))) as number)).toBe(highest);
});

/**
 * The ring as it is found: each slot holds the last ID of its tick, and a tick that comes again goes on with that ID
 * plus one.
 */
class LastIdRing {
  readonly #slots = new BigInt64Array(1_024);
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  next(nowMs: number): bigint {
    const ticks = nowMs - this.#layout.epochMs;
    const slot = ticks % this.#slots.length;
    const first = composeId(this.#layout, { ticks, datacenterId: 0, workerId: 0, sequence: 0 });
    const last = this.#slots[slot]!;
    this.#slots[slot] = last < first ? first : last + 1n;
    return this.#slots[slot];
  }
}

test("the ring of reused ticks repeats no ID with a steady clock (one that held the last ID of each slot did)", () => {
  const layout = createLayout({
    name: "custom",
    epochMs: startMs - 1_000,
    tickNs: 1_000_000,
    fields: [
      { kind: "timestamp", bits: 40 },
      { kind: "sequence", bits: 4 },
    ],
  });
  // Seventeen calls in the first millisecond, one in the second; a tick has sixteen sequence numbers.
  const readings = [...Array<number>(17).fill(startMs), startMs + 1];
  const ring = new LastIdRing(layout);
  expect(new Set(readings.map((nowMs) => ring.next(nowMs))).size).toBe(17);
  const ids = issueAt(granted("reuse", layout), readings);
  expect(new Set(ids).size).toBe(18);
});

test("a tick whose slot a later one has taken is never tried again (it forgot what it had issued)", () => {
  const generator = granted("reuse");
  const ids = issueAt(generator, [startMs, startMs + 2_001, startMs + 2_002, startMs + 1, startMs, startMs + 2_001]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.map((id) => decomposeId(twitter, id).ticks + twitter.epochMs - startMs)).toEqual([0, 2_001, 2_002, 2_001]);
});
