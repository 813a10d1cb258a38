import { createLayout } from "../../../src/snowflake/layout.ts";
import type { Fault, FaultKind } from "../fault.ts";
import type { Scenario } from "../scenario.ts";
import { SeededRandom } from "../seeded-random.ts";
import type { StoreTraits } from "../simulated-store.ts";
import { anyStore, storeModels } from "../store-model.ts";

/** The faults that a reader may drop into a run, by the words of a link. */
export const droppedKinds = {
  back: "clock-back-small",
  ahead: "clock-forward-small",
  pause: "pause-seen",
  kill: "crash",
  cut: "network-cut",
  wipe: "store-wipe",
  older: "store-goes-back",
  failover: "store-failover",
} as const satisfies Record<string, FaultKind>;

/** A fault as a link writes it: what, when, and to which process. */
export interface DroppedFault {
  readonly what: keyof typeof droppedKinds;
  /** True time: whole milliseconds since the run began, 0 to {@link calmMs}. */
  readonly atMs: number;
  /** 0 to {@link calmProcesses} - 1. A fault of the store waits for this process to hold a worker ID, as all do. */
  readonly process: number;
}

/** How long faults can be dropped in. */
export const calmMs = 11_000;
export const calmProcesses = 3;

/** How far a step of the clock goes, and how long a killed process stays away: shares of what the kind allows. */
const sizes: Readonly<Partial<Record<DroppedFault["what"], number>>> = { back: 0.6, ahead: 0.6, kill: 0.5 };
const lastingMs = 3_000;

/**
 * The store of a run. `server`: a store across the network that may lose what it confirmed, as Redis may. `file`: an
 * embedded store that loses nothing, has no clock of its own, and tells by locks which processes live, as SQLite does.
 */
export type ShownStore = "server" | "file";

/** The faults that a store cannot have. */
const impossible: Readonly<Record<ShownStore, readonly DroppedFault["what"][]>> = {
  server: [],
  file: ["cut", "wipe", "older", "failover"],
};

/** Whether a fault can happen to a store. */
export function isPossibleFor(store: ShownStore, what: DroppedFault["what"]): boolean {
  return !impossible[store].includes(what);
}

/**
 * A run without any fault but those that a reader drops in: three processes with four worker IDs.
 *
 * @param faults - Those that the store cannot have are left out.
 */
export function calmScenario(seed: number, store: ShownStore, faults: readonly DroppedFault[]): Scenario {
  // Its own numbers, so that a fault changes nothing that comes before it.
  const random = new SeededRandom(seed ^ calmSalt);
  return {
    layout: createLayout({
      name: "custom",
      epochMs: Date.UTC(2026, 0, 1),
      tickNs: 100_000_000,
      fields: [
        { kind: "timestamp", bits: 41 },
        { kind: "worker", bits: 2 },
        { kind: "sequence", bits: 8 },
      ],
    }),
    processCount: calmProcesses,
    traits: traits[store],
    offsetsMs: Array.from({ length: calmProcesses + 1 }, () => random.between(-450, 450)),
    hasJournal: false,
    drawGapMs: 300,
    story: "calm",
    needsRightClocks: false,
    variety: {
      rollbackPolicy: "advance",
      windowShares: [1],
      windowMaxShare: 1,
      hasSingleDraws: false,
      story: undefined,
    },
    deployment: {
      isModelled: false,
      bindings: undefined,
      operatorReleases: 0,
      losesUnseen: false,
      copiesDisks: false,
    },
    faultPhaseMs: calmMs,
    faults: faults
      .filter(({ what }) => isPossibleFor(store, what))
      .map(faultOf)
      .toSorted((one, other) => one.atMs - other.atMs),
  };
}

const calmSalt = 90_127;
const windowMs = 1_500;
const timing = { windowMs, renewalPeriodMs: 450, ttlMs: windowMs + 3_000 };
const traits: Readonly<Record<ShownStore, StoreTraits>> = {
  server: { durability: "lossy", hasClock: true, liveness: "ttl", timing, model: anyStore.lossy },
  file: { durability: "durable", hasClock: false, liveness: "lock", timing, model: storeModels.sqlite },
};

function faultOf({ what, atMs, process }: DroppedFault): Fault {
  return {
    kind: droppedKinds[what],
    atMs,
    target: process,
    state: "holding",
    size: sizes[what] ?? 0,
    lengthMs: lastingMs,
  };
}
