/** Slips in the statements of takes, looks, openings and records, one at a time, and the tests that notice them. */
import { expect, test } from "vitest";
import { sqlAnswers } from "../mutants/answers.ts";
import { isOfTakes, sqlMutants, survivorsOf } from "../mutants/sql-trial.ts";

test("each statement of sequences has slips; those that may survive have one of five reasons", () => {
  const names = new Set(sqlMutants.map(({ name }) => name));
  expect(names.size).toBeGreaterThan(150);
  expect(Object.keys(sqlAnswers).filter((name) => !names.has(name))).toEqual([]);
  expect(new Set(Object.values(sqlAnswers)).size).toBeLessThanOrEqual(5);
});

/** Two that a file's database notices; `npm run all -- sql-takes` tries all, on a server too. */
const shown = [
  "SQL condition holds always | write_id = :noteBefore",
  "SQL condition holds always | raised_revision = revision",
];

test("a slip in a statement of takes, looks, openings and records is noticed", { timeout: 5_400_000 }, async () => {
  expect(await survivorsOf(sqlMutants.filter(isOfTakes), shown)).toEqual([]);
});
