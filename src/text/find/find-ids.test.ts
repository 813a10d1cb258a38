import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { layouts } from "../../snowflake/presets.ts";
import { createTextCodec } from "../text-codec.ts";
import { findIds, findIdsInSlices } from "./find-ids.ts";

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

test("a text of 10,000 lines is searched in slices of 10,000 characters, and nothing is missed or found twice", () => {
  const text = Array.from({ length: 10_000 }, (_, at) => String(1_541_815_603_606_036_480n + (BigInt(at) << 22n))).join(
    "\n",
  );
  const search = findIdsInSlices(text, { nowMs, codec });
  const marks: number[] = [];
  let step = search.next();
  for (; step.done !== true; step = search.next()) marks.push(step.value);
  const ends = marks.filter((mark, index) => index === 0 || mark > marks[index - 1]!);
  const lengths = ends.map((end, index) => end - (ends[index - 1] ?? 0));
  // A token may begin before the end of a slice, and is not cut.
  expect(Math.max(...lengths)).toBeLessThanOrEqual(10_100);
  expect(marks.length).toBeGreaterThanOrEqual(Math.floor(text.length / 10_100));
  expect(step.value).toEqual(findIds(text, { nowMs, codec }));
  expect(step.value.finds).toHaveLength(10_000);
});
