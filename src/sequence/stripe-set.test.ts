import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { MemorySequences, memorySequenceStore } from "../../test/support/worlds/memory-sequences.ts";
import { IdError } from "../errors.ts";
import { SequenceDatabase } from "./sequence-database.ts";
import { completeDefinition, valueAt } from "./sequence.ts";
import type { SequenceStore } from "./sequence-store.ts";
import { StripeSet } from "./stripe-set.ts";

/** Databases in memory, of which the last can be away, or never answer. */
function makeWorld(storeIds: readonly string[] = ["a", "b"]) {
  const time = new ManualTime();
  const databases = storeIds.map((storeId) => {
    const member = { storeId, stripeIndex: -1, stripeCount: storeIds.length };
    return new MemorySequences(`system=${storeId}`, () => time.nowMs(), undefined, member);
  });
  const state = { isAway: false, isSilent: false, joinCount: 0 };
  const stores = databases.map((database, index) =>
    memorySequenceStore(
      () => database,
      async (statement, name) => {
        const isLast = index === databases.length - 1;
        if (isLast && state.isAway) throw new IdError("STORE_UNAVAILABLE", "No answer.");
        if (isLast && state.isSilent) return new Promise<never>(() => {});
        if (name === "join") state.joinCount += 1;
        return statement();
      },
    ),
  );
  const told: string[] = [];
  const open = (opened: readonly SequenceStore[] = stores) =>
    new StripeSet({
      stores: opened,
      stripeCount: undefined,
      clock: time,
      timers: time,
      waitMaxMs: 1_000,
      databaseOf: (store, stripe) => new SequenceDatabase({ store, clock: time, onEvent: () => {}, stripe }),
      bind: async () => {},
      onProblem: (error) => told.push((error as IdError).message),
      onAnswers: (stripe) => told.push(`stripe ${stripe} answers`),
    });
  return { time, state, told, stores, open };
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

test("three new databases get their stripes by six writes, and a silent one is waited for 250 ms, as its example says", async () => {
  const { time, state, open } = makeWorld(["a", "b", "c"]);
  const definition = completeDefinition({ name: "orders" });
  const parts = await open().usable();
  expect(state.joinCount).toBe(6);
  expect(parts.map(({ stripe }) => [0n, 1n, 2n].map((index) => valueAt(definition, index, stripe)))).toEqual([
    [1n, 4n, 7n],
    [2n, 5n, 8n],
    [3n, 6n, 9n],
  ]);
  state.isSilent = true;
  const stripes = open();
  let found: number | undefined;
  void stripes.usable().then((usable) => (found = usable.length));
  await time.run(249);
  expect(found).toBeUndefined();
  await time.run(1);
  expect(found).toBe(2);
});

test("databases that do not fit together are found once all have answered, also where one is late", async () => {
  const { time, stores, open } = makeWorld();
  await open().usable();
  const others = makeWorld(["c", "d", "e"]);
  await others.open().usable();
  const other = others.stores[0]!;
  const late: SequenceStore = {
    ...other,
    look: async (keys) => {
      await new Promise<void>((resolve) => void time.after(600, resolve));
      return other.look(keys);
    },
  };
  const stripes = open([stores[0]!, late]);
  const usable = stripes.usable();
  await time.run(300);
  expect(await usable).toHaveLength(1);
  const answered = expect(stripes.answered()).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
  await time.run(1_000);
  await answered;
});

test("28 new databases get their stripes at once (more than 27 did not, because 400 steps ended a start)", async () => {
  const storeIds = Array.from({ length: 28 }, (_, index) => String(index + 10));
  const { state, open } = makeWorld(storeIds);
  expect(await open().usable()).toHaveLength(28);
  expect(state.joinCount).toBe(406);
});
