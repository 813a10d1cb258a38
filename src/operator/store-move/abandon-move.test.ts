import { describe, expect, test } from "vitest";
import { at, HookedStore, MovingWorld, runUntilCrash, whoGrants } from "../../../test/support/worlds/moving-world.ts";
import type { MemoryDatabase } from "../../../test/support/worlds/memory-store.ts";
import { IdError } from "../../errors.ts";
import { abandonMove } from "./abandon-move.ts";
import { closeSource } from "./close-source.ts";
import { moveStore } from "./move-store.ts";
import { encodeQuarantineRecord, isForever, parseQuarantineRecord } from "../../lease/records/quarantine-record.ts";
import { writeQuarantine } from "../../lease/quarantine.ts";
import { parseMoveRecord } from "../../lease/records/move-record.ts";
import { noneAdded } from "../../lease/records/added-fields.ts";
import { recordKeys } from "../../lease/records/record-text.ts";

describe("an operator that closes the source while another one takes the move back", () => {
  /** The write of a move that puts the quarantine without end on the source. */
  const markWrite = 4;

  test("leaves the source open without a quarantine without end (it was left under one)", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    let isTakenBack = false;
    const source = new HookedStore(world.database, async (written) => {
      if (written !== recordKeys.quarantine || isTakenBack) return;
      isTakenBack = true;
      await abandonMove(world.parts());
    });
    await expect(world.move(world.parts(source))).rejects.toThrow("undid this copy");
    expect(isForever(world.database.entry(recordKeys.quarantine)!)).toBe(false);
    expect(await whoGrants(world, 1)).toBe("source");
  });

  test("writes no quarantine once it has read that of the taking back", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    expect(await runUntilCrash(world, moveStore, markWrite, "before")).toBe(false);
    const { moveId, layout } = parseMoveRecord(world.database.entry(recordKeys.layout)!.text);
    let refusals = 0;
    const source = new HookedStore(world.database, async (written) => {
      // The mark of taking back is in place, and the source does not serve yet.
      if (written !== recordKeys.layout) return;
      await expect(closeSource(world.parts(), layout, moveId)).rejects.toThrow("undid this copy");
      refusals += 1;
    });
    await abandonMove(world.parts(source));
    expect(refusals).toBe(1);
    expect(await whoGrants(world, 1)).toBe("source");
  });

  test("and the quarantine that bound the source before binds it again", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    const untilMs = world.time.nowMs() + 60_000;
    const mark = encodeQuarantineRecord({ sinceMs: world.time.nowMs(), untilMs, reason: "restored", added: noneAdded });
    world.database.write(recordKeys.quarantine, undefined, mark);
    for (const when of ["before", "after"] as const) {
      expect(await runUntilCrash(world, moveStore, markWrite, when)).toBe(false);
      await abandonMove(world.parts());
      expect(world.database.entry(recordKeys.quarantine)!.text).toContain(`"untilMs":${untilMs}`);
    }
  });
});

describe("a quarantine that is raised on the source while it is closed", () => {
  const raised = (world: MovingWorld) => {
    const nowMs = world.time.nowMs();
    return { sinceMs: nowMs, untilMs: nowMs + 60_000, reason: "the record of worker 0 went back" };
  };
  const untilMs = (database: MemoryDatabase): number =>
    parseQuarantineRecord(database.entry(recordKeys.quarantine)!.text).untilMs;

  test.each([{ readsMayBeUndone: false }, { readsMayBeUndone: true }])(
    "binds the store that opens, until its own end (it was forgotten, or without end): %j",
    async (options) => {
      for (const work of [moveStore, abandonMove]) {
        const world = new MovingWorld({ hasClock: true, ...options });
        await world.populate();
        expect(await runUntilCrash(world, moveStore, 5, "after")).toBe(false);
        const mark = raised(world);
        expect(await writeQuarantine(world.database.open(), mark)).toMatchObject({ written: true });
        const again = await writeQuarantine(world.database.open(), mark);
        expect(again).toEqual({ untilMs: mark.untilMs + (options.readsMayBeUndone ? 1 : 0), written: false });
        expect(isForever(world.database.entry(recordKeys.quarantine)!)).toBe(true);
        await world.running<unknown>(work(world.parts()));
        expect(untilMs(work === moveStore ? world.target : world.database)).toBe(again.untilMs);
      }
    },
  );

  test("between the two writes of a taking back, keeps the source closed while another operator closes it", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    expect(await runUntilCrash(world, moveStore, 4, "before")).toBe(false);
    const { moveId, layout } = parseMoveRecord(world.database.entry(recordKeys.layout)!.text);
    const [atMark, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = new HookedStore(world.database, async (written) => {
      if (written !== recordKeys.quarantine) return;
      atMark.resolve();
      await isOver.promise;
    });
    let closing: Promise<void> | undefined;
    const source = new HookedStore(world.database, async (written) => {
      if (written !== recordKeys.layout) return;
      await writeQuarantine(world.database.open(), raised(world));
      closing = closeSource(world.parts(slow), layout, moveId);
      await atMark.promise;
    });
    await expect(abandonMove(world.parts(source))).rejects.toThrow("changed memory://source at the same time");
    isOver.resolve();
    await closing;
    expect(await whoGrants(world, 0)).toBe("");
    await abandonMove(world.parts());
    expect(untilMs(world.database)).toBe(raised(world).untilMs);
  });
});

describe("a source that is taken back from a target that lost its opening, and whose servers go on,", () => {
  /** How much the target lost, and its servers' window; `dies`: the first operator who takes back does so half-way. */
  const losses = [
    { lost: "its opening", windowMs: 10_000, dies: false },
    { lost: "its opening", windowMs: 60_000, dies: true },
    { lost: "everything", windowMs: 60_000, dies: false },
  ] as const;

  test.each(losses)("never issues beside them (it did): %j", async ({ lost, windowMs, dies }) => {
    const world = new MovingWorld({ hasClock: true }, { durability: "lossy", timing: { windowMs } });
    await world.populate();
    let before = new Map(world.target.records);
    const target = new HookedStore(world.target, async (written) => {
      if (written === recordKeys.layout) before = new Map(world.target.records);
    });
    let layoutWrites = 0;
    const source = new HookedStore(world.database, async (written) => {
      if (written === recordKeys.layout) layoutWrites += 1;
      if (layoutWrites === 2) throw new IdError("STORE_UNAVAILABLE", "The operator died before it noted the end.");
    });
    await expect(world.move(world.parts(source, target))).rejects.toThrow("The operator died");
    const arrival = world.arrival(at(1, 1));
    await arrival.start();
    arrival.store.fault = () => "lost";
    world.target.records.clear();
    if (lost === "its opening") for (const [key, text] of before) world.target.records.set(key, text);
    world.target.incarnation = { ...world.target.incarnation, identity: "system=memory-2" };
    if (dies) expect(await runUntilCrash(world, abandonMove, 1, "after")).toBe(false);
    await abandonMove(world.parts());
    const back = world.process({ ...at(1, 1), name: "back" });
    void back.holder.start();
    const { untilMs } = arrival.holder.grant!;
    for (let second = 0; second < 90; second += 1) {
      await world.time.run(1_000);
      for (const process of [arrival, back]) process.issue(10);
    }
    expect(back.holder.grant!.fromMs).toBeGreaterThanOrEqual(untilMs);
  });
});
