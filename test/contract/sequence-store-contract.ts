import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type CounterKey,
  counterId,
  openAheadMs,
  type OpenOutcome,
  type SequenceStore,
  type TakeRequest,
} from "../../src/sequence/sequence-store.ts";
import {
  completeDefinition,
  endCountOf,
  type SequenceDraft,
  type StoredSequence,
} from "../../src/sequence/sequence.ts";
import { TakeWitness } from "../../src/sequence/take-witness.ts";
import { kernelRandom128 } from "../../src/kernel-random.ts";
import { judgeIn, raiseAndOpen, stopIn, takeIn, witnessOf } from "../support/worlds/store-calls.ts";

/** A database of one test. */
export interface SequenceStoreCase {
  readonly name: string;
  /** Opens the database once more, as another process would. */
  readonly open: () => Promise<SequenceStore>;
  /** Deletes the row of a counter, as a job of somebody else does. */
  readonly loseCounter: (key: CounterKey) => Promise<void>;
  readonly close?: () => Promise<void>;
}

const key = { name: "orders", periodKey: "" } as const;
const indexMax = 2n ** 63n - 1n;

/** A sequence to make; `draft` is what differs from the defaults. */
function newSequence(draft: Partial<SequenceDraft> = {}): StoredSequence {
  const definition = completeDefinition({ name: "orders", ...draft });
  const sequenceId = kernelRandom128();
  return {
    definition,
    sequenceId,
    createdMs: 1_000,
    updatedMs: 1_000,
    epoch: 0,
    closedBefore: "",
    begunCount: 0,
    revision: 1,
  };
}

/** The take of a sequence under the first revision. */
function takeOf({ definition, sequenceId }: StoredSequence, given: Partial<TakeRequest> = {}): TakeRequest {
  const { name } = definition;
  const endCount = endCountOf(definition);
  return { name, periodKey: "", sequenceId, count: 10, endCount, revision: 1, writeId: kernelRandom128(), ...given };
}

async function makeIn(store: SequenceStore, draft: Partial<SequenceDraft> = {}): Promise<StoredSequence> {
  await store.look([]);
  const stored = newSequence(draft);
  expect(await store.create({ stored, writeId: kernelRandom128() }, 1)).toBe(true);
  return stored;
}

async function usedIn(store: SequenceStore, of: CounterKey = key): Promise<bigint | undefined> {
  return (await store.look([of])).counters.get(counterId(of));
}

/** Makes a sequence, and expects that a take which names something other than the database has takes nothing. */
export async function expectTakesNothing(store: SequenceStore, given: Partial<TakeRequest>): Promise<void> {
  const stored = await makeIn(store);
  expect(await takeIn(store, takeOf(stored, given))).toBeUndefined();
  expect(await usedIn(store)).toBe(0n);
}

function opened(outcome: OpenOutcome) {
  if (outcome.kind !== "opened") throw new Error(`It is ${outcome.kind}.`);
  return outcome;
}

/** Tests what every database of sequences must do. docs/sequences.md says what follows from it. */
export function testSequenceStore(makeCase: () => Promise<SequenceStoreCase>): void {
  let database: SequenceStoreCase;
  let store: SequenceStore;
  const used = (of?: CounterKey) => usedIn(store, of);
  const make = (draft?: Partial<SequenceDraft>) => makeIn(store, draft);
  beforeEach(async () => {
    database = await makeCase();
    store = await database.open();
  });
  afterEach(async () => {
    await store.close();
    await database.close?.();
  });

  describe("a sequence", () => {
    test("is read back field by field, values above 2^53 included", async () => {
      const stored = await make({
        description: "orders of the shop, größer",
        startValue: 2n ** 53n + 1n,
        increment: 2n ** 31n,
        valueMax: indexMax - 1n,
        stepMin: 1,
        stepMax: 2 ** 30,
        textTemplate: "O-{value:019}",
        disabled: true,
      });
      const { sequences, database } = await store.look([key]);
      expect(sequences.get("orders")).toEqual(stored);
      expect(database).toMatchObject({ stopped: "", revision: 1, openMs: 0 });
      const periodic = await make({ name: "a.b_c-9", allocation: "strict", period: "year", timeZone: "Asia/Tokyo" });
      const names = [{ name: "a.b_c-9", periodKey: "" }];
      expect((await store.look(names)).sequences.get("a.b_c-9")).toEqual(periodic);
    });

    test("is made once, with a counter at nothing", async () => {
      await make();
      expect(await used()).toBe(0n);
      expect(await store.create({ stored: newSequence(), writeId: "w" }, 1)).toBe(false);
    });

    test("is not made under another revision, nor while the database is stopped", async () => {
      await store.look([]);
      expect(await store.create({ stored: newSequence(), writeId: "w" }, 2)).toBe(false);
      expect(await stopIn(store, "test", 1)).toBe(true);
      expect(await store.create({ stored: newSequence(), writeId: "w" }, 2)).toBe(false);
      expect((await store.look([key])).sequences.size).toBe(0);
    });

    test("is listed by its bytes, a page at a time", async () => {
      for (const name of ["b", "a", "a-b", "a.b", "a0", "ab"]) await make({ name });
      const namesOf = async (afterName: string, prefix: string, count: number): Promise<readonly string[]> =>
        (await store.list({ afterName, prefix, count })).map(({ definition }) => definition.name);
      expect(await namesOf("", "", 10)).toEqual(["a", "a-b", "a.b", "a0", "ab", "b"]);
      expect(await namesOf("a-b", "", 2)).toEqual(["a.b", "a0"]);
      expect(await namesOf("", "a.", 10)).toEqual(["a.b"]);
      expect(await namesOf("b", "", 10)).toEqual([]);
    });

    test("is changed by comparison", async () => {
      const stored = await make();
      const before = stored.definition;
      const after = { ...before, disabled: true, description: "new", stepMin: 5 };
      const replacement = { sequenceId: stored.sequenceId, before, after, updatedMs: 2_000 };
      expect(await store.replace({ ...replacement, before: { ...before, stepMin: 1 } }, "orders")).toBe(false);
      expect(await store.replace({ ...replacement, sequenceId: "other" }, "orders")).toBe(false);
      expect(await store.replace(replacement, "orders")).toBe(true);
      expect(await store.replace(replacement, "orders")).toBe(false);
      const { database, sequences } = await store.look([key]);
      const changed = { ...stored, definition: after, updatedMs: 2_000, epoch: database!.epoch };
      expect(database!.epoch).toBeGreaterThan(0);
      expect(sequences.get("orders")).toEqual(changed);
      expect(await takeIn(store, takeOf(changed))).toBeUndefined();
    });
  });

  describe("a take", () => {
    test("of 64 callers at once gives each another range, without a gap", async () => {
      const stored = await make();
      const others = await Promise.all(Array.from({ length: 8 }, () => database.open()));
      const takes = Array.from({ length: 64 }, (_, index) => takeIn(others[index % 8]!, takeOf(stored, { count: 7 })));
      const firsts = (await Promise.all(takes)).map(Number).toSorted((a, b) => a - b);
      expect(firsts).toEqual(Array.from({ length: 64 }, (_, index) => index * 7));
      await Promise.all(others.map((other) => other.close()));
    });

    test("is exact around 2^53 and up to 2^63 - 1", async () => {
      const stored = await make();
      for (const start of [2n ** 53n - 3n, 2n ** 62n, indexMax - 20n]) {
        await store.raise({ kind: "to", key, index: start }, kernelRandom128());
        for (const at of [0n, 7n]) {
          expect(await takeIn(store, takeOf(stored, { count: 7, endCount: indexMax }))).toBe(start + at);
        }
      }
      expect(await takeIn(store, takeOf(stored, { count: 7, endCount: indexMax }))).toBeUndefined();
      expect(await takeIn(store, takeOf(stored, { count: 6, endCount: indexMax }))).toBe(indexMax - 6n);
      expect(await used()).toBe(indexMax);
    });

    test("begins below the end, and may reach beyond it", async () => {
      const stored = await make();
      expect(await takeIn(store, takeOf(stored, { endCount: 15n }))).toBe(0n);
      expect(await takeIn(store, takeOf(stored, { endCount: 15n }))).toBe(10n);
      expect(await takeIn(store, takeOf(stored, { endCount: 15n }))).toBeUndefined();
      expect(await takeIn(store, takeOf(stored, { endCount: 20n }))).toBeUndefined();
      expect(await used()).toBe(20n);
    });

    test("leaves the other sequences of the database as they are", async () => {
      const stored = await make();
      await make({ name: "other" });
      expect(await takeIn(store, takeOf(stored))).toBe(0n);
      expect([await used(), await used({ name: "other", periodKey: "" })]).toEqual([10n, 0n]);
    });

    test.each<[string, Partial<TakeRequest>]>([
      ["another sequence of the name", { sequenceId: "0".repeat(32) }],
      ["another revision", { revision: 2 }],
      ["another name", { name: "order" }],
      ["a period that was not begun", { periodKey: "2026" }],
    ])("of %s takes nothing", (_, given) => expectTakesNothing(store, given));
  });

  describe("a witness", () => {
    test("shows that takes are gone although others took more since", async () => {
      const stored = await make();
      const other = await database.open();
      await takeIn(store, takeOf(stored));
      await takeIn(other, takeOf(stored, { count: 1_000 }));
      const { processId } = await witnessOf(store);
      expect(await judgeIn(store)).toEqual({ kind: "right" });
      await store.dropWitness(processId);
      expect(await judgeIn(store)).toMatchObject({ kind: "loss" });
      expect(await takeIn(store, takeOf(stored))).toBeUndefined();
      expect(await judgeIn(other)).toEqual({ kind: "right" });
      expect(await used()).toBe(1_010n);
      await other.close();
    });

    test("lets one of two takes through that compare with the same write", async () => {
      const stored = await make();
      const witness = await witnessOf(store);
      const { processId } = witness;
      const note = { processId, line: 1, before: `0 ${processId}`, after: "1 twin" };
      const twin = { lineCount: 1, begin: () => note, confirm: () => {} } as unknown as TakeWitness;
      const [first, second] = await Promise.all([
        store.take(takeOf(stored), twin),
        database.open().then(async (other) => {
          const index = await other.take(takeOf(stored), twin);
          await other.close();
          return index;
        }),
      ]);
      expect([first, second].filter((index) => index !== undefined)).toEqual([0n]);
      expect(await used()).toBe(10n);
    });

    test("is written by a look, and tells operators what the process has seen", async () => {
      const witness = await witnessOf(store);
      const { processId } = witness;
      const note = witness.begin(0);
      expect(await store.noteLook({ ...note, seenMs: 7, epoch: 3 })).toBe(true);
      expect(await store.noteLook({ ...note, seenMs: 8, epoch: 4 })).toBe(false);
      expect(await store.servers()).toEqual([{ processId, server: "test", seenMs: 7, epoch: 3 }]);
      await store.dropWitness(processId, 8);
      expect((await store.servers()).length).toBe(1);
      await store.dropWitness(processId, 7);
      expect((await store.look([], processId)).witness.size).toBe(0);
    });

    test("is made once, and in the database of a former one", async () => {
      const { processId: formerId } = await witnessOf(store);
      const witness = new TakeWitness(store.lineCount);
      const { processId, firstRows: rows } = witness;
      const request = { processId, rows, server: "b", seenMs: 1, epoch: 2, formerId };
      for (let round = 0; round < 2; round += 1) await store.makeWitness(request);
      expect(await store.servers()).toEqual([{ processId, server: "b", seenMs: 1, epoch: 2 }]);
      expect((await store.look([], processId)).witness.size).toBe(store.lineCount + 1);
    });
  });

  describe("a period", () => {
    test("begins once, at nothing", async () => {
      const stored = await make({ period: "day" });
      const take = takeOf(stored, { periodKey: "2026-11-22" });
      await store.beginPeriod(take, 0);
      expect(await takeIn(store, take)).toBe(0n);
      await store.beginPeriod(take, 0);
      expect(await takeIn(store, take)).toBe(10n);
      expect(await used()).toBe(0n);
    });

    test("does not begin more than a day ahead of the database's clock, nor without the first counter", async () => {
      const stored = await make({ period: "day" });
      const { clockMs } = await store.look([]);
      const take = takeOf(stored, { periodKey: "2999-01-01" });
      await store.beginPeriod(take, clockMs + 90_000_000);
      expect(await takeIn(store, take)).toBeUndefined();
      await store.beginPeriod(takeOf(stored, { periodKey: "2999-01-01", name: "other" }), 0);
      expect(await takeIn(store, take)).toBeUndefined();
    });

    test("begins no more while the counter of another one is missing, and says how many are", async () => {
      const stored = await make({ period: "year" });
      for (const periodKey of ["2024", "2025", "2026"]) {
        expect(await store.beginPeriod(takeOf(stored, { periodKey }), 0)).toBe(0);
      }
      expect((await store.look([key])).sequences.get("orders")).toMatchObject({ begunCount: 3 });
      await database.loseCounter({ name: "orders", periodKey: "2026" });
      expect(await store.beginPeriod(takeOf(stored, { periodKey: "2026" }), 0)).toBe(1);
      expect(await store.beginPeriod(takeOf(stored, { periodKey: "2027" }), 0)).toBe(1);
      expect(await used({ name: "orders", periodKey: "2026" })).toBeUndefined();
      // A raise that makes the counter counts it.
      await store.raise({ kind: "to", key: { name: "orders", periodKey: "2026" }, index: 50n }, "w");
      expect(await store.beginPeriod(takeOf(stored, { periodKey: "2027" }), 0)).toBe(0);
    });

    test("begins once for many that want it at once while others take from another period", async () => {
      const stored = await make({ period: "year" });
      const others = await Promise.all(Array.from({ length: 6 }, () => database.open()));
      await store.beginPeriod(takeOf(stored, { periodKey: "2025" }), 0);
      const work = others.map(async (other, at) => {
        const firsts: (bigint | undefined)[] = [];
        for (let year = 2026; year < 2031; year += 1) {
          const take = takeOf(stored, { periodKey: String(at % 2 === 0 ? year : 2025), count: 1 });
          // As a server does: it asks before it begins.
          firsts.push(await takeIn(other, take));
          expect(await other.beginPeriod(take, 0)).toBe(0);
        }
        return firsts;
      });
      await Promise.all(work);
      const keys = [2025, 2026, 2027, 2028, 2029, 2030].map((year) => ({ name: "orders", periodKey: String(year) }));
      const { counters, sequences } = await store.look([key, ...keys]);
      expect(sequences.get("orders")).toMatchObject({ begunCount: 6 });
      expect(counters.get(counterId(keys[0]!))).toBe(15n);
      expect(keys.filter((other) => !counters.has(counterId(other)))).toEqual([]);
      await Promise.all(others.map((other) => other.close()));
    });

    test("that was pruned never begins again: not by a take, a raise or a mark", async () => {
      const stored = await make({ period: "year" });
      const ofYear = (year: number) => takeOf(stored, { periodKey: String(year) });
      for (let year = 2020; year < 2026; year += 1) {
        await store.beginPeriod(ofYear(year), 0);
        await takeIn(store, ofYear(year));
      }
      const prune = (before: string, mode: "plan" | "write" = "write") => store.prune({ name: "orders", before, mode });
      expect(await prune("2025")).toEqual({ kind: "newest", key: "2024" });
      expect(await prune("2023", "plan")).toEqual({ kind: "pruned", count: 3 });
      expect((await store.look([key])).sequences.get("orders")).toMatchObject({ begunCount: 6, closedBefore: "" });
      expect(await prune("2023")).toEqual({ kind: "pruned", count: 3 });
      expect(await prune("2022")).toEqual({ kind: "pruned", count: 0 });
      const gone = { name: "orders", periodKey: "2022" };
      expect(await store.beginPeriod(ofYear(2022), 0)).toBe(0);
      expect(await store.raise({ kind: "to", key: gone, index: 5n }, "w")).toBe(0);
      await stopIn(store, "test", 1);
      await store.raise({ kind: "all", count: 7n }, "w");
      await store.cover([{ ...gone, index: 5n }], "w");
      expect(await used(gone)).toBeUndefined();
      const { sequences, counters } = await store.look([key, { name: "orders", periodKey: "2023" }]);
      expect(sequences.get("orders")).toMatchObject({ begunCount: 3, closedBefore: "2023" });
      expect(counters.get("orders\n2023")).toBe(17n);
    });

    test("does not begin before the database is open", async () => {
      const stored = await make({ period: "day" });
      await stopIn(store, "test", 1);
      const { clockMs } = await store.look([]);
      const { revision } = opened(await raiseAndOpen(store));
      const soon = takeOf(stored, { periodKey: "2026-11-22", revision });
      await store.beginPeriod(soon, clockMs);
      expect(await used({ name: "orders", periodKey: "2026-11-22" })).toBeUndefined();
    });
  });

  describe("a range", () => {
    test("goes back while its take is the last write, once", async () => {
      const stored = await make();
      const take = takeOf(stored);
      await takeIn(store, take);
      const { name, periodKey, sequenceId, writeId } = take;
      const range = {
        name,
        periodKey,
        sequenceId,
        writeId,
        revision: 1,
        firstIndex: 4n,
        endIndex: 10n,
        newWriteId: "n",
      };
      expect(await store.giveBack({ ...range, writeId: "other" })).toBe(false);
      expect(await store.giveBack({ ...range, revision: 2 })).toBe(false);
      expect(await store.giveBack({ ...range, endIndex: 11n })).toBe(false);
      expect(await store.giveBack(range)).toBe(true);
      expect(await store.giveBack(range)).toBe(false);
      expect(await takeIn(store, takeOf(stored))).toBe(4n);
    });

    test("stays where another take or a raise came after it", async () => {
      const stored = await make();
      const take = takeOf(stored);
      await takeIn(store, take);
      const { name, periodKey, sequenceId, writeId } = take;
      await store.raise({ kind: "by", key, count: 1n }, kernelRandom128());
      const range = {
        name,
        periodKey,
        sequenceId,
        writeId,
        revision: 1,
        firstIndex: 4n,
        endIndex: 11n,
        newWriteId: "n",
      };
      expect(await store.giveBack(range)).toBe(false);
      expect(await used()).toBe(11n);
    });
  });

  describe("an operator", () => {
    test("raises upward only, and ends at 2^63 - 1", async () => {
      await make();
      expect(await store.raise({ kind: "to", key, index: 100n }, "w1")).toBe(1);
      expect(await store.raise({ kind: "to", key, index: 99n }, "w2")).toBe(0);
      expect(await store.raise({ kind: "by", key, count: 5n }, "w3")).toBe(1);
      expect(await used()).toBe(105n);
      expect(await store.raise({ kind: "by", key, count: indexMax }, "w4")).toBe(1);
      expect(await used()).toBe(indexMax);
      expect(await store.raise({ kind: "by", key: { ...key, name: "none" }, count: 1n }, "w5")).toBe(0);
    });

    test("raises all of a stopped database only, and what is made afterwards begins above", async () => {
      await make();
      expect(await store.raise({ kind: "all", count: 50n }, "w1")).toBeUndefined();
      await stopIn(store, "test", 1);
      expect(await store.raise({ kind: "all", count: 50n }, "w2")).toBe(1);
      expect(await used()).toBe(50n);
    });

    test("raises all of a stopped database that has no sequence", async () => {
      await store.look([]);
      expect(await store.raise({ kind: "all", count: 50n }, "w1")).toBeUndefined();
      await stopIn(store, "test", 1);
      expect(await store.raise({ kind: "all", count: 50n }, "w2")).toBe(0);
    });

    test("stops by comparison, and opens half a minute ahead", async () => {
      const stored = await make();
      expect(await stopIn(store, "late", 2)).toBe(false);
      expect(await stopIn(store, "a backup is put back", 1)).toBe(true);
      expect(await stopIn(store, "again", 2)).toBe(false);
      const { database } = await store.look([]);
      expect(database).toMatchObject({ stopped: "a backup is put back", revision: 2 });
      expect(await takeIn(store, takeOf(stored, { revision: 2 }))).toBeUndefined();
      const { revision } = opened(await raiseAndOpen(store));
      expect(revision).toBeGreaterThan(1_700_000_000_000);
      expect(await store.open()).toEqual({ kind: "was-open" });
      const look = await store.look([]);
      expect(look.database).toMatchObject({ stopped: "", revision, identity: look.identity });
      expect(look.database!.openMs - look.clockMs).toBeGreaterThan(openAheadMs - 20_000);
      expect(look.database!.openMs - look.clockMs).toBeLessThanOrEqual(openAheadMs);
      expect(await takeIn(store, takeOf(stored, { revision }))).toBeUndefined();
    });

    test("has to raise after each stop, in the database that is opened", async () => {
      await make();
      await stopIn(store, "test", 1);
      expect(await store.open()).toEqual({ kind: "not-raised" });
      await store.raise({ kind: "all", count: 0n }, "w1");
      const again = { reason: "the backup of then was stopped", revision: 2, emptiesStock: false } as const;
      expect(await store.stop({ ...again, by: "server" })).toBe(false);
      expect(await store.stop({ ...again, by: "operator" })).toBe(true);
      expect((await store.look([])).database).toMatchObject({ revision: 3, emptiedRevision: -1 });
      expect(await store.open()).toEqual({ kind: "not-raised" });
      opened(await raiseAndOpen(store));
    });

    test("sees which stop took the values that servers hold", async () => {
      await make();
      await store.stop({ reason: "a loss", revision: 1, emptiesStock: true, by: "server" });
      expect((await store.look([])).database).toMatchObject({ revision: 2, emptiedRevision: 2 });
    });

    test("gives a sequence a new epoch with each raise that it names, and with no other change", async () => {
      await make();
      await make({ name: "other" });
      const epochOf = async (name: string) => (await store.look([{ name, periodKey: "" }])).sequences.get(name)!.epoch;
      await store.raise({ kind: "by", key, count: 0n }, "w1");
      const first = await epochOf("orders");
      await store.raise({ kind: "to", key, index: 70n }, "w2");
      const second = await epochOf("orders");
      expect(first).toBeGreaterThan(0);
      expect(second).toBeGreaterThan(first);
      expect((await store.look([])).database!.epoch).toBe(second);
      expect(await store.raise({ kind: "to", key, index: 1n }, "w3")).toBe(0);
      await stopIn(store, "test", 1);
      await store.raise({ kind: "all", count: 5n }, "w4");
      expect([await epochOf("orders"), await epochOf("other")]).toEqual([second, 0]);
    });

    test("gives the database a stripe by comparison alone", async () => {
      const { member } = (await store.look([])).database!;
      expect(member).toEqual({ storeId: expect.stringMatching(/^[0-9a-f]{32}$/), index: 0, count: 1, members: "" });
      const { storeId } = member;
      const [first, second] = [`2 ${storeId}`, `2 ${storeId} ${"b".repeat(32)}`];
      expect(await store.join({ storeId: "other", before: "", after: first, index: 1 })).toBe(false);
      expect(await store.join({ storeId, before: "", after: first, index: 1 })).toBe(true);
      expect(await store.join({ storeId, before: "", after: second, index: 2 })).toBe(false);
      expect((await store.look([])).database!.member).toEqual({ storeId, index: 1, count: 1, members: first });
      expect(await store.join({ storeId, before: first, after: second, index: 1 })).toBe(true);
      expect((await store.look([])).database!.member.members).toBe(second);
    });

    test("gives a counter that is missing", async () => {
      await make();
      const lost = { name: "lost", periodKey: "" };
      expect(await store.raise({ kind: "to", key: lost, index: 77n }, "w1")).toBe(1);
      expect(await used(lost)).toBe(77n);
    });

    test("covers marks, and makes a lost counter only of a period that was raised", async () => {
      await make();
      const other = { name: "orders", periodKey: "2026" };
      await store.cover(
        [
          { ...other, index: 5n },
          { name: "lost", periodKey: "", index: 5n },
        ],
        "w0",
      );
      expect(await used(other)).toBeUndefined();
      expect(await used({ name: "lost", periodKey: "" })).toBeUndefined();
      await stopIn(store, "test", 1);
      await store.raise({ kind: "all", count: 7n }, "w0");
      await store.cover(
        [
          { ...key, index: 40n },
          { ...other, index: 5n },
        ],
        "w1",
      );
      await store.cover(
        [
          { ...key, index: 30n },
          { ...other, index: 2n ** 60n },
        ],
        "w2",
      );
      const { counters } = await store.look([key, other]);
      expect([counters.get(counterId(key)), counters.get(counterId(other))]).toEqual([40n, 2n ** 60n]);
      const next = { name: "orders", periodKey: "2025" };
      await store.cover([{ ...next, index: 5n }], "w3");
      expect(await used(next)).toBe(7n);
      // Also of the day that has just begun.
      const today = new Date((await store.look([])).clockMs).toISOString().slice(0, 10);
      await store.cover([{ name: "orders", periodKey: today, index: 5n }], "w4");
      expect(await used({ name: "orders", periodKey: today })).toBe(7n);
    });

    test("gives a counter that is missing no less than all that was raised, in a period that was raised", async () => {
      await make();
      await stopIn(store, "test", 1);
      await store.raise({ kind: "all", count: 7n }, "w1");
      for (const [periodKey, index, expected] of [
        ["2026", 3n, 7n],
        ["2025", 9n, 9n],
        ["2999", 3n, 3n],
      ] as const) {
        const of = { name: "orders", periodKey };
        expect(await store.raise({ kind: "to", key: of, index }, "w2")).toBe(1);
        expect(await used(of)).toBe(expected);
      }
    });
  });
}
