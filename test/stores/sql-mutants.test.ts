/** Slips in the statements that sequences send to their database, one at a time, and the tests that notice them. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sqlAnswers } from "../mutants/answers.ts";
import { isNoticed } from "../mutants/is-noticed.ts";
import { sqlFiles, sqlStages } from "../mutants/mutated-files.ts";
import { mutantsOf, type SourceMutant } from "../mutants/source-mutants.ts";
import { sized } from "../support/worlds/scale.ts";

const mutants: readonly SourceMutant[] = sqlFiles
  .flatMap((file) => mutantsOf(file, readFileSync(file, "utf8")))
  .filter(({ name }) => / \| SQL /.test(name));

/** Two that a file's database notices; `npm run all -- sql-mutants` tries all, on real servers too. */
const shown = [
  "SQL condition holds always | t.write_id = :noteBefore",
  "SQL condition holds always | raised_revision = revision",
];

const laneCount = 2;

test("each statement of sequences has slips; those that may survive have one of five reasons", () => {
  const names = new Set(mutants.map(({ name }) => name));
  expect(names.size).toBeGreaterThan(150);
  expect(Object.keys(sqlAnswers).filter((name) => !names.has(name))).toEqual([]);
  expect(new Set(Object.values(sqlAnswers)).size).toBeLessThanOrEqual(5);
});

test("a slip in a statement of sequences is noticed by a test", { timeout: 3_600_000 }, async () => {
  const few = mutants.filter(({ name }) => shown.some((rule) => name.endsWith(rule)));
  expect(few.length).toBe(shown.length);
  const file = sqlFiles.at(-1)!;
  const sound = { file, text: readFileSync(file, "utf8") };
  expect(await isNoticed(sound, sized(sqlStages.slice(0, 1), sqlStages)), "without any slip").toBe(false);
  const left = sized(few, mutants).filter(({ name }) => sqlAnswers[name] === undefined);
  const survivors: string[] = [];
  const lane = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      if (!(await isNoticed(mutant, sqlStages))) survivors.push(`${mutant.file}:${mutant.line} ${mutant.name}`);
    }
  };
  await Promise.all(Array.from({ length: laneCount }, lane));
  expect(survivors).toEqual([]);
});
