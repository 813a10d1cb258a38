import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { findLockOwner } from "../../src/store/sqlite/lock-owner.ts";
import { revisionPath } from "../../src/store/sqlite/sqlite-paths.ts";
import { isRunning } from "../support/processes/process-tree.ts";
import type { Fault } from "./fault.ts";
import type { FaultServer } from "./fault-server.ts";
import type { FaultTrial, LoadRate } from "./fault-trial.ts";
import { createFaultyDisk, type FaultyDisk } from "./faulty-disk.ts";

/** Windows so short that a pause outlasts one in a second. */
const shortWindow = ["--window", "1500ms", "--renewal-period", "300ms"];
const serverCount = 4;

const killLoop = {
  stores: "any",
  workerIdCount: 3,
  catches: "own-clock",
  lanes: 1,
  failures: "allowed",
} as const;

/** Faults of processes: they are killed, and they are stopped for a while. */
export const processFaults: readonly Fault[] = [
  {
    name: "kill -9 and restart in a loop, three of four servers on one store",
    ...killLoop,
    counts: { pr: 40, full: 10_000 },
    inject: (trial, count) => killInLoop(trial, count, "brisk"),
  },
  {
    name: "kill -9 and restart in a loop, while callers draw millions of IDs",
    ...killLoop,
    counts: { pr: 8, full: 2_200 },
    inject: (trial, count) => killInLoop(trial, count, "bulk"),
  },
  {
    name: "three of four processes stopped for longer than their windows (SIGSTOP, SIGCONT)",
    stores: "any",
    workerIdCount: serverCount,
    catches: "availability",
    counts: { pr: 10, full: 1_000 },
    lanes: 1,
    failures: "allowed",
    inject: async (trial, count) => {
      const servers = await startServers(trial);
      trial.startLoad("any-server");
      let fencedMs = 0;
      await eachInTurns(servers, count, async (server) => {
        const mark = server.mark();
        server.pause();
        // Past the window where locks show whether a holder runs; elsewhere past the TTL too: its worker ID may be
        // taken.
        await sleep((trial.isEmbedded ? 1_800 : 5_000) + trial.random.below(700));
        const wokenMs = systemClock.monotonicMs();
        server.resume();
        trial.injected();
        // Its window is over, whatever it did before.
        await server.untilLogged(["grant-ended", "acquired"], mark);
        fencedMs = Math.max(fencedMs, systemClock.monotonicMs() - wokenMs);
        await server.untilLogged(["acquired"], mark);
      });
      trial.notes.push(`the old grant was over at most ${Math.round(fencedMs)} ms after waking`);
    },
  },
  {
    name: "a process stopped while it holds the lock of the embedded store, then continued or killed",
    stores: "embedded",
    workerIdCount: 3,
    catches: "availability",
    counts: { pr: 2, full: 50 },
    lanes: 2,
    failures: "allowed",
    inject: async (trial, count) => {
      const disk = await createFaultyDisk(trial.folder, "preloaded");
      const storePath = join(disk.folder, "snowlane.db");
      const start = (environment = {}) => trial.startServer({ args: shortWindow, storePath, environment });
      const [victim, ...others] = [await start(disk.environment), await start(), await start()];
      const load = trial.startLoad("any-server", "calm");
      for (let index = 0; index < count; index += 1) {
        await load.untilAnswered(5);
        // A server without a worker ID has no grant that could end.
        await Promise.all(others.map((each) => each.untilHolding()));
        const marks = others.map((each) => each.mark());
        const all = async (wait: (each: FaultServer, place: number) => Promise<void>): Promise<void> => {
          await Promise.all(others.map((each, place) => wait(each, marks[place]!)));
        };
        await stopInLock(victim, disk, storePath);
        const mark = victim.mark();
        await all((each, from) => each.untilLogged(["grant-ended"], from));
        // In time, every log says what to do.
        await all((each, from) => each.untilSaid(`kill -CONT ${victim.processId}`, from));
        trial.injected();
        const backMarks = others.map((each) => each.mark());
        if (index % 2 === 0) victim.resume();
        else await victim.kill();
        await Promise.all(others.map((each, place) => each.untilLogged(["acquired"], backMarks[place]!)));
        if (index % 2 === 0) await victim.untilLogged(["acquired"], mark);
        else await victim.start();
      }
      await load.untilAnswered(5);
    },
  },
];

async function killInLoop(trial: FaultTrial, count: number, rate: LoadRate): Promise<void> {
  const servers = await startServers(trial);
  const load = trial.startLoad("any-server", rate);
  await eachInTurns(servers, count, async (server) => {
    // However slow the machine is: callers get something between two kills.
    await load.untilAnswered(10);
    await sleep(20 + trial.random.below(300));
    await server.kill();
    trial.injected();
    // Some are killed again while they start: loading, acquiring, or serving already.
    if (trial.random.oneIn(4)) await server.startAndKill(trial.random.below(500));
    await server.startOrWait();
  });
}

/** Stops a server in the midst of a write, however short those are: its disk holds it there. */
async function stopInLock(server: FaultServer, disk: FaultyDisk, storePath: string): Promise<void> {
  const endMs = systemClock.monotonicMs() + 120_000;
  disk.stall();
  try {
    for (;;) {
      const owner = findLockOwner([revisionPath(storePath)]);
      if (owner?.processId === server.processId && owner.access === "write") break;
      if (systemClock.monotonicMs() > endMs) throw new Error("The server did not write within 120 s.");
      await sleep(5);
    }
    server.pause();
    // Its threads stop one after another: until all have, its disk keeps the one that writes from coming to an end.
    while (isRunning(server.processId)) {
      if (systemClock.monotonicMs() > endMs) throw new Error("The server did not stop within 120 s.");
      await sleep(1);
    }
  } finally {
    disk.unstall();
  }
}

function startServers(trial: FaultTrial): Promise<FaultServer[]> {
  return Promise.all(Array.from({ length: serverCount }, () => trial.startServer({ args: shortWindow })));
}

/** Does `work` `count` times in all, on all servers at once but the first, which has nothing done to it. */
async function eachInTurns(
  servers: readonly FaultServer[],
  count: number,
  work: (server: FaultServer) => Promise<void>,
): Promise<void> {
  let begun = 0;
  await Promise.all(
    servers.slice(1).map(async (server) => {
      while (begun < count) {
        begun += 1;
        await work(server);
      }
    }),
  );
}
