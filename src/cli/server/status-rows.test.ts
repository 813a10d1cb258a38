import { expect, test } from "vitest";
import type { SecondSample } from "../../service/message/status-message.ts";
import { type ShownStatus, statusToTable } from "./status-rows.ts";

const nowMs = Date.UTC(2026, 10, 28);
const status: ShownStatus = {
  server: "http://127.0.0.1:7609",
  nowMs,
  serving: true,
  reason: "",
  phase: "holding",
  startMs: nowMs,
  grant: { datacenterId: 1, workerId: 2, generation: 3, sinceMs: nowMs, windowLeftMs: 8_000, leadMs: 0 },
  store: { kind: "postgres", reachable: true, answerAgeMs: 40, clockAheadMs: undefined },
  waiting: 0,
  connections: 2,
  neverHeld: 1_019,
  samples: [],
};

/** A line of what is shown. */
function lineOf(name: string, changed: Partial<ShownStatus>): string | undefined {
  const text = statusToTable({ ...status, ...changed }, (_, text) => text);
  return text
    .split("\n")
    .find((line) => line.startsWith(name))
    ?.slice(8);
}

// The line used to be "sqlite, answered 0.0 s ago, unreachable".
test("OPERATIONS 18: a store whose writes fail while it answers reads is shown by two sentences that are both true", () => {
  const storeOf = (store: Partial<ShownStatus["store"]>) => lineOf("store", { store: { ...status.store, ...store } });
  expect(storeOf({})).toBe("postgres, last answered 0.0 s ago");
  expect(storeOf({ reachable: false })).toBe("postgres, a call to it failed, last answered 0.0 s ago");
  expect(storeOf({ reachable: false, answerAgeMs: undefined })).toBe("postgres, never answered");
});

test("a store's clock is ahead or behind, and never a negative time ahead", () => {
  const clockOf = (clockAheadMs: number) => lineOf("store", { store: { ...status.store, clockAheadMs } });
  expect(clockOf(12.4)).toContain("its clock is 12 ms ahead");
  expect(clockOf(-3.2)).toContain("its clock is 3 ms behind");
  expect(clockOf(-0.2)).toContain("its clock is 0 ms ahead");
});

test("a window of which nothing is left is used up, and a server without a worker ID has none", () => {
  const grant = { ...status.grant!, windowLeftMs: 0 };
  expect(lineOf("window", {})).toBe("8.0 s left");
  expect(lineOf("window", { grant })).toBe("used up");
  expect(lineOf("window", { grant: undefined })).toBe("-");
});

test("one connection is one, and one call waits", () => {
  expect(lineOf("server", { connections: 1, waiting: 1 })).toMatch(/, 1 connection, 1 call waiting$/);
  expect(lineOf("server", {})).toMatch(/, 2 connections, 0 calls waiting$/);
});

test("errors are named by their codes, the most frequent first, and without any there is no such line", () => {
  const quiet: SecondSample = {
    index: 1,
    timeMs: nowMs,
    ids: 0,
    values: 0,
    calls: 0,
    errors: 0,
    errorCodes: [],
    p50Ms: undefined,
    p99Ms: undefined,
    leadMs: undefined,
    windowLeftMs: undefined,
  };
  const failed = (code: string, count: number) => ({ ...quiet, errors: count, errorCodes: [{ code, count }] });
  const samples = [failed("CANCELLED", 2), quiet, failed("INTERNAL", 3), failed("CANCELLED", 2)];
  expect(lineOf("Errors of these 5 minutes", { samples })).toContain(": CANCELLED 4, INTERNAL 3");
  expect(lineOf("Errors", { samples: [quiet] })).toBeUndefined();
});
