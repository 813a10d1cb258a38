import { expect, test } from "vitest";
import type { Fault } from "./fault.ts";
import { runPieces, showsFault } from "./run-fault.ts";

/** A control of it, for a minute at most; how many pieces it had. */
async function control(inject: Fault["inject"], minutes: number) {
  const fault: Fault = {
    name: "a fault",
    stores: "own",
    catches: "own-clock",
    counts: { pr: 1, full: 1 },
    lanes: 1,
    failures: "allowed",
    inject,
  };
  let pieceCount = 0;
  const onPiece = (): void => {
    pieceCount += 1;
  };
  const options = { patience: "test", seed: 3, gutted: "own-clock", onInjected: () => {}, count: 1 } as const;
  return { outcome: await runPieces(fault, { ...options, minutes, onPiece }), pieceCount: () => pieceCount };
}

test("a piece that could not be played used to count as one that catches the missing rule", async () => {
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
