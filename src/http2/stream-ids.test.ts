import { expect, test } from "vitest";
import { StreamIds } from "./stream-ids.ts";

test("a stream that is not open is idle, skipped, ignored or closed", () => {
  const ids = new StreamIds();
  expect(ids.kindOfClosed(1)).toBe("idle");
  ids.use(1);
  ids.use(3);
  ids.use(9);
  ids.ignore(3);
  expect([1, 2, 3, 5, 7, 9, 11].map((id) => ids.kindOfClosed(id))).toEqual([
    "closed",
    "idle",
    "ignored",
    "skipped",
    "skipped",
    "closed",
    "idle",
  ]);
});

test("what is remembered of ignored streams has a bound", () => {
  const ids = new StreamIds();
  for (let id = 1; id < 5_000; id += 2) {
    ids.use(id);
    ids.ignore(id);
  }
  expect(ids.kindOfClosed(1)).toBe("closed");
  expect(ids.kindOfClosed(4_999)).toBe("ignored");
});
