import {
  assert,
  bigInt,
  boolean as anyBoolean,
  constantFrom,
  date,
  integer,
  oneof,
  property,
  stringMatching,
  tuple,
} from "fast-check";
import { describe, expect, test } from "vitest";
import { scale } from "../../test/support/worlds/scale.ts";
import { createPeriodClock, keyOfDay, type Period } from "./period.ts";
import { checkTemplate, createValueWriter, templateProblem } from "./value-template.ts";

describe("a template", () => {
  test.each<[string, Period, bigint, string, string]>([
    ["INV-{value:06}", "none", 42n, "", "INV-000042"],
    ["INV-{value:06}", "none", 12_345_678n, "", "INV-12345678"],
    ["{value}", "none", 2n ** 63n - 1n, "", "9223372036854775807"],
    ["{yyyy}{MM}{dd}/{value:03}", "day", 7n, "2026-11-22", "20261122/007"],
    ["{MM}.{yyyy}-{value}", "month", 7n, "2026-11", "11.2026-7"],
    ["R{yyyy}{value}", "year", 7n, "2026", "R20267"],
  ])("%s of the period %s writes %s of %s as %s", (template, period, value, key, text) => {
    checkTemplate(template, period);
    expect(createValueWriter(template, { period, yearStart: "" })(value, key)).toBe(text);
  });

  test.each<[string, Period]>([
    ["INV", "none"],
    ["{value}{value}", "none"],
    ["{value:00}", "none"],
    ["{value:020}", "none"],
    ["{value:6}", "none"],
    ["{Value}", "none"],
    ["{value", "none"],
    ["value}", "none"],
    ["{{value}}", "none"],
    ["{}{value}", "none"],
    ["{yyyy}{value}", "none"],
    ["{value}", "year"],
    ["{yyyy}{value}", "month"],
    ["{yyyy}{MM}{value}", "day"],
    ["{yyyy}{MM}{dd}{value}", "month"],
    ["{ww}{value}", "week"],
    ["{yyyy}{value}", "week"],
    ["{yyyy}{MM}{dd}{value}", "week"],
    ["{q}{value}", "quarter"],
    ["{yyyy}{value}", "quarter"],
    ["{yyyy}{MM}{value}", "fiscal-year"],
    ["{yyyy}{value}", "fiscal-month"],
    ["{yyyy+2}{value}", "fiscal-year"],
    ["a\u0007{value}", "none"],
    ["\ud800{value}", "none"],
    [`${"x".repeat(100)}{value}`, "none"],
  ])("%j of the period %s is refused with its field", (template, period) => {
    expect(() => checkTemplate(template, period)).toThrow(
      expect.objectContaining({
        reason: "INVALID_SEQUENCE",
        metadata: expect.objectContaining({ field: "text_template" }),
      }),
    );
  });

  test.each<[string, Period, string, string, string]>([
    ["{yyyy}-{yy+1}/{value:05}", "fiscal-year", "04-01", "2026-04-01", "2026-27/00042"],
    ["{yyyy+1}/{value}", "fiscal-year", "04-01", "2026-04-01", "2027/42"],
    ["{yy}{yy+1}-{value}", "fiscal-year", "04-01", "2099-04-01", "9900-42"],
    ["{yy}{value:03}", "year", "", "2026", "26042"],
    ["{yyyy}W{ww}-{value}", "week", "", "2024-12-30", "2025W01-42"],
    ["{yyyy}W{ww}-{value}", "week", "", "2026-12-28", "2026W53-42"],
    ["{yyyy}Q{q}-{value}", "quarter", "", "2026-10-01", "2026Q4-42"],
    ["{yyyy}Q{q}-{value}", "quarter", "04-06", "2026-01-06", "2025Q4-42"],
    ["{yyyy}{MM}-{value}", "fiscal-month", "04-01", "2026-03-01", "202503-42"],
  ])("%s of %s from %j on writes 42 of %s as %s", (template, period, yearStart, key, text) => {
    checkTemplate(template, period);
    expect(templateProblem(template, { period, yearStart }, key)).toBeUndefined();
    expect(createValueWriter(template, { period, yearStart })(42n, key)).toBe(text);
  });

  test("with two digits of a year writes the years 2000 to 2099, and no others", () => {
    const problemOf = (template: string, key: string) =>
      templateProblem(template, { period: "fiscal-year", yearStart: "04-01" }, key);
    for (const template of ["{yy}{value}", "{yy+1}{value}"]) {
      expect(problemOf(template, "1999-04-01")).toContain("the period is of 1999");
      expect(problemOf(template, "2000-04-01")).toBeUndefined();
      expect(problemOf(template, "2099-04-01")).toBeUndefined();
      expect(problemOf(template, "2100-04-01")).toContain("the period is of 2100");
    }
    expect(problemOf("{yyyy}{value}", "2100-04-01")).toBeUndefined();
  });

  /** Two years of days from each of some; `SNOWLANE_TEST_SCALE=50` takes all of a century. */
  test("never gives one text to two periods: every kind, every start of a year, every field of the year", () => {
    const starts = Array.from({ length: 12 }, (_, month) =>
      Array.from({ length: 28 }, (_, day) =>
        [month + 1, day + 1].map((part) => String(part).padStart(2, "0")).join("-"),
      ),
    ).flat();
    const kinds: readonly (readonly [Period, string, readonly string[]])[] = [
      ["day", "{MM}{dd}", [""]],
      ["month", "{MM}", [""]],
      ["year", "", [""]],
      ["week", "{ww}", [""]],
      ["quarter", "{q}", starts],
      ["fiscal-year", "", starts],
      ["fiscal-month", "{MM}", starts.filter((start) => start.endsWith("-01"))],
    ];
    const years = Math.min(100, 2 * scale);
    for (const [period, fields, ofKind] of kinds) {
      for (const [at, yearStart] of ofKind.entries()) {
        const rules = { period, yearStart };
        const texts = new Map<string, string>();
        const firstMs = Date.UTC(2000 + ((at * 7) % (100 - years)), 0, 1);
        const yearField = ["{yyyy}", "{yy}", "{yyyy+1}", "{yy+1}"][at % 4]!;
        const template = `${yearField}${fields}/{value}`;
        checkTemplate(template, period);
        const write = createValueWriter(template, rules);
        for (let ms = firstMs; ms < firstMs + years * 366 * 86_400_000; ms += 86_400_000) {
          const key = keyOfDay(rules, new Date(ms).toISOString().slice(0, 10));
          if (templateProblem(template, rules, key) !== undefined) continue;
          const text = write(7n, key);
          if (!texts.has(text)) texts.set(text, key);
          else if (texts.get(text) !== key)
            expect.fail(`${period} ${yearStart}: ${text} is of ${texts.get(text)} and ${key}`);
        }
        expect(texts.size).toBeGreaterThanOrEqual(years);
      }
    }
  });

  /** Two starts of each zone; `SNOWLANE_TEST_SCALE=168` takes every start in every zone. */
  test("gives each period one text, and no two periods the same, in every zone and with every start of the year", {
    timeout: 120_000 * scale,
  }, () => {
    const kinds: readonly (readonly [Period, string])[] = [
      ["day", "{MM}{dd}"],
      ["month", "{MM}"],
      ["year", ""],
      ["week", "{ww}"],
      ["quarter", "{q}"],
      ["fiscal-year", ""],
      ["fiscal-month", "{MM}"],
    ];
    const starts = Array.from({ length: 12 * 28 }, (_, at) => `${pad(1 + (at % 12))}-${pad(1 + Math.floor(at / 12))}`);
    const zones = Intl.supportedValuesOf("timeZone");
    const perZone = Math.min(starts.length, 2 * scale);
    const texts = new Map<string, string>();
    const keys = new Map<string, string>();
    for (const [zoneAt, timeZone] of zones.entries()) {
      for (let turn = 0; turn < perZone; turn += 1) {
        const start = starts[(zoneAt * perZone + turn) % starts.length]!;
        for (const [period, fields] of kinds) {
          const yearStart = ofStart(period, start);
          const rules = { period, yearStart, timeZone };
          const yearField = ["{yyyy}", "{yy}", "{yyyy+1}", "{yy+1}"][(zoneAt + turn) % 4]!;
          const template = `${yearField}${fields}/{value}`;
          const write = createValueWriter(template, rules);
          const keyOf = createPeriodClock(rules);
          for (const ms of momentsNear(start)) {
            const { key } = keyOf(ms);
            if (templateProblem(template, rules, key) !== undefined) continue;
            const sequence = `${period} ${yearStart} ${template}`;
            const [ofKey, ofText] = [`${sequence} ${key}`, `${sequence} ${write(7n, key)}`];
            if ((texts.get(ofKey) ?? ofText) !== ofText) expect.fail(`${ofKey}: ${texts.get(ofKey)} and ${ofText}`);
            if ((keys.get(ofText) ?? ofKey) !== ofKey) expect.fail(`${ofText}: ${keys.get(ofText)} and ${ofKey}`);
            texts.set(ofKey, ofText);
            keys.set(ofText, ofKey);
          }
        }
      }
    }
    expect(texts.size).toBe(keys.size);
    expect(texts.size).toBeGreaterThan(zones.length);
  });

  test("never gives one text to two values, of one period or of two", () => {
    const fields: Partial<Record<Period, string>> = {
      none: "",
      day: "{yyyy}{MM}{dd}",
      month: "{yyyy}{MM}",
      year: "{yyyy}",
    };
    const period = constantFrom<Period>("none", "day", "month", "year");
    const literal = stringMatching(/^[A-Z0-9-]{0,3}$/);
    const numbered = tuple(bigInt({ min: 1n, max: 2n ** 63n - 1n }), date({ min: new Date(0), noInvalidDate: true }));
    const near = tuple(
      bigInt({ min: 1n, max: 2_000n }),
      date({ min: new Date(0), max: new Date(1e12), noInvalidDate: true }),
    );
    const entry = oneof(numbered, near);
    assert(
      property(period, literal, literal, integer({ min: 0, max: 19 }), anyBoolean(), entry, entry, (...given) => {
        const [chosen, before, after, digits, isValueFirst, [one, oneDate], [other, otherDate]] = given;
        const value = digits === 0 ? "{value}" : `{value:0${digits}}`;
        const template = before + (isValueFirst ? value + fields[chosen]! : fields[chosen]! + value) + after;
        checkTemplate(template, chosen);
        const write = createValueWriter(template, { period: chosen, yearStart: "" });
        const keyOf = createPeriodClock({ period: chosen, timeZone: chosen === "none" ? "" : "UTC", yearStart: "" });
        const [oneKey, otherKey] = [keyOf(oneDate.getTime()).key, keyOf(otherDate.getTime()).key];
        if (oneDate.getUTCFullYear() > 9_999 || otherDate.getUTCFullYear() > 9_999) return;
        expect(write(one, oneKey) === write(other, otherKey)).toBe(one === other && oneKey === otherKey);
      }),
    );
  });
});

function pad(part: number): string {
  return String(part).padStart(2, "0");
}

/** The start of years that a kind of period may have. */
function ofStart(period: Period, start: string): string {
  if (period === "fiscal-month") return `${start.slice(0, 3)}01`;
  return period === "quarter" || period === "fiscal-year" ? start : "";
}

/** Moments around the beginning of years, of quarters and of weeks, in every zone. */
function momentsNear(start: string): readonly number[] {
  const hourMs = 3_600_000;
  return [2000, 2025, 2099].flatMap((year) => {
    const ms = Date.parse(`${year}-${start}T00:00:00Z`);
    const near = [-15 * hourMs, -hourMs, -1, 0, 11 * hourMs, 15 * hourMs];
    const later = [0, 7, 31, 92].map((days) => days * 24 * hourMs);
    return later.flatMap((laterMs) => near.map((nearMs) => ms + laterMs + nearMs));
  });
}
