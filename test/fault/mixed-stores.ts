import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { isBusy } from "../../src/store/sqlite/sqlite-error.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { startEtcdCluster } from "../support/servers/etcd-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { ZooKeeperNetwork } from "../support/servers/zookeeper-network.ts";
import { startZooKeeperEnsemble } from "../support/servers/zookeeper-server.ts";
import type { FaultTrial } from "./fault-trial.ts";
import { PowerSupply } from "./power-loss.ts";
import { type PromotedStore, startPostgresPair, startRedisTrio } from "./promoted-stores.ts";

/** A store for mixed faults. */
export interface MixedStore {
  /** The ports that servers connect to; none for the embedded store. */
  readonly ports: readonly number[];
  /** The URL by other ports. */
  readonly url: (ports: readonly number[]) => string;
  /** Each begins something, waits, and ends it: of the store itself, and between its members. */
  readonly faults: readonly (() => Promise<void>)[];
  /** For the embedded store: the machine that all servers run on, with the file in its folder. */
  readonly embedded?: { readonly power: PowerSupply; readonly path: string };
  /** How long a window lasts: so short that faults outlast many. */
  readonly windowMs: number;
  /** Whether clocks must be right to half a second, as data may be lost. */
  readonly needsRightClocks: boolean;
}

/** A server that is stopped while it has the lock is continued before that. */
const lockPatienceMs = 15_000;

/** The stores that mixed faults are tried on. */
export const mixedStores: Readonly<Record<string, (trial: FaultTrial) => Promise<MixedStore>>> = {
  sqlite: async (trial) => {
    const power = await PowerSupply.create(trial.folder);
    const path = join(power.folder, "snowlane.db");
    return {
      ports: [],
      url: () => `sqlite:${path}`,
      faults: [async () => void (await lockFile(path, lengthMs(trial) / 2))],
      embedded: { power, path },
      windowMs: 1_500,
      needsRightClocks: false,
    };
  },
  // A commit counts when the standby has it, so that nothing is lost by a failover.
  postgres: async (trial) => ({
    ...(await openPromoted(trial, startPostgresPair())),
    url: (ports) => `postgres://postgres@${hosts(ports)}/postgres`,
    windowMs: 1_500,
    needsRightClocks: false,
  }),
  // A failover may lose writes, and shows.
  redis: async (trial) => ({
    ...(await openPromoted(trial, startRedisTrio())),
    url: (ports) => `redis://${hosts(ports)}?replicas=2`,
    // Each grant asks three servers, and waits for two: on a busy machine that takes a second.
    windowMs: 3_000,
    needsRightClocks: true,
  }),
  etcd: async (trial) => {
    const ways: TcpProxy[] = [];
    const members = await startEtcdCluster(async (port) => {
      const way = await keptWay(trial, port);
      ways.push(way);
      return way.port;
    });
    for (const member of members) trial.onEnd(() => member.stop());
    return {
      ports: members.map(({ port }) => port),
      url: (ports) => `etcd://${hosts(ports)}`,
      faults: [...serverFaults(trial, members), ...wayFaults(trial, ways)],
      windowMs: 1_500,
      needsRightClocks: false,
    };
  },
  zookeeper: async (trial) => {
    const network = new ZooKeeperNetwork();
    trial.onEnd(() => network.stop());
    const members = await startZooKeeperEnsemble(network);
    for (const member of members) trial.onEnd(() => member.stop());
    return {
      ports: members.map(({ port }) => port),
      url: (ports) => `zookeeper://${hosts(ports)}`,
      faults: [
        ...serverFaults(trial, members),
        // One member is parted from one other, or, where both numbers are its own, from both.
        () => cutWays(trial, network.waysOf(1 + trial.random.below(3), 1 + trial.random.below(3))),
      ],
      windowMs: 1_500,
      needsRightClocks: false,
    };
  },
};

/** How long a fault of a store lasts: from 100 ms to 5 s. */
function lengthMs(trial: FaultTrial): number {
  return 100 + trial.random.below(4_900);
}

function hosts(ports: readonly number[]): string {
  return ports.map((port) => `127.0.0.1:${port}`).join();
}

async function openPromoted(
  trial: FaultTrial,
  starting: Promise<PromotedStore>,
): Promise<Pick<MixedStore, "ports" | "faults">> {
  const { servers, ways, promote } = await starting;
  for (const end of [...servers, ...ways]) trial.onEnd(() => end.stop());
  return {
    ports: servers.map(({ port }) => port),
    faults: [...serverFaults(trial, servers), ...wayFaults(trial, ways), () => promote(trial.random)],
  };
}

async function keptWay(trial: FaultTrial, port: number): Promise<TcpProxy> {
  const way = await TcpProxy.start(port);
  trial.onEnd(() => way.stop());
  return way;
}

/** A member is frozen, or killed and started again. */
function serverFaults(trial: FaultTrial, members: readonly TestServer[]): readonly (() => Promise<void>)[] {
  return [
    async () => {
      const member = trial.random.pick(members);
      member.pause();
      await sleep(lengthMs(trial));
      member.resume();
    },
    async () => {
      const member = trial.random.pick(members);
      await member.kill();
      await sleep(trial.random.below(2_000));
      await member.restart();
    },
  ];
}

/** The way between two members is cut. */
function wayFaults(trial: FaultTrial, ways: readonly TcpProxy[]): readonly (() => Promise<void>)[] {
  return [() => cutWays(trial, [trial.random.pick(ways)])];
}

/** Nothing comes through, or only what is asked and not the answers; then the ways are as before. */
export async function cutWays(trial: FaultTrial, ways: readonly TcpProxy[], lastsMs = lengthMs(trial)): Promise<void> {
  const mode = trial.random.oneIn(2) ? "deaf" : "black-hole";
  const isReset = trial.random.oneIn(2);
  for (const way of ways) {
    way.mode = mode;
    if (isReset) way.cut();
  }
  await sleep(lastsMs);
  for (const way of ways) way.reopen();
}

/**
 * Locks the file for a while, if it can be had in time. It is asked for without waiting in SQLite: that would keep this
 * thread, which alone continues a server that is stopped while it has the lock.
 */
export async function lockFile(path: string, lastsMs: number): Promise<"locked" | "not had"> {
  const other = new DatabaseSync(path, { timeout: 0 });
  try {
    const untilMs = systemClock.monotonicMs() + lockPatienceMs;
    while (!tryLock(other)) {
      if (systemClock.monotonicMs() >= untilMs) return "not had";
      await sleep(20);
    }
    await sleep(lastsMs);
    return "locked";
  } finally {
    other.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (cause) {
    if (isBusy(cause)) return false;
    throw cause;
  }
}
