import { describe, expect, test } from "vitest";
import { HolderWorld, smallLayout, type TestProcess } from "../../test/support/worlds/holder-world.ts";
import { FaultyStore } from "../../test/support/worlds/faulty-store.ts";
import type { MemoryDatabaseOptions } from "../../test/support/worlds/memory-store.ts";
import { claimOnce } from "../worker/claim-once.ts";
import type { ClaimOutcome, PastRequest } from "./claim-past.ts";
import { writeQuarantine } from "./quarantine.ts";
import { encodeQuarantineRecord } from "./records/quarantine-record.ts";
import { noneAdded } from "./records/added-fields.ts";
import { recordKeys } from "./records/record-text.ts";
import { createHolder, encodeWorkerRecord, workerKey } from "./records/worker-record.ts";
import { resolveWorkerSettings } from "./worker-settings.ts";

const { epochMs } = smallLayout;
const hourMs = 3_600_000;
const quarantineMs = 13_000;

/** The first hour of the layout, about which everything is known. */
const firstHour: PastRequest = {
  fromMs: epochMs,
  untilMs: epochMs + hourMs,
  laneCount: 1,
  reason: "orders",
  knownSinceMs: Number.NEGATIVE_INFINITY,
  storeKeptUntilMs: Number.NEGATIVE_INFINITY,
};

/** A world whose namespace was begun by a server, which has ended. */
async function begun(options: MemoryDatabaseOptions & { readonly hasClock?: boolean } = { hasClock: true }) {
  const world = new HolderWorld(options);
  await world.time.run(2 * hourMs);
  const process = world.process({ options: { datacenterId: 0, workerId: 0 } });
  await process.start();
  process.issue(1);
  await process.close();
  return world;
}

/** Claims in a separate process; `store` may inject faults. */
async function claim(
  world: HolderWorld,
  change: Partial<PastRequest> = {},
  setup: { readonly store?: FaultyStore; readonly clockAheadMs?: number } = {},
): Promise<ClaimOutcome> {
  const { time } = world;
  const store = setup.store ?? new FaultyStore(world.database.open());
  const holder = createHolder({ instance: "cli", host: "a", processId: 1, bootId: "", sinceMs: 0, version: "" });
  const settings = resolveWorkerSettings({ namespace: "default", holder }, smallLayout, store);
  const ports = {
    clock: { nowMs: () => time.nowMs() + (setup.clockAheadMs ?? 0), monotonicMs: () => time.monotonicMs() },
    timers: time,
    uptimeMs: () => time.uptimeMs(),
    random128: () => world.random128(),
    random: () => world.random(),
    report: () => {},
  };
  return (await claimOnce({ store, settings, ports }, { ...firstHour, ...change })).outcome;
}

/** The one worker ID of a claim that succeeded. */
async function claimed(world: HolderWorld, change: Partial<PastRequest> = {}): Promise<number> {
  const outcome = await claim(world, change);
  expect(outcome).toMatchObject({ kind: "claimed" });
  return outcome.kind === "claimed" ? outcome.grant.workerIndexes[0]! : -1;
}

/** Puts a record of a live holder or of a claim into the store. */
function put(world: HolderWorld, workerIndex: number, markMs: number, instance = "b:7609", token = ""): void {
  const holder = createHolder({ instance, host: "b", processId: 2, bootId: "", sinceMs: 0, version: "" });
  const record = { generation: 3, token, writeId: "f".repeat(32), markMs, expiresMs: 0, holder, added: noneAdded };
  world.database.records.set(workerKey(workerIndex), encodeWorkerRecord(record));
}

describe("rule 1: a layout record must exist, and a claim never writes one", () => {
  test("an empty namespace is refused, and stays empty", async () => {
    const world = new HolderWorld({ hasClock: true });
    expect(await claim(world)).toMatchObject({ kind: "failed", error: { reason: "INVALID_CONFIG" } });
    expect(world.database.records.size).toBe(0);
  });

  test("a namespace whose layout record is lost is refused", async () => {
    const world = await begun();
    world.database.records.delete(recordKeys.layout);
    expect(await claim(world)).toMatchObject({ kind: "failed", error: { metadata: { lost: "layout" } } });
    expect(world.database.entry(recordKeys.layout)).toBeUndefined();
  });
});

describe("rule 2: only a worker ID without a token is taken", () => {
  test("a holder's, alive or expired, is not", async () => {
    const world = await begun();
    for (const index of [0, 1, 2, 3]) put(world, index, epochMs, "b", "a".repeat(32));
    await world.time.run(hourMs);
    expect(await claim(world)).toMatchObject({ kind: "failed", error: { reason: "NO_FREE_WORKER_ID" } });
  });

  test("a record that only a newer version can write is not", async () => {
    const world = await begun();
    for (const index of [0, 1, 2, 3]) {
      put(world, index, epochMs);
      const { text } = world.database.entry(workerKey(index))!;
      world.database.records.set(workerKey(index), text.replace('"formatVersion":1', '"formatVersion":2'));
    }
    expect(await claim(world)).toMatchObject({ kind: "failed", error: { reason: "NO_FREE_WORKER_ID" } });
  });
});

describe("rule 3: the mark is at most the beginning", () => {
  test("a mark above it is refused, and the earliest time is named", async () => {
    const world = await begun();
    for (const index of [0, 1, 2, 3]) put(world, index, epochMs + 1 + index);
    const metadata = { earliest_unix_ms: String(epochMs + 1) };
    expect(await claim(world)).toMatchObject({ error: { reason: "NO_FREE_WORKER_ID", metadata } });
    expect(await claimed(world, { fromMs: epochMs + 1 })).toBe(0);
  });

  test("the mark of a claim is its end, so a second claim of the interval takes another worker ID", async () => {
    const world = await begun();
    const first = await claimed(world);
    expect(world.record(first)).toMatchObject({ token: "", markMs: epochMs + hourMs, expiresMs: 0, generation: 1 });
    const second = await claimed(world);
    expect(second).not.toBe(first);
    expect(await claimed(world, { fromMs: epochMs + hourMs, untilMs: epochMs + 2 * hourMs })).toBe(
      Math.max(first, second),
    );
  });

  test("a grant after a claim begins at the clock, and its release leaves the claim below its mark", async () => {
    const world = await begun();
    const index = await claimed(world);
    const options = { datacenterId: Math.floor(index / 2), workerId: index % 2 };
    const process = world.process({ name: "c", options });
    await process.start();
    expect(process.holder.grant!.fromMs).toBe(world.time.nowMs());
    await process.close();
    expect(world.record(index)!.markMs).toBeGreaterThanOrEqual(epochMs + hourMs);
  });
});

describe("rule 4: nothing is claimed of the future", () => {
  test("by the store's clock, whatever the machine's says", async () => {
    const world = await begun();
    const untilMs = world.time.nowMs();
    const late = await claim(world, { untilMs: untilMs + 1 }, { clockAheadMs: hourMs });
    expect(late).toMatchObject({ kind: "refused", error: { reason: "INVALID_TIME_RANGE" } });
    expect(await claim(world, { untilMs }, { clockAheadMs: -hourMs })).toMatchObject({ kind: "claimed" });
  });

  test("without a clock of the store, up to the highest mark and the clock of the machine", async () => {
    const world = await begun({});
    const markMs = world.record(0)!.markMs;
    await world.time.run(hourMs);
    expect(await claim(world, { untilMs: markMs + 1 })).toMatchObject({ error: { reason: "INVALID_TIME_RANGE" } });
    const behind = await claim(world, { untilMs: markMs }, { clockAheadMs: -2 * hourMs });
    expect(behind).toMatchObject({ error: { reason: "INVALID_TIME_RANGE" } });
    expect(await claim(world, { untilMs: markMs })).toMatchObject({ kind: "claimed" });
  });

  test("statements about the future are refused", async () => {
    const world = await begun();
    const futureMs = world.time.nowMs() + 1;
    for (const change of [{ knownSinceMs: futureMs }, { storeKeptUntilMs: futureMs }]) {
      expect(await claim(world, change)).toMatchObject({ kind: "refused", error: { reason: "INVALID_CONFIG" } });
    }
  });

  test.each([
    ["is empty", { untilMs: epochMs }],
    ["begins before the epoch", { fromMs: epochMs - 1 }],
    ["ends after the layout", { untilMs: smallLayout.endMs + 1 }],
    ["begins before what is known of other generators", { knownSinceMs: epochMs + 1 }],
  ])("an interval that %s is refused", async (_, change) => {
    const world = await begun();
    expect(await claim(world, change)).toMatchObject({ kind: "refused", error: { reason: "INVALID_TIME_RANGE" } });
  });
});

describe("rule 5: the floor that losses set binds a claim", () => {
  test("below t0 and Q nothing is claimed, except by the statement that the store kept all up to t0", async () => {
    const world = await begun();
    world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
    const t0Ms = world.time.nowMs();
    const fromMs = String(t0Ms + quarantineMs);
    expect(await claim(world)).toMatchObject({
      error: { reason: "STORE_WENT_BACK", metadata: { from_unix_ms: fromMs } },
    });
    expect(await claim(world, { storeKeptUntilMs: t0Ms })).toMatchObject({ error: { reason: "STORE_WENT_BACK" } });
    await world.time.run(quarantineMs);
    expect(await claim(world, { storeKeptUntilMs: t0Ms - 1 })).toMatchObject({ error: { reason: "STORE_WENT_BACK" } });
    expect(await claim(world, { storeKeptUntilMs: t0Ms })).toMatchObject({ kind: "claimed" });
  });

  test("the past after t0 and Q needs no statement", async () => {
    const world = await begun();
    world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
    const t0Ms = world.time.nowMs();
    await claim(world);
    await world.time.run(hourMs);
    const after = { fromMs: t0Ms + quarantineMs, untilMs: t0Ms + hourMs };
    expect(await claim(world, { ...after, fromMs: after.fromMs - 1 })).toMatchObject({ kind: "refused" });
    expect(await claim(world, after)).toMatchObject({ kind: "claimed" });
  });

  test("a quarantine is voided by a statement that reaches its end, not its beginning", async () => {
    const world = await begun();
    const sinceMs = world.time.nowMs();
    const untilMs = sinceMs + 2 * hourMs;
    await writeQuarantine(world.database.open(), { sinceMs, untilMs, reason: "went back" });
    await world.time.run(3 * hourMs);
    const refused = await claim(world, { storeKeptUntilMs: untilMs - 1 });
    expect(refused).toMatchObject({ error: { reason: "STORE_WENT_BACK", metadata: { evidence: /went back/ } } });
    expect(await claim(world, { storeKeptUntilMs: untilMs })).toMatchObject({ kind: "claimed" });
  });

  test("no statement helps on a store that may lose what it confirmed", async () => {
    const world = await begun({ durability: "lossy", hasClock: true });
    expect(await claim(world, { storeKeptUntilMs: epochMs })).toMatchObject({ error: { reason: "INVALID_CONFIG" } });
  });
});

describe("rule 6: the claim is written by compare-and-set, and floor and life are looked at again", () => {
  test("after a conflict it takes another worker ID, and what the other wrote stays", async () => {
    const world = await begun();
    const store = new FaultyStore(world.database.open());
    const rivals: number[] = [];
    store.fault = ({ key }) => {
      const index = Number(/^worker-(\d+)$/.exec(key ?? "")?.[1] ?? Number.NaN);
      if (Number.isNaN(index) || rivals.length > 0) return "none";
      rivals.push(index);
      put(world, index, epochMs + 2 * hourMs);
      return "none";
    };
    const outcome = await claim(world, {}, { store });
    expect(outcome).toMatchObject({ kind: "claimed" });
    expect(outcome.kind === "claimed" && outcome.grant.workerIndexes).not.toEqual(rivals);
    expect(world.record(rivals[0]!)!.markMs).toBe(epochMs + 2 * hourMs);
  });

  test("each claim has a fresh writeId and one generation more", async () => {
    const world = await begun();
    put(world, 3, epochMs, "past x");
    const before = world.record(3)!;
    expect(await claimed(world)).toBe(3);
    expect(world.record(3)!.generation).toBe(before.generation + 1);
    expect(world.record(3)!.writeId).not.toBe(before.writeId);
  });

  test("an answer that is lost is looked up: landed is claimed, and not landed is not", async () => {
    const world = await begun();
    const landed = new FaultyStore(world.database.open());
    landed.fault = ({ key, kind }) => (kind === "compareAndSet" && key?.startsWith("worker-") ? "answer-lost" : "none");
    expect(await claim(world, {}, { store: landed })).toMatchObject({ kind: "claimed" });
    const lost = new FaultyStore(world.database.open());
    lost.fault = ({ key }) => (key?.startsWith("worker-") ? "lost" : "none");
    expect(await claim(world, {}, { store: lost })).toMatchObject({ error: { reason: "STORE_UNAVAILABLE" } });
  });

  test("where a read may be undone, a claim that was only read is written once more", async () => {
    const world = await begun({ hasClock: true, readsMayBeUndone: true });
    const store = new FaultyStore(world.database.open());
    let writes = 0;
    store.fault = ({ key, kind }) => {
      if (kind !== "compareAndSet" || !key?.startsWith("worker-")) return "none";
      writes += 1;
      return writes === 1 ? "answer-lost" : "none";
    };
    expect(await claim(world, {}, { store })).toMatchObject({ kind: "claimed" });
    expect(writes).toBe(2);
  });

  test("a quarantine between look and write drops the claim; its mark stays raised, and the next round is refused", async () => {
    const world = await begun();
    const store = new FaultyStore(world.database.open());
    const untilMs = world.time.nowMs() + hourMs;
    store.fault = ({ key }) => {
      const mark = { sinceMs: 0, untilMs, reason: "meanwhile", added: noneAdded };
      if (key?.startsWith("worker-")) world.database.records.set(recordKeys.quarantine, encodeQuarantineRecord(mark));
      return "none";
    };
    expect(await claim(world, {}, { store })).toMatchObject({ error: { reason: "STORE_WENT_BACK" } });
    expect([0, 1, 2, 3].map((index) => world.record(index)?.markMs)).toContain(epochMs + hourMs);
  });

  test("another life of the store between look and write drops the claim", async () => {
    const world = await begun();
    const store = new FaultyStore(world.database.open());
    store.fault = ({ key }) => {
      if (key?.startsWith("worker-")) {
        world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
      }
      return "none";
    };
    expect(await claim(world, {}, { store })).toMatchObject({ error: { reason: "STORE_WENT_BACK" } });
  });
});

describe("rule 7: the choice", () => {
  test("a worker ID that no live holder ever had comes before one that was released; among those the highest mark", async () => {
    const world = await begun();
    put(world, 0, epochMs + 5);
    put(world, 1, epochMs, "past 2026 x");
    put(world, 2, epochMs + 3, "past 2026 x");
    const later = { fromMs: epochMs + 10, untilMs: epochMs + hourMs };
    expect(await claimed(world, later)).toBe(2);
    expect(await claimed(world, later)).toBe(1);
    expect(await claimed(world, later)).toBe(3);
    expect(await claimed(world, later)).toBe(0);
    expect(world.record(0)!.holder.instance).toBe("later past 2026-01-01T00:00:00.010Z..2026-01-01T01:00:00Z orders");
    expect(world.record(2)!.holder.instance).toBe("past 2026-01-01T00:00:00.010Z..2026-01-01T01:00:00Z orders");
    expect(await claim(world, later)).toMatchObject({ error: { reason: "NO_FREE_WORKER_ID" } });
  });

  test("a claim of months, oldest first, uses one worker ID; newest first, one each", async () => {
    const hours = [0, 1].map((hour) => ({ fromMs: epochMs + hour * hourMs, untilMs: epochMs + (hour + 1) * hourMs }));
    const world = await begun();
    const oldestFirst = [await claimed(world, hours[0]), await claimed(world, hours[1])];
    expect(new Set(oldestFirst).size).toBe(1);
    const other = await begun();
    const newestFirst = [await claimed(other, hours[1]), await claimed(other, hours[0])];
    expect(new Set(newestFirst).size).toBe(2);
  });

  test("only the worker IDs that the request names are taken", async () => {
    const world = await begun();
    expect(await claimed(world, { datacenterIds: [0], workerIds: { first: 1, last: 1 } })).toBe(1);
    expect(await claim(world, { datacenterIds: [0], workerIds: { first: 1, last: 1 } })).toMatchObject({
      error: { reason: "NO_FREE_WORKER_ID" },
    });
  });

  test("lanes are worker IDs of their own, in rising order, and the passes that are left are reported", async () => {
    const world = await begun();
    const outcome = await claim(world, { laneCount: 2 });
    expect(outcome).toMatchObject({ kind: "claimed", grant: { workerIndexes: [2, 3], passesLeft: 0 } });
    expect(await claim(world, { laneCount: 2 })).toMatchObject({ error: { reason: "NO_FREE_WORKER_ID" } });
  });

  test("no lock is taken: the compare-and-set decides", async () => {
    const world = await begun({ liveness: "lock", hasClock: true });
    expect(await claim(world)).toMatchObject({ kind: "claimed" });
    expect(world.database.locks.size).toBe(0);
  });
});

describe("holders beside claims", () => {
  async function held(world: HolderWorld): Promise<TestProcess> {
    const process = world.process({ name: "h", options: { datacenterId: 1, workerId: 1 } });
    await process.start();
    return process;
  }

  test("a holder that wakes up after its worker ID was given back and claimed is lost, without a quarantine", async () => {
    const world = await begun();
    const process = await held(world);
    const record = world.record(3)!;
    const released = { ...record, token: "", writeId: "e".repeat(32), expiresMs: 0 };
    world.database.records.set(workerKey(3), encodeWorkerRecord(released));
    const fromMs = record.markMs;
    process.store.fault = () => "lost";
    await world.time.run(quarantineMs);
    expect(
      await claimed(world, { fromMs, untilMs: fromMs + 1, datacenterIds: [1], workerIds: { first: 1, last: 1 } }),
    ).toBe(3);
    process.store.fault = () => "none";
    await world.time.run(hourMs);
    expect(process.kinds()).toContain("grant-ended");
    expect(world.database.entry(recordKeys.quarantine)).toBeUndefined();
  });
});
