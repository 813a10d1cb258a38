import { createLayout } from "../../../src/snowflake/layout.ts";
import type { Fault } from "../fault.ts";
import type { Scenario } from "../scenario.ts";
import { SeededRandom } from "../seeded-random.ts";
import type { StoreTraits } from "../simulated-store.ts";
import { anyStore, storeModels } from "../store-model.ts";
import {
  calmMs,
  calmProcesses,
  type DroppedFault,
  type DroppedWhat,
  droppedKinds,
  isPossibleFor,
  lastingMs,
  type ShownStore,
} from "./dropped-fault.ts";

/** How far a step of the clock goes, and how long a killed process stays away: shares of what the kind allows. */
const sizes: Readonly<Partial<Record<DroppedWhat, number>>> = { back: 0.6, ahead: 0.6, kill: 0.5 };

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
