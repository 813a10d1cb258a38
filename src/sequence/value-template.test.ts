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
import { createPeriodClock, type Period } from "./period.ts";
import { checkTemplate, createValueWriter } from "./value-template.ts";

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
    expect(createValueWriter(template)(value, key)).toBe(text);
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

  test("never gives one text to two values, of one period or of two", () => {
    const fields = { none: "", day: "{yyyy}{MM}{dd}", month: "{yyyy}{MM}", year: "{yyyy}" } as const;
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
        const template = before + (isValueFirst ? value + fields[chosen] : fields[chosen] + value) + after;
        checkTemplate(template, chosen);
        const write = createValueWriter(template);
        const keyOf = createPeriodClock(chosen, chosen === "none" ? "" : "UTC");
        const [oneKey, otherKey] = [keyOf(oneDate.getTime()).key, keyOf(otherDate.getTime()).key];
        if (oneDate.getUTCFullYear() > 9_999 || otherDate.getUTCFullYear() > 9_999) return;
        expect(write(one, oneKey) === write(other, otherKey)).toBe(one === other && oneKey === otherKey);
      }),
    );
  });
});
