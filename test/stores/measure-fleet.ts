import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { fleetStores } from "./fleet-stores.ts";
import { RealFleet } from "./real-fleet.ts";

/** What came of many processes on a real store. Times are milliseconds. */
export interface FleetMeasures {
  readonly store: string;
  readonly processes: number;
  /** Worker IDs that were held by two processes, and IDs that two of them had. */
  readonly repeated: number;
  readonly halfMs: number;
  readonly lastMs: number;
  readonly startWrites: number;
  /** At rest. */
  readonly writesPerSecond: number;
  readonly loggedBytesPerWrite: number | undefined;
  readonly keptBytes: number;
  readonly connections: number;
  readonly residentMbEach: number;
  /** Of an outage by kill -9; undefined where there is no server. */
  readonly outage: { readonly endedGrants: number; readonly againMs: number } | undefined;
}

/** How long a fleet is watched. */
export interface FleetPlan {
  readonly processes: number;
  readonly restMs: number;
  readonly outageMs: number;
}

const timeoutMs = 300_000;

/** Starts processes on a real store, and measures what they ask of it. */
export async function measureFleet(kind: string, { processes, restMs, outageMs }: FleetPlan): Promise<FleetMeasures> {
  const store = await fleetStores[kind]!();
  const fleet = new RealFleet();
  try {
    await store.look();
    // Our own, and those of etcd to itself.
    const othersConnections = store.connections();
    await fleet.load(store.url, processes);
    const times = await fleet.go(timeoutMs);
    const started = await store.look();
    const fromMs = systemClock.monotonicMs();
    await sleep(restMs);
    const rested = await store.look();
    const seconds = (systemClock.monotonicMs() - fromMs) / 1_000;
    const writes = rested.writes - started.writes;
    const connections = store.connections() - othersConnections;
    const repeated = repeatedIn(fleet.workerIds) + repeatedIn(fleet.ids);
    const residentMbEach = fleet.residentMb / processes;
    const outage = store.kill === undefined ? undefined : await endureKill(fleet, store.kill, store.restart!, outageMs);
    return {
      store: store.name,
      processes,
      repeated: repeated + repeatedIn(fleet.workerIds),
      halfMs: times[Math.ceil(times.length / 2) - 1]!,
      lastMs: times.at(-1)!,
      startWrites: started.writes,
      writesPerSecond: writes / seconds,
      loggedBytesPerWrite:
        rested.loggedBytes === undefined ? undefined : (rested.loggedBytes - started.loggedBytes!) / writes,
      keptBytes: rested.keptBytes,
      connections,
      residentMbEach,
      outage,
    };
  } finally {
    await fleet.stop();
    await store.stop();
  }
}

async function endureKill(
  fleet: RealFleet,
  kill: () => Promise<void>,
  restart: () => Promise<void>,
  outageMs: number,
): Promise<{ readonly endedGrants: number; readonly againMs: number }> {
  const before = fleet.endedGrants;
  await kill();
  await sleep(outageMs);
  await restart();
  const backMs = systemClock.monotonicMs();
  await fleet.untilAllHold(timeoutMs);
  const againMs = systemClock.monotonicMs() - backMs;
  return { endedGrants: fleet.endedGrants - before, againMs };
}

function repeatedIn(values: readonly string[]): number {
  return values.length - new Set(values).size;
}
