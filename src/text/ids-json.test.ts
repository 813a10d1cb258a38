import { expect, test } from "vitest";
import { ids } from "./ids-json.ts";

test("FIELD F10 (c): JSON.stringify with ids.toJSON writes every bigint as a string, and nothing else differently", () => {
  const order = { id: 2126432293437465084n, lines: [0n, { id: -1n }], n: 1, at: new Date(0), none: undefined };
  expect(JSON.stringify(order, ids.toJSON)).toBe(
    '{"id":"2126432293437465084","lines":["0",{"id":"-1"}],"n":1,"at":"1970-01-01T00:00:00.000Z"}',
  );
  expect(JSON.stringify(2126432293437465084n, ids.toJSON)).toBe('"2126432293437465084"');
  expect(() => JSON.stringify(order)).toThrow(TypeError);
});
