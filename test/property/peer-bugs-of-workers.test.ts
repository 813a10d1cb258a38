/**
 * Faults of other generators in who gets which worker ID, each with what happened there in brackets.
 * docs/architecture.md says whose they were.
 */
import { expect, test } from "vitest";
import { loadSettings } from "../../src/config/load-settings.ts";
import { serverSettings } from "../../src/config/server-settings.ts";
import { SnowflakeGenerator } from "../../src/snowflake/generator.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { HolderWorld } from "../support/worlds/holder-world.ts";
import { JournalDisk } from "../support/worlds/memory-journal.ts";

// https://github.com/Meituan-Dianping/Leaf (SnowflakeZookeeperHolder.init: the check throws inside of a try whose catch
// goes on)
test("a clock that fails the check at the start ends it (it was taken for one that passed)", async () => {
  const world = new HolderWorld({ hasClock: true });
  for (const clockAheadMs of [-600_000, 600_000]) {
    const process = world.process({ name: `off-by-${clockAheadMs}`, clockAheadMs });
    await expect(process.start()).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
    expect(process.issue()).toBe("no-grant");
  }
  const early = world.process({ name: "before-the-epoch", clockAheadMs: -world.time.nowMs() });
  await expect(early.start()).rejects.toMatchObject({ reason: "CLOCK_BEFORE_EPOCH" });
  expect(early.issue()).toBe("no-grant");
});

// https://github.com/Meituan-Dianping/Leaf (two nodes that start first both create the root and take 0)
test("processes that start first get worker IDs of their own (two got worker 0)", async () => {
  const world = new HolderWorld();
  const processes = ["a", "b", "c", "d"].map((name) => world.process({ name }));
  const started = Promise.all(processes.map((process) => process.holder.start()));
  await world.time.run(5_000);
  await started;
  const indexes = processes.map(({ holder }) => holder.grant!.workerIndex);
  expect(new Set(indexes).size).toBe(4);
  for (const process of processes) expect(process.issue(1_000)).toBe(1_000);
});

// The Redis recipe of many blogs: the host's name is the key of its worker ID.
test("two processes of one host get worker IDs of their own (they shared one)", async () => {
  const world = new HolderWorld();
  const one = world.process({ name: "host" });
  const other = world.process({ name: "host" });
  await one.start();
  await other.start(1_000);
  expect(one.holder.grant!.workerIndex).not.toBe(other.holder.grant!.workerIndex);
  expect([one.issue(1_000), other.issue(1_000)]).toEqual([1_000, 1_000]);
});

// https://github.com/Ahoo-Wang/CosId (the machine state file: used before anybody is asked)
test("a stale local file gives no worker ID that somebody else may have (it was trusted)", async () => {
  const world = new HolderWorld();
  const disk = new JournalDisk();
  const first = world.process({ disk });
  await first.start();
  const { workerIndex } = first.holder.grant!;
  first.issue(1_000);
  first.crash();
  // Long enough for everyone: its window, and the time after which another may take the worker ID.
  await world.time.run(3_600_000);
  const others = ["b", "c", "d", "e"].map((name) => world.process({ name }));
  for (const other of others) {
    const started = other.holder.start();
    await world.time.run(60_000);
    await started;
    other.issue(1_000);
  }
  expect(others.map(({ holder }) => holder.grant!.workerIndex)).toContain(workerIndex);
  const again = world.process({ disk });
  again.holder.start().catch(() => undefined);
  await world.time.run(1_000);
  // All four are taken: the file's is among them, and it does not help.
  expect(again.kinds()).not.toContain("resumed");
  expect(again.issue()).toBe("no-grant");
});

// https://github.com/Ahoo-Wang/CosId (one setting read as milliseconds here and as seconds there)
test("a length of time without a unit is refused (it was milliseconds in one place and seconds in another)", () => {
  const { problems } = loadSettings(serverSettings, { flags: { window: "30", drainTimeout: "5" }, environment: {} });
  expect(problems.map(({ place }) => place).toSorted()).toEqual(["--drain-timeout", "--window"]);
});

// https://github.com/sony/sonyflake (Settings.MachineID: by default the low 16 bits of the private IP address)
test("a generator without a grant issues nothing (a worker ID came from the machine's address, and two machines had the same)", () => {
  const generator = new SnowflakeGenerator({ layout: layouts.sonyflake, random: () => 0 });
  const nowMs = Date.UTC(2026, 10, 21);
  const lost = expect.objectContaining({ reason: "WORKER_LEASE_LOST" });
  expect(() => generator.tryNext(nowMs, () => 0)).toThrow(lost);
  expect(() => generator.reserve(1, nowMs, "unary", () => 0)).toThrow(lost);
});
