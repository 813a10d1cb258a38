import { describe, expect, test } from "vitest";
import { HolderWorld, smallLayout } from "../../test/support/worlds/holder-world.ts";
import type { PastRequest } from "../lease/claim-past.ts";
import { recordKeys } from "../lease/records/record-text.ts";

const { epochMs } = smallLayout;
const hourMs = 3_600_000;

const firstHour: PastRequest = {
  fromMs: epochMs,
  untilMs: epochMs + hourMs,
  laneCount: 1,
  reason: "orders",
  knownSinceMs: Number.NEGATIVE_INFINITY,
  storeKeptUntilMs: Number.NEGATIVE_INFINITY,
};

/** A holder on a store, two hours after the epoch. */
async function holding(hasClock = true) {
  const world = new HolderWorld({ hasClock });
  await world.time.run(2 * hourMs);
  const process = world.process();
  await process.start();
  return { world, process };
}

describe("a claim of the past by a process that holds a worker ID", () => {
  test("leaves its grant as it is, and takes another worker ID", async () => {
    const { world, process } = await holding();
    const { grant } = process.holder;
    const { workerIndexes } = await process.holder.claimPast(firstHour);
    expect(workerIndexes).not.toContain(grant!.workerIndex);
    expect(process.holder.grant).toBe(grant);
    await world.time.run(60_000);
    expect(process.issue(3)).toBe(3);
  });

  test("is not a grant of its own that was never used: with a clock half an hour back it begins above the claim", async () => {
    const { world, process } = await holding(false);
    const untilMs = world.time.nowMs();
    const { workerIndexes } = await process.holder.claimPast({ ...firstHour, untilMs, laneCount: 3 });
    const { workerIndex } = process.holder.grant!;
    process.clockAheadMs = -hourMs / 2;
    process.issue(1);
    process.holder.wantRebase();
    await world.time.run(20_000);
    expect(process.holder.grant!.workerIndex).toBe(workerIndex);
    for (const index of workerIndexes) expect(world.record(index)).toMatchObject({ token: "", markMs: untilMs });
  });

  test("that finds the store emptied owes the quarantine, as an acquire does", async () => {
    const { world, process } = await holding();
    world.database.records.clear();
    process.store.fault = ({ kind }) => (kind === "compareAndSet" ? "lost" : "none");
    await expect(process.holder.claimPast(firstHour)).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    process.store.fault = () => "none";
    await world.time.run(60_000);
    expect(world.database.entry(recordKeys.quarantine)).toBeDefined();
  });

  test("that is refused for an old loss puts no quarantine down", async () => {
    const { world, process } = await holding();
    world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
    await world.time.run(60_000);
    await expect(process.holder.claimPast(firstHour)).rejects.toMatchObject({ reason: "STORE_WENT_BACK" });
    await world.time.run(60_000);
    expect(world.database.entry(recordKeys.quarantine)).toBeUndefined();
  });
});
