import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import { type Fault, type FaultKind, faultKinds, type HolderState, holderStates } from "./fault.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { StoreTraits } from "./simulated-store.ts";

/** What a seed stands for: who takes part, over which store, and what goes wrong when. */
export interface Scenario {
  readonly layout: Layout;
  readonly processCount: number;
  readonly traits: StoreTraits;
  /** Distance of each machine's wall clock from true time at first, in milliseconds; the last is the store's. */
  readonly offsetsMs: readonly number[];
  readonly faults: readonly Fault[];
}

/** How long faults begin; afterwards everything is healed. */
export const faultPhaseMs = 24_000;

const windowMs = 4_000;
const timing = { windowMs, renewalPeriodMs: 1_200, ttlMs: windowMs + 3_000 };
/** Two clocks are at most so far apart where a store may lose data: the assumption of docs/safety.md. */
const clockErrorMs = 500;

/** Faults that only a store which may lose data, or says who it is, can have. */
const lossFaults: ReadonlySet<FaultKind> = new Set(["store-goes-back", "store-wipe", "store-failover", "store-split"]);
/** A wall clock further from true time than a lossy store may assume. */
const madClockFaults: ReadonlySet<FaultKind> = new Set([
  "clock-forward-large",
  "clock-back-large",
  "clock-freeze",
  "pause-unseen",
  "clock-back-small",
  "clock-forward-small",
  "leap-second",
]);

/** Derives the scenario of a seed. */
export function createScenario(random: SeededRandom): Scenario {
  const processCount = random.chance(0.01)
    ? random.between(17, 64)
    : random.chance(0.15)
      ? random.between(4, 8)
      : random.between(1, 3);
  const durability = random.chance(0.5) ? "durable" : "lossy";
  const hasClock = durability === "lossy" || random.chance(0.5);
  const liveness = durability === "durable" && random.chance(0.2) ? "lock" : "ttl";
  // With few worker IDs everybody comes upon everybody's; with many there is always a spare one for a rebase.
  const isScarce = random.chance(0.6);
  const bits = isScarce
    ? Math.max(1, Math.ceil(Math.log2(processCount + 1)))
    : Math.max(3, Math.ceil(Math.log2(processCount * 8)));
  const layout = createLayout({
    name: "custom",
    epochMs: Date.UTC(2026, 0, 1),
    tickNs: random.chance(0.8) ? 1_000_000 : 10_000_000,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits },
      { kind: "sequence", bits: random.between(6, 10) },
    ],
  });
  const offsetsMs = Array.from({ length: processCount + 1 }, () =>
    random.between(-clockErrorMs + 50, clockErrorMs - 50),
  );
  const traits: StoreTraits = { durability, hasClock, liveness, timing };
  return { layout, processCount, traits, offsetsMs, faults: planFaults(random, processCount, traits, isScarce) };
}

function planFaults(
  random: SeededRandom,
  processCount: number,
  traits: StoreTraits,
  isScarce: boolean,
): readonly Fault[] {
  const losesData = random.chance(0.5);
  const possible = faultKinds.filter((kind) => {
    // What followed a clock that was an hour ahead is used up for an hour: without spare worker IDs nobody could serve
    // again.
    if (kind === "clock-forward-large" && isScarce && !traits.hasClock) return false;
    if (kind === "clone") return traits.liveness === "ttl";
    if (traits.liveness === "lock" && lossFaults.has(kind)) return false;
    if (lossFaults.has(kind)) return losesData;
    // Where data is lost, uniqueness rests on clocks that are right to within their error: then no clock may be mad.
    return !(losesData && madClockFaults.has(kind));
  });
  const count = random.between(2, 9);
  const faults = Array.from({ length: count }, (): Fault => {
    const kind = random.pick(possible);
    const state: HolderState = random.pick(holderStates);
    return {
      kind,
      atMs: random.between(500, faultPhaseMs),
      target: random.between(0, processCount - 1),
      state,
      size: random.fraction(),
    };
  });
  return faults.toSorted((one, other) => one.atMs - other.atMs);
}
