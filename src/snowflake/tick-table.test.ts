import { expect, test } from "vitest";
import { InvariantError } from "../assert.ts";
import { TickTable } from "./tick-table.ts";

test("a tick is known until one a whole span above it takes its slot", () => {
  const table = new TickTable(10);
  expect(table.next(3)).toBeUndefined();
  table.note(3, 5);
  table.note(12, 7);
  expect(table.next(3)).toBe(5);
  table.note(13, 1);
  expect(table.next(13)).toBe(1);
});

test("a tick a whole span below the highest is never tried again", () => {
  const table = new TickTable(10);
  table.note(3, 5);
  table.note(13, 1);
  expect(() => table.next(3)).toThrow(InvariantError);
  expect(() => {
    table.note(3, 6);
  }).toThrow(InvariantError);
  expect(table.next(4)).toBeUndefined();
});

test("a tick below the highest that was never entered is unused", () => {
  const table = new TickTable(10);
  table.note(15, 1);
  table.note(5 + 1, 2);
  expect(table.next(7)).toBeUndefined();
  expect(table.next(6)).toBe(2);
});

test("clearing forgets everything", () => {
  const table = new TickTable(10);
  table.note(100, 1);
  table.clear();
  expect(table.next(0)).toBeUndefined();
  expect(table.next(100)).toBeUndefined();
});
