import { describe, expect, test } from "vitest";
import { MemoryDatabase } from "../../test/support/worlds/memory-store.ts";
import {
  checkOneStore,
  floorStands,
  judgeIncarnation,
  noteIncarnation,
  quarantineFloor,
  writeQuarantine,
} from "./quarantine.ts";
import { encodeQuarantineRecord, parseQuarantineRecord } from "./records/quarantine-record.ts";
import { quarantineMs } from "./window.ts";
import {
  encodeIncarnationRecord,
  type IncarnationRecord,
  parseIncarnationRecord,
} from "./records/incarnation-record.ts";
import { noneAdded } from "./records/added-fields.ts";
import { recordKeys } from "./records/record-text.ts";
import { StoreChanges } from "./store-changes.ts";

const mark = (untilMs: number): { sinceMs: number; untilMs: number; reason: string } => ({
  sinceMs: 1_000,
  untilMs,
  reason: `until ${untilMs}`,
});

function standing(database: MemoryDatabase): number | undefined {
  const text = database.records.get(recordKeys.quarantine);
  return text === undefined ? undefined : parseQuarantineRecord(text).untilMs;
}

test("a quarantine mark that exists is raised (an old one, long over, kept every later one from being written)", async () => {
  const database = new MemoryDatabase();
  const store = database.open();
  expect(await writeQuarantine(store, mark(5_000))).toEqual({ untilMs: 5_000, written: true });
  expect(await writeQuarantine(store, mark(9_000))).toEqual({ untilMs: 9_000, written: true });
  expect(standing(database)).toBe(9_000);
});

test("a quarantine mark is never lowered, nor written again where it is as high", async () => {
  const database = new MemoryDatabase();
  const store = database.open();
  await writeQuarantine(store, mark(9_000));
  expect(await writeQuarantine(store, mark(5_000))).toEqual({ untilMs: 9_000, written: false });
  expect(await writeQuarantine(store, mark(9_000))).toEqual({ untilMs: 9_000, written: false });
  expect(standing(database)).toBe(9_000);
});

test("a grant begins above the later of a mark and of a loss (an old mark, long over, hid every later loss)", () => {
  const rules = { windowMs: 10_000, leadMaxMs: 2_000, windowMaxMs: 30_000, behindMaxMs: 300_000 };
  const floorOf = (untilMs: number, t0Ms: number) => {
    const record = { identity: "system=7", startedMs: null, t0Ms, added: noneAdded };
    const moment = {
      clockMs: 0,
      incarnation: { identity: "system=7", startedMs: undefined, emptyMeans: "new" },
    } as const;
    const entry = { key: recordKeys.incarnation, text: encodeIncarnationRecord(record) };
    const text = encodeQuarantineRecord({ ...mark(untilMs), added: noneAdded });
    const listed = { entries: [{ key: recordKeys.quarantine, text }], moment };
    return quarantineFloor(listed, { record, entry, moment, changed: false }, rules, "redis");
  };
  const lostMs = 90_000 + quarantineMs(rules);
  expect(floorOf(5_000, 90_000)).toMatchObject({ floorMs: lostMs, detail: expect.stringContaining("the store") });
  expect(floorOf(lostMs + 1, 90_000)).toMatchObject({ floorMs: lostMs + 1, detail: `until ${lostMs + 1}` });
  expect(floorOf(5_000, 0).floorMs).toBe(5_000);
});

test("two marks that are put down at one time leave the higher one", async () => {
  for (const [first, second] of [
    [5_000, 9_000],
    [9_000, 5_000],
  ] as const) {
    const database = new MemoryDatabase();
    await Promise.all([writeQuarantine(database.open(), mark(first)), writeQuarantine(database.open(), mark(second))]);
    expect(standing(database)).toBe(9_000);
  }
});

describe("the incarnation record,", () => {
  const nowMs = 90_000;

  /** The record that the store must have after a look at a store that reports this. */
  function judge(
    known: IncarnationRecord,
    life: { readonly identity: string; readonly startedMs?: number },
    sawAnother = false,
  ): IncarnationRecord {
    const incarnation = { startedMs: undefined, ...life, emptyMeans: "new" } as const;
    return judgeIncarnation(known, { moment: { clockMs: nowMs, incarnation }, empty: false, sawAnother }, nowMs);
  }

  const judgeNext = (record: IncarnationRecord, life: { readonly identity: string }) => judge(record, life);

  const known: IncarnationRecord = { identity: "system=7 timeline=1", startedMs: null, t0Ms: 0, added: noneAdded };

  test("where one part differs, says another life from now on: all other parts of a template copy are equal", () => {
    const identity = "system=7 timeline=1 database=16384";
    const noted = { ...known, identity };
    const other = { identity: "system=7 timeline=1 database=16390" };
    expect(judge(noted, other)).toEqual({ ...noted, ...other, t0Ms: nowMs, earlier: expect.any(String) });
    expect(judge(noted, { identity })).toBe(noted);
  });

  test("takes up a part that it does not name yet, and t0 moves to now, once", () => {
    const identity = "system=7 timeline=1 database=16384";
    const noted = judge(known, { identity: "database=16384 system=7 timeline=1" });
    expect(noted).toEqual({ ...known, identity, t0Ms: nowMs });
    expect(judge(noted, { identity })).toBe(noted);
  });

  test("keeps a part that this server does not tell", () => {
    expect(judge(known, { identity: "timeline=1" })).toBe(known);
    const added = judge(known, { identity: "timeline=1 table=5" });
    expect(added.identity).toBe("system=7 timeline=1 table=5");
  });

  test("without a part in common with the server says another life", () => {
    expect(judge(known, { identity: "run=5" })).toMatchObject({ identity: "run=5", t0Ms: nowMs });
  });

  test("of a server that started again has t0 = its start only if both name the same system", () => {
    const noted = { ...known, startedMs: 10_000 };
    expect(judge(noted, { identity: "system=7", startedMs: 40_000 }).t0Ms).toBe(41_000);
    expect(judge(noted, { identity: "timeline=1", startedMs: 40_000 }).t0Ms).toBe(nowMs);
    const unnamed = { ...noted, identity: "timeline=1" };
    expect(judge(unnamed, { identity: "timeline=1", startedMs: 40_000 }).t0Ms).toBe(nowMs);
  });

  test("of a server that started again never moves t0 back to that start", () => {
    const noted = { ...known, startedMs: 10_000, t0Ms: 80_000 };
    expect(judge(noted, { identity: "system=7", startedMs: 40_000 })).toMatchObject({
      startedMs: 40_000,
      t0Ms: 80_000,
    });
  });

  test("moves t0 for a process that saw another life itself, whatever it names, and never back", () => {
    expect(judge(known, { identity: known.identity }, true)).toEqual({ ...known, t0Ms: nowMs });
    const later = { ...known, t0Ms: nowMs + 500 };
    expect(judge(later, { identity: known.identity }, true).t0Ms).toBe(nowMs + 500);
    const incarnation = { identity: known.identity, startedMs: undefined, emptyMeans: "new" } as const;
    const sight = { moment: { clockMs: nowMs, incarnation }, empty: true };
    expect(judgeIncarnation(undefined, { ...sight, sawAnother: false }, nowMs).t0Ms).toBe(0);
    expect(judgeIncarnation(undefined, { ...sight, sawAnother: true }, nowMs).t0Ms).toBe(nowMs);
  });

  test("that names two stores in turn bars starts until Q after the end of the life that came back", () => {
    const rules = { windowMs: 10_000, windowMaxMs: 10_000, leadMaxMs: 2_000, behindMaxMs: 300_000 };
    const [one, two, three, four, five] = [1, 2, 3, 4, 5].map((number) => ({ identity: `system=${number}` }));
    const away = judge({ ...known, ...one! }, two!);
    expect(() => checkOneStore(away, "mysql", nowMs, rules)).not.toThrow();
    const back = judge(away, one!);
    expect(back.t0Ms).toBe(nowMs);
    expect(() => checkOneStore(back, "mysql", nowMs + 12_999, rules)).toThrow(/Two stores answer .*: name one writer/);
    expect(() => checkOneStore(back, "mysql", nowMs + 13_000, rules)).not.toThrow();
    // Only three are remembered, so that the text does not grow without end.
    const long = [three!, four!, five!, three!, four!, five!, three!].reduce(judgeNext, back);
    expect(long.earlier!.split(" ")).toHaveLength(3);
    expect(() => checkOneStore(long, "mysql", nowMs, rules)).toThrow(/name one writer/);
    expect(parseIncarnationRecord(encodeIncarnationRecord(long))).toEqual(long);
  });

  test("is written once by a process that saw the store go away and come back: nobody else could know", async () => {
    const database = new MemoryDatabase();
    const store = database.open();
    const storeChanges = new StoreChanges();
    const note = async (atMs: number): Promise<number> => {
      const moment = database.moment();
      storeChanges.see(moment.incarnation.identity);
      await noteIncarnation(
        store,
        storeChanges,
        { entry: undefined, moment, empty: database.records.size === 0 },
        atMs,
      );
      return parseIncarnationRecord(database.records.get(recordKeys.incarnation)!).t0Ms;
    };
    expect(await note(1_000)).toBe(0);
    storeChanges.see("system=another");
    expect(await note(2_000)).toBe(2_000);
    expect(await note(3_000)).toBe(2_000);
  });
});

describe("a grant that was written under a floor is used only where, after the write,", () => {
  const life = (value: string) => ({ identity: `system=${value}`, startedMs: undefined, emptyMeans: "new" }) as const;

  /** Whether the floor that was looked at before `change` still holds. */
  async function standsAfter(change: (database: MemoryDatabase) => void): Promise<boolean> {
    const database = new MemoryDatabase();
    const store = database.open();
    database.records.set(recordKeys.incarnation, "a life");
    database.records.set(recordKeys.quarantine, "a mark");
    const moment = database.moment();
    const floor = { floorMs: 0, detail: "", incarnationText: "a life", quarantineText: "a mark", moment };
    change(database);
    return floorStands(store, floor, database.moment());
  }

  test("nothing has changed", async () => {
    expect(await standsAfter(() => undefined)).toBe(true);
  });

  test("the same life of the store answers the write", async () => {
    const database = new MemoryDatabase();
    database.records.set(recordKeys.incarnation, "a life");
    const moment = database.moment();
    const floor = { floorMs: 0, detail: "", incarnationText: "a life", quarantineText: undefined, moment };
    const written = { ...moment, incarnation: life("another") };
    expect(await floorStands(database.open(), floor, written)).toBe(false);
  });

  test("the same life of the store answers the look at the two records", async () => {
    const database = new MemoryDatabase();
    database.records.set(recordKeys.incarnation, "a life");
    const written = database.moment();
    const floor = { floorMs: 0, detail: "", incarnationText: "a life", quarantineText: undefined, moment: written };
    database.incarnation = life("another");
    expect(await floorStands(database.open(), floor, written)).toBe(false);
  });

  test("the same incarnation record is there: a store that was emptied, and filled by others, has another", async () => {
    expect(await standsAfter(({ records }) => records.set(recordKeys.incarnation, "another life"))).toBe(false);
    expect(await standsAfter(({ records }) => records.delete(recordKeys.incarnation))).toBe(false);
  });

  test("the same quarantine mark is there", async () => {
    expect(await standsAfter(({ records }) => records.set(recordKeys.quarantine, "a higher mark"))).toBe(false);
    expect(await standsAfter(({ records }) => records.delete(recordKeys.quarantine))).toBe(false);
  });
});
