import { expect, test } from "vitest";
import { encodeFields } from "./encoder.ts";

const hex = (fields: readonly (readonly [string, string])[]): string => encodeFields(fields).toString("hex");

test("a status of the static table is one byte, another one is written out", () => {
  expect(hex([[":status", "200"]])).toBe("88");
  expect(hex([[":status", "418"]])).toBe("0803343138");
});

test("a name of the static table is an index, and nothing is put into the client's table", () => {
  expect(hex([["content-type", "a"]])).toBe("0f100161");
  expect(hex([["x", "y"]])).toBe("0001780179");
});

test("a long value has a length of several bytes", () => {
  expect(hex([["x", "y".repeat(300)]]).slice(0, 12)).toBe("0001787fad01");
});

test("a field that would be malformed is refused", () => {
  expect(() => hex([["X", "y"]])).toThrow(TypeError);
  expect(() => hex([["x", "y\r\nz: 1"]])).toThrow(TypeError);
  expect(() => hex([["x", "\u4e2d"]])).toThrow(TypeError);
});
