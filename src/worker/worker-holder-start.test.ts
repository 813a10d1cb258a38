import { expect, test } from "vitest";
import { HolderWorld, smallLayout } from "../../test/support/worlds/holder-world.ts";
import { JournalDisk } from "../../test/support/worlds/memory-journal.ts";

test("a holder that was told to start says in the same turn that it looks for a worker ID", async () => {
  const process = new HolderWorld().process();
  expect(process.holder.phase.kind).toBe("idle");
  const started = process.holder.start();
  expect(process.holder.phase).toEqual({ kind: "acquiring", problem: undefined });
  await started;
});

test("a holder that goes on from its resume record asks the store for nothing before it has", async () => {
  const world = new HolderWorld();
  const disk = new JournalDisk();
  const first = world.process({ disk });
  await first.start();
  const { workerIndex } = first.holder.grant!;
  first.crash();
  const again = world.process({ disk });
  let write = (): void => {};
  disk.stall = new Promise((resolve) => {
    write = resolve;
  });
  const started = again.holder.start();
  await world.time.run(1_000);
  expect(again.store.calls).toEqual([]);
  write();
  await started;
  expect(again.holder.grant?.workerIndex).toBe(workerIndex);
  expect(again.kinds()).toContain("resumed");
  expect(again.kinds()).not.toContain("acquired");
});

test("a holder whose start has failed for good asks the store for nothing more", async () => {
  const world = new HolderWorld();
  await world.process({ name: "a" }).start();
  const other = world.process({ name: "b", layout: { ...smallLayout, epochMs: smallLayout.epochMs + 1 } });
  await expect(other.start()).rejects.toMatchObject({ reason: "LAYOUT_MISMATCH" });
  expect(other.pendingTimers.size).toBe(0);
  const calls = other.store.calls.length;
  await world.time.run(60_000);
  expect(other.store.calls).toHaveLength(calls);
  expect(other.holder.phase).toMatchObject({ kind: "failed", error: { reason: "LAYOUT_MISMATCH" } });
});
