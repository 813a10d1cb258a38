import { describe, expect, test } from "vitest";
import { HolderWorld } from "../../test/support/worlds/holder-world.ts";
import { createLayout } from "../snowflake/layout.ts";
import { layouts } from "../snowflake/presets.ts";
import { holderUntilMs, reserveFrom } from "./candidates.ts";

test("on a durable store a record may be taken over once it has expired, whatever its mark", () => {
  expect(holderUntilMs({ expiresMs: 13_000, markMs: 20_000 }, "durable")).toBe(13_000);
});

test("where data may be lost, a record may be taken over only once every clock has passed its mark, too", () => {
  expect(holderUntilMs({ expiresMs: 13_000, markMs: 20_000 }, "lossy")).toBe(21_000);
  expect(holderUntilMs({ expiresMs: 30_000, markMs: 20_000 }, "lossy")).toBe(30_000);
});

describe("the last eighth of the worker IDs is the reserve", () => {
  const layout = createLayout({
    name: "custom",
    epochMs: Date.UTC(2026, 0, 1),
    tickNs: 1_000_000,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: 5 },
      { kind: "sequence", bits: 12 },
    ],
  });

  test.each([
    ["of all worker IDs", layouts.sonyflake, { first: 0, count: 65_536 }, 57_344],
    ["of each datacenter", layouts.twitter, { first: 32, count: 32 }, 28],
    ["of the range that a store is bound to", layout, { first: 8, count: 16 }, 22],
    ["of fewer than eight: there is none", layout, { first: 0, count: 7 }, 7],
  ])("%s", (_, of, range, first) => {
    expect(reserveFrom({ layout: of, ...range })).toBe(first);
  });

  /** Starts a process under a new name; it ends as `end` says. */
  async function start(world: HolderWorld, name: string, end: "stop" | "kill" | "none"): Promise<number> {
    const process = world.process({ name, layout });
    await process.start();
    const { workerIndex } = process.holder.grant!;
    if (end === "stop") await process.close();
    if (end === "kill") process.crash();
    return workerIndex;
  }

  test("2,000 starts leave it untouched while another is free; the 29th of 32 that are held takes one of it", async () => {
    const world = new HolderWorld();
    const taken = new Set<number>();
    for (let run = 0; run < 2_000; run += 1) taken.add(await start(world, `p${run}`, "stop"));
    expect([...taken].toSorted((one, other) => one - other)).toEqual(Array.from({ length: 28 }, (_, index) => index));
    for (let run = 0; run < 28; run += 1) expect(await start(world, `h${run}`, "none")).toBeLessThan(28);
    expect(await start(world, "the29th", "none")).toBeGreaterThanOrEqual(28);
  });

  test("where locks tell, starts under new names after kill -9 leave it untouched, too", async () => {
    const world = new HolderWorld({ liveness: "lock" });
    for (let run = 0; run < 60; run += 1) {
      expect(await start(world, `p${run}`, "kill")).toBeLessThan(28);
      await world.time.run(11_000);
    }
  });
});
