import { expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { MemorySequences, memorySequenceStore } from "../../test/support/worlds/memory-sequences.ts";
import { InvariantError } from "../assert.ts";
import { SequenceCatalog } from "./sequence-catalog.ts";
import { SequenceDatabase } from "./sequence-database.ts";
import { counterId } from "./sequence-store.ts";

/** The command line refuses such a number itself, so only a caller of ours can be wrong here. */
test("a raise by a negative number is a fault of the program, and lowers no counter", async () => {
  const time = new ManualTime();
  const database = new MemorySequences("system=1", () => time.nowMs());
  const store = memorySequenceStore(() => database);
  const stripe = { index: 0, count: 1 };
  const parts = [{ stripe, store, database: new SequenceDatabase({ store, clock: time, onEvent: () => {}, stripe }) }];
  const all = async () => parts;
  const stripes = { all, answered: all, listed: all };
  const catalog = new SequenceCatalog({ stripes, clock: time, onChanged: () => {} });
  await catalog.create({ name: "orders" });
  const key = { name: "orders", periodKey: "" };
  const used = () => database.look([key]).counters.get(counterId(key));
  expect(await catalog.raise({ kind: "by", name: "orders", count: 10n })).toBe(1);
  await expect(catalog.raise({ kind: "by", name: "orders", count: -1n })).rejects.toThrow(InvariantError);
  await catalog.stop("a test");
  await expect(catalog.raise({ kind: "all", count: -5n })).rejects.toThrow(InvariantError);
  expect(used()).toBe(10n);
  expect(await catalog.raise({ kind: "all", count: 0n })).toBe(1);
  expect(used()).toBe(10n);
});
