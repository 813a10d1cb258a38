import * as fc from "fast-check";
import { expect, test } from "vitest";
import { numberRange, numberRanges } from "./number-ranges.ts";
import { SettingError } from "./setting.ts";

const setting = numberRanges({ name: "ids", doc: "", countMax: 64 });

test("numbers and ranges are read in any order, and written the shortest way", () => {
  expect(setting.parse("7,0-3,2, 31")).toEqual([0, 1, 2, 3, 7, 31]);
  expect(setting.format([0, 1, 2, 3, 7, 9, 10])).toBe("0-3,7,9-10");
});

test("what is not a set of numbers is refused, and a range that would fill the memory at once", () => {
  for (const text of ["", ",", "a", "1-", "-1", "3-1", "1--2", "0-64", "0-9999999999", "1.5", "0-40,50-90"]) {
    expect(() => setting.parse(text), text).toThrow(SettingError);
  }
});

test("one range, or a single number, is read and written the same", () => {
  const range = numberRange({ name: "ids", doc: "" });
  expect(range.parse("512-1023")).toEqual({ first: 512, last: 1_023 });
  expect(range.parse("7")).toEqual({ first: 7, last: 7 });
  for (const text of ["512-1023", "7", "0-0"])
    expect(range.parse(range.format(range.parse(text)))).toEqual(range.parse(text));
  for (const text of ["", "1-", "-1", "3-1", "1--2", "1,3", "0-3,7", "a", "1.5", " 1-2", "1-99999999999"]) {
    expect(() => range.parse(text), text).toThrow(SettingError);
  }
});

test("every set comes back as it was", () => {
  const sets = fc.uniqueArray(fc.nat({ max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 64 });
  fc.assert(
    fc.property(sets, (numbers) => {
      const sorted = numbers.toSorted((one, other) => one - other);
      expect(setting.parse(setting.format(sorted))).toEqual(sorted);
    }),
  );
});
