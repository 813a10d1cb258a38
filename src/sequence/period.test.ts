import { describe, expect, test } from "vitest";
import { scale } from "../../test/support/worlds/scale.ts";
import {
  checkTimeZone,
  checkYearStart,
  createPeriodClock,
  earliestStartMs,
  keyOfDay,
  type Period,
  type PeriodClock,
} from "./period.ts";

const hourMs = 3_600_000;
const clockOf = (period: Period, timeZone: string) => createPeriodClock({ period, timeZone, yearStart: "" });

/** Finds a zone's date in another way: by adding the zone's offset at that moment. */
function dateByOffset(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  return (ms) => {
    const offset = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(offset) ?? [];
    const offsetMs = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
    return new Date(ms + (sign === "-" ? -offsetMs : offsetMs)).toISOString().slice(0, 10);
  };
}

/** The first moment of a period, between two moments of which the later one is in it. */
function firstOf(key: string, keyOf: PeriodClock, beforeMs: number, ms: number): number {
  let [low, high] = [beforeMs, ms];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (keyOf(middle).key === key) high = middle;
    else low = middle;
  }
  return high;
}

describe("a period", () => {
  test("is named by its date in the zone", () => {
    const ms = Date.UTC(2026, 10, 30, 23, 30);
    expect(clockOf("day", "UTC")(ms).key).toBe("2026-11-30");
    expect(clockOf("day", "Europe/Berlin")(ms).key).toBe("2026-12-01");
    expect(clockOf("month", "Europe/Berlin")(ms).key).toBe("2026-12");
    expect(clockOf("year", "+14:00")(Date.UTC(2026, 11, 31, 10)).key).toBe("2027");
    expect(clockOf("none", "")(ms)).toEqual({ key: "", askAgainMs: Number.POSITIVE_INFINITY });
  });

  test.each<[Period, string, string, string]>([
    ["week", "", "2024-12-30", "2024-12-30"],
    ["week", "", "2025-01-05", "2024-12-30"],
    ["week", "", "2025-01-06", "2025-01-06"],
    ["week", "", "1969-12-31", "1969-12-29"],
    ["quarter", "", "2026-03-31", "2026-01-01"],
    ["quarter", "04-06", "2026-04-05", "2026-01-06"],
    ["quarter", "04-06", "2026-01-05", "2025-10-06"],
    ["quarter", "02-28", "2026-02-27", "2025-11-28"],
    ["fiscal-year", "04-01", "2026-03-31", "2025-04-01"],
    ["fiscal-year", "04-01", "2026-04-01", "2026-04-01"],
    ["fiscal-year", "04-06", "2026-04-05", "2025-04-06"],
    ["fiscal-month", "04-01", "2026-03-31", "2026-03-01"],
  ])("%s with years from %j on: %s lies in that of %s", (period, yearStart, day, key) => {
    expect(keyOfDay({ period, yearStart }, day)).toBe(key);
  });

  test("of every kind and start begins on its own first day, and keys rise with the days", () => {
    const kinds: readonly Period[] = ["day", "week", "month", "quarter", "year", "fiscal-month", "fiscal-year"];
    for (const period of kinds) {
      const starts =
        period === "quarter" || period === "fiscal-year" ? ["01-02", "04-01", "04-06", "12-28"] : ["04-01"];
      for (const yearStart of starts) {
        const rules = { period, yearStart };
        for (let ms = Date.UTC(1999, 0, 1), before = ""; ms < Date.UTC(2012, 0, 1); ms += 24 * hourMs) {
          const day = new Date(ms).toISOString().slice(0, 10);
          const key = keyOfDay(rules, day);
          const firstDay = `${key}${"-01-01".slice(key.length - 4)}`;
          expect([key >= before, firstDay <= day, keyOfDay(rules, firstDay)]).toEqual([true, true, key]);
          expect(key.length).toBeLessThanOrEqual(10);
          before = key;
        }
      }
    }
  });

  test.each<[Period, string, string]>([
    ["year", "4-1", "a month and a day"],
    ["year", "02-29", "a month and a day"],
    ["year", "13-01", "a month and a day"],
    ["month", "04-06", "whole months"],
    ["day", "04-01", "Only years"],
    ["week", "04-01", "Only years"],
    ["none", "04-01", "Only years"],
  ])("%s cannot have years from %s on", (period, yearStart, problem) => {
    expect(() => checkYearStart(period, yearStart)).toThrow(problem);
  });

  test("has a word of its own where its year does not begin in January", () => {
    expect(checkYearStart("year", "01-01")).toEqual({ period: "year", yearStart: "" });
    expect(checkYearStart("year", "04-01")).toEqual({ period: "fiscal-year", yearStart: "04-01" });
    expect(checkYearStart("month", "04-01")).toEqual({ period: "fiscal-month", yearStart: "04-01" });
    expect(checkYearStart("fiscal-year", "04-01")).toEqual({ period: "fiscal-year", yearStart: "04-01" });
    expect(checkYearStart("quarter", "04-06")).toEqual({ period: "quarter", yearStart: "04-06" });
  });

  test("of a date that comes back keeps its counter: St. John's, 29 October 2006", () => {
    const keyOf = clockOf("day", "America/St_Johns");
    const minutes = Array.from(
      { length: 180 },
      (_, minute) => keyOf(Date.UTC(2006, 9, 29, 1, 30) + minute * 60_000).key,
    );
    const runs = minutes.filter((key, index) => key !== minutes[index - 1]);
    expect(runs).toEqual(["2006-10-28", "2006-10-29", "2006-10-28", "2006-10-29"]);
  });

  /** 14 days of each zone; `SNOWLANE_TEST_SCALE=27 vitest run --project core period` takes the whole year. */
  test("is its zone's date, and changes only at whole minutes: every zone, each hour and each boundary", {
    timeout: 120_000 * scale,
  }, () => {
    const [yearMs, days] = [Date.UTC(2026, 0, 1), Math.min(365, 14 * scale)];
    for (const [index, timeZone] of Intl.supportedValuesOf("timeZone").entries()) {
      const [keyOf, dateOf] = [clockOf("day", timeZone), dateByOffset(timeZone)];
      const [monthOf, yearOf] = [clockOf("month", timeZone), clockOf("year", timeZone)];
      // Of another part of the year in each zone, where it is not all of it.
      const firstMs = yearMs + ((index * 14) % (366 - days)) * 24 * hourMs;
      for (let ms = firstMs, before = keyOf(ms).key; ms < firstMs + days * 24 * hourMs; ms += hourMs) {
        const { key, askAgainMs } = keyOf(ms);
        if (askAgainMs - ms !== 60_000) expect.fail(`${timeZone} asks again at ${askAgainMs}, after ${ms}`);
        if (key === before) continue;
        const turnMs = firstOf(key, keyOf, ms - hourMs, ms);
        for (const nearMs of [turnMs - 1, turnMs, ms]) {
          const [near, date] = [keyOf(nearMs).key, dateOf(nearMs)];
          const shorter = [monthOf(nearMs).key, yearOf(nearMs).key];
          expect([timeZone, near, ...shorter]).toEqual([timeZone, date, date.slice(0, 7), date.slice(0, 4)]);
          expect(earliestStartMs(near)).toBeLessThanOrEqual(nearMs);
          expect(nearMs - earliestStartMs(near)).toBeLessThan(51 * hourMs);
        }
        // Dates rise, and none of them comes back.
        expect([timeZone, turnMs % 60_000, key > before]).toEqual([timeZone, 0, true]);
        expect(keyOf(keyOf(turnMs - 60_000).askAgainMs - 1).key).toBe(before);
        before = key;
      }
    }
  });

  test.each(["Mars/Base", "GMT+3", "Europe/Berlinn", " UTC"])("does not take the zone %j", (zone) => {
    expect(() => checkTimeZone("day", zone)).toThrow(
      expect.objectContaining({
        reason: "INVALID_SEQUENCE",
        metadata: expect.objectContaining({ field: "time_zone" }),
      }),
    );
  });

  test("takes zones as Node names them, and none where there is no period", () => {
    expect(checkTimeZone("day", "")).toBe("UTC");
    expect(checkTimeZone("day", "europe/berlin")).toBe("Europe/Berlin");
    expect(checkTimeZone("year", "+03:00")).toBe("+03:00");
    expect(checkTimeZone("none", "")).toBe("");
    expect(() => checkTimeZone("none", "UTC")).toThrow(expect.objectContaining({ reason: "INVALID_SEQUENCE" }));
  });
});
