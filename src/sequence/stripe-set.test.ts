import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { MemorySequences, memorySequenceStore } from "../../test/support/worlds/memory-sequences.ts";
import { IdError } from "../errors.ts";
import { SequenceDatabase } from "./sequence-database.ts";
import { StripeSet } from "./stripe-set.ts";

/** Two databases in memory, of which the second can be away. */
function makeWorld() {
  const time = new ManualTime();
  const databases = ["a", "b"].map((storeId) => {
    const member = { storeId, stripeIndex: -1, stripeCount: 2 };
    return new MemorySequences(`system=${storeId}`, () => time.nowMs(), undefined, member);
  });
  const state = { isAway: false };
  const stores = databases.map((database, index) =>
    memorySequenceStore(
      () => database,
      async (statement) => {
        if (index === 1 && state.isAway) throw new IdError("STORE_UNAVAILABLE", "No answer.");
        return statement();
      },
    ),
  );
  const told: string[] = [];
  const open = () =>
    new StripeSet({
      stores,
      stripeCount: undefined,
      clock: time,
      timers: time,
      waitMaxMs: 1_000,
      databaseOf: (store, stripe) => new SequenceDatabase({ store, clock: time, onEvent: () => {}, stripe }),
      onProblem: (error) => told.push((error as IdError).message),
      onAnswers: (stripe) => told.push(`stripe ${stripe} answers`),
    });
  return { time, state, told, open };
}

test("a database that does not answer when a server starts is logged then, and when it comes back (it was not)", async () => {
  const { time, state, told, open } = makeWorld();
  expect(await open().usable()).toHaveLength(2);
  state.isAway = true;
  const stripes = open();
  for (let look = 0; look < 5; look += 1) {
    expect(await stripes.usable()).toHaveLength(1);
    await time.run(6_000);
  }
  expect(told).toEqual(["No answer."]);
  state.isAway = false;
  await stripes.usable();
  await time.run(6_000);
  expect(await stripes.usable()).toHaveLength(2);
  expect(told).toEqual(["No answer.", "stripe 1 answers"]);
});
