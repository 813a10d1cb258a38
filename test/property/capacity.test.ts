/** What a worker can give under load, in simulated time: the ceiling, fairness, and what a rollback costs. */
import { describe, expect, test } from "vitest";
import type { Priority } from "../../src/queue/wait-queue.ts";
import { SnowflakeGenerator } from "../../src/snowflake/generator.ts";
import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import type { Reservation } from "../../src/snowflake/reservation.ts";
import type { RollbackPolicy } from "../../src/snowflake/rollback-policy.ts";

const { twitter, sonyflake, javascript, instagram } = layouts;
const startMs = Date.UTC(2026, 10, 21);

/** One worker whose clocks move by hand. */
class Load {
  readonly generator: SnowflakeGenerator;
  readonly layout: Layout;
  wallMs = startMs;
  monotonicMs = 0;

  constructor(layout: Layout, policy: RollbackPolicy = "advance") {
    this.layout = layout;
    this.generator = new SnowflakeGenerator({ layout, policy, random: () => 0.7 });
    const window = { datacenterId: 0, workerId: 0, fromMs: startMs, untilMs: startMs + 1e9 };
    this.generator.grant(window, startMs);
  }

  /** IDs that the layout has in a millisecond. */
  get perMs(): number {
    return ((this.layout.sequence.max + 1) * 1_000_000) / this.layout.tickNs;
  }

  advance(ms: number): void {
    this.wallMs += ms;
    this.monotonicMs += ms;
  }

  reserve(count: number, kind: Priority = "unary"): Reservation {
    return this.generator.reserve(count, Math.floor(this.wallMs), kind, () => this.monotonicMs);
  }

  /** How many of `count` IDs can be had now. */
  take(count: number, kind: Priority = "unary"): number {
    let taken = 0;
    while (taken < count) {
      const answer = this.reserve(Math.min(count - taken, 1_048_576), kind);
      if (answer.kind !== "runs") break;
      taken += answer.runs.reduce((sum, run) => sum + run.count, 0);
    }
    return taken;
  }

  /**
   * Gives the IDs issued in each of some seconds, at a load that asks each millisecond for its share and for all that
   * it did not get before.
   */
  issuedBySecond(seconds: number, share: number): { issued: number[]; leadMs: number[]; worstBacklogMs: number } {
    const issued: number[] = [];
    const leadMs: number[] = [];
    let backlog = 0;
    let worst = 0;
    for (let second = 0; second < seconds; second++) {
      let sum = 0;
      for (let ms = 0; ms < 1_000; ms++) {
        this.advance(1);
        backlog += this.perMs * share;
        const taken = this.take(Math.floor(backlog));
        backlog -= taken;
        sum += taken;
        worst = Math.max(worst, backlog / this.perMs);
      }
      issued.push(sum);
      leadMs.push(this.generator.leadMs(this.wallMs));
    }
    return { issued, leadMs, worstBacklogMs: worst };
  }
}

const odd = createLayout({
  name: "custom",
  epochMs: startMs - 1_000,
  tickNs: 7_000_000,
  fields: [
    { kind: "worker", bits: 3 },
    { kind: "timestamp", bits: 34 },
    { kind: "sequence", bits: 5 },
  ],
});
const fine = createLayout({
  name: "custom",
  epochMs: startMs - 1_000,
  tickNs: 125_000,
  fields: [
    { kind: "timestamp", bits: 44 },
    { kind: "worker", bits: 10 },
    { kind: "sequence", bits: 3 },
  ],
});

describe.each([
  ["twitter", twitter],
  ["sonyflake", sonyflake],
  ["javascript", javascript],
  ["instagram", instagram],
  ["ticks of 7 ms", odd],
  ["ticks of 125 us", fine],
])("%s", (_, layout) => {
  test("a bulk caller reaches the ceiling while every unary call is served at once", () => {
    const load = new Load(layout);
    let bulk = 0;
    let unary = 0;
    let unaryRefused = 0;
    const runMs = 5_000;
    for (let step = 0; step < runMs * 4; step++) {
      load.advance(0.25);
      bulk += load.take(1_000_000, "bulk");
      // One ID in a hundred goes to callers who want one each.
      const wanted = (load.perMs * 0.25) / 100;
      for (let call = 0; call < wanted; call++) {
        if (step % Math.ceil(1 / wanted) !== 0) continue;
        const got = load.take(1);
        unary += got;
        unaryRefused += 1 - got;
      }
    }
    expect(unaryRefused).toBe(0);
    expect(unary).toBeGreaterThan((load.perMs * runMs) / 250);
    expect(bulk + unary).toBeGreaterThan(load.perMs * runMs * 0.99);
  });

  test("beside a bulk caller, calls that a pause has gathered are served at once, up to half a tick of them", () => {
    const load = new Load(layout);
    load.take(1_000_000, "bulk");
    for (let pause = 0; pause < 100; pause++) {
      load.advance(10);
      load.take(1_000_000, "bulk");
      const crowd = (layout.sequence.max + 1) / 2;
      expect(load.take(crowd)).toBe(crowd);
    }
  });

  test("at full load a step back of 1.5 s costs nothing", () => {
    const load = new Load(layout);
    load.issuedBySecond(1, 1);
    load.wallMs -= 1_500;
    const { issued, worstBacklogMs } = load.issuedBySecond(4, 1);
    for (const count of issued) expect(Math.abs(count - load.perMs * 1_000)).toBeLessThanOrEqual(load.perMs * 10);
    // Nobody waits longer than without the step: for the tick that is due.
    expect(worstBacklogMs).toBeLessThanOrEqual(Math.max(2, layout.tickNs / 1_000_000 + 1));
  });

  test("at half load the lead is given back within three seconds", () => {
    const load = new Load(layout);
    load.issuedBySecond(1, 0.5);
    load.wallMs -= 1_500;
    const { leadMs } = load.issuedBySecond(4, 0.5);
    const slackMs = 2 * Math.max(10, layout.tickNs / 1_000_000) + 20;
    for (const [second, expected] of [1_000, 500, 0, 0].entries()) {
      expect(Math.abs(leadMs[second]! - expected)).toBeLessThanOrEqual(slackMs);
    }
  });
});

describe("what a rollback costs, in figures", () => {
  test("twitter at full load: 4,096,000 IDs in every second after a step back of 1.5 s", () => {
    const load = new Load(twitter);
    load.issuedBySecond(2, 1);
    load.wallMs -= 1_500;
    expect(load.issuedBySecond(4, 1).issued).toEqual([4_096_000, 4_096_000, 4_096_000, 4_096_000]);
  });

  test("at 98 % load the lead shrinks by 20 ms a second", () => {
    const load = new Load(twitter);
    load.issuedBySecond(1, 0.98);
    load.wallMs -= 1_500;
    const { leadMs } = load.issuedBySecond(3, 0.98);
    expect(leadMs[0]! - leadMs[1]!).toBeCloseTo(20, -1);
    expect(leadMs[1]! - leadMs[2]!).toBeCloseTo(20, -1);
  });

  test("at 10 IDs a second the lead is gone after 1.5 s", () => {
    const load = new Load(twitter);
    load.take(1);
    load.wallMs -= 1_500;
    for (let tenth = 1; tenth <= 16; tenth++) {
      load.advance(100);
      expect(load.take(1)).toBe(1);
      expect(load.generator.leadMs(load.wallMs)).toBe(Math.max(0, 1_500 - tenth * 100));
    }
  });

  test("two steps back that sum to 3 s stop at the greatest lead: one second of nothing", () => {
    const load = new Load(twitter);
    load.issuedBySecond(1, 1);
    load.wallMs -= 1_500;
    load.issuedBySecond(1, 1);
    load.wallMs -= 1_500;
    expect(load.reserve(1)).toMatchObject({ kind: "rolled-back" });
    let idleMs = 0;
    while (load.take(1) === 0) {
      load.advance(1);
      idleMs++;
    }
    expect(idleMs).toBeGreaterThan(990);
    expect(idleMs).toBeLessThan(1_020);
  });

  test("a clock that swings by 100 ms ten times a second costs nothing and leads to no rebase", () => {
    const load = new Load(twitter);
    load.issuedBySecond(1, 1);
    let sum = 0;
    for (let swing = 0; swing < 300; swing++) {
      load.wallMs += swing % 2 === 0 ? -100 : 100;
      for (let ms = 0; ms < 100; ms++) {
        load.advance(1);
        const answer = load.reserve(4_096);
        expect(answer.kind).not.toBe("rolled-back");
        if (answer.kind === "runs") sum += answer.runs.reduce((total, run) => total + run.count, 0);
      }
    }
    expect(sum).toBeGreaterThan(300 * 100 * 4_096 * 0.99);
    expect(load.generator.leadMs(load.wallMs)).toBeLessThan(300);
  });

  test("reuse follows the clock back and loses no capacity either", () => {
    const load = new Load(twitter, "reuse");
    load.issuedBySecond(1, 0.5);
    load.wallMs -= 800;
    const { issued, leadMs } = load.issuedBySecond(3, 0.5);
    for (const count of issued) expect(Math.abs(count - 2_048_000)).toBeLessThan(8_192);
    expect(leadMs.at(-1)).toBeLessThanOrEqual(10);
  });
});

describe("low load", () => {
  test("IDs of an idle worker spread evenly over shards", () => {
    let state = 1;
    const random = (): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const spread = new SnowflakeGenerator({ layout: twitter, random });
    const classic = new SnowflakeGenerator({ layout: twitter, random, sequenceSpread: false });
    const window = { datacenterId: 0, workerId: 0, fromMs: startMs, untilMs: startMs + 1e9 };
    for (const generator of [spread, classic]) generator.grant(window, startMs);
    const shards = Array<number>(8).fill(0);
    let even = 0;
    for (let call = 0; call < 8_000; call++) {
      const nowMs = startMs + call * 7;
      shards[Number(spread.next(nowMs, () => 0) % 8n)]!++;
      if (classic.next(nowMs, () => 0) % 2n === 0n) even++;
    }
    for (const count of shards) expect(count).toBeGreaterThan(850);
    // The classic algorithm, for comparison: every ID is even.
    expect(even).toBe(8_000);
  });

  test("spreading costs no capacity at full load", () => {
    const load = new Load(twitter);
    load.issuedBySecond(1, 1);
    expect(load.issuedBySecond(3, 1).issued).toEqual([4_096_000, 4_096_000, 4_096_000]);
  });
});
