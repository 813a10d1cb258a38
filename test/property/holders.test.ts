import { env } from "node:process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import type { Fault } from "../support/worlds/faulty-store.ts";
import { HolderWorld, type TestProcess } from "../support/worlds/holder-world.ts";
import { JournalDisk } from "../support/worlds/memory-journal.ts";
import type { MemoryDatabaseOptions } from "../support/worlds/memory-store.ts";

type DiskFault = "none" | "fails" | "uncertain";

/** One thing that happens in a world of holders. `who` counts processes; what names none that lives does nothing. */
type Step =
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "pause"; readonly ms: number }
  | { readonly kind: "suspend"; readonly ms: number }
  | { readonly kind: "clock"; readonly who: number; readonly stepMs: number }
  | { readonly kind: "network"; readonly who: number; readonly faults: readonly Fault[] }
  | { readonly kind: "disk"; readonly who: number; readonly faults: readonly DiskFault[] }
  | { readonly kind: "deliver"; readonly who: number }
  | { readonly kind: "crash"; readonly who: number }
  | { readonly kind: "stop"; readonly who: number }
  | { readonly kind: "start" }
  | { readonly kind: "back-up" }
  | { readonly kind: "restore" }
  | { readonly kind: "wipe" };

const processesMax = 4;

/**
 * So few IDs in so long a tick that every process uses every tick up: two windows that overlap anywhere give a
 * duplicate.
 */
const tickMs = 250;
const layoutOf = (workerBits: number): Layout =>
  createLayout({
    name: "custom",
    epochMs: Date.UTC(2026, 0, 1),
    tickNs: tickMs * 1_000_000,
    fields: [
      { kind: "timestamp", bits: 40 },
      { kind: "worker", bits: workerBits },
      { kind: "sequence", bits: 1 },
    ],
  });

const who = fc.nat({ max: processesMax - 1 });
const faults = fc.array(fc.constantFrom<Fault>("none", "none", "none", "lost", "answer-lost", "late", "held"), {
  minLength: 1,
  maxLength: 7,
});

const diskFaults = fc.array(fc.constantFrom<DiskFault>("none", "none", "fails", "uncertain"), {
  minLength: 1,
  maxLength: 5,
});

const ordinarySteps = [
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("disk" as const), who, faults: diskFaults }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 4_000 }), fc.integer({ min: 4_000, max: 16_000 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("network" as const), who, faults }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("deliver" as const), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("crash" as const), who }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stop" as const), who }) },
  { weight: 3, arbitrary: fc.constant({ kind: "start" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("pause" as const), ms: fc.integer({ min: 1_000, max: 30_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("suspend" as const), ms: fc.integer({ min: 1_000, max: 30_000 }) }),
  },
];

const wildClock = fc.record({
  kind: fc.constant("clock" as const),
  who,
  stepMs: fc.oneof(
    fc.integer({ min: -3_000, max: 3_000 }),
    fc.integer({ min: -20_000, max: 20_000 }),
    fc.integer({ min: -90_000_000, max: 90_000_000 }),
  ),
});

const losses = fc.oneof(
  fc.constant({ kind: "back-up" as const }),
  fc.constant({ kind: "restore" as const }),
  fc.constant({ kind: "wipe" as const }),
);

/** Runs one history. The ledger throws when an ID comes twice. */
class History {
  readonly world: HolderWorld;
  readonly #processes: (TestProcess | undefined)[] = [];
  readonly #layout: Layout;
  readonly #clockErrorMaxMs: number;
  /** Of the machine that each process runs on: a restart finds it as it was. */
  readonly #disks = Array.from({ length: processesMax }, () => new JournalDisk());
  #started = 0;
  #lives = 1;
  #backup: [string, string][] = [];

  constructor(
    options: MemoryDatabaseOptions & { hasClock?: boolean },
    { clockErrorMaxMs, workerBits }: { clockErrorMaxMs: number; workerBits: number },
  ) {
    this.world = new HolderWorld(options);
    this.#layout = layoutOf(workerBits);
    this.#clockErrorMaxMs = clockErrorMaxMs;
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (let count = 0; count < 2; count += 1) await this.#start();
    // Past the quarantine of a store that may have lost everything.
    await this.#pass(14_000);
    for (const step of steps) await this.#take(step);
  }

  /** The faults end; within this time everyone who lives must serve again. */
  async heal(withinMs: number): Promise<TestProcess[]> {
    for (const disk of this.#disks) disk.fault = () => "none";
    for (const process of this.#processes) {
      if (process === undefined) continue;
      process.store.fault = () => "none";
      process.store.resume();
      await process.store.deliverLate();
      process.clockAheadMs = 0;
    }
    await this.#pass(withinMs);
    // A start may end with NO_FREE_WORKER_ID when writes that were long under way take the last worker IDs.
    const living = this.#processes.filter((process) => process !== undefined);
    return living.filter(({ holder }) => holder.phase.kind !== "failed");
  }

  async #take(step: Step): Promise<void> {
    const { time } = this.world;
    if ("who" in step) await this.#takeWith(step, this.#processes[step.who]);
    else if (step.kind === "pass") await this.#pass(step.ms);
    else if (step.kind === "pause") await time.pause(step.ms);
    else if (step.kind === "suspend") time.suspend(step.ms);
    else if (step.kind === "start") await this.#start();
    else if (step.kind === "back-up") this.#backup = [...this.world.database.records];
    else this.#lose(step.kind === "restore" ? this.#backup : []);
  }

  async #takeWith(step: Extract<Step, { who: number }>, process: TestProcess | undefined): Promise<void> {
    if (step.kind === "disk") {
      let operation = 0;
      this.#disks[step.who]!.fault = () => step.faults[operation++ % step.faults.length]!;
    }
    if (process === undefined || step.kind === "disk") return;
    if (step.kind === "clock") {
      const { clockAheadMs } = process;
      const max = this.#clockErrorMaxMs;
      process.clockAheadMs = Math.max(-max, Math.min(max, clockAheadMs + step.stepMs));
    } else if (step.kind === "network") {
      let call = 0;
      process.store.fault = () => step.faults[call++ % step.faults.length]!;
    } else if (step.kind === "deliver") {
      process.store.resume();
      await process.store.deliverLate();
    } else {
      if (step.kind === "stop") await this.#stop(process);
      process.crash();
      this.#processes[step.who] = undefined;
    }
    await this.world.time.run(0);
  }

  /** Lets time pass, while every holder issues all that it can. */
  async #pass(forMs: number): Promise<void> {
    for (let left = forMs; left > 0; left -= tickMs / 2) {
      for (const process of this.#processes) process?.issue(100);
      await this.world.time.run(Math.min(left, tickMs / 2));
    }
  }

  async #stop(process: TestProcess): Promise<void> {
    const closed = process.holder.close(1_000);
    await this.world.time.run(1_000);
    await closed;
  }

  async #start(): Promise<void> {
    const free = Array.from({ length: processesMax }, (_, index) => index).find(
      (index) => this.#processes[index] === undefined,
    );
    if (free === undefined) return;
    this.#started += 1;
    // Every other start is a restart of an instance that was there before.
    const process = this.world.process({
      layout: this.#layout,
      disk: this.#disks[free]!,
      name: this.#started % 2 === 0 ? `slot-${free}` : `new-${this.#started}`,
    });
    process.holder.start().catch(() => {});
    this.#processes[free] = process;
    await this.world.time.run(0);
    if (process.holder.phase.kind === "failed") this.#processes[free] = undefined;
  }

  #lose(records: readonly [string, string][]): void {
    const { database } = this.world;
    this.#lives += 1;
    database.incarnation = { ...database.incarnation, identity: `system=memory-${this.#lives}` };
    database.records.clear();
    for (const [key, text] of records) database.records.set(key, text);
  }
}

/** Histories of each kind; the full size is asked for in the environment. */
const runs = { numRuns: Number(env["SNOWLANE_TEST_RUNS"] ?? 60) };

describe("whatever happens to holders of one store, no ID is issued twice,", () => {
  const kinds: readonly [string, MemoryDatabaseOptions & { hasClock?: boolean }][] = [
    ["with leases and a clock of the store", { hasClock: true }],
    ["with leases and no clock of the store", {}],
    ["with locks", { liveness: "lock" }],
  ];

  test.each(kinds)("%s, under any clocks", async (_, options) => {
    const steps = fc.array(fc.oneof(...ordinarySteps, { weight: 3, arbitrary: wildClock }), {
      minLength: 10,
      maxLength: 60,
      size: "max",
    });
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const history = new History(options, { clockErrorMaxMs: Number.POSITIVE_INFINITY, workerBits: 1 });
        await history.run(sequence);
        await history.heal(1_000);
      }),
      runs,
    );
  });

  test.each(kinds)("%s, when it also loses data and clocks are right to half a second", async (_, options) => {
    const smallClock = fc.record({
      kind: fc.constant("clock" as const),
      who,
      stepMs: fc.integer({ min: -900, max: 900 }),
    });
    const steps = fc.array(
      fc.oneof(...ordinarySteps, { weight: 1, arbitrary: smallClock }, { weight: 1, arbitrary: losses }),
      {
        minLength: 10,
        maxLength: 60,
      },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const lossy = { ...options, durability: "lossy" as const, emptyMeans: "lost" as const };
        const history = new History(lossy, { clockErrorMaxMs: 500, workerBits: 1 });
        await history.run(sequence);
        await history.heal(1_000);
      }),
      runs,
    );
  });
});

test.each([{ hasClock: true }, {}, { liveness: "lock" as const }])(
  "once the faults are over, everyone serves again within two TTLs and windows: %o",
  async (options) => {
    const steps = fc.array(fc.oneof(...ordinarySteps), { minLength: 5, maxLength: 40, size: "max" });
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const history = new History(options, { clockErrorMaxMs: 500, workerBits: 3 });
        await history.run(sequence);
        for (const process of await history.heal(50_000)) {
          expect(process.holder.phase.kind).toBe("holding");
          await history.world.time.run(tickMs);
          expect(process.issue()).toBe(1);
        }
      }),
      runs,
    );
  },
);
