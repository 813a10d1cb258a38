import { describe, expect, test } from "vitest";
import {
  at,
  HookedStore,
  MovingWorld,
  runUntilCrash,
  startRefusal,
  ttlMs,
  whoGrants,
} from "../../../test/support/worlds/moving-world.ts";
import { MemoryDatabase } from "../../../test/support/worlds/memory-store.ts";
import { abandonMove } from "./abandon-move.ts";
import { type MoveOutcome, moveStore } from "./move-store.ts";
import { encodeQuarantineRecord } from "../../lease/records/quarantine-record.ts";
import { noneAdded } from "../../lease/records/added-fields.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import { parseWorkerRecord } from "../../lease/records/worker-record.ts";

describe("moving a namespace", () => {
  test("every mark arrives, servers start on the target above them, and the source names the target", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    const marks = [0, 3].map((index) => world.record(index)!.markMs);
    expect(await world.move()).toMatchObject({ kind: "moved", records: 2 });
    expect(await startRefusal(world.process({ name: "late" }))).toContain(
      "was moved from this store to memory://target",
    );
    // Its clock is 20 s behind: without the mark it would issue what was issued before.
    const arrival = world.arrival({ ...at(1, 1), clockAheadMs: -20_000 });
    const started = arrival.start(25_000);
    await started;
    expect(arrival.holder.grant).toMatchObject({ generation: 2 });
    expect(arrival.holder.grant!.fromMs).toBeGreaterThanOrEqual(marks[1]!);
    expect(arrival.issue(50)).toBe(50);
    expect(await world.move()).toMatchObject({ kind: "was-moved" });
  });

  test("the target is granted from at once: it notes its own life, not that of the source", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    await world.move();
    const arrival = world.arrival(at(0, 1));
    await arrival.start();
    expect(arrival.holder.grant!.fromMs).toBe(world.time.nowMs());
    expect(world.target.entry(recordKeys.incarnation)!.text).toContain('"t0Ms":0');
  });

  test("a quarantine of the source binds the target", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    const untilMs = world.time.nowMs() + 60_000;
    const mark = encodeQuarantineRecord({ sinceMs: world.time.nowMs(), untilMs, reason: "restored", added: noneAdded });
    world.database.write(recordKeys.quarantine, undefined, mark);
    await world.move();
    const arrival = world.arrival();
    await arrival.start(65_000);
    expect(arrival.holder.grant!.fromMs).toBeGreaterThanOrEqual(untilMs);
  });

  test("a source that started again under another identity puts its quarantine on the target", async () => {
    const world = new MovingWorld({ hasClock: true, durability: "lossy" });
    await world.populate();
    world.database.incarnation = { ...world.database.incarnation, identity: "another" };
    const movedMs = world.time.nowMs();
    await world.move();
    const arrival = world.arrival();
    await arrival.start(30_000);
    expect(arrival.holder.grant!.fromMs).toBeGreaterThanOrEqual(movedMs + 13_000);
  });

  test.each([{ hasClock: true }, { hasClock: false }, { liveness: "lock" as const }])(
    "a living holder stops it before anything is changed: %j",
    async (options) => {
      const world = new MovingWorld(options);
      const process = world.process();
      await process.start();
      const before = new Map(world.database.records);
      const outcome = await world.move();
      expect(outcome).toMatchObject({ kind: "held", isClosed: false, holders: [{}] });
      expect([world.target.records.size, new Map(world.database.records)]).toEqual([0, before]);
      expect(process.issue(5)).toBe(5);
    },
  );

  test("where the store has no clock, a holder that our clock takes for dead is seen to renew", async () => {
    const world = new MovingWorld();
    const process = world.process();
    await process.start();
    const clock = { nowMs: () => world.time.nowMs() + 3_600_000, monotonicMs: () => world.time.monotonicMs() };
    const outcome = await world.move({ ...world.parts(), clock });
    expect(outcome).toMatchObject({ kind: "held", isClosed: true });
    expect(process.issue(5)).toBe(5);
    await process.close();
    expect(await world.move()).toMatchObject({ kind: "moved" });
  });

  test("a target that holds another deployment, or the same one, is refused and stays as it was", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    const other = world.arrival();
    await other.start();
    await other.close();
    const before = new Map(world.target.records);
    await expect(world.move()).rejects.toThrow("holds another deployment");
    expect(new Map(world.target.records)).toEqual(before);
    await expect(world.move(world.parts(undefined, world.database.open()))).rejects.toThrow("they are one store");
    await expect(world.move(world.parts(new MemoryDatabase().open()))).rejects.toThrow("holds no layout record");
  });

  test("the longest window grows to what the target's servers take", async () => {
    const world = new MovingWorld(
      { hasClock: true },
      { timing: { windowMs: 30_000, renewalPeriodMs: 5_000, ttlMs: 33_000 } },
    );
    await world.populate();
    await world.move();
    const arrival = world.arrival();
    await arrival.start();
    expect(arrival.holder.grant!.untilMs - arrival.holder.grant!.fromMs).toBe(30_000);
  });

  test("a store that may lose data takes no mark that its quarantine could not cover", async () => {
    const world = new MovingWorld({ hasClock: true }, { durability: "lossy" });
    await world.populate();
    const entry = world.database.entry("worker-0")!;
    const far = entry.text.replace(/"hwmMs":\d+/, `"hwmMs":${world.time.nowMs() + 60_000}`);
    world.database.write("worker-0", entry, far);
    await expect(world.move()).rejects.toThrow("further ahead");
    expect(world.target.records.size).toBe(0);
  });

  test("a target that goes back after the copy does not open under the quarantine without end of an earlier move (it did)", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    await world.move();
    let before: Map<string, string> | undefined;
    let isLost = false;
    const home = new HookedStore(world.database, async (key, next) => {
      if (key === recordKeys.quarantine) before = new Map(world.database.records);
      if (key !== recordKeys.layout || next.includes("moveId") || isLost) return;
      isLost = true;
      for (const [lost, text] of before!) world.database.records.set(lost, text);
    });
    const { source, target, ...rest } = world.parts();
    const back = { ...rest, source: target, target: { ...source, store: home } };
    await expect(world.move(back)).rejects.toThrow("Run the same command again");
    expect(isLost).toBe(true);
    expect(await world.move(back)).toMatchObject({ kind: "moved" });
    const process = world.process({ ...at(1, 1), name: "back" });
    await process.start();
    expect(process.issue(100)).toBe(100);
  });

  test("it may come back to the store that it left", async () => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    await world.move();
    const arrival = world.arrival(at(1, 1));
    await arrival.start();
    arrival.issue(100);
    await arrival.close();
    const markMs = parseWorkerRecord("worker-3", world.target.entry("worker-3")!.text).markMs;
    const { source, target, ...rest } = world.parts();
    expect(await world.move({ ...rest, source: target, target: source })).toMatchObject({ kind: "moved" });
    expect(await startRefusal(world.arrival({ name: "stale" }))).toContain("was moved from this store");
    const back = world.process({ ...at(1, 1), name: "back" });
    await back.start();
    expect(back.holder.grant!.fromMs).toBeGreaterThanOrEqual(markMs);
    expect(back.issue(100)).toBe(100);
  });
});

describe("a process that was about to write", () => {
  test.each(["worker-0", "worker-1"])("a grant of %s that lands after the copy is dropped", async (key) => {
    const world = new MovingWorld({ hasClock: true });
    await world.populate();
    let moved: MoveOutcome | undefined;
    const slow = new HookedStore(world.database, async (written) => {
      if (written !== key || moved !== undefined) return;
      moved = await moveStore(world.parts());
    });
    const workerId = Number(key.at(-1));
    const late = world.process({ ...at(0, workerId), name: "late", store: slow });
    expect(await startRefusal(late)).toContain("was moved");
    expect([moved?.kind, late.issue(1)]).toEqual(["moved", "no-grant"]);
    const arrival = world.arrival(at(0, workerId));
    await arrival.start();
    arrival.issue(10);
  });

  test("a renewal that arrives after the copy raises no mark: the record was given back in place of the dead", async () => {
    const world = new MovingWorld({ hasClock: true });
    const dying = world.process(at(0, 0));
    await dying.start();
    const { markMs } = world.record(0)!;
    dying.store.fault = ({ kind }) => (kind === "compareAndSet" ? "late" : "none");
    await world.time.run(3_000);
    dying.crash();
    await world.time.run(ttlMs);
    expect(await world.move()).toMatchObject({ kind: "moved" });
    await dying.store.deliverLate();
    expect(dying.store.calls.filter(({ kind }) => kind === "compareAndSet").length).toBeGreaterThan(3);
    expect(world.record(0)).toMatchObject({ token: "", markMs });
  });
});

test("a move that another operator takes back ends with an error that says so (it ended with a broken invariant)", async () => {
  const world = new MovingWorld({ hasClock: true });
  await world.populate();
  let isTakenBack = false;
  const target = new HookedStore(world.target, async (written) => {
    if (written !== "worker-0" || isTakenBack) return;
    isTakenBack = true;
    await abandonMove(world.parts());
  });
  await expect(world.move(world.parts(undefined, target))).rejects.toMatchObject({
    reason: "INVALID_CONFIG",
    message: "Another process undid this copy: memory://source serves again. Nothing was opened.",
  });
  expect(await whoGrants(world, 1)).toBe("source");
});

const writesMax = 40;
const crashPoints = Array.from({ length: writesMax }, (_, index) => index + 1).flatMap((at) =>
  (["before", "after"] as const).map((when) => ({ at, when })),
);

describe("a crash at any write", () => {
  test("lets never both stores grant, and the next run finishes the move", async () => {
    const seen = new Set<string>();
    let ended = 0;
    for (const { at, when } of crashPoints) {
      const world = new MovingWorld({ hasClock: true });
      await world.populate();
      if (await runUntilCrash(world, moveStore, at, when)) ended += 1;
      const granting = await whoGrants(world, 0);
      expect(["source", "target", ""], `crash ${when} write ${at}`).toContain(granting);
      seen.add(granting);
      const outcome = await world.move();
      expect(["moved", "was-moved"], `crash ${when} write ${at}`).toContain(outcome.kind);
      expect(await whoGrants(world, 1)).toBe("target");
    }
    // Every state was reached, and so was the end: no write was left out.
    expect([...seen].toSorted()).toEqual(["", "source", "target"]);
    expect(ended).toBeGreaterThan(2);
  });

  test("then taken back, leaves the source alone to grant; once the target is open it is too late", async () => {
    const seen = new Set<string>();
    for (const { at, when } of crashPoints) {
      const world = new MovingWorld({ hasClock: true });
      await world.populate();
      await runUntilCrash(world, moveStore, at, when);
      const taken = await world.running(abandonMove(world.parts())).catch((error: unknown) => error);
      const granting = await whoGrants(world, 0);
      seen.add(granting);
      if (taken instanceof Error) {
        expect(taken.message, `crash ${when} write ${at}`).toMatch(/nothing was changed|was moved/);
        expect(["source", "target", ""]).toContain(granting);
        continue;
      }
      expect(granting, `crash ${when} write ${at}`).toBe("source");
      expect(await world.move()).toMatchObject({ kind: "moved" });
      expect(await whoGrants(world, 1)).toBe("target");
    }
    expect(seen.has("source") && seen.has("target")).toBe(true);
  });

  test("also one in the taking back", async () => {
    for (const { at, when } of crashPoints.slice(0, 12)) {
      const world = new MovingWorld({ hasClock: true });
      await world.populate();
      expect(await runUntilCrash(world, moveStore, 6, "after")).toBe(false);
      await runUntilCrash(world, abandonMove, at, when);
      expect(["source", ""]).toContain(await whoGrants(world, 0));
      await world.running(abandonMove(world.parts())).catch(() => {});
      expect(await whoGrants(world, 1)).toBe("source");
    }
  });
});

test("what replaces the layout record fits into every store, however long names are", async () => {
  const world = new MovingWorld({ hasClock: true });
  const options = { datacenterIds: [0, 1] };
  const process = world.process({ options });
  await process.start();
  await process.close();
  const parts = world.parts();
  const place = "x".repeat(150);
  await world.move({ ...parts, source: { ...parts.source, place }, target: { ...parts.target, place } });
  expect(world.database.entry(recordKeys.layout)!.text.length).toBeLessThan(1_024);
});
