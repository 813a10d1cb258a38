/** Slips in the statements by which operators change sequences, one at a time, and the tests that notice them. */
import { expect, test } from "vitest";
import { isOfTakes, sqlMutants, survivorsOf } from "../mutants/sql-trial.ts";

/** One that a file's database notices; `npm run all -- sql-changes` tries all, on a server too. */
const shown = ["SQL condition holds always | sequence_id = :sequenceId"];

test("a slip in a statement of changes, raises, moves and periods is noticed", { timeout: 5_400_000 }, async () => {
  expect(
    await survivorsOf(
      sqlMutants.filter((mutant) => !isOfTakes(mutant)),
      shown,
    ),
  ).toEqual([]);
});
