import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { IssuingOptions } from "../support/processes/issuing-process.ts";
import { IssuingProcess, PrintedIds, type ProcessEvent } from "../support/processes/worker-processes.ts";

let folder: string;
let path: string;
let ids: PrintedIds;
let started: IssuingProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  path = join(folder, "snowlane.db");
  ids = new PrintedIds();
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map((process) => process.kill()));
  rmSync(folder, { recursive: true });
  expect(ids.duplicates).toEqual([]);
});

function start(name: string, options: Partial<IssuingOptions> = {}): IssuingProcess {
  const process = new IssuingProcess(name, { storeUrl: `sqlite:${path}`, ...options }, ids);
  started.push(process);
  return process;
}

/** Short, so that losses show soon. */
const quick = { windowMs: 1_500, renewalPeriodMs: 300 };
const leadMaxMs = 2_000;
/** W_max + A + 2e: docs/safety.md. */
const quarantineMs = quick.windowMs + leadMaxMs + 1_000;

function eventsOf(process: IssuingProcess, wanted: readonly string[]): readonly ProcessEvent[] {
  return process.events.filter(({ kind }) => wanted.includes(kind));
}

function kinds(process: IssuingProcess): string[] {
  return process.events.map(({ kind }) => kind);
}

describe("real processes on one file never repeat an ID", () => {
  test("when they are killed and started again in a loop, and another runs on", async () => {
    const steady = await start("steady").untilIssuing();
    for (let round = 0; round < 5; round += 1) {
      const process = await start("looping").untilIssuing();
      await setTimeout(50);
      await process.kill();
    }
    await steady.untilIssuing();
    expect(steady.granted).toHaveLength(1);
  });

  test("when ten start at once: each has a worker ID of its own", async () => {
    const all = Array.from({ length: 10 }, (_, index) => start(`process-${index}`, { count: 2 }));
    await Promise.all(all.map((process) => process.untilIssuing()));
    expect(new Set(all.map(({ granted }) => granted[0])).size).toBe(10);
    await Promise.all(all.map((process) => process.stop()));
  });

  test("when the clock is an hour back after kill -9, and again after that", async () => {
    for (const clockAheadMs of [0, -3_600_000, -7_200_000]) {
      const process = await start("same", { clockAheadMs }).untilIssuing();
      await setTimeout(100);
      await process.kill();
    }
    expect(ids.count).toBeGreaterThan(0);
  });

  test("when one stops in order and another of that name starts: it has the same worker ID", async () => {
    const first = await start("same").untilIssuing();
    await first.stop();
    expect(kinds(first).at(-1)).toBe("grant-ended");
    const second = await start("same").untilIssuing();
    expect(second.granted).toEqual(first.granted);
  });

  test("when one is paused past its window: it ends its grant on waking, and acquires again", async () => {
    const process = await start("paused", quick).untilIssuing();
    process.signal("SIGSTOP");
    await setTimeout(2_500);
    process.signal("SIGCONT");
    await process.until("ended its grant", () => kinds(process).includes("grant-ended"));
    expect(process.events.find(({ kind }) => kind === "grant-ended")).toMatchObject({ end: "lapsed" });
    await process.untilIssuing();
  });
});

describe("a store file that is not what it was, under a running process:", () => {
  test("deleted: not one more ID, no new file, until one is there again; then only past a quarantine", async () => {
    const process = await start("holder", quick).untilIssuing();
    copyFileSync(path, `${path}.copy`);
    rmSync(path);
    await process.until("ended its grant", () => kinds(process).includes("grant-ended"));
    expect(process.events.find(({ kind }) => kind === "grant-ended")).toMatchObject({ end: "regressed" });
    const { issued } = process;
    await setTimeout(1_500);
    expect(process.issued).toBe(issued);
    renameSync(`${path}.copy`, path);
    await process.until("written the quarantine mark", () => kinds(process).includes("quarantine-written"));
    expect(process.issued).toBe(issued);
    await process.untilIssuing();
    expect(kinds(process).indexOf("quarantine-written")).toBeLessThan(kinds(process).lastIndexOf("acquired"));
  });

  test("replaced by an older copy while two run: both end, both come back, and a third that starts meanwhile waits, too", async () => {
    const first = await start("first", quick).untilIssuing();
    copyFileSync(path, `${path}.copy`);
    const second = await start("second", quick).untilIssuing();
    await setTimeout(500);
    const replacedMs = Date.now();
    renameSync(`${path}.copy`, path);
    const third = start("third", quick);
    await Promise.all(
      [first, second].map((process) => process.until("ended", () => kinds(process).includes("grant-ended"))),
    );
    await Promise.all([first, second, third].map((process) => process.untilIssuing()));
    // It may come so late that there is nothing left to wait for; but what it is given begins above the quarantine.
    expect(eventsOf(third, ["acquired"])[0]!["fromMs"]).toBeGreaterThanOrEqual(replacedMs + quarantineMs);
  });

  test("written over by an older copy in place: the same", async () => {
    const process = await start("holder", quick).untilIssuing();
    copyFileSync(path, `${path}.copy`);
    await setTimeout(1_000);
    copyFileSync(`${path}.copy`, path);
    await process.until("ended its grant", () => kinds(process).includes("grant-ended"));
    await process.untilIssuing();
    expect(kinds(process)).toContain("quarantine-written");
  });
});

test("an older copy that is put back between two lives makes the next one wait out the quarantine", async () => {
  const first = await start("same", quick).untilIssuing();
  copyFileSync(path, `${path}.copy`);
  await setTimeout(1_000);
  await first.kill();
  copyFileSync(`${path}.copy`, path);
  const second = await start("same", quick).untilIssuing();
  const story = eventsOf(second, ["incarnation-changed", "waiting", "acquired"]);
  expect(story.map(({ kind }) => kind)).toEqual(["incarnation-changed", "waiting", "acquired"]);
  const t0Ms = Number(story[0]!["t0Ms"]);
  expect(story[1]).toMatchObject({ for: "quarantine", untilMs: t0Ms + quarantineMs - leadMaxMs });
  expect(story[2]!["fromMs"]).toBeGreaterThanOrEqual(t0Ms + quarantineMs);
});
