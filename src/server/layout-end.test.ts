import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { yearsLeftWarning } from "../snowflake/exhaustion.ts";
import { layouts } from "../snowflake/presets.ts";
import { watchLayoutEnd } from "./layout-end.ts";
import { createLog } from "./log.ts";

const dayMs = 86_400_000;
const layout = layouts.twitter;

/** A watch that begins `daysBefore` days before the layout ends, and the levels of its log lines. */
function watched(daysBefore: number): {
  readonly levels: string[];
  readonly time: ManualTime;
  readonly end: () => void;
} {
  const time = new ManualTime(layout.endMs - daysBefore * dayMs);
  const levels: string[] = [];
  const write = (line: string): void => void levels.push((JSON.parse(line) as { level: string }).level);
  const log = createLog({ level: "debug", format: "json", write, nowMs: () => time.nowMs() });
  return { levels, time, end: watchLayoutEnd({ layout, clock: time, timers: time, log }) };
}

test("nothing is said while the layout lasts for more than five years, then a warning a day", async () => {
  const { levels, time, end } = watched(yearsLeftWarning * 365.25 + 2.5);
  await time.run(2 * dayMs);
  expect(levels).toEqual([]);
  await time.run(2 * dayMs);
  expect(levels).toEqual(["warn", "warn"]);
  end();
  await time.run(9 * dayMs);
  expect(levels).toHaveLength(2);
});

test("a server that starts close to the end warns at once, and after the end it is an error", async () => {
  const { levels, time } = watched(1.5);
  expect(levels).toEqual(["warn"]);
  await time.run(2 * dayMs);
  expect(levels).toEqual(["warn", "warn", "error"]);
});
