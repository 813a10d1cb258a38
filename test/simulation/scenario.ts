import { windowSlackMs } from "../../src/lease/worker-settings.ts";
import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import { type Deployment, datacenterBits, drawDeployment } from "./deployment.ts";
import { type Fault, type FaultKind, faultKinds, type HolderState, holderStates } from "./fault.ts";
import { type RollbackPolicy, rollbackPolicies } from "../../src/snowflake/rollback-policy.ts";
import { SeededRandom } from "./seeded-random.ts";
import type { StoreTraits } from "./simulated-store.ts";
import { anyStore, type StoreModel, storeModels } from "./store-model.ts";
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
   * Whether data is lost that has no other clock to go by than those of the machines: what docs/evidence.md promises
   * then rests on their being right.
   */
  readonly needsRightClocks: boolean;
  /** How the processes' settings and callers differ from each other. */
  readonly variety: Variety;
  readonly deployment: Deployment;
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
const lossFaults: ReadonlySet<FaultKind> = new Set([
  "store-goes-back",
  "store-wipe",
  "store-failover",
  "store-split",
  "store-goes-back-unseen",
]);
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

/** How many worker IDs there are: too few, just enough, or enough that a rebase always finds a spare one. */
type Supply = "short" | "scarce" | "ample";

function later(fault: Fault, byMs: number): Fault {
  return { ...fault, atMs: fault.atMs + byMs };
}

/** Faults that {@link planOwnFaults} plans. */
const ownKinds: ReadonlySet<FaultKind> = new Set(["operator-release", "store-goes-back-unseen"]);

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
  const deployment = drawDeployment(seed, story !== undefined);
  const layout = createLayout({
    name: "custom",
    epochMs: Date.UTC(2026, 0, 1),
    // In a long tick two holders of one worker ID soon meet, and marks lie within ticks.
    tickNs: random.chance(0.4) ? 1_000_000 : random.chance(0.3) ? 10_000_000 : 100_000_000,
    fields: [
      { kind: "timestamp", bits: 41 },
      ...(datacenterBits(deployment) > 0 ? [{ kind: "datacenter", bits: 1 } as const] : []),
      { kind: "worker", bits: workerBits(supply, processCount) },
      { kind: "sequence", bits: random.between(6, 10) },
    ],
  });
  const offsetsMs = Array.from({ length: processCount + 1 }, () =>
    random.between(-clockErrorMs + 50, clockErrorMs - 50),
  );
  const windowMs = story?.windowMs ?? random.pick([1_500, 2_500, 4_000]);
  const timing = { windowMs, renewalPeriodMs: Math.round(windowMs * 0.3), ttlMs: windowMs + 3_000 };
  const model = deployment.isModelled ? modelOf(seed, { durability, hasClock, liveness }) : anyStore[durability];
  const traits: StoreTraits = { durability, hasClock, liveness, timing, model };
  const planned =
    story === undefined
      ? planFaults(random, processCount, traits, supply)
      : story.tell(random, { processCount, timing });
  const ownFaults = planOwnFaults(new SeededRandom(seed ^ ownFaultsSalt), {
    deployment,
    planned,
    traits,
    processCount,
  });
  const losesUnseen = ownFaults.some(({ kind }) => kind === "store-goes-back-unseen");
  const faults = [...planned.filter(({ kind }) => isPossible(kind, deployment, traits, losesUnseen)), ...ownFaults];
  // A store whose emptiness tells nothing begins with a quarantine.
  const firstMs = model.emptyMeans === "lost" ? windowMs + windowSlackMs(layout) + 500 : 0;
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
    deployment,
    faultPhaseMs: firstMs + (story === undefined ? phaseMs.mixed : (story.phaseMs ?? phaseMs.story)),
    faults: faults.map((fault) => later(fault, firstMs)).toSorted((one, other) => one.atMs - other.atMs),
  };
}

/** The product's store that has these properties. */
function modelOf(seed: number, { durability, hasClock, liveness }: Omit<StoreTraits, "timing" | "model">): StoreModel {
  if (liveness === "lock") return storeModels.sqlite;
  if (durability === "lossy") return storeModels.redis;
  if (hasClock) return storeModels.postgres;
  return seed % 2 === 0 ? storeModels.etcd : storeModels.zookeeper;
}

/** Whether what a seed promises still holds in its deployment when a fault of that kind happens. */
function isPossible(kind: FaultKind, { bindings }: Deployment, traits: StoreTraits, losesUnseen: boolean): boolean {
  // Without a spare worker ID nobody could serve before the hour is over; nor where a restart is another life of the
  // store, and the process that notes it is an hour ahead.
  const isLongBarred = bindings !== undefined || traits.model.isRenamedByRestart;
  if (isLongBarred && kind === "clock-forward-large" && !traits.hasClock) return false;
  if (!losesUnseen) return true;
  // One loss alone, and right clocks; and it must be clear whose IDs come twice.
  const losesMore = kind === "store-restart" && traits.durability === "lossy";
  return !losesMore && !madClockFaults.has(kind) && kind !== "clone";
}

/** The faults that only some deployments know, beside the planned ones. */
function planOwnFaults(
  random: SeededRandom,
  story: {
    readonly deployment: Deployment;
    readonly planned: readonly Fault[];
    readonly traits: StoreTraits;
    readonly processCount: number;
  },
): readonly Fault[] {
  const { deployment, planned, traits, processCount } = story;
  const { ttlMs } = traits.timing;
  const faults: Fault[] = [];
  for (let release = 0; release < deployment.operatorReleases; release += 1) {
    const target = random.between(0, processCount - 1);
    const atMs = random.between(500, 2_500);
    const lengthMs = ttlMs + random.between(0, 2_500);
    const kind = random.pick(["crash", "pause-seen", "network-cut"] as const);
    faults.push({ kind, atMs, target, state: "holding", size: 1, lengthMs });
    const state = pickWeighted(random, holderStates, stateWeights);
    const releasedMs = atMs + ttlMs + random.between(-500, 1_000);
    faults.push({ kind: "operator-release", atMs: releasedMs, target, state, size: random.fraction() });
  }
  const losesMore = planned.some(({ kind }) => lossFaults.has(kind));
  if (deployment.losesUnseen && traits.liveness === "ttl" && !losesMore) {
    const target = random.between(0, processCount - 1);
    const state = pickWeighted(random, holderStates, stateWeights);
    const atMs = random.between(1_500, phaseMs.mixed);
    faults.push({ kind: "store-goes-back-unseen", atMs, target, state, size: random.fraction() });
  }
  return faults;
}

const ownFaultsSalt = 77_003;

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
    if (ownKinds.has(kind)) return false;
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
