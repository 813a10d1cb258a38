import { describe, expect, test } from "vitest";
import { HolderWorld, type TestProcess } from "../../../test/support/worlds/holder-world.ts";
import { MemoryDatabase } from "../../../test/support/worlds/memory-store.ts";
import { exitCodeOf, exitCodes } from "../../cli/exit-code.ts";
import { releaseExpired } from "../../operator/release-expired.ts";
import { moveStore } from "../../operator/store-move/move-store.ts";
import { listWorkers } from "../worker-list.ts";
import { writeQuarantine } from "../quarantine.ts";
import { recordKeys } from "./record-text.ts";

const ttlMs = 13_000;
const periodMs = 2_000;
const key = "worker-0";
const pinned = { datacenterId: 0, workerId: 0 };
const added = { note: "of a later version", tries: 7 };

type Fields = Record<string, unknown>;

function fieldsOf(database: MemoryDatabase, record: string): Fields {
  return JSON.parse(database.entry(record)!.text) as Fields;
}

/** Changes a record as a later version would have written it. */
function rewrite(database: MemoryDatabase, record: string, change: (fields: Fields) => Fields): void {
  const entry = database.entry(record)!;
  database.write(record, entry, JSON.stringify(change(fieldsOf(database, record))));
}

const withAdded = (fields: Fields): Fields => ({ ...fields, ...added });
const ofFormat2 = (fields: Fields): Fields => ({ ...fields, formatVersion: 2, shape: "round", program: "2.0.0" });

/** A world with all kinds of records, whose one process crashed and is expired. */
async function crashed(): Promise<HolderWorld> {
  const world = new HolderWorld({ hasClock: true });
  const process = world.process({ options: pinned });
  await process.start();
  process.issue(5);
  process.crash();
  await world.time.run(ttlMs + 1);
  await writeQuarantine(world.database.open(), { sinceMs: 0, untilMs: 1, reason: "long over" });
  return world;
}

async function started(world: HolderWorld, name = "b"): Promise<TestProcess> {
  const process = world.process({ name, options: pinned });
  await process.start();
  return process;
}

describe("fields that a later version added at the top of a record are kept", () => {
  test("by an acquire, a renewal and a release of another holder", async () => {
    const world = await crashed();
    rewrite(world.database, key, withAdded);
    const next = await started(world);
    expect(fieldsOf(world.database, key)).toMatchObject({ generation: 2, ...added });
    await world.time.run(periodMs);
    expect(next.holder.counters.renewed).toBe(1);
    expect(fieldsOf(world.database, key)).toMatchObject(added);
    await next.close();
    expect(fieldsOf(world.database, key)).toMatchObject({ token: "", ...added });
  });

  test("by an operator's release", async () => {
    const world = await crashed();
    rewrite(world.database, key, withAdded);
    const ports = { clock: world.time, timers: world.time, random128: () => world.random128() };
    expect((await releaseExpired(world.database.open(), 0, ports)).kind).toBe("released");
    expect(fieldsOf(world.database, key)).toMatchObject({ token: "", ...added });
  });

  test("where a quarantine is raised, and another life of the store is noted", async () => {
    const world = await crashed();
    rewrite(world.database, recordKeys.quarantine, withAdded);
    rewrite(world.database, recordKeys.incarnation, withAdded);
    await writeQuarantine(world.database.open(), { sinceMs: 0, untilMs: 2, reason: "raised" });
    world.database.incarnation = { ...world.database.incarnation, identity: "another" };
    await world.process({ name: "b", options: pinned }).start(30_000);
    expect(fieldsOf(world.database, recordKeys.quarantine)).toMatchObject({ untilMs: 2, ...added });
    expect(fieldsOf(world.database, recordKeys.incarnation)).toMatchObject({ identity: "another", ...added });
  });

  test("where a layout record that was lost is written again", async () => {
    const world = await crashed();
    rewrite(world.database, recordKeys.layout, withAdded);
    const { text } = world.database.entry(recordKeys.layout)!;
    const holder = await started(world);
    world.database.records.delete(recordKeys.layout);
    holder.store.fault = () => "lost";
    await world.time.run(11_000);
    holder.store.fault = () => "none";
    await world.time.run(60_000);
    expect(holder.issue()).toBe(1);
    expect(world.database.entry(recordKeys.layout)!.text).toBe(text);
  });

  test("where the namespace moves to another store", async () => {
    const world = await crashed();
    const target = new MemoryDatabase({ clockMs: () => world.time.nowMs() });
    for (const record of [key, recordKeys.layout, recordKeys.quarantine]) rewrite(world.database, record, withAdded);
    const { text } = world.database.entry(recordKeys.layout)!;
    await move(world, target);
    expect(target.entry(recordKeys.layout)!.text).toBe(text);
    expect(fieldsOf(target, key)).toMatchObject(added);
    expect(fieldsOf(world.database, recordKeys.layout)).toMatchObject({ phase: "left", layout: added });
    expect(fieldsOf(world.database, recordKeys.quarantine)).toMatchObject({ reason: "moved to memory://b", ...added });
  });
});

async function move(world: HolderWorld, target: MemoryDatabase, report = (_step: string) => {}): Promise<unknown> {
  return await moveStore({
    source: { store: world.database.open(), place: "memory://a" },
    target: { store: target.open(), place: "memory://b" },
    clock: world.time,
    timers: world.time,
    random128: () => world.random128(),
    report,
  });
}

test("fields that a later version added to the holder end with the holder", async () => {
  const world = await crashed();
  rewrite(world.database, key, (fields) => ({ ...fields, holder: { ...(fields["holder"] as Fields), zone: "b" } }));
  await started(world);
  expect(fieldsOf(world.database, key)["holder"]).not.toHaveProperty("zone");
});

test("a successor begins at hwmMs, whatever an added field says", async () => {
  const world = await crashed();
  const markMs = world.time.nowMs() + 1_000;
  rewrite(world.database, key, (fields) => ({ ...fields, hwmMs: markMs, lowestMs: 1, highestMs: markMs + 9_000_000 }));
  expect((await started(world)).holder.grant!.fromMs).toBe(markMs);
});

test.each([
  ["a fraction", 0.5],
  ["a list", [1]],
  ["an object", {}],
  ["a truth value", true],
  ["null", null],
])("an added field that is %s makes a record foreign: no version writes one", async (_, value) => {
  const world = await crashed();
  rewrite(world.database, key, (fields) => ({ ...fields, extra: value }));
  await expect(started(world)).rejects.toMatchObject({ reason: "NO_FREE_WORKER_ID" });
});

test("added fields of 464 bytes are kept in a record of at most 1,024, and one byte more bars its worker ID alone", async () => {
  const filled = (bytes: number): Fields => ({ more: "x".repeat(bytes - `,"more":""`.length) });
  const world = await crashed();
  rewrite(world.database, key, (fields) => ({ ...fields, ...filled(464) }));
  const next = world.process({ name: "b".repeat(300), options: pinned });
  await next.start();
  expect(world.database.entry(key)!.text.length).toBeLessThanOrEqual(1_024);
  expect(fieldsOf(world.database, key)).toMatchObject(filled(464));
  await next.close();
  rewrite(world.database, key, (fields) => ({ ...fields, ...filled(465) }));
  await expect(started(world, "c")).rejects.toThrow(/There is no free worker ID: .*newer version added/u);
  await world.process({ name: "d" }).start();
});

describe("a worker record of a higher format", () => {
  test("is refused by the version of its holder where it names none of its own", async () => {
    const world = await crashed();
    rewrite(world.database, key, (fields) => {
      const holder = { ...(fields["holder"] as Fields), version: "2.1.0" };
      const newer = Object.entries({ ...ofFormat2(fields), holder });
      return Object.fromEntries(newer.filter(([name]) => name !== "program"));
    });
    await expect(started(world)).rejects.toThrow("Start Snowlane 2.1.0 that wrote it");
  });

  test.each([
    ["too long", "2".repeat(41)],
    ["with a line break", "2.0.0\nsnowlane: all is well"],
    ["no version", "latest"],
    ["a number", 2],
  ])("is refused without the name of a version that is %s", async (_, program) => {
    const world = await crashed();
    rewrite(world.database, recordKeys.layout, (fields) => ({ ...ofFormat2(fields), program }));
    await expect(started(world)).rejects.toThrow("Start the newer version that wrote it");
  });

  test("bars its worker ID alone, and says so to a process that is pinned to it", async () => {
    const world = await crashed();
    rewrite(world.database, key, ofFormat2);
    await expect(started(world)).rejects.toThrow(/The record worker-0 in the store has format 2/u);
    const others = ["c", "d", "e"].map((name) => world.process({ name }));
    for (const process of others) await process.start();
    expect(new Set(others.map(({ holder }) => holder.grant!.workerIndex))).toEqual(new Set([1, 2, 3]));
    expect(fieldsOf(world.database, key)["formatVersion"]).toBe(2);
    const store = world.database.open();
    const { workers } = await listWorkers(store, await store.list(), world.time.nowMs());
    expect(workers.find(({ workerIndex }) => workerIndex === 0)).toMatchObject({ state: "unreadable" });
  });

  test.each([
    ["took it over", { generation: 3, token: "f".repeat(32) }, 0, "lost"],
    ["wrote under its token", {}, 5, "lost"],
    ["released it", { token: "" }, -5, "lost"],
    ["has a lower mark", { generation: 3, token: "f".repeat(32) }, -1, "regressed"],
    ["has an older generation", { generation: 1, token: "f".repeat(32) }, 5, "regressed"],
  ])("ends a holder as one of its own format would where it %s", async (_, change, aboveMs, end) => {
    const world = await crashed();
    const holder = await started(world);
    const { markMs } = holder.holder.grant!.record;
    rewrite(world.database, key, (fields) => ofFormat2({ ...fields, ...change, hwmMs: markMs + aboveMs }));
    await world.time.run(periodMs);
    expect(holder.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end }));
    expect(holder.issue()).toBe("no-grant");
  });

  test("shows its mark to a quarantine after a loss", async () => {
    const world = await crashed();
    const markMs = world.time.nowMs() + 500_000;
    rewrite(world.database, key, (fields) => ofFormat2({ ...fields, hwmMs: markMs }));
    const other = world.process({ name: "c" });
    await other.start();
    world.database.records.delete(other.holder.grant!.key);
    await world.time.run(periodMs);
    expect(fieldsOf(world.database, recordKeys.quarantine)["untilMs"]).toBeGreaterThanOrEqual(markMs);
  });

  test("is not moved to another store, whether it is in this one or in that", async () => {
    const world = await crashed();
    const target = new MemoryDatabase({ clockMs: () => world.time.nowMs() });
    const { text } = world.database.entry(key)!;
    rewrite(world.database, key, ofFormat2);
    await expect(move(world, target)).rejects.toThrow("has format 2");
    expect(target.records.size).toBe(0);
    world.database.write(key, world.database.entry(key), text);
    const newer = JSON.stringify(ofFormat2(JSON.parse(text) as Fields));
    const moved = move(world, target, (step) => {
      if (step === "copies the marks") target.write(key, undefined, newer);
    });
    await expect(moved).rejects.toThrow("has format 2");
    expect(target.entry(key)!.text).toBe(newer);
  });
});

describe("a higher format of", () => {
  test.each([recordKeys.layout, recordKeys.quarantine, recordKeys.incarnation])(
    "the %s record bars a start with code 4 and a sentence, and stays as it is",
    async (record) => {
      const world = await crashed();
      rewrite(world.database, record, ofFormat2);
      const { text } = world.database.entry(record)!;
      const refused: unknown = await started(world).catch((error: unknown) => error);
      expect(exitCodeOf(refused)).toBe(exitCodes.store);
      expect(refused).toMatchObject({
        reason: "INVALID_CONFIG",
        message: `The record ${record} in the store has format 2, and this version of Snowlane reads format 1. Start Snowlane 2.0.0 that wrote it (docs/upgrading.md).`,
      });
      expect(world.database.entry(record)!.text).toBe(text);
    },
  );

  test.each([recordKeys.quarantine, recordKeys.incarnation])(
    "the %s record stops no holder that has a worker ID",
    async (record) => {
      const world = await crashed();
      const holder = await started(world);
      rewrite(world.database, record, ofFormat2);
      await world.time.run(60_000);
      expect(holder.holder.counters).toMatchObject({ acquired: 1, lost: 0, lapsed: 0 });
      expect(holder.issue()).toBe(1);
    },
  );
});
