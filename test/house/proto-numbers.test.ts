import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Fields of 64 bits whose numbers stay far below 2^53, by their names. Durations, and counts of things that exist. */
const small = new Set([
  "after_index",
  "batch_count_max",
  "call_count",
  "connection_count",
  "count",
  "epoch",
  "error_count",
  "free_count",
  "generation",
  "ids_count",
  "increment",
  "index",
  "never_held_count",
  "process_id",
  "step_max",
  "step_min",
  "values_count",
  "waiting_count",
  "worker_id_count",
]);

test("FIELD F6: every field that can pass 2^53 asks generators of JavaScript for a string, so that no digit is lost", () => {
  const folder = "proto/snowlane/v1";
  const text = readdirSync(folder)
    .map((name) => readFileSync(`${folder}/${name}`, "utf8"))
    .join("");
  const fields = [...text.matchAll(/^ +(?:optional |repeated )?s?u?(?:int|fixed)64 (\w+) = \d+(.*);$/gm)];
  expect(fields.length).toBeGreaterThan(40);
  const unsaid = fields.filter(([, name = "", option]) => option !== " [jstype = JS_STRING]" && !small.has(name));
  expect(unsaid.map(([line]) => line.trim())).toEqual([]);
});
