import { describe, expect, test } from "vitest";
import { checkTimeZone, createPeriodClock, earliestStartMs } from "./period.ts";

const hourMs = 3_600_000;

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

  test("changes only at whole minutes, and begins no earlier than it says, in every zone through a year", () => {
    for (const timeZone of Intl.supportedValuesOf("timeZone")) {
      const keyOf = createPeriodClock("day", timeZone);
      for (let ms = Date.UTC(2026, 0, 1); ms < Date.UTC(2027, 0, 1); ms += 97 * hourMs) {
        const { key, askAgainMs } = keyOf(ms);
        expect(key).toMatch(/^202[567]-\d\d-\d\d$/);
        expect(askAgainMs - ms).toBe(60_000);
        expect(keyOf(askAgainMs - 1).key).toBe(key);
        expect(earliestStartMs(key)).toBeLessThanOrEqual(ms);
        expect(ms - earliestStartMs(key)).toBeLessThan(51 * hourMs);
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
