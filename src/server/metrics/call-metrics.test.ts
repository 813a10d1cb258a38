import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { type GuardedCall, newNotes } from "../call/call-guard.ts";
import { traitsOf } from "../call/method-table.ts";
import { unknownPeer } from "../call/peer.ts";
import { CallMetrics } from "./call-metrics.ts";

const path = "/snowlane.v1.IdService/NextId";

function setUp() {
  const clock = { now: 0, nowMs: () => 0, monotonicMs: () => clock.now };
  const metrics = new CallMetrics(clock);
  const call = (startedMs: number | undefined): GuardedCall => ({
    traits: traitsOf(path),
    peer: unknownPeer,
    notes: newNotes(),
    startedMs,
    header: () => undefined,
  });
  const counts = () => metrics.methods().find(({ method }) => `/${method}` === path)!;
  return { clock, metrics, call, counts };
}

test("calls that were answered in their turns take the time of the next turn that is timed", () => {
  const { metrics, call, counts } = setUp();
  const answer = (): void => {
    const one = call(undefined);
    metrics.begin(one);
    metrics.end(one, undefined);
  };
  for (let count = 0; count < 5; count++) answer();
  expect(metrics.onTurn(0.02)).toBe(true);
  expect(metrics.onTurn(7)).toBe(false);
  expect(counts().latency.sumMs).toBeCloseTo(0.1);
  // Calls for which no turn was timed before a scrape count as long as the last timed ones.
  answer();
  expect(counts().latency.sumMs).toBeCloseTo(0.12);
  expect(counts().latency.counts.reduce((sum, count) => sum + count, 0)).toBe(6);
  expect([counts().ok, counts().openCount, counts().untimed]).toEqual([6, 0, 0]);
});

test("a call that waits is timed by itself, and is open until it ends", () => {
  const { clock, metrics, call, counts } = setUp();
  const one = call(100);
  metrics.begin(one);
  expect(counts().openCount).toBe(1);
  clock.now = 130;
  metrics.end(one, new ConnectError("no", Code.Unavailable));
  expect([counts().latency.sumMs, counts().failed[Code.Unavailable], counts().openCount]).toEqual([30, 1, 0]);
});

test("a method that is registered later has counts of its own", () => {
  const { metrics, call } = setUp();
  const traits = traitsOf("/snowlane.v1.IdService/LateMethod");
  const one = { ...call(0), traits };
  metrics.begin(one);
  metrics.end(one, undefined);
  expect(metrics.methods().map(({ method }) => method)).toContain("snowlane.v1.IdService/LateMethod");
  metrics.unread(undefined, new ConnectError("none", Code.Unimplemented));
  expect(metrics.methods().at(-1)).toMatchObject({ method: "other", begun: 1 });
  expect(metrics.refused.get("undecodable")).toBe(1);
});
