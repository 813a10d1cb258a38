import { expect, test } from "vitest";
import { type ConnectionActivity, Deadlines, type Verdict } from "./deadlines.ts";
import { createLimits, type Limits } from "./limits.ts";
import { spreadAge } from "./spread-age.ts";

const calm: ConnectionActivity = {
  hasPeerSettings: true,
  isDraining: false,
  isIdle: false,
  requestCount: 1,
  isMidFrame: false,
  frameCount: 1,
  isMidBlock: false,
  blockCount: 1,
  isBlocked: false,
  unblockedCount: 0,
};

/** Checks every second, from 0 on, until there is an action to take; returns when, and which one. */
function firstVerdict(
  limits: Partial<Limits>,
  activityAt: (second: number) => Partial<ConnectionActivity>,
  { heardAt = () => true, ageShare = 1 }: { heardAt?: (second: number) => boolean; ageShare?: number } = {},
): readonly [second: number, verdict: Verdict] {
  const deadlines = new Deadlines(createLimits(limits), 0, ageShare);
  for (let second = 0; second < 1_000; second++) {
    if (heardAt(second)) deadlines.onReceived(second * 1_000);
    const verdict = deadlines.check(second * 1_000, { ...calm, ...activityAt(second) });
    if (verdict !== "fine") return [second, verdict];
  }
  return [1_000, "fine"];
}

test("a client that behaves is left alone", () => {
  expect(firstVerdict({}, (second) => ({ requestCount: second }))).toEqual([1_000, "fine"]);
});

test("a client that does not say its SETTINGS, whatever else it says", () => {
  expect(firstVerdict({}, () => ({ hasPeerSettings: false }))).toEqual([10, "handshakeTimeout"]);
});

test("a frame, or a header block, that goes on; not many of them one after another", () => {
  expect(firstVerdict({}, () => ({ isMidFrame: true }))).toEqual([10, "frameTimeout"]);
  expect(firstVerdict({}, (second) => ({ isMidFrame: true, frameCount: second }))).toEqual([1_000, "fine"]);
  expect(firstVerdict({}, (second) => ({ isMidBlock: true, frameCount: second }))).toEqual([10, "frameTimeout"]);
  expect(firstVerdict({}, (second) => ({ isMidBlock: true, blockCount: second }))).toEqual([1_000, "fine"]);
});

test("a break in between begins the time again", () => {
  expect(firstVerdict({}, (second) => ({ isMidFrame: second !== 9 }))).toEqual([20, "frameTimeout"]);
});

test("a socket that takes nothing; not one that takes something now and then", () => {
  expect(firstVerdict({}, () => ({ isBlocked: true }))).toEqual([30, "peerGone"]);
  expect(firstVerdict({}, (second) => ({ isBlocked: true, unblockedCount: Math.floor(second / 20) }))).toEqual([
    1_000,
    "fine",
  ]);
});

test("a silent client is asked whether it is there, and is gone if it does not answer", () => {
  const deadlines = new Deadlines(createLimits(), 0);
  expect(deadlines.check(59_999, calm)).toBe("fine");
  expect(deadlines.check(60_000, calm)).toBe("ping");
  // The client is asked only once.
  expect(deadlines.check(70_000, calm)).toBe("fine");
  expect(deadlines.check(80_000, calm)).toBe("peerGone");
});

test("any byte is an answer", () => {
  const deadlines = new Deadlines(createLimits(), 0);
  expect(deadlines.check(60_000, calm)).toBe("ping");
  deadlines.onReceived(79_999);
  expect(deadlines.check(80_000, calm)).toBe("fine");
  expect(deadlines.check(139_999, calm)).toBe("ping");
});

test("a client whose socket is blocked is not asked: the question would not leave", () => {
  const limits = { stallTimeoutMs: 200_000, keepAliveIntervalMs: 60_000 };
  const blocked = firstVerdict(limits, () => ({ isBlocked: true }), { heardAt: () => false });
  expect(blocked).toEqual([200, "peerGone"]);
});

test("a connection without requests is drained, one with a request now and then is not", () => {
  expect(firstVerdict({}, () => ({ isIdle: true }))).toEqual([600, "drain"]);
  expect(firstVerdict({}, (second) => ({ isIdle: true, requestCount: Math.floor(second / 500) }))).toEqual([
    1_000,
    "fine",
  ]);
});

test("an old connection is drained, if an age is set: each at nine tenths of it to all of it", () => {
  const drainedAt = (ageShare: number) => firstVerdict({ ageMaxMs: 300_000 }, () => ({}), { ageShare });
  expect([0, 0.5, 1].map(drainedAt)).toEqual([270, 285, 300].map((second) => [second, "drain"]));
  expect(spreadAge(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
});

test("connections that began together do not end together", () => {
  const ages = new Set(Array.from({ length: 100 }, () => spreadAge(300_000)));
  expect(ages.size).toBeGreaterThan(50);
  for (const age of ages) expect(age).toBeGreaterThanOrEqual(270_000);
  for (const age of ages) expect(age).toBeLessThanOrEqual(300_000);
});

test("a drain is not begun twice, and ends", () => {
  const draining = { isIdle: true, isDraining: true };
  expect(firstVerdict({ idleTimeoutMs: 1_000, drainTimeoutMs: 20_000 }, () => draining)).toEqual([20, "drainTimeout"]);
});
