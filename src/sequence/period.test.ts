import { describe, expect, test } from "vitest";
import { scale } from "../../test/support/worlds/scale.ts";
import { checkTimeZone, createPeriodClock, earliestStartMs, type PeriodClock } from "./period.ts";

const hourMs = 3_600_000;

/** Tells a zone's date by another way: the offset that the zone has then, added to the moment. */
function dateByOffset(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  return (ms) => {
    const offset = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(offset) ?? [];
    const offsetMs = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
    return new Date(ms + (sign === "-" ? -offsetMs : offsetMs)).toISOString().slice(0, 10);
  };
}

/** The first moment of a period between two, of which the later one lies in it. */
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
    expect(createPeriodClock("day", "UTC")(ms).key).toBe("2026-11-30");
    expect(createPeriodClock("day", "Europe/Berlin")(ms).key).toBe("2026-12-01");
    expect(createPeriodClock("month", "Europe/Berlin")(ms).key).toBe("2026-12");
    expect(createPeriodClock("year", "+14:00")(Date.UTC(2026, 11, 31, 10)).key).toBe("2027");
    expect(createPeriodClock("none", "")(ms)).toEqual({ key: "", askAgainMs: Number.POSITIVE_INFINITY });
  });

  test("of a date that comes back keeps its counter: St. John's, 29 October 2006", () => {
    const keyOf = createPeriodClock("day", "America/St_Johns");
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
      const [keyOf, dateOf] = [createPeriodClock("day", timeZone), dateByOffset(timeZone)];
      const [monthOf, yearOf] = [createPeriodClock("month", timeZone), createPeriodClock("year", timeZone)];
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
