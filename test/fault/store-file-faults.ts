import { renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { runCommand } from "../support/processes/run-command.ts";
import type { Fault } from "./fault.ts";
import type { FaultServer } from "./fault-server.ts";
import type { FaultTrial } from "./fault-trial.ts";

const windowOf = (length: string): readonly string[] => ["--window", length, "--window-max", length];
/** Without the quarantine a loss shows only while a window that was lost still lasts: a start may take seconds. */
const lengths = { whole: windowOf("1500ms"), gutted: windowOf("20s") } as const;
/** Each costs a quarantine of 4.5 s: the longest window, the lead, and the error of two clocks. */
const common = {
  stores: "embedded",
  workerIdCount: 2,
  catches: "no-floor",
  counts: { pr: 2, full: 100 },
  lanes: 5,
  failures: "allowed",
} as const;

/** Losses of the embedded store's file: each is noticed, and nothing is granted before a quarantine is over. */
export const storeFileFaults: readonly Fault[] = [
  {
    name: "store file deleted under two servers, an older copy put there later",
    ...common,
    inject: (trial, count) =>
      eachLoss(trial, count, async (servers, marks) => {
        rmSync(trial.storePath);
        // One that has no worker ID at the moment has no grant to end.
        const seen = ["grant-ended", "store-problem"];
        await Promise.all(servers.map((server, index) => server.untilLogged(seen, marks[index]!)));
        renameSync(copyOf(trial), trial.storePath);
      }),
  },
  {
    name: "store file deleted, and another server started",
    ...common,
    inject: (trial, count) =>
      eachLoss(trial, count, async ([, other], marks) => {
        await other.kill();
        rmSync(trial.storePath);
        marks[1] = undefined;
        await other.start();
      }),
  },
  {
    name: "store file replaced by an older copy under two servers",
    ...common,
    inject: (trial, count) =>
      eachLoss(trial, count, async () => {
        renameSync(copyOf(trial), trial.storePath);
      }),
  },
  {
    name: "an older copy written over the store file under two servers",
    ...common,
    inject: (trial, count) =>
      eachLoss(trial, count, async () => {
        await copyLocked(trial, copyOf(trial), trial.storePath);
      }),
  },
  {
    name: "an older copy of the store file put back between kill -9 and restart",
    ...common,
    inject: (trial, count) =>
      eachLoss(trial, count, async (servers, marks) => {
        await Promise.all(servers.map((server) => server.kill()));
        renameSync(copyOf(trial), trial.storePath);
        marks.fill(undefined);
        await Promise.all(servers.map((server) => server.start()));
      }),
  },
];

/**
 * Starts two servers; `count` times takes a copy of the file that is soon an old one, loses the file, and waits until
 * both serve again: a server that ran on must have taken a worker ID again.
 *
 * @param lose - What happens to the file. `marks` say where each server's log ends before; undefined = it was started
 * again.
 */
async function eachLoss(
  trial: FaultTrial,
  count: number,
  lose: (servers: readonly [FaultServer, FaultServer], marks: (number | undefined)[]) => Promise<void>,
): Promise<void> {
  const start = (): Promise<FaultServer> =>
    trial.startServer({ args: [...lengths[trial.build], "--renewal-period", "300ms"] });
  const servers = [await start(), await start()] as const;
  const load = trial.startLoad("any-server", "calm");
  for (let index = 0; index < count; index += 1) {
    await load.untilAnswered(5);
    await copyLocked(trial, trial.storePath, copyOf(trial));
    await untilOld(trial);
    const marks: (number | undefined)[] = servers.map((server) => server.mark());
    trial.noteMarks("running");
    await lose(servers, marks);
    trial.injected();
    for (const [index, mark] of marks.entries()) {
      if (mark !== undefined) await servers[index]!.untilLogged(["acquired"], mark);
    }
  }
  await load.untilAnswered(5);
}

function copyOf(trial: FaultTrial): string {
  return `${trial.storePath}.copy`;
}

/** Copies while nobody writes: a torn copy would be another fault than the one that is tried. */
async function copyLocked(trial: FaultTrial, from: string, to: string): Promise<void> {
  const lock = new DatabaseSync(trial.storePath, { timeout: 30_000 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    // By another process: to open the file here beside SQLite would give the lock away.
    await runCommand("cp", [from, to]);
  } finally {
    lock.close();
  }
}

/** Waits until the file has gone on from its copy. */
async function untilOld(trial: FaultTrial): Promise<void> {
  const isSame = (): Promise<boolean> =>
    runCommand("cmp", ["--silent", copyOf(trial), trial.storePath]).then(
      () => true,
      () => false,
    );
  for (const endMs = systemClock.monotonicMs() + 120_000; await isSame(); await sleep(100)) {
    if (systemClock.monotonicMs() > endMs) throw new Error("nobody has written to the store for two minutes");
  }
}
