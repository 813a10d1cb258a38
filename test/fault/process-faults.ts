import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock.ts";
import type { Fault } from "./fault.ts";
import type { FaultServer } from "./fault-server.ts";
import type { FaultTrial } from "./fault-trial.ts";

/** Windows so short that a successor takes the very worker ID again, and that a pause outlasts one in a second. */
const shortWindow = ["--window", "1500ms", "--renewal-period", "300ms"];
const serverCount = 4;

/** Faults of processes: they are killed, and they are stopped for a while. */
export const processFaults: readonly Fault[] = [
  {
    name: "kill -9 and restart in a loop, three of four servers on one store",
    stores: "any",
    counts: { pr: 40, full: 10_000 },
    lanes: 1,
    failures: "allowed",
    inject: async (trial, count) => {
      const servers = await startServers(trial);
      const load = trial.startLoad("any-server");
      await eachInTurns(servers, count, async (server) => {
        // However slow the machine is: callers get something between two kills.
        await load.untilAnswered(10);
        await sleep(20 + trial.random.below(300));
        await server.kill();
        trial.injected();
        // Some are killed again while they start: loading, acquiring, or serving already.
        if (trial.random.oneIn(4)) await server.startAndKill(trial.random.below(500));
        await server.start();
      });
    },
  },
  {
    name: "three of four processes stopped for longer than their windows (SIGSTOP, SIGCONT)",
    stores: "any",
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
        // Past the window where locks tell who lives; elsewhere past the TTL too: another may have taken its worker ID.
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
];

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
