import { expect, test } from "vitest";
import { quarantineWords } from "./worker-rows.ts";

test("a quarantine's reason ends with one full stop, whether or not it came with one", () => {
  for (const reason of ["the store was restored", "the store was restored."]) {
    expect(quarantineWords({ untilMs: 0, reason })).toBe("until 1970-01-01T00:00:00.000Z: the store was restored.");
  }
});
