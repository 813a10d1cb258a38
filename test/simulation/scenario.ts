import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import { type Fault, type FaultKind, faultKinds, type HolderState, holderStates } from "./fault.ts";
import { type RollbackPolicy, rollbackPolicies } from "../../src/snowflake/rollback-policy.ts";
import { SeededRandom } from "./seeded-random.ts";
import type { StoreTraits } from "./simulated-store.ts";
import { dangerStories, type Story, stories } from "./stories.ts";

/** The story of a seed: the processes that take part, their store, and what goes wrong when. */
export interface Scenario {
  readonly layout: Layout;
  readonly processCount: number;
  readonly traits: StoreTraits;
  /** Distance of each machine's wall clock from true time at first, in milliseconds; the last is the store's. */
  readonly offsetsMs: readonly number[];
  /** Whether processes keep a resume record on their machine's disk. */
  readonly hasJournal: boolean;
  /** Longest time between two draws of one process. */
  readonly drawGapMs: number;
  /** Name of the story that it tells; `mixed` where faults fall as they come. */
  readonly story: string;
  /**
   * Whether data is lost that has no other clock to go by than those of the machines: what docs/safety.md promises then
   * rests on their being right.
   */
  readonly needsRightClocks: boolean;
  /** How the processes' settings and callers differ from each other. */
  readonly variety: Variety;
  /** How long faults begin, in milliseconds. */
  readonly faultPhaseMs: number;
  readonly faults: readonly Fault[];
}

/** Settings that not every process has alike, and callers that do not all ask alike. */
interface Variety {
  readonly rollbackPolicy: RollbackPolicy;
  /** Each process's window, as a share of the store's; the longest of the namespace is `windowMaxShare` of that. */
  readonly windowShares: readonly number[];
  readonly windowMaxShare: number;
  /** Whether a single ID is drawn as NextId draws it, by tryNext. */
  readonly hasSingleDraws: boolean;
  /** The story, if the seed tells one: one that seeds without variety do not tell. */
  readonly story: Story | undefined;
}

const noVariety: Variety = {
  rollbackPolicy: "advance",
  windowShares: [1],
  windowMaxShare: 1,
  hasSingleDraws: false,
  story: undefined,
};

/** Chosen so that the seeds of mutants.ts and regression-seeds.ts keep the histories that they have without variety. */
const varietySalt = 30_662;

/** Three seeds in ten have variety. Drawing it takes no random numbers from anything else. */
function drawVariety(seed: number, tellsStory: boolean): Variety {
  const random = new SeededRandom(seed ^ varietySalt);
  if (!random.chance(0.3)) return noVariety;
  return {
    // Two policies never rebase: where faults are to meet a rebase they would be in the way.
    rollbackPolicy: random.pick(tellsStory ? rollbackPolicies : (["advance", "logical", "reuse"] as const)),
    windowShares: Array.from({ length: 7 }, () => random.pick([1, 0.8, 0.7])),
    windowMaxShare: random.pick([1, 1, 1.5]),
    hasSingleDraws: true,
    story: random.pick(dangerStories),
  };
}

/** How long faults begin; afterwards everything is healed. Random faults come close together. */
const phaseMs = { story: 15_000, mixed: 9_000 };

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

/** How many worker IDs there are: too few, just enough, or so many that a rebase always finds a spare one. */
type Supply = "short" | "scarce" | "ample";

/** Derives the scenario of a seed. */
export function createScenario(random: SeededRandom, seed: number): Scenario {
  const drawn = random.chance(0.3) ? random.pick(stories) : undefined;
  const variety = drawVariety(seed, drawn !== undefined);
  const story = drawn === undefined ? undefined : (variety.story ?? drawn);
  const supply: Supply = story?.supply ?? (random.chance(0.15) ? "short" : random.chance(0.5) ? "scarce" : "ample");
  const processCount = story?.processCount ?? drawProcessCount(random, story);
  const durability = story?.durability ?? (random.chance(0.5) ? "durable" : "lossy");
  const hasClock = durability === "lossy" || (story?.hasClock ?? random.chance(0.5));
  const liveness = durability === "durable" && random.chance(story?.lockShare ?? 0.2) ? "lock" : "ttl";
  const layout = createLayout({
    name: "custom",
    epochMs: Date.UTC(2026, 0, 1),
    // In a long tick two holders of one worker ID soon meet, and marks lie within ticks.
    tickNs: random.chance(0.4) ? 1_000_000 : random.chance(0.3) ? 10_000_000 : 100_000_000,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: workerBits(supply, processCount) },
      { kind: "sequence", bits: random.between(6, 10) },
    ],
  });
  const offsetsMs = Array.from({ length: processCount + 1 }, () =>
    random.between(-clockErrorMs + 50, clockErrorMs - 50),
  );
  const windowMs = story?.windowMs ?? random.pick([1_500, 2_500, 4_000]);
  const timing = { windowMs, renewalPeriodMs: Math.round(windowMs * 0.3), ttlMs: windowMs + 3_000 };
  const traits: StoreTraits = { durability, hasClock, liveness, timing };
  const faults =
    story === undefined
      ? planFaults(random, processCount, traits, supply)
      : story.tell(random, { processCount, timing });
  return {
    layout,
    processCount,
    traits,
    offsetsMs,
    hasJournal: liveness === "ttl" && (story?.hasJournal ?? random.chance(0.3)),
    drawGapMs: story === undefined ? 1_200 : 300,
    story: story?.name ?? "mixed",
    needsRightClocks: !hasClock && faults.some(({ kind }) => lossFaults.has(kind)),
    variety,
    faultPhaseMs: story === undefined ? phaseMs.mixed : (story.phaseMs ?? phaseMs.story),
    faults: faults.toSorted((one, other) => one.atMs - other.atMs),
  };
}

function drawProcessCount(random: SeededRandom, story: Story | undefined): number {
  if (story !== undefined) return random.between(2, 4);
  if (random.chance(0.003)) return random.between(17, 64);
  return random.chance(0.1) ? random.between(4, 8) : random.between(1, 3);
}

function workerBits(supply: Supply, processCount: number): number {
  if (supply === "short") return Math.max(1, Math.floor(Math.log2(Math.max(1, processCount - 1))));
  const wanted = supply === "scarce" ? processCount + 1 : processCount * 8;
  return Math.max(supply === "scarce" ? 1 : 3, Math.ceil(Math.log2(wanted)));
}

function planFaults(random: SeededRandom, processCount: number, traits: StoreTraits, supply: Supply): readonly Fault[] {
  const losesData = random.chance(0.5);
  const possible = faultKinds.filter((kind) => {
    // What followed a clock that was an hour ahead is used up for an hour: without spare worker IDs nobody could serve
    // again.
    if (kind === "clock-forward-large" && supply !== "ample" && !traits.hasClock) return false;
    if (kind === "clone") return traits.liveness === "ttl";
    if (traits.liveness === "lock" && lossFaults.has(kind)) return false;
    // A store that keeps what it confirmed and yet is emptied cannot show it: docs/safety.md leaves that to operators.
    if (kind === "store-wipe") return losesData && traits.durability === "lossy";
    if (lossFaults.has(kind)) return losesData;
    // Where data is lost, uniqueness rests on clocks that are right to within their error: then no clock may be mad.
    return !(losesData && madClockFaults.has(kind));
  });
  const faults: Fault[] = [];
  for (let volley = random.between(9, 16); volley > 0; volley -= 1) {
    const atMs = random.between(300, phaseMs.mixed);
    const target = random.between(0, processCount - 1);
    const state = pickWeighted(random, holderStates, stateWeights);
    // A state that passes at once is worth more than one fault.
    const count = state === "holding" ? 1 : random.between(1, 3);
    for (let more = 0; more < count; more += 1) {
      faults.push({ kind: pickWeighted(random, possible, kindWeights), atMs, target, state, size: random.fraction() });
    }
  }
  return faults;
}

/** So that the table of faults by states fills evenly: rare states, and kinds that few stores know, count for more. */
const stateWeights: Readonly<Record<HolderState, number>> = {
  acquiring: 1,
  waiting: 1.1,
  holding: 4.4,
  rebasing: 3.2,
  releasing: 2.3,
};
const kindWeights: Readonly<Partial<Record<FaultKind, number>>> = {
  "store-wipe": 4.5,
  "store-goes-back": 2.5,
  "store-failover": 2.5,
  "store-split": 3,
  "clock-forward-large": 2.5,
  "clock-back-large": 2,
  "clock-back-small": 2,
  "clock-forward-small": 2,
  "clock-freeze": 2,
  "leap-second": 2,
  "pause-unseen": 2,
};

function pickWeighted<T extends string>(
  random: SeededRandom,
  items: readonly T[],
  weights: Readonly<Partial<Record<T, number>>>,
): T {
  const sum = items.reduce((total, item) => total + (weights[item] ?? 1), 0);
  let left = random.fraction() * sum;
  for (const item of items) {
    left -= weights[item] ?? 1;
    if (left < 0) return item;
  }
  return random.pick(items);
}
