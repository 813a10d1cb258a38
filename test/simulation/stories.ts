import type { StoreTiming } from "../../src/store/record-store.ts";
import { type Fault, type FaultKind, type HolderState, holderStates } from "./fault.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** The parts of a seed that a story uses. */
interface Cast {
  readonly processCount: number;
  readonly timing: StoreTiming;
}

/**
 * Faults that follow on each other so that two processes come to want one worker ID at the worst moment: what random
 * faults bring about once in a million seeds.
 */
export interface Story {
  readonly name: string;
  /** `short`: more processes than worker IDs, so that whatever becomes free is taken at once. */
  readonly supply: "short" | "scarce" | "ample";
  readonly durability?: "durable" | "lossy";
  readonly hasClock?: boolean;
  readonly hasJournal?: boolean;
  readonly windowMs?: number;
  readonly processCount?: number;
  /** How long its faults begin, if it is a long one. */
  readonly phaseMs?: number;
  /** Share of seeds in which locks show whether a holder runs. */
  readonly lockShare?: number;
  readonly tell: (random: SeededRandom, cast: Cast) => readonly Fault[];
}

/** Puts faults one after the other. */
class Plan {
  readonly faults: Fault[] = [];
  readonly random: SeededRandom;
  atMs: number;

  constructor(random: SeededRandom, fromMs: number, untilMs: number) {
    this.random = random;
    this.atMs = random.between(fromMs, untilMs);
  }

  add(kind: FaultKind, target: number, more: Partial<Fault> = {}): this {
    const state: HolderState = "holding";
    this.faults.push({ kind, atMs: this.atMs, target, state, size: this.random.fraction(), ...more });
    return this;
  }

  after(minMs: number, maxMs: number): this {
    this.atMs += this.random.between(Math.round(minMs), Math.round(maxMs));
    return this;
  }
}

function others(random: SeededRandom, { processCount }: Cast, target: number): number {
  return (target + random.between(1, Math.max(1, processCount - 1))) % processCount;
}

/** A holder stands still until somebody else has its worker ID, then goes on or is told to stop. */
const overtaken: Story = {
  name: "overtaken",
  supply: "short",
  durability: "durable",
  lockShare: 0,
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    const lengthMs = cast.timing.ttlMs + random.between(100, 2_500);
    const wake = random.pick(["draw", "stop", undefined] as const);
    const kind = random.pick(["pause-seen", "pause-unseen", "suspend"] as const);
    return new Plan(random, 500, 3_000).add(kind, target, { lengthMs, wake }).faults;
  },
};

/** The same, and while it stands still the store goes back to where the worker ID was still its own. */
const overtakenThenRestored: Story = {
  name: "overtaken-then-restored",
  supply: "short",
  durability: "lossy",
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    const { ttlMs, windowMs } = cast.timing;
    const lengthMs = random.chance(0.5) ? ttlMs + random.between(500, 2_500) : random.between(300, windowMs);
    const wake = random.pick(["draw", "stop", undefined] as const);
    const isSlow = random.chance(0.5);
    const plan = new Plan(random, 500, 3_000);
    if (isSlow) plan.add("network-slow", target, { lengthMs, size: random.fraction() }).after(0, windowMs);
    plan.add("pause-seen", target, { lengthMs, wake });
    return plan.after(Math.max(100, lengthMs - 1_500), lengthMs - 50).add("store-goes-back", target, { size: 0 })
      .faults;
  },
};

/** A holder is cut off; the store loses what it knew; others start. */
const cutOffAndForgotten: Story = {
  name: "cut-off-and-forgotten",
  supply: "short",
  durability: "lossy",
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    const other = others(random, cast, target);
    const lengthMs = random.between(1_000, cast.timing.windowMs + 4_000);
    const loss = random.pick([
      "store-wipe",
      "store-wipe",
      "store-goes-back",
      "store-failover",
      "store-restart",
    ] as const);
    return new Plan(random, 1_000, 4_000)
      .add("network-cut", target, { lengthMs })
      .after(50, cast.timing.windowMs)
      .add(loss, other, { size: random.fraction() * 0.2 })
      .after(0, 1_000)
      .add("crash", other, { size: 0 })
      .after(0, 500)
      .add("restart", others(random, cast, other)).faults;
  },
};

/**
 * A store that keeps what it confirmed is emptied while no process reaches it, with or without another identity. The
 * holder that lapses first comes back first, and only that one can know of the loss.
 */
const emptied: Story = {
  name: "emptied",
  supply: "scarce",
  durability: "durable",
  lockShare: 0,
  hasJournal: false,
  tell: (random, cast) => {
    const { windowMs, renewalPeriodMs } = cast.timing;
    const target = random.between(0, cast.processCount - 1);
    const plan = new Plan(random, 2_000, 5_000);
    const cutMs = windowMs + random.between(0, 600);
    plan.add("network-cut", target, { lengthMs: cutMs }).after(0, renewalPeriodMs);
    for (let other = 0; other < cast.processCount; other += 1) {
      if (other !== target) plan.add("network-cut", other, { lengthMs: cutMs + 2_000 });
    }
    plan.after(0, windowMs - renewalPeriodMs);
    if (random.chance(0.5)) plan.add("store-failover", target);
    return plan.add("store-wipe", target).faults;
  },
};

/** Several start at about the same time, on a slow network, around a loss. */
const racedAroundLoss: Story = {
  name: "raced-around-loss",
  supply: "short",
  durability: "lossy",
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    const other = others(random, cast, target);
    const loss = random.pick(["store-goes-back", "store-failover", "store-restart", "store-wipe"] as const);
    const plan = new Plan(random, 500, 3_000);
    for (let round = 0; round < 3; round += 1) {
      plan.add("network-slow", target, { lengthMs: 4_000, size: random.fraction() * 0.15 });
      plan.after(0, 100).add(random.pick(["crash", "restart"]), target, { size: 0 });
      plan.after(0, 300).add("restart", other);
      plan
        .after(0, 600)
        .add(loss, other, { size: random.fraction() * 0.1 })
        .after(1_000, 3_000);
    }
    return plan.faults;
  },
};

/** A process is copied, and both lives go on; now and then one of them is told to stop. */
const cloned: Story = {
  name: "cloned",
  supply: "scarce",
  durability: "durable",
  lockShare: 0,
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    const plan = new Plan(random, 300, 5_000);
    if (random.chance(0.4)) plan.add("network-loss", target, { lengthMs: 4_000, size: random.fraction() });
    plan.after(0, 1_000).add("clone", target);
    if (random.chance(0.3)) plan.after(0, 2_000).add("restart", target);
    if (random.chance(0.3)) plan.after(0, 2_000).add("store-outage", target, { size: 0.1 });
    return plan.faults;
  },
};

/** A clock that swings, and starts in between. */
const swingingClock: Story = {
  name: "swinging-clock",
  supply: "scarce",
  durability: "durable",
  lockShare: 0.7,
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    const plan = new Plan(random, 500, 2_000);
    for (let round = 0; round < 5; round += 1) {
      plan.add("clock-back-small", target, { size: 0.5 + random.fraction() / 2 }).after(200, 1_800);
      plan.add("clock-forward-small", target, { size: 0.5 + random.fraction() / 2 }).after(200, 1_000);
      if (random.chance(0.5)) plan.add("clock-back-small", target).add("crash", target, { size: 0 }).after(0, 500);
    }
    return plan.faults;
  },
};

/** A clock that goes far back while there is no other worker ID to go to, and a start under it. */
const farBack: Story = {
  name: "far-back",
  supply: "short",
  durability: "durable",
  lockShare: 0.8,
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    return new Plan(random, 1_000, 3_000)
      .add("clock-back-large", target, { size: 0.1 + random.fraction() * 0.35 })
      .after(300, 2_500)
      .add(random.pick(["crash", "restart"]), target, { size: 0 }).faults;
  },
};

/** A clock far ahead at a start. */
const madStart: Story = {
  name: "mad-start",
  supply: "scarce",
  hasClock: true,
  durability: "durable",
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    return new Plan(random, 500, 4_000)
      .add("clock-forward-large", target, { size: random.fraction() * 0.7 })
      .after(0, 500)
      .add(random.pick(["crash", "restart"]), target, { size: 0 }).faults;
  },
};

/** A worker ID goes from hand to hand as fast as it can. */
const handedOver: Story = {
  name: "handed-over",
  supply: "short",
  tell: (random, cast) => {
    const plan = new Plan(random, 300, 1_500);
    for (let round = 0; round < 10; round += 1) {
      const target = random.between(0, cast.processCount - 1);
      if (random.chance(0.2)) plan.add("network-slow", target, { lengthMs: 2_000, size: 0.05 });
      if (random.chance(0.2)) plan.add("network-loss", target, { lengthMs: 2_000 });
      if (random.chance(0.2)) plan.add("network-duplicates", target, { lengthMs: 2_000 });
      plan.add("restart", target).after(100, 1_200);
    }
    return plan.faults;
  },
};

/** The store is away for longer than the windows reach, and comes back. */
const usedUp: Story = {
  name: "used-up",
  supply: "scarce",
  tell: (random, cast) => {
    const { windowMs } = cast.timing;
    const plan = new Plan(random, 500, 2_000);
    const target = random.between(0, cast.processCount - 1);
    const lengthMs = windowMs + random.between(0, 2_000);
    plan.add(random.pick(["store-outage", "network-cut", "store-freeze"]), target, { lengthMs });
    if (random.chance(0.5)) plan.after(0, windowMs).add(random.pick(["clock-forward-small", "leap-second"]), target);
    return plan.faults;
  },
};

/** Processes start again while they cannot reach the store, from their resume records, after every kind of end. */
const resumed: Story = {
  name: "resumed",
  supply: "short",
  hasJournal: true,
  tell: (random, cast) => {
    const plan = new Plan(random, 500, 3_000);
    for (let round = 0; round < 2; round += 1) {
      const target = random.between(0, cast.processCount - 1);
      const end = random.pick(["crash", "restart"] as const);
      const lengthMs = random.between(300, cast.timing.ttlMs + 1_000);
      const outage = random.pick(["network-cut", "store-outage", "network-slow"] as const);
      const isBefore = random.chance(0.6);
      if (isBefore) plan.add(outage, target, { lengthMs }).after(0, cast.timing.windowMs / 2);
      const state = random.chance(0.3) ? "releasing" : "holding";
      plan.add(end, target, { size: random.fraction() * 0.3, state });
      if (!isBefore) plan.after(0, 400).add(outage, target, { lengthMs });
      if (random.chance(0.3)) plan.after(0, 300).add("store-goes-back", target);
      plan.after(500, 3_000);
    }
    return plan.faults;
  },
};

/**
 * A process starts again from its resume record while its clock is behind what it issued before: only the record knows
 * how far that was.
 */
const resumedInThePast: Story = {
  name: "resumed-in-the-past",
  supply: "short",
  durability: "durable",
  hasJournal: true,
  // The record is ahead of use by the lead: a shorter window has nothing left to go on with.
  windowMs: 4_000,
  tell: (random, cast) => {
    const target = random.between(0, cast.processCount - 1);
    const plan = new Plan(random, 1_500, 4_000).add("network-cut", target, { lengthMs: 4_000 });
    if (random.chance(0.5))
      plan.after(0, 100).add("clock-forward-small", target, { size: 0.7 + random.fraction() * 0.3 });
    plan.after(70, 900).add("crash", target, { size: 0.55 + random.fraction() * 0.1 });
    return plan.after(60, 70).add("clock-back-small", target, { size: 0.5 + random.fraction() / 2 }).faults;
  },
};

/**
 * A store loses its last writes when the first windows have just been granted, and more processes than worker IDs want
 * one: a process that was granted another's too early makes one holder more than the store knows.
 */
const grantedAndForgotten: Story = {
  name: "granted-and-forgotten",
  supply: "short",
  durability: "lossy",
  tell: (random, cast) =>
    new Plan(random, 100, 900)
      .add(random.pick(["store-failover", "store-goes-back"]), 0, { size: 0 })
      .faults.concat(new Plan(random, 6_000, 9_000).add("restart", random.between(0, cast.processCount - 1)).faults),
};

/** Random faults for too many processes on few worker IDs. */
const crowded: Story = {
  name: "crowded",
  supply: "short",
  durability: "durable",
  tell: (random, cast) => {
    const plan = new Plan(random, 300, 1_500);
    const kinds = [
      "crash",
      "restart",
      "network-loss",
      "network-slow",
      "pause-seen",
      "pause-unseen",
      "store-freeze",
    ] as const;
    for (let round = 0; round < 8; round += 1) {
      plan.add(random.pick(kinds), random.between(0, cast.processCount - 1), { state: random.pick(holderStates) });
      plan.after(100, 1_800);
    }
    return plan.faults;
  },
};

const longMs = 45_000;

/** A holder stands still and no clock sees it, again and again, and each time another takes its worker ID over. */
const overtakenUnseen: Story = {
  name: "overtaken-unseen",
  supply: "short",
  durability: "durable",
  lockShare: 0,
  windowMs: 1_500,
  processCount: 3,
  phaseMs: longMs,
  tell: (random, cast) => {
    const plan = new Plan(random, 500, 1_500);
    for (let round = 0; round < 8; round += 1) {
      const lengthMs = cast.timing.ttlMs + random.between(600, 1_500);
      const wake = random.pick(["draw", "draw", "stop", undefined] as const);
      // Before, answers are lost: a renewal that landed is found standing later.
      plan.add("network-loss", (round + 1) % cast.processCount, { lengthMs: 1_500, size: random.fraction() });
      plan.add("pause-unseen", round % cast.processCount, { lengthMs, wake }).after(lengthMs - 500, lengthMs);
    }
    return plan.faults;
  },
};

/** A holder goes on from its resume record without the store, then stands still until another has its worker ID. */
const resumedThenOvertaken: Story = {
  name: "resumed-then-overtaken",
  supply: "short",
  durability: "durable",
  hasJournal: true,
  lockShare: 0,
  // The record is ahead of use by the lead: a shorter window has nothing left to go on with.
  windowMs: 5_000,
  processCount: 3,
  phaseMs: 2 * longMs,
  tell: (random, cast) => {
    const plan = new Plan(random, 700, 1_000);
    for (const target of [0, 1, 2, 0, 1, 2, 0, 1, 2]) {
      const lengthMs = cast.timing.ttlMs + random.between(600, 1_500);
      plan.add("network-cut", target, { lengthMs: 1_500 }).after(20, 60);
      plan.add("crash", target, { size: 0 }).after(300, 600);
      plan.add("pause-unseen", target, { lengthMs, wake: "draw" }).after(lengthMs, lengthMs + 200);
    }
    return plan.faults;
  },
};

/** A store becomes another one while processes start: between what an acquire looked at and what it wrote. */
const anotherLifeMeanwhile: Story = {
  name: "another-life-meanwhile",
  supply: "ample",
  durability: "lossy",
  windowMs: 1_500,
  processCount: 5,
  phaseMs: longMs,
  tell: (random, cast) => {
    const plan = new Plan(random, 500, 1_000);
    for (let round = 0; round < 8; round += 1) {
      for (let target = 0; target < cast.processCount; target += 1) {
        plan.add("network-slow", target, { lengthMs: 3_000, size: random.fraction() * 0.1 });
        plan.add("crash", target, { size: 0 }).after(10, 80);
      }
      plan.after(0, 100).add(random.pick(["store-failover", "store-goes-back", "store-restart"]), 0, { size: 0 });
      plan.after(4_800, 5_500);
    }
    return plan.faults;
  },
};

/** For seeds with variety: they bring about what is counted as a danger. */
export const dangerStories: readonly Story[] = [overtakenUnseen, resumedThenOvertaken, anotherLifeMeanwhile];

/** All others. */
export const stories: readonly Story[] = [
  overtaken,
  overtakenThenRestored,
  cutOffAndForgotten,
  emptied,
  racedAroundLoss,
  cloned,
  swingingClock,
  farBack,
  madStart,
  handedOver,
  usedUp,
  resumed,
  resumedInThePast,
  grantedAndForgotten,
  crowded,
];
