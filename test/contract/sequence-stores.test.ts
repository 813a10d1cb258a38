import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteSequences } from "../../src/sequence/stores/sqlite.ts";
import type { CounterKey } from "../../src/sequence/sequence-store.ts";
import { completeDefinition, endCountOf } from "../../src/sequence/sequence.ts";
import { MemorySequences, memorySequenceStore } from "../support/worlds/memory-sequences.ts";
import { expectTakesNothing, testSequenceStore } from "./sequence-store-contract.ts";
import { takeIn, witnessOf } from "../support/worlds/store-calls.ts";

describe("sequences in SQLite", () => {
  testSequenceStore(async () => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-sequences-"));
    const options = { namespace: "default", callTimeoutMs: 20_000 };
    return {
      name: "sqlite",
      open: () => openSqliteSequences(`sqlite:${join(folder, "s.db")}`, options),
      loseCounter: async ({ name, periodKey }) => {
        const database = new DatabaseSync(join(folder, "s.db.sequences"), { timeout: 20_000 });
        database
          .prepare("DELETE FROM snowlane_sequence_counter WHERE name = ? AND period_key = ?")
          .run(name, periodKey);
        database.close();
      },
      close: async () => rmSync(folder, { recursive: true, force: true }),
    };
  });
});

describe("sequences in memory, as the simulation has them", () => {
  testSequenceStore(async () => {
    const database = new MemorySequences("system=1", () => Date.UTC(2027, 0, 1));
    const loseCounter = async (key: CounterKey): Promise<void> => database.loseCounter(key);
    return { name: "memory", open: async () => memorySequenceStore(() => database), loseCounter };
  });
});

/** No history of the simulation shows that one of these rules is gone, so the contract has to. */
test.each([
  ["the revision", "take-ignores-revision", { revision: 2 }],
  ["that the sequence is another one of its name", "take-ignores-sequence-id", { sequenceId: "0".repeat(32) }],
] as const)("the contract shows it when a take ignores %s", async (_, mutant, given) => {
  const database = new MemorySequences("system=1", () => Date.UTC(2027, 0, 1), mutant);
  const store = memorySequenceStore(() => database);
  await expect(expectTakesNothing(store, given)).rejects.toThrow(/expected .* to be undefined/);
});

/** A stop with thousands of sequences in memory would otherwise take longer than a call may, and leave gaps. */
test("takes and give-backs of SQLite that are sent at once share transactions", async () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-sequences-"));
  const store = await openSqliteSequences(`sqlite:${join(folder, "s.db")}`, {
    namespace: "default",
    callTimeoutMs: 60_000,
  });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await store.look([]);
  const takes = Array.from({ length: 100 }, (_, index) => {
    const definition = completeDefinition({ name: `orders-${index}` });
    const endCount = endCountOf(definition);
    const counter = { name: definition.name, periodKey: "", sequenceId: `${index}`, revision: 1 };
    const writeId = `take ${index}`;
    const range = { ...counter, firstIndex: 1n, endIndex: 10n, writeId, newWriteId: "given" };
    return { definition, take: { ...counter, count: 10, endCount, writeId }, range };
  });
  for (const { definition, take } of takes) {
    const stored = { definition, sequenceId: take.sequenceId, createdMs: 1, updatedMs: 1 };
    await store.create({ stored, writeId: "made" }, 1);
  }
  const writesOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = writeCount(folder);
    await work();
    return writeCount(folder) - before;
  };
  await witnessOf(store);
  const takeAll = () => Promise.all(takes.map(({ take }) => takeIn(store, take)));
  // The first is on its way when the others come.
  expect(await writesOf(takeAll)).toBe(2);
  const ranges = takes.map(({ range }) => range);
  // Once more: a range goes back once, whatever else is in the transaction.
  const giveBackAll = () => Promise.all([...ranges, ...ranges.slice(1)].map((range) => store.giveBack(range)));
  const given: boolean[] = [];
  expect(await writesOf(async () => given.push(...(await giveBackAll())))).toBe(2);
  expect(given).toEqual([...ranges.map(() => true), ...ranges.slice(1).map(() => false)]);
  const { counters } = await store.look(ranges);
  expect(new Set(counters.values())).toEqual(new Set([1n]));
});

test("a period in SQLite begins once above what was raised, and no take adds that again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-sequences-"));
  const store = await openSqliteSequences(`sqlite:${join(folder, "s.db")}`, {
    namespace: "default",
    callTimeoutMs: 60_000,
  });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await store.look([]);
  const definition = completeDefinition({ name: "orders", period: "year" });
  const stored = { definition, sequenceId: "s", createdMs: 1, updatedMs: 1 };
  await store.create({ stored, writeId: "made" }, 1);
  const database = new DatabaseSync(join(folder, "s.db.sequences"), { timeout: 20_000 });
  database.exec("UPDATE snowlane_sequence_place SET raised_count = 50, raised_until_ms = 9000000000000");
  database.close();
  const period = { name: "orders", periodKey: "2026", sequenceId: "s", revision: 1 };
  for (const [at, first] of [50n, 60n].entries()) {
    const take = { ...period, count: 10, endCount: endCountOf(definition), writeId: `take ${at}` };
    await store.beginPeriod(take, 0);
    expect(await takeIn(store, take)).toBe(first);
  }
});

/** How many transactions have written to the file. */
function writeCount(folder: string): number {
  const database = new DatabaseSync(join(folder, "s.db.sequences"), { readOnly: true, timeout: 20_000 });
  const row = database.prepare("SELECT revision FROM meta").get();
  database.close();
  return Number(row?.["revision"]);
}
