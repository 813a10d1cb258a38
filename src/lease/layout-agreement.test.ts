import { describe, expect, test } from "vitest";
import { HolderWorld, smallLayout } from "../../test/support/worlds/holder-world.ts";
import { MemoryStore } from "../../test/support/worlds/memory-store.ts";
import { createLayout } from "../snowflake/layout.ts";
import type { ListAnswer } from "../store/record-store.ts";
import { recordKeys } from "./records/record-text.ts";

/** Datacenter and worker have changed places: worker 1 of datacenter 0 there is worker 0 of datacenter 1 here. */
const swappedLayout = createLayout({
  ...smallLayout,
  fields: [smallLayout.fields[0]!, smallLayout.fields[2]!, smallLayout.fields[1]!, smallLayout.fields[3]!],
});

const pinned = { datacenterId: 0, workerId: 1 };

/** Shows all records but the layout record, as a list may do that was begun before that record was written. */
class EarlyListStore extends MemoryStore {
  override async list(): Promise<ListAnswer> {
    const listed = await super.list();
    return { ...listed, entries: listed.entries.filter(({ key }) => key !== recordKeys.layout) };
  }
}

describe("a layout record that is lost while workers hold IDs", () => {
  test("is not written by a process that never saw it: under its own layout it would issue the IDs of the holders", async () => {
    const world = new HolderWorld();
    const holder = world.process({ options: pinned });
    await holder.start();
    world.database.records.delete(recordKeys.layout);
    const other = world.process({ name: "b", layout: swappedLayout, options: { datacenterId: 1, workerId: 0 } });
    expect(holder.issue(1_000)).toBe(1_000);
    // The ledger fails the test if both issue the same ID.
    const refused = other.start().then(() => other.issue(1_000));
    await expect(refused).rejects.toMatchObject({ reason: "INVALID_CONFIG", metadata: { lost: recordKeys.layout } });
    expect(world.database.records.has(recordKeys.layout)).toBe(false);
    expect(other.holder.phase.kind).toBe("failed");
  });

  test("stops the start of a process that has the same layout, too: it cannot know that it has", async () => {
    const world = new HolderWorld();
    await world.process().start();
    world.database.records.delete(recordKeys.layout);
    await expect(world.process({ name: "b" }).start()).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
  });

  test("is written as it was by a process that saw it, when it next looks for a worker ID; then others may start", async () => {
    const world = new HolderWorld({ hasClock: true });
    const holder = world.process({ options: { windowMaxMs: 20_000 } });
    await holder.start();
    const before = world.database.entry(recordKeys.layout)!.text;
    world.database.records.delete(recordKeys.layout);
    holder.store.fault = () => "lost";
    await world.time.run(11_000);
    expect(holder.issue()).toBe("no-grant");
    holder.store.fault = () => "none";
    await world.time.run(40_000);
    expect(holder.issue()).toBe(1);
    expect(world.database.entry(recordKeys.layout)!.text).toBe(before);
    await expect(world.process({ name: "b", layout: swappedLayout }).start()).rejects.toMatchObject({
      reason: "LAYOUT_MISMATCH",
    });
    await world.process({ name: "c" }).start();
  });
});

test("a record that a late write left in an emptied store blocks its worker ID until its mark has passed, no longer", async () => {
  const world = new HolderWorld({ hasClock: true, emptyMeans: "lost" });
  const late = world.process({ options: pinned });
  await late.start(20_000);
  const { key, markMs } = { key: late.holder.grant!.key, markMs: late.holder.grant!.untilMs };
  const record = world.database.records.get(key)!;
  late.crash();
  world.database.records.clear();
  world.database.records.set(key, record);
  await expect(world.process({ name: "b", layout: swappedLayout }).start()).rejects.toMatchObject({
    metadata: { lost: recordKeys.layout },
  });
  await world.time.run(markMs + 1_000 - world.time.nowMs());
  await world.process({ name: "c", layout: swappedLayout }).start(20_000);
});

test("a first start whose list was begun before another wrote layout and worker record is not refused", async () => {
  const world = new HolderWorld();
  await world.process().start();
  await world.process({ name: "b", store: new EarlyListStore(world.database) }).start();
});

test("a process with another layout is refused, with the note that another namespace shares no uniqueness with this one", async () => {
  const world = new HolderWorld();
  await world.process().start();
  const message = expect.stringMatching(
    /Use the store's settings\. Another namespace .* can equal those of this one\./,
  );
  await expect(world.process({ name: "b", layout: swappedLayout }).start()).rejects.toMatchObject({ message });
});
