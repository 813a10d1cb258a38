import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { layouts } from "../../snowflake/presets.ts";
import { createTextCodec } from "../text-codec.ts";
import { findIds } from "./find-ids.ts";

const nowMs = Date.UTC(2026, 10, 27);
const codec = createTextCodec({ layout: layouts.twitter, namespace: "" });

const rows = readFileSync("test/vectors/find-ids.tsv", "utf8")
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line) => {
    const [group = "", text = "", answers = ""] = line.split("\t");
    return { group, text: JSON.parse(text) as string, answers: JSON.parse(answers) as [string, number, number][] };
  });

/** The finds, as the vectors write them. */
function answersOf(text: string): readonly (readonly [string, number, number])[] {
  const { finds, times } = findIds(text, { nowMs, codec });
  const ids = finds.map(({ kind, start, end }) => [kind, start, end] as const);
  const unixTimes = times.map(({ start, end }) => ["time", start, end] as const);
  return [...ids, ...unixTimes].toSorted(([, one], [, other]) => one - other);
}

test.each(rows)("$group: $text", ({ text, answers }) => {
  expect(answersOf(text)).toEqual(answers);
});
