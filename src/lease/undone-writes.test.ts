/**
 * A store whose reads can show what a failover then undoes: a wait for a copy was given up, and the write stayed on one
 * server.
 */
import { describe, expect, test } from "vitest";
import { HolderWorld } from "../../test/support/worlds/holder-world.ts";
import { MemoryDatabase } from "../../test/support/worlds/memory-store.ts";
import { writeQuarantine } from "./quarantine.ts";

const windowMs = 10_000;
const periodMs = 2_000;

describe.each([
  { readsMayBeUndone: true, counts: "does not count" },
  { readsMayBeUndone: false, counts: "counts" },
])("where reads that may be undone: $readsMayBeUndone,", ({ readsMayBeUndone, counts }) => {
  test(`a renewal without an answer that is in the store ${counts}`, async () => {
    const world = new HolderWorld({ readsMayBeUndone });
    const process = world.process();
    await process.start();
    const { untilMs, workerIndex } = process.holder.grant!;
    let writes = 0;
    process.store.fault = ({ kind }) => {
      if (kind !== "compareAndSet") return "none";
      writes += 1;
      return writes === 1 ? "answer-lost" : "lost";
    };
    await world.time.run(2 * periodMs);
    expect(world.record(workerIndex)!.markMs).toBeGreaterThan(untilMs);
    expect(process.holder.grant!.untilMs > untilMs).toBe(!readsMayBeUndone);
    // The next write is answered, and it was sent over our own text.
    process.store.fault = () => "none";
    await world.time.run(periodMs);
    expect(process.holder.grant!.untilMs).toBeGreaterThan(untilMs);
    expect(process.holder.counters).toMatchObject({ lost: 0, lapsed: 0 });
  });

  test(`a grant without an answer that is in the store ${counts}: it is written again before it is used`, async () => {
    const world = new HolderWorld({ readsMayBeUndone });
    const process = world.process();
    const texts: string[] = [];
    process.store.onWritten = (key) => void (key.startsWith("worker") && texts.push(world.database.records.get(key)!));
    process.store.fault = ({ kind, key }) =>
      kind === "compareAndSet" && key?.startsWith("worker") && texts.length === 0 ? "answer-lost" : "none";
    await process.start();
    expect(texts).toHaveLength(readsMayBeUndone ? 2 : 1);
    expect(new Set(texts).size).toBe(texts.length);
    expect(process.holder.grant!.entry.text).toBe(texts.at(-1));
    await world.time.run(windowMs);
    expect(process.holder.counters).toMatchObject({ acquired: 1, lost: 0 });
  });

  test(`a quarantine mark that was only read ${counts}`, async () => {
    const database = new MemoryDatabase({ readsMayBeUndone });
    const mark = { sinceMs: 1_000, untilMs: 9_000, reason: "restored" };
    await writeQuarantine(database.open(), mark);
    const before = database.records.get("quarantine");
    const { untilMs, written } = await writeQuarantine(database.open(), { ...mark, untilMs: 5_000 });
    expect([untilMs >= 9_000, written]).toEqual([true, false]);
    expect(database.records.get("quarantine") !== before).toBe(readsMayBeUndone);
  });
});

test("a grant whose second write stays without an answer is not used, and is found again as our own", async () => {
  const world = new HolderWorld({ readsMayBeUndone: true });
  const process = world.process();
  let isWritten = false;
  process.store.fault = ({ kind, key }) => {
    if (kind !== "compareAndSet" || !key?.startsWith("worker")) return "none";
    isWritten = true;
    return "answer-lost";
  };
  process.holder.start().catch(() => {});
  await world.time.run(2_000);
  expect([isWritten, process.holder.grant]).toEqual([true, undefined]);
  const worker = [...world.database.records.keys()].filter((key) => key.startsWith("worker"));
  expect(worker).toHaveLength(1);
  process.store.fault = () => "none";
  await world.time.run(3_000);
  expect(process.holder.grant?.key).toBe(worker[0]);
});
