import { expect, test } from "vitest";
import { parseResumeRecord } from "../lease/resume/resume-record.ts";
import { HolderWorld, type TestProcess } from "../../test/support/worlds/holder-world.ts";
import { JournalDisk } from "../../test/support/worlds/memory-journal.ts";
import type { MemoryDatabaseOptions } from "../../test/support/worlds/memory-store.ts";

const windowMs = 10_000;
/** Q: the longest window, the lead, and the error of two clocks. */
const quarantineMs = windowMs + 2_000 + 1_000;

/** A process was killed; its next life has its resume record, and has not started. */
async function killed(
  options: MemoryDatabaseOptions & { readonly hasClock?: boolean } = {},
): Promise<{ world: HolderWorld; again: TestProcess }> {
  const world = new HolderWorld(options);
  const disk = new JournalDisk();
  const first = world.process({ disk });
  await first.start();
  first.issue(10);
  first.crash();
  return { world, again: world.process({ disk }) };
}

test("a resumed grant is settled at once, not when its renewal would be due", async () => {
  const { again } = await killed();
  await again.start();
  expect(again.kinds()).toEqual(["resumed"]);
  expect(again.store.calls.filter(({ kind }) => kind === "compareAndSet")).toHaveLength(1);
  expect(again.holder.counters.renewed).toBe(1);
});

test("a process that resumed knows the layout of its record: another deployment's shows it that the store was emptied", async () => {
  const { world, again } = await killed({ hasClock: true, emptyMeans: "new" });
  again.store.fault = () => "lost";
  await again.start();
  await world.time.run(windowMs);
  expect(again.holder.grant).toBeUndefined();
  world.database.records.clear();
  await world.process({ name: "b" }).start();
  const begunMs = world.time.nowMs();
  again.store.fault = () => "none";
  await world.time.run(40_000);
  expect(again.holder.grant!.fromMs).toBeGreaterThanOrEqual(begunMs + quarantineMs);
  expect(again.holder.counters.quarantines).toBe(1);
});

test("a process that resumed knows in which life of the store it was granted, and notes another one, though it is noted", async () => {
  const { world, again } = await killed({ hasClock: true });
  world.database.incarnation = { ...world.database.incarnation, identity: "system=memory-2" };
  const other = world.process({ name: "b" });
  void other.holder.start();
  await world.time.run(1_000);
  expect(other.kinds()).toContain("incarnation-changed");
  await again.start();
  // A resumed grant is not renewed in another life. When its window is over, the process acquires again.
  await world.time.run(windowMs);
  expect(again.kinds()).toContain("incarnation-changed");
});

test("a process whose resume record cannot be removed says so, and acquires nothing until it can", async () => {
  const world = new HolderWorld();
  const disk = new JournalDisk();
  const process = world.process({ disk });
  await process.start();
  process.store.fault = () => "lost";
  disk.fault = (operation) => (operation === "remove" ? "fails" : "none");
  await world.time.run(windowMs + 1_000);
  process.store.fault = () => "none";
  process.store.calls.splice(0);
  await world.time.run(5_000);
  expect(process.store.calls).toEqual([]);
  expect(process.holder.phase).toMatchObject({ kind: "acquiring", problem: { reason: "STORE_UNAVAILABLE" } });
  expect(process.events).toContainEqual(expect.objectContaining({ kind: "store-problem", during: "resume record" }));
  disk.fault = () => "none";
  await world.time.run(1_000);
  expect(process.holder.phase.kind).toBe("holding");
});

test("what a renewal confirmed is in the resume record as soon as its answer came", async () => {
  const world = new HolderWorld({ hasClock: true });
  const disk = new JournalDisk();
  const process = world.process({ disk });
  await process.start();
  await world.time.run(1_200);
  process.holder.wantWindow();
  await world.time.run(0);
  const grant = process.holder.grant!;
  expect(process.holder.counters.renewed).toBe(1);
  const record = parseResumeRecord(disk.texts.get(grant.workerIndex)!);
  expect(record).toMatchObject({ untilMs: grant.untilMs, confirmedText: grant.entry.text, unansweredTexts: [] });
});
