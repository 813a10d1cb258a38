import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import type { IdLoad } from "../support/processes/id-load.ts";
import type { Fault } from "./fault.ts";
import type { FaultServer } from "./fault-server.ts";
import type { FaultTrial } from "./fault-trial.ts";
import { createFaultyDisk, type FaultyDisk, fullDiskKind } from "./faulty-disk.ts";

const stallMs = 5_000;
const fullMs = 4_000;
/** Between two faults: time for a renewal, every two seconds by default. */
const restMs = 3_000;

/** Faults of the disk below the embedded store. */
export const diskFaults: readonly Fault[] = [
  {
    name: "disk stalled for 5 s under the embedded store",
    stores: "embedded",
    catches: "availability",
    counts: { pr: 2, full: 50 },
    lanes: 2,
    failures: "none",
    inject: async (trial, count) => {
      const disk = await createFaultyDisk(trial.folder, "preloaded");
      await startOn(trial, disk);
      const load = trial.startLoad("each-call", "calm");
      await eachMeasured(trial, load, count, async () => {
        disk.stall();
        await sleep(stallMs);
        disk.unstall();
      });
    },
  },
  {
    name: "store file locked by another program for 5 s",
    stores: "embedded",
    catches: "availability",
    counts: { pr: 2, full: 50 },
    lanes: 2,
    failures: "none",
    inject: async (trial, count) => {
      await trial.startServer();
      const load = trial.startLoad("each-call", "calm");
      await eachMeasured(trial, load, count, async () => {
        const other = new DatabaseSync(trial.storePath, { timeout: 30_000 });
        try {
          other.exec("BEGIN EXCLUSIVE");
          await sleep(stallMs);
        } finally {
          other.close();
        }
      });
    },
  },
  {
    name: "disk full for 4 s",
    stores: "embedded",
    catches: "availability",
    counts: { pr: 2, full: 50 },
    lanes: 2,
    failures: "none",
    inject: async (trial, count) => {
      const disk = await createDiskThatFills(trial);
      const server = await startOn(trial, disk);
      const load = trial.startLoad("each-call", "calm");
      await eachMeasured(trial, load, count, async () => {
        disk.fill(server.processId);
        await sleep(fullMs);
        disk.empty(server.processId);
      });
    },
  },
  {
    name: "disk full for longer than the window",
    stores: "embedded",
    catches: "availability",
    counts: { pr: 2, full: 50 },
    lanes: 2,
    failures: "allowed",
    inject: async (trial, count) => {
      const disk = await createDiskThatFills(trial);
      const server = await startOn(trial, disk, ["--window", "1500ms", "--renewal-period", "300ms"]);
      const load = trial.startLoad("each-call", "calm");
      for (let index = 0; index < count; index += 1) {
        await load.untilAnswered(5);
        const mark = server.mark();
        disk.fill(server.processId);
        await sleep(2_500);
        disk.empty(server.processId);
        trial.injected();
        await server.untilLogged(["acquired"], mark);
      }
      await load.untilAnswered(5);
    },
  },
];

async function createDiskThatFills(trial: FaultTrial): Promise<FaultyDisk> {
  const kind = await fullDiskKind();
  trial.notes.push(kind === "tmpfs" ? "a tmpfs of 512 KiB" : "ENOSPC by a preloaded library: no mount is allowed here");
  return await createFaultyDisk(trial.folder, kind);
}

function startOn(trial: FaultTrial, disk: FaultyDisk, args: readonly string[] = []): Promise<FaultServer> {
  const { environment, launcher, folder } = disk;
  return trial.startServer({ args, environment, launcher, storePath: join(folder, "snowlane.db") });
}

/** Injects a fault that callers must not notice: answers go on during it, and no later than without it. */
async function eachMeasured(
  trial: FaultTrial,
  load: IdLoad,
  count: number,
  inject: () => Promise<void>,
): Promise<void> {
  const p99Ms: number[][] = [[], []];
  for (let index = 0; index < count; index += 1) {
    load.takeP99Ms();
    await sleep(restMs);
    await load.untilAnswered(5);
    p99Ms[0]!.push(load.takeP99Ms());
    const before = load.answerCount;
    const startedMs = systemClock.monotonicMs();
    await inject();
    const lastedMs = systemClock.monotonicMs() - startedMs;
    trial.injected();
    if (load.answerCount === before) trial.problems.push(`no answer in the ${Math.round(lastedMs)} ms of the fault`);
    p99Ms[1]!.push(load.takeP99Ms());
  }
  await load.untilAnswered(5);
  const [without, during] = p99Ms.map((each) => median(each).toFixed(1));
  trial.notes.push(`p99 of NextId ${without} ms before, ${during} ms during (medians)`);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
