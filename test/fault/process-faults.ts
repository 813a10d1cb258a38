import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "./fault.ts";
import type { FaultServer } from "./fault-server.ts";
import type { FaultTrial } from "./fault-trial.ts";

/** Windows so short that a successor takes the very worker ID again, and that a pause outlasts one in a second. */
const shortWindow = ["--window", "1500ms", "--renewal-period", "300ms"];
const serverCount = 3;

/** Faults of processes: they are killed, and they are stopped for a while. */
export const processFaults: readonly Fault[] = [
  {
    name: "kill -9 and restart in a loop, three servers on one store",
    stores: "any",
    counts: { pr: 40, full: 10_000 },
    lanes: 1,
    failures: "allowed",
    inject: async (trial, count) => {
      const servers = await startServers(trial);
      trial.startLoad("any-server");
      await eachInTurns(servers, count, async (server) => {
        await sleep(20 + trial.random.below(300));
        await server.kill();
        trial.injected();
        await server.start();
      });
    },
  },
  {
    name: "process stopped for longer than its window (SIGSTOP, SIGCONT)",
    stores: "any",
    counts: { pr: 10, full: 1_000 },
    lanes: 1,
    failures: "allowed",
    inject: async (trial, count) => {
      const servers = await startServers(trial);
      trial.startLoad("any-server");
      await eachInTurns(servers, count, async (server) => {
        const mark = server.mark();
        server.pause();
        await sleep(1_800 + trial.random.below(700));
        server.resume();
        trial.injected();
        // Its window is over, whatever it did before.
        await server.untilLogged(["acquired"], mark);
      });
    },
  },
];

function startServers(trial: FaultTrial): Promise<FaultServer[]> {
  return Promise.all(Array.from({ length: serverCount }, () => trial.startServer({ args: shortWindow })));
}

/** Does `work` `count` times in all, on all servers at once. */
async function eachInTurns(
  servers: readonly FaultServer[],
  count: number,
  work: (server: FaultServer) => Promise<void>,
): Promise<void> {
  let begun = 0;
  await Promise.all(
    servers.map(async (server) => {
      while (begun < count) {
        begun += 1;
        await work(server);
      }
    }),
  );
}
