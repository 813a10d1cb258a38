import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exhaustionOf } from "../../src/snowflake/exhaustion.ts";
import { layouts, presetNames } from "../../src/snowflake/presets.ts";

const text = readFileSync(new URL("../../docs/layouts.md", import.meta.url), "utf8");
const rows = new Map(
  text
    .split("\n")
    .filter((line) => /^\| `[a-z0-9.-]+` +\|/.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")))
    .map(([, name = "", ...cells]) => [name, cells.slice(0, -1)]),
);

test.each(presetNames)("docs/layouts.md has %s as the code has it", (name) => {
  const layout = layouts[name];
  const { endTime, yearsLeft } = exhaustionOf(layout, Date.UTC(2027, 0, 1));
  const tickMs = layout.tickNs / 1_000_000;
  expect(rows.get(name)).toEqual([
    layout.fields.map(({ kind, bits }) => `${bits} ${kind}`).join(", "),
    tickMs < 1_000 ? `${tickMs} ms` : `${tickMs / 1_000} s`,
    new Date(layout.epochMs).toISOString(),
    endTime.slice(0, 10),
    Math.floor(yearsLeft).toLocaleString("en-US"),
    layout.workerCount.toLocaleString("en-US"),
    (((layout.sequence.max + 1) * 1_000) / tickMs).toLocaleString("en-US"),
  ]);
});
