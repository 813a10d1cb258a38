import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { MemorySequences, memorySequenceStore } from "../../test/support/worlds/memory-sequences.ts";
import { SequenceCatalog } from "./sequence-catalog.ts";
import { SequencePlace } from "./sequence-place.ts";
import { StripedPlace } from "./striped-place.ts";

test("a frozen database kept a server for seconds from what the others say of its sequences", async () => {
  const time = new ManualTime();
  const state = { isFrozen: false };
  const parts = [0, 1].map((index) => {
    const database = new MemorySequences(`system=${index}`, () => time.nowMs());
    const store = memorySequenceStore(
      () => database,
      async (statement) => {
        const answer = statement();
        if (index === 0 && state.isFrozen) await new Promise<void>((resolve) => time.after(2_000, resolve));
        return answer;
      },
    );
    const stripe = { index, count: 2 };
    return { stripe, store, place: new SequencePlace({ store, clock: time, onEvent: () => {}, stripe }) };
  });
  const usable = async () => parts;
  const stripes = { all: usable, listed: usable, usable };
  const catalog = new SequenceCatalog({ stripes, clock: time, onChanged: () => {} });
  const { stored } = await catalog.create({ name: "orders" });
  const place = new StripedPlace({ stripes, clock: time, timers: time, waitMaxMs: 1_000, onEvent: () => {} });
  await place.find(["orders"]);
  await place.find(["orders"]);
  const compare = () => place.compare([{ name: "orders", periodKey: "", stored }]);
  expect(await compare()).toHaveProperty("size", 1);

  state.isFrozen = true;
  const [beganMs, comparing] = [time.monotonicMs(), compare()];
  let passedMs = Number.NaN;
  void comparing.then(() => (passedMs = time.monotonicMs() - beganMs));
  await time.run(5_000);
  expect(await comparing).toHaveProperty("size", 1);
  expect(passedMs).toBe(250);
});
