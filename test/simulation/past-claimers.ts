import type { PastGrant, PastRequest } from "../../src/lease/claim-past.ts";
import { createHolder } from "../../src/lease/records/worker-record.ts";
import { resolveWorkerSettings } from "../../src/lease/worker-settings.ts";
import type { IdError } from "../../src/errors.ts";
import { composeId, type Layout, msToTicksUp } from "../../src/snowflake/layout.ts";
import type { IdRun } from "../../src/snowflake/run.ts";
import { claimOnce } from "../../src/worker/claim-once.ts";
import { splitWorkerIndex } from "../../src/lease/worker-settings.ts";
import { DangerWatch } from "./danger-watch.ts";
import type { EventQueue } from "./event-queue.ts";
import type { Scenario } from "./scenario.ts";
import { SeededRandom } from "./seeded-random.ts";
import { SimulatedMachine, simulationStartMs } from "./simulated-machine.ts";
import { type SimulatedServer, SimulatedStore } from "./simulated-store.ts";

/** The world that claimers of the past act on. */
export interface ClaimersWorld {
  readonly queue: EventQueue;
  readonly layout: Layout;
  /** By how much the clocks of their machines may be ahead: milliseconds. */
  readonly offsetsMs: readonly number[];
  /** Chooses the store of a claimer. */
  readonly server: (random: SeededRandom) => SimulatedServer;
  /** Told of each run that a claimer issues, with the name of its claim. */
  readonly onRun: (claim: string, run: IdRun) => void;
  readonly count: (what: (typeof claimCounts)[number]) => void;
}

/** The counts of claims in a run of seeds. */
export const claimCounts = [
  "a claim of the past",
  "a claim of the past that was refused",
  "a claim of the past without an answer",
  "a claim whose claimer died",
] as const;

/** Chosen so that seeds without claimers keep the histories that they have. */
const claimersSalt = 77_317;
const claimersShare = 0.2;
const claimersMax = 6;
const callTimeoutMs = 1_500;
const attemptsMax = 5;
/** IDs of this many ticks are issued from one claim, its first and its last among them. */
const ticksMax = 40;

/**
 * Lets operators claim the past of the deployment in one seed of five, at any moment, one interval also twice, and die
 * meanwhile. A loss that does not show, or an emptied store, would make their statement false, so such seeds have none.
 */
export function startClaimers(
  { layout, offsetsMs, faults, faultPhaseMs }: Scenario,
  seed: number,
  world: Omit<ClaimersWorld, "layout" | "offsetsMs">,
): void {
  if (faults.some(({ kind }) => kind === "store-wipe" || kind === "store-goes-back-unseen")) return;
  drawClaimers(seed, faultPhaseMs, { ...world, layout, offsetsMs });
}

/** The same in any world, for as long as its faults come. */
export function drawClaimers(seed: number, phaseMs: number, world: ClaimersWorld): void {
  const random = new SeededRandom(seed ^ claimersSalt);
  if (!random.chance(claimersShare)) return;
  const claimers = random.between(1, claimersMax);
  for (let claimer = 0; claimer < claimers; claimer += 1) {
    const drawn = random.fork();
    const atMs = drawn.between(200, phaseMs) + 0.53;
    world.queue.at(atMs, () => {
      claim(drawn, world).catch((error: unknown) =>
        world.queue.fail(error instanceof Error ? error : new Error(String(error))),
      );
    });
  }
}

async function claim(random: SeededRandom, world: ClaimersWorld): Promise<void> {
  const { queue, layout, offsetsMs } = world;
  const server = world.server(random);
  const machine = new SimulatedMachine(queue, random.pick(offsetsMs));
  let request = drawRequest(random, trueMs(queue));
  const diesAfterMs = random.chance(0.15) ? random.between(0, 200) : Number.POSITIVE_INFINITY;
  const beganMs = queue.nowMs;
  const store = new SimulatedStore({
    server,
    queue,
    random: random.fork(),
    link: {
      delayMaxMs: random.pick([5, 80, 600]),
      lossRate: random.pick([0, 0, 0.2]),
      duplicateRate: 0.1,
      isCut: false,
    },
    deliver: (task) => task(),
    callTimeoutMs,
    onRecord: () => {},
    watch: new DangerWatch(() => {}),
  });
  const holder = createHolder({ instance: "cli", host: "cli", processId: 1, bootId: "", sinceMs: 0, version: "0" });
  const { windowMs } = server.traits.timing;
  const settings = resolveWorkerSettings({ namespace: "default", holder, windowMs }, layout, store);
  const ports = {
    clock: machine,
    timers: { after: (delayMs: number, task: () => void) => queue.after(delayMs, task) },
    uptimeMs: () => machine.uptimeMs(),
    random128: () => random.hex128(),
    random: () => random.fraction(),
    report: () => {},
  };
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const { outcome } = await claimOnce({ store, settings, ports }, request);
      if (outcome.kind === "claimed") {
        if (queue.nowMs - beganMs > diesAfterMs) world.count("a claim whose claimer died");
        else issueLater(outcome.grant, random, world);
        return;
      }
      const isSilent = outcome.error.reason === "STORE_UNAVAILABLE";
      world.count(isSilent ? "a claim of the past without an answer" : "a claim of the past that was refused");
      await new Promise<void>((resolve) => queue.after(random.between(100, 2_500), resolve));
      request = heed(outcome.error, request, trueMs(queue));
    }
  } finally {
    await store.close();
  }
}

function drawRequest(random: SeededRandom, nowMs: number): PastRequest {
  const fromMs = random.between(simulationStartMs - 3_000, nowMs);
  return {
    fromMs,
    untilMs: random.chance(0.3) ? nowMs - random.between(-600, 600) : random.between(fromMs, nowMs),
    laneCount: random.chance(0.8) ? 1 : 2,
    reason: "simulated",
    knownSinceMs: Number.NEGATIVE_INFINITY,
    storeKeptUntilMs: Number.NEGATIVE_INFINITY,
  };
}

/** The next request of an operator who reads why the last one was refused. */
function heed({ metadata }: IdError, request: PastRequest, nowMs: number): PastRequest {
  const fromMs = Number(metadata["from_unix_ms"] ?? metadata["earliest_unix_ms"] ?? request.fromMs);
  return {
    ...request,
    laneCount: 1,
    fromMs,
    untilMs: Math.max(request.untilMs > nowMs ? 0 : request.untilMs, nowMs - 600),
  };
}

function trueMs(queue: EventQueue): number {
  return simulationStartMs + Math.floor(queue.nowMs);
}

/** Issues some IDs of a claim, one tick after another, in any order of ticks, some of them much later. */
function issueLater({ fromMs, untilMs, workerIndexes }: PastGrant, random: SeededRandom, world: ClaimersWorld): void {
  const { layout } = world;
  world.count("a claim of the past");
  const [first, end] = [msToTicksUp(layout, fromMs), msToTicksUp(layout, untilMs)];
  const ticks = new Set<number>([first, end - 1].filter((tick) => tick >= first && tick < end));
  for (let draw = 0; draw < ticksMax; draw += 1) if (end > first) ticks.add(random.between(first, end - 1));
  for (const workerIndex of workerIndexes) {
    for (const tick of [...ticks].toSorted((one, other) => one - other)) {
      const firstId = composeId(layout, { ticks: tick, ...splitWorkerIndex(layout, workerIndex), sequence: 0 });
      world.onRun(`${workerIndex} ${fromMs} ${untilMs}`, {
        firstId,
        count: layout.sequence.max + 1,
        stride: layout.stride,
      });
    }
  }
}
