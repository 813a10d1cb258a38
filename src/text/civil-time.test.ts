import { expect, test } from "vitest";
import { civilFromSeconds, lastDayOfMonth, secondsFromCivil } from "./civil-time.ts";

const daySeconds = 86_400;
/** 0000-01-01 and 9999-12-31, in days since 1970-01-01. */
const firstDay = -719_528;
const lastDay = 2_932_896;

test("every day of the years 0 to 9999 follows the one before, and reads back", () => {
  let expected = { year: 0, month: 1, day: 1 };
  for (let days = firstDay; days <= lastDay; days++) {
    const civil = civilFromSeconds(days * daySeconds);
    if (civil.day !== expected.day || civil.month !== expected.month || civil.year !== expected.year)
      throw new Error(`day ${days}: ${JSON.stringify(civil)} instead of ${JSON.stringify(expected)}`);
    if (secondsFromCivil(civil) !== days * daySeconds) throw new Error(`day ${days} does not read back`);
    const { year, month, day } = expected;
    if (day < lastDayOfMonth(year, month)) expected = { year, month, day: day + 1 };
    else expected = month < 12 ? { year, month: month + 1, day: 1 } : { year: year + 1, month: 1, day: 1 };
  }
  expect(expected).toEqual({ year: 10_000, month: 1, day: 1 });
});

test("seconds of a day are those of Date", () => {
  for (let second = -daySeconds; second < daySeconds; second += 7) {
    const { year, month, day, hour, minute, second: rest } = civilFromSeconds(second);
    expect(Date.UTC(year, month - 1, day, hour, minute, rest)).toBe(second * 1_000);
  }
});
