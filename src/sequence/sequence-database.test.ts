import { describe, expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { MemorySequences, memorySequenceStore } from "../../test/support/worlds/memory-sequences.ts";
import { SequenceDatabase, type SequenceEvent } from "./sequence-database.ts";
import { completeDefinition, type StoredSequence } from "./sequence.ts";

const key = { name: "orders", periodKey: "" };

/** A database with one sequence, and a process whose answers to takes wait for `release`. */
async function begin() {
  const clock = new ManualTime(Date.UTC(2027, 0, 1, 12));
  const memory = new MemorySequences("system=1", () => clock.nowMs());
  memory.look([]);
  const definition = completeDefinition({ name: "orders" });
  memory.create({ stored: { definition, sequenceId: "s", createdMs: 1, updatedMs: 1 }, writeId: "made" }, 1);
  const held: (() => void)[] = [];
  let isHolding = false;
  const store = memorySequenceStore(
    () => memory,
    async (statement, name) => {
      const answer = statement();
      if (name === "take" && isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return answer;
    },
  );
  const events: SequenceEvent[] = [];
  const parts = { store, clock, onEvent: (event: SequenceEvent) => events.push(event), server: "a" };
  const database = new SequenceDatabase(parts);
  const find = async (): Promise<StoredSequence> => (await database.find(["orders"])).get("orders")!;
  const hold = (): void => {
    isHolding = true;
  };
  const release = (): void => {
    isHolding = false;
    for (const answer of held.splice(0)) answer();
  };
  return { clock, memory, database, store, events, parts, find, hold, release };
}

describe("a database of sequences", () => {
  test("gives no take that was on its way while it was stopped, raised by nothing and opened", async () => {
    const { clock, memory, database, find, hold, release } = await begin();
    const stored = await find();
    await database.take({ ...key, stored, count: 10 });
    hold();
    const late = database.take({ ...key, stored, count: 10 });
    await new Promise(setImmediate);
    memory.restoreCounters({
      ...memory.copy(),
      counters: new Map([["orders", { used: 10n, taken: 10n, writeId: "w" }]]),
    });
    memory.stop({ reason: "a test", revision: 1, emptiesStock: false, by: "operator" });
    memory.raise({ kind: "all", count: 0n }, "w");
    memory.open();
    database.recheck();
    await database.ready().catch(() => {});
    clock.stepWall(31_000);
    release();
    await expect(late).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
    expect(await database.take({ ...key, stored, count: 10 })).toMatchObject({ segment: { firstIndex: 10n } });
  });

  test("gives nothing that it has taken before, although the database gave it again under its own witness", async () => {
    const { memory, database, find } = await begin();
    const stored = await find();
    await database.take({ ...key, stored, count: 10 });
    // The counter alone, and what is noted of it: neither the witness nor the counter itself shows it.
    const counters = new Map([["orders", { used: 3n, taken: 3n, writeId: "w" }]]);
    memory.restoreCounters({ ...memory.copy(), counters });
    const again = database.take({ ...key, stored, count: 5 });
    await expect(again).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    expect(memory.look([]).database!.stopped).toBe("the counter of orders is at 3, after 10");
  });

  test("has rows of a new process under each revision, which say what it has seen", async () => {
    const { clock, memory, database, find } = await begin();
    const stored = await find();
    await database.take({ ...key, stored, count: 10 });
    const [first] = memory.servers();
    memory.stop({ reason: "a test", revision: 1, emptiesStock: false, by: "operator" });
    memory.raise({ kind: "all", count: 0n }, "w");
    memory.open();
    clock.stepWall(31_000);
    database.recheck();
    await database.take({ ...key, stored, count: 10 });
    const [second, ...others] = memory.servers();
    expect(others).toEqual([]);
    expect(second!.processId).not.toBe(first!.processId);
    memory.raise({ kind: "by", key, count: 5n }, "w");
    const { epoch } = memory.look([]).database!;
    expect(memory.servers()[0]!.epoch).toBeLessThan(epoch);
    await database.compare([{ ...key, stored }]);
    expect(memory.servers()[0]!.epoch).toBeLessThan(epoch);
    await database.acknowledge();
    expect(memory.servers()[0]!.epoch).toBe(epoch);
    await database.leave();
    expect(memory.servers()).toEqual([]);
  });

  test("lets everything in memory go where a loss was found that its identity does not show", async () => {
    const { memory, database, find, store, parts } = await begin();
    const stored = await find();
    let emptied = 0;
    database.watch(() => (emptied += 1));
    await database.take({ ...key, stored, count: 10 });
    memory.editCounter(key, 0n);
    const finder = new SequenceDatabase({ ...parts, store });
    await expect(finder.take({ ...key, stored, count: 1 })).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    expect(emptied).toBe(0);
    await expect(database.compare([{ ...key, stored }])).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    expect(emptied).toBe(1);
  });

  test("goes on under another name where a copy of this process has written its rows", async () => {
    const { memory, database, find, events } = await begin();
    const stored = await find();
    await database.take({ ...key, stored, count: 10 });
    const { processId } = memory.servers()[0]!;
    const lines = new Map(memory.copy().witness.get(processId)!.lines).set(2, "9 another");
    memory.restore({ ...memory.copy(), witness: new Map([[processId, { ...memory.servers()[0]!, lines }]]) });
    await expect(database.compare([{ ...key, stored }])).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
    expect(events.map(({ kind }) => kind)).toEqual(["copied"]);
    expect(memory.look([]).database!.stopped).toBe("");
    expect(await database.take({ ...key, stored, count: 10 })).toMatchObject({ kind: "taken" });
    expect(memory.servers().length).toBe(2);
  });

  test("loses the rows of a process that has not looked for a week, an hour after that was seen", async () => {
    const { clock, memory, database, find, parts } = await begin();
    const stored = await find();
    await database.take({ ...key, stored, count: 10 });
    const other = new SequenceDatabase(parts);
    await other.take({ ...key, stored, count: 10 });
    const look = async (): Promise<number> => {
      await other.compare([{ ...key, stored }]);
      await other.acknowledge();
      return memory.servers().length;
    };
    expect(await look()).toBe(2);
    clock.stepWall(8 * 86_400_000);
    expect(await look()).toBe(2);
    await clock.pause(3_700_000);
    expect(await look()).toBe(2);
    await clock.pause(3_700_000);
    expect(await look()).toBe(1);
  });
});
