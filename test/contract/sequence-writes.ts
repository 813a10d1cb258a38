/**
 * What each call of a database of sequences writes: a call names the cells that it changes, and changes no other. Every
 * call is tried beside a neighbour, a namespace that has the same rows, and beside sequences and processes of the same
 * content: a statement that lost a condition then changes or reads a row of theirs.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeCases } from "./sequence-change-cases.ts";
import { moveCases } from "./sequence-move-cases.ts";
import type { WritesWorld } from "./sequence-rows.ts";
import { takeCases } from "./sequence-take-cases.ts";
import { SequenceWritesTrial } from "./sequence-writes-trial.ts";

/** Tests what every call writes, and that it touches nothing else. */
export function testSequenceWrites(makeWorld: () => Promise<WritesWorld>): void {
  let trial: SequenceWritesTrial;
  beforeAll(async () => {
    trial = await SequenceWritesTrial.begin(await makeWorld());
  });
  afterAll(() => trial.end());

  describe.each([
    ["a take", takeCases],
    ["a change", changeCases],
    ["a move", moveCases],
  ])("%s writes the cells that it names, and no other:", (_, cases) => {
    test.each(cases)("$law", async (tried) => {
      const { answer, writes = [] } = tried;
      expect(await trial.try(tried)).toEqual({ answer, writes: writes.toSorted() });
    });
  });
}
