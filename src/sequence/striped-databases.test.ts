import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { MemorySequences, memorySequenceStore } from "../../test/support/worlds/memory-sequences.ts";
import { IdError } from "../errors.ts";
import { SequenceCatalog } from "./sequence-catalog.ts";
import { SequenceDatabase } from "./sequence-database.ts";
import { counterId } from "./sequence-store.ts";
import { StripedDatabases } from "./striped-databases.ts";

const orders = { name: "orders", periodKey: "" };

/** Two databases of one sequence, of which the first one answers only after two seconds while it is frozen. */
async function twoDatabases() {
  const time = new ManualTime();
  const state = { isFrozen: false, isDown: false, isSlow: false };
  const databases = [0, 1].map((index) => new MemorySequences(`system=${index}`, () => time.nowMs()));
  const parts = databases.map((database, index) => {
    const store = memorySequenceStore(
      () => database,
      async (statement) => {
        if (index === 0 && state.isDown) throw new IdError("STORE_UNAVAILABLE", "The database is down.");
        const answer = statement();
        if (index === 0 && state.isFrozen) await new Promise<void>((resolve) => time.after(2_000, resolve));
        return answer;
      },
    );
    const stripe = { index, count: 2 };
    return { stripe, store, database: new SequenceDatabase({ store, clock: time, onEvent: () => {}, stripe }) };
  });
  const all = async () => parts;
  // While the stripe of the slow second database is not known yet, the first one is used.
  const usable = async () => (state.isSlow ? parts.slice(0, 1) : parts);
  const stripes = { all, answered: all, listed: all, usable, usableLater: all };
  const catalog = new SequenceCatalog({ stripes, clock: time, onChanged: () => {} });
  const { stored } = await catalog.create({ name: "orders" });
  const database = new StripedDatabases({ stripes, clock: time, timers: time, waitMaxMs: 1_000, onEvent: () => {} });
  await database.find(["orders"]);
  await database.find(["orders"]);
  /** The answer of a call, and how long it took. */
  const timed = async <T>(call: Promise<T>): Promise<{ readonly answer: T; readonly tookMs: number }> => {
    const beganMs = time.monotonicMs();
    const timing = call.then((answer) => ({ answer, tookMs: time.monotonicMs() - beganMs }));
    await time.run(5_000);
    return timing;
  };
  const usedOf = (index: number) => databases[index]!.look([orders]).counters.get(counterId(orders));
  return { state, stored, database, timed, usedOf };
}

test("a frozen database keeps a server for a quarter of a second from what the others say of its sequences (it kept it for seconds)", async () => {
  const { state, stored, database, timed } = await twoDatabases();
  const compare = () => database.compare([{ ...orders, stored }]);
  expect(await compare()).toHaveProperty("size", 1);
  state.isFrozen = true;
  const { answer, tookMs } = await timed(compare());
  expect([answer.size, tookMs]).toEqual([1, 250]);
});

test("where all that said their stripe fail, one that says it later gives the values", async () => {
  const { state, stored, database, timed, usedOf } = await twoDatabases();
  state.isSlow = true;
  state.isDown = true;
  const { answer } = await timed(database.take({ ...orders, stored, count: 10 }));
  expect(answer).toMatchObject({ kind: "taken", segment: { stripe: { index: 1 } } });
  expect(usedOf(1)).toBe(10n);
});

test("where a database is frozen, a take asks the next one, and what comes late goes back (the take waited)", async () => {
  const { state, stored, database, timed, usedOf } = await twoDatabases();
  const take = () => timed(database.take({ ...orders, stored, count: 10 }));
  const stripeOf = ({ answer }: Awaited<ReturnType<typeof take>>) =>
    answer.kind === "taken" ? answer.segment.stripe.index : answer.why;
  // In turn.
  expect(new Set([stripeOf(await take()), stripeOf(await take())])).toEqual(new Set([0, 1]));
  expect([usedOf(0), usedOf(1)]).toEqual([10n, 10n]);
  state.isFrozen = true;
  const takes = [await take(), await take()];
  expect(takes.map(stripeOf)).toEqual([1, 1]);
  // One of them asked the frozen one first.
  expect(takes.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)).toEqual([0, 250]);
  expect([usedOf(0), usedOf(1)]).toEqual([10n, 30n]);
});
