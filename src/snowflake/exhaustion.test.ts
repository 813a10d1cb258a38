import { expect, test } from "vitest";
import { exhaustionOf, yearsLeftWarning } from "./exhaustion.ts";
import { layouts } from "./presets.ts";

const yearMs = 365.25 * 86_400_000;
const { twitter } = layouts;

test.each([
  [twitter.endMs - 10 * yearMs, 10, "fine"],
  [twitter.endMs - yearsLeftWarning * yearMs, yearsLeftWarning, "fine"],
  [twitter.endMs - yearsLeftWarning * yearMs + 1, yearsLeftWarning, "warning"],
  [twitter.endMs - 1, 0, "warning"],
  [twitter.endMs, 0, "exhausted"],
  [twitter.endMs + yearMs, -1, "exhausted"],
])("at %d ms there are %d years left: %s", (nowMs, yearsLeft, state) => {
  const exhaustion = exhaustionOf(twitter, nowMs);
  expect(exhaustion.yearsLeft).toBeCloseTo(yearsLeft, 6);
  expect(exhaustion.state).toBe(state);
  expect(exhaustion.endMs).toBe(twitter.endMs);
});

test("a layout that lasts as long as the calendar ends with the year 9999", () => {
  expect(exhaustionOf(layouts.yitter, 0).endTime).toBe("9999-12-31T23:59:59.999Z");
  expect(exhaustionOf(twitter, 0).endTime).toBe("2080-07-10T17:30:30.209Z");
});

test("uid-generator's own epoch ran out in 2024", () => {
  expect(exhaustionOf(layouts.baidu, Date.UTC(2024, 10, 20)).state).toBe("warning");
  expect(exhaustionOf(layouts.baidu, Date.UTC(2024, 10, 21)).state).toBe("exhausted");
});
