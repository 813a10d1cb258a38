import { expect, test } from "vitest";
import { type IntervalFlags, day, resolveInterval, spanBack, timePoint } from "./interval.ts";

const base = { name: "from", doc: "" };
const nowMs = Date.parse("2026-11-22T01:30:00Z");
const none: IntervalFlags = {
  last: undefined,
  on: undefined,
  from: undefined,
  to: undefined,
  utcOffsetMinutes: undefined,
};

function interval(flags: Partial<IntervalFlags>): readonly string[] | string {
  const resolved = resolveInterval({ ...none, ...flags }, nowMs);
  if (resolved.kind === "bad") return resolved.problems.map(({ place, hint }) => `${place}: ${hint}`).join("\n");
  return [resolved.value.startMs, resolved.value.endMs].map((ms) => new Date(ms).toISOString());
}

test("days are those of UTC, or of the offset", () => {
  const on = (value: string) => day(base).parse(value);
  expect(interval({ on: on("2026-11-21") })).toEqual(["2026-11-21T00:00:00.000Z", "2026-11-22T00:00:00.000Z"]);
  expect(interval({ on: on("yesterday") })).toEqual(["2026-11-21T00:00:00.000Z", "2026-11-22T00:00:00.000Z"]);
  // In New York it is still the 21st.
  const west = { utcOffsetMinutes: -300 };
  expect(interval({ on: on("today"), ...west })).toEqual(["2026-11-21T05:00:00.000Z", "2026-11-22T05:00:00.000Z"]);
  expect(interval({ on: on("2026-11-21"), ...west })).toEqual(["2026-11-21T05:00:00.000Z", "2026-11-22T05:00:00.000Z"]);
});

test("an interval ends now unless it says otherwise, and a time with its offset heeds no other", () => {
  const at = (value: string) => timePoint(base).parse(value);
  const now = new Date(nowMs).toISOString();
  expect(interval({ last: spanBack(base).parse("24h") })).toEqual(["2026-11-21T01:30:00.000Z", now]);
  expect(interval({ last: spanBack(base).parse("7d") })).toEqual(["2026-11-15T01:30:00.000Z", now]);
  expect(interval({ from: at("yesterday") })).toEqual(["2026-11-21T00:00:00.000Z", now]);
  expect(interval({ from: at("2026-11-01T08:00:00+08:00"), to: at("tomorrow"), utcOffsetMinutes: 60 })).toEqual([
    "2026-11-01T00:00:00.000Z",
    "2026-11-22T23:00:00.000Z",
  ]);
});

test("none, several and half an interval are refused in one line", () => {
  const at = (value: string) => timePoint(base).parse(value);
  const choice = "The interval: Give one of --last 24h, --on 2026-11-21, or --from with --to.";
  expect(interval({})).toBe(choice);
  expect(interval({ last: 1, from: at("today") })).toBe(choice);
  expect(interval({ on: at("today"), to: at("now") })).toBe(choice);
  expect(interval({ to: at("now") })).toMatch(/^--to: /);
});

test("what is not a day, a time or a span is refused", () => {
  for (const value of ["2026-02-30", "2026-13-01", "26-01-01", "Yesterday", "toString", "", "2026-11-21T08:00:00"]) {
    expect(() => timePoint(base).parse(value), value).toThrow("a date");
  }
  expect(() => day(base).parse("now")).toThrow("a date");
  for (const value of ["24", "0h", "1.5h", "-1h", "1w", "9999999999s", "36526d", ""]) {
    expect(() => spanBack(base).parse(value), value).toThrow("such as 24h");
  }
});
