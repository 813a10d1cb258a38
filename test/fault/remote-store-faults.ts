import { setTimeout as sleep } from "node:timers/promises";
import { type RemoteStoreServer, remoteStoreKinds, withPort } from "../support/servers/remote-stores.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import type { Fault } from "./fault.ts";
import type { FaultTrial } from "./fault-trial.ts";

/** Renewals so often that each fault meets some; a window that most of them do not outlast. */
const times = ["--window", "8s", "--window-max", "8s", "--renewal-period", "500ms"];

/** A store of the trial's own, and the network before it. */
interface Victim {
  readonly server: RemoteStoreServer;
  readonly proxy: TcpProxy;
  readonly trial: FaultTrial;
}

type Injection = (victim: Victim) => Promise<void>;

/** Each ends what it begins. */
const injections: readonly Injection[] = [
  async ({ server, trial }) => {
    await server.kill();
    await sleep(trial.random.below(2_000));
    await server.restart();
  },
  async ({ server, trial }) => {
    server.pause();
    await sleep(500 + trial.random.below(3_000));
    server.resume();
  },
  async ({ proxy, trial }) => {
    // Now and then only the answers are lost: what was asked for happens.
    proxy.mode = trial.random.oneIn(2) ? "deaf" : "black-hole";
    if (trial.random.oneIn(2)) proxy.cut();
    await sleep(500 + trial.random.below(3_000));
    proxy.reopen();
  },
  async ({ proxy, trial }) => {
    proxy.delayMs = 100 + trial.random.below(900);
    await sleep(3_000);
    proxy.delayMs = 0;
  },
];

/** Faults of each remote store, in turn: killed and started again, frozen, cut off, slow. */
export const remoteStoreFaults: readonly Fault[] = remoteStoreKinds.map(({ kind, start }) => ({
  name: `${kind} killed, frozen, cut off, slow, under two servers`,
  stores: "own",
  catches: "availability",
  counts: { pr: injections.length, full: 200 },
  lanes: 2,
  failures: "allowed",
  inject: async (trial, count) => {
    const server = await start();
    const proxy = await TcpProxy.start(server.port);
    trial.onEnd(async () => {
      await proxy.stop();
      server.resume();
      await server.stop();
    });
    const begin = () => trial.startServer({ storeUrl: withPort(server, proxy.port), args: times });
    const servers = [await begin(), await begin()];
    const load = trial.startLoad("any-server", "calm");
    for (let index = 0; index < count; index += 1) {
      await load.untilAnswered(5);
      const marks = servers.map((each) => each.mark());
      await injections[index % injections.length]!({ server, proxy, trial });
      trial.injected();
      // A server that lost nothing renews; one that lapsed or was taken over acquires again.
      await Promise.all(
        servers.map(async (each, place) => {
          const line = each.log.slice(marks[place]).findLast(({ event }) => event === "store-problem");
          if (line !== undefined) await each.untilLogged(["store-answers-again", "acquired"], marks[place]!);
        }),
      );
    }
    await load.untilAnswered(5);
  },
}));
