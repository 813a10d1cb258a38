import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { grantWindow, isBehind, markMax, quarantineMs, renewalMark, type WindowRules } from "./window.ts";

const rules: WindowRules = { windowMs: 10_000, leadMaxMs: 2_000, windowMaxMs: 30_000, behindMaxMs: 300_000 };
const none = Number.NEGATIVE_INFINITY;

describe("the window of a grant", () => {
  test("begins at the highest of mark, clock and floor", () => {
    const at = { wallMs: 1_000, storeMs: undefined, markMs: none, floorMs: none };
    expect(grantWindow(rules, at)).toEqual({ fromMs: 1_000, untilMs: 11_000 });
    expect(grantWindow(rules, { ...at, markMs: 2_500 })).toEqual({ fromMs: 2_500, untilMs: 12_500 });
    expect(grantWindow(rules, { ...at, markMs: 2_500, floorMs: 2_600 })).toEqual({ fromMs: 2_600, untilMs: 12_600 });
  });

  test("is not to be had further ahead of the clock than the lead", () => {
    const at = { wallMs: 1_000, storeMs: undefined, markMs: 3_000, floorMs: none };
    expect(grantWindow(rules, at)).toBeDefined();
    expect(grantWindow(rules, { ...at, markMs: 3_001 })).toBeUndefined();
    expect(grantWindow(rules, { ...at, floorMs: 3_001 })).toBeUndefined();
  });

  test("ends no later than the store's clock allows, and is not to be had if that leaves less than half", () => {
    const at = { storeMs: 1_000, markMs: none, floorMs: none };
    expect(grantWindow(rules, { ...at, wallMs: 4_000 })).toEqual({ fromMs: 4_000, untilMs: 14_000 });
    expect(grantWindow(rules, { ...at, wallMs: 5_000 })).toEqual({ fromMs: 5_000, untilMs: 14_000 });
    expect(grantWindow(rules, { ...at, wallMs: 9_000 })).toEqual({ fromMs: 9_000, untilMs: 14_000 });
    expect(grantWindow(rules, { ...at, wallMs: 9_001 })).toBeUndefined();
  });
});

describe("the mark of a renewal", () => {
  test("is one window above clock and use", () => {
    const at = { wallMs: 1_000, storeMs: undefined, lastMs: 500, markMs: 0 };
    expect(renewalMark(rules, at)).toBe(11_000);
    expect(renewalMark(rules, { ...at, lastMs: 1_700 })).toBe(11_700);
  });

  test("is never lower than the stored mark, never above clock, lead and window, nor what the store's clock allows", () => {
    const time = fc.integer({ min: 0, max: 100_000 });
    const maybe = fc.option(time, { nil: undefined });
    fc.assert(
      fc.property(time, maybe, time, time, (wallMs, storeMs, lastMs, markMs) => {
        const mark = renewalMark(rules, { wallMs, storeMs, lastMs, markMs });
        expect(mark).toBeGreaterThanOrEqual(markMs);
        const allowed = Math.min(wallMs + 12_000, markMax(rules, storeMs));
        expect(mark).toBeLessThanOrEqual(Math.max(markMs, allowed));
      }),
    );
  });
});

test("a quarantine lasts as long as the longest window, the lead and the error of two clocks", () => {
  expect(quarantineMs(rules)).toBe(33_000);
});

test("being behind counts only against a store's clock", () => {
  expect(isBehind(rules, 0, undefined)).toBe(false);
  expect(isBehind(rules, 0, 300_000)).toBe(false);
  expect(isBehind(rules, 0, 300_001)).toBe(true);
});
