import { expect, test } from "vitest";
import { createLayout } from "./layout.ts";
import { LeadRule, leadLimits } from "./lead-rule.ts";
import { layouts } from "./presets.ts";

const { twitter, sonyflake, baidu } = layouts;
const startMs = Date.UTC(2026, 10, 21);
const tickOf = (unixMs: number): number => unixMs - twitter.epochMs;

/** A rule whose monotonic clock is moved by hand, and that counts how often it is read. */
function setUp(): { rule: LeadRule; mono: { ms: number; reads: number }; read: () => number } {
  const rule = new LeadRule(twitter, leadLimits(twitter));
  const mono = { ms: 1_000.25, reads: 0 };
  rule.begin(tickOf(startMs), startMs);
  const read = (): number => {
    mono.reads++;
    return mono.ms;
  };
  return { rule, mono, read };
}

test.each([
  [twitter, 10, 2_000],
  [sonyflake, 10, 2_000],
  [baidu, 1_000, 2_000],
  [createLayout({ ...twitter, tickNs: 7_000_000 }), 10, 2_000],
  [createLayout({ ...twitter, tickNs: 60_000_000_000 }), 60_000, 120_000],
  [createLayout({ ...twitter, tickNs: 1_000 }), 10, 2_000],
])("a burst is at least one tick, the greatest lead at least two", (layout, burstMs, leadMaxMs) => {
  expect(leadLimits(layout)).toEqual({ burstMs, leadMaxMs });
  expect(leadLimits(layout, { burstMs: 0, leadMaxMs: 0 })).toEqual({
    burstMs: layout.tickNs / 1_000_000,
    leadMaxMs: (2 * layout.tickNs) / 1_000_000,
  });
});

test("without a debt the limit is the burst, and the monotonic clock is not read", () => {
  const { rule, mono, read } = setUp();
  rule.read(startMs + 5, tickOf(startMs), read);
  expect(rule.limitTick).toBe(tickOf(startMs + 15));
  expect(rule.debtMs).toBe(0);
  expect(mono.reads).toBe(0);
});

test("a step back of B adds B to the debt, at most what the last timestamp is ahead", () => {
  const { rule, read } = setUp();
  rule.read(startMs - 300, tickOf(startMs), read);
  expect(rule.debtMs).toBe(300);
  expect(rule.limitTick).toBe(tickOf(startMs + 10));
  rule.read(startMs - 500, tickOf(startMs), read);
  expect(rule.debtMs).toBe(500);
  const idle = setUp();
  idle.rule.read(startMs + 1_000, tickOf(startMs), idle.read);
  idle.rule.read(startMs + 400, tickOf(startMs), idle.read);
  expect(idle.rule.debtMs).toBe(0);
});

test("a debt is given back as the clock comes closer to the last timestamp", () => {
  const { rule, mono, read } = setUp();
  rule.read(startMs - 300, tickOf(startMs), read);
  mono.ms += 100;
  rule.read(startMs - 200, tickOf(startMs), read);
  expect(rule.debtMs).toBe(200);
  mono.ms += 100;
  // At full load the last timestamp advances, and the debt is not reduced.
  rule.read(startMs - 100, tickOf(startMs + 100), read);
  expect(rule.debtMs).toBe(200);
});

test("what the wall clock gains on the monotonic clock is taken off the debt", () => {
  const { rule, mono, read } = setUp();
  rule.read(startMs - 500, tickOf(startMs), read);
  mono.ms += 10;
  rule.read(startMs - 500 + 410, tickOf(startMs + 500), read);
  expect(rule.debtMs).toBe(100);
});

test("a clock that swings does not ratchet the debt up", () => {
  const { rule, mono, read } = setUp();
  let nowMs = startMs;
  for (let swing = 0; swing < 1_000; swing++) {
    mono.ms += 1;
    nowMs -= 50;
    rule.read(nowMs, tickOf(startMs + 10_000), read);
    mono.ms += 1;
    nowMs += 52;
    rule.read(nowMs, tickOf(startMs + 10_000), read);
  }
  // Each swing back is 49 ms below the monotonic course, each swing forward 51 ms above it.
  expect(rule.debtMs).toBeLessThanOrEqual(50);
});

test("what is gained is counted from the last step back, not from the first", () => {
  const { rule, mono, read } = setUp();
  const lastTick = tickOf(startMs + 5_000);
  rule.read(startMs - 500, lastTick, read);
  mono.ms += 10;
  rule.read(startMs - 800, lastTick, read);
  expect(rule.debtMs).toBe(800);
  mono.ms += 10;
  rule.read(startMs - 490, lastTick, read);
  expect(rule.debtMs).toBe(500);
});

test("rounding of the wall clock to milliseconds takes at most one millisecond off, however often it is read", () => {
  const { rule, mono, read } = setUp();
  rule.read(startMs - 500, tickOf(startMs), read);
  for (let step = 1; step <= 10_000; step++) {
    mono.ms += 0.0999;
    const nowMs = Math.floor(startMs - 500 + 0.7 + step * 0.0999);
    rule.read(nowMs, tickOf(nowMs + 500), read);
  }
  expect(rule.debtMs).toBeGreaterThanOrEqual(499);
});

test("a wait for a tick beyond what the debt reaches is as long as without debt", () => {
  const { rule, read } = setUp();
  rule.read(startMs - 300, tickOf(startMs), read);
  const wanted = tickOf(startMs + 15);
  expect(rule.permittedAtMs(wanted - 5, tickOf(startMs))).toBe(startMs - 300);
  const atMs = rule.permittedAtMs(wanted, tickOf(startMs));
  expect(atMs).toBe(startMs + 5);
  rule.read(atMs - 1, tickOf(startMs), read);
  expect(rule.limitTick).toBe(wanted - 1);
  rule.read(atMs, tickOf(startMs), read);
  expect(rule.limitTick).toBe(wanted);
});

test("no debt lifts the limit above the greatest lead", () => {
  const { rule, read } = setUp();
  rule.read(startMs - 1_995, tickOf(startMs), read);
  expect(rule.limitTick).toBe(tickOf(startMs + 5));
  expect(rule.isAboveLeadMax(tickOf(startMs + 6))).toBe(true);
  expect(rule.isAboveLeadMax(tickOf(startMs + 5))).toBe(false);
});

test("a grant that begins ahead of the clock begins with that as its debt", () => {
  const { rule } = setUp();
  rule.begin(tickOf(startMs + 700), startMs);
  expect(rule.debtMs).toBe(700);
  expect(rule.limitTick).toBe(tickOf(startMs + 710));
});

test("a rule without debt never lifts its limit", () => {
  const rule = new LeadRule(twitter, leadLimits(twitter), false);
  rule.begin(tickOf(startMs + 700), startMs);
  rule.read(startMs - 100, tickOf(startMs), () => 0);
  expect(rule.debtMs).toBe(0);
  expect(rule.limitTick).toBe(tickOf(startMs - 90));
});

test.each([
  [twitter, 37],
  [sonyflake, 37],
  [baidu, 37],
  [createLayout({ ...twitter, tickNs: 1_000 }), 37],
  [createLayout({ ...twitter, tickNs: 7_000_000 }), 37],
])("permittedAtMs is the first reading at which the tick is within the limit", (layout, aheadTicks) => {
  const rule = new LeadRule(layout, leadLimits(layout));
  rule.begin(0, startMs);
  const wanted = rule.limitTick + aheadTicks;
  const atMs = rule.permittedAtMs(wanted, 0);
  rule.read(atMs - 1, 0, () => 0);
  expect(rule.limitTick).toBeLessThan(wanted);
  rule.read(atMs, 0, () => 0);
  expect(rule.limitTick).toBeGreaterThanOrEqual(wanted);
});
