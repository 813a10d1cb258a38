import { expect, test } from "vitest";
import type { Fault } from "./fault.ts";
import { noOutcome, pieceLines, runPieces, showsFault } from "./run-fault.ts";

function faultOf(inject: Fault["inject"]): Fault {
  return {
    name: "a fault",
    stores: "own",
    catches: "own-clock",
    counts: { pr: 1, full: 1 },
    lanes: 1,
    failures: "allowed",
    inject,
  };
}

/** A control of it, for a minute at most; how many pieces it had. */
async function control(inject: Fault["inject"], minutes: number) {
  const fault = faultOf(inject);
  let pieceCount = 0;
  const onPiece = (): void => {
    pieceCount += 1;
  };
  const options = { patience: "test", seed: 3, gutted: "own-clock", onInjected: () => {}, count: 1 } as const;
  return { outcome: await runPieces(fault, { ...options, minutes, onPiece }), pieceCount: () => pieceCount };
}

test("a piece that could not be played catches no missing rule (it counted as one that did)", async () => {
  const { outcome } = await control(async () => {
    throw new Error("no such program");
  }, 0);
  expect(outcome.errors).toEqual(["seed 3: no such program"]);
  expect(showsFault(outcome)).toBe(false);
});

test("a control ends with the first piece that shows its rule missing", async () => {
  const { outcome, pieceCount } = await control(async (trial) => {
    trial.problems.push("a grant begins below the mark");
  }, 1);
  expect(outcome.problems).toContain("seed 3: a grant begins below the mark");
  expect([showsFault(outcome), pieceCount()]).toEqual([true, 1]);
});

test("a piece that failed is reported with its error at once (the error came when the last piece had ended)", () => {
  const outcome = { ...noOutcome, problems: ["seed 4: late"], errors: ["seed 4: no answer"] };
  const lines = pieceLines(
    faultOf(async () => {}),
    4,
    outcome,
  );
  expect(lines).toEqual([
    "a fault, seed 4: 0 rounds, 0 IDs, 0 duplicates, 1 problems, 1 errors",
    "  PROBLEM: seed 4: late",
    "  NOT PLAYED TO ITS END: seed 4: no answer",
  ]);
});
