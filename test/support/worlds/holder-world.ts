import { SnowflakeGenerator } from "../../../src/snowflake/generator.ts";
import { createLayout, type Layout } from "../../../src/snowflake/layout.ts";
import { type RollbackPolicy, rollbackRules } from "../../../src/snowflake/rollback-policy.ts";
import type { WorkerEvent } from "../../../src/lease/worker-event.ts";
import { WorkerHolder } from "../../../src/worker/worker-holder.ts";
import {
  createHolder,
  parseWorkerRecord,
  type WorkerRecord,
  workerKey,
} from "../../../src/lease/records/worker-record.ts";
import { resolveWorkerSettings, type WorkerOptions } from "../../../src/lease/worker-settings.ts";
import { FaultyStore } from "./faulty-store.ts";
import type { JournalDisk, MemoryJournal } from "./memory-journal.ts";
import { ManualTime } from "./manual-time.ts";
import { MemoryDatabase, type MemoryDatabaseOptions, type MemoryStore } from "./memory-store.ts";

/** Four workers in two datacenters, one tick a millisecond. */
export const smallLayout: Layout = createLayout({
  name: "custom",
  epochMs: Date.UTC(2026, 0, 1),
  tickNs: 1_000_000,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "datacenter", bits: 1 },
    { kind: "worker", bits: 1 },
    { kind: "sequence", bits: 12 },
  ],
});

/** Every ID that anyone ever issued. Finding one twice fails the test. */
export class Ledger {
  readonly #issued = new Map<bigint, string>();

  add(id: bigint, by: string): void {
    const before = this.#issued.get(id);
    if (before !== undefined) throw new Error(`ID ${id} was issued twice: by ${before}, then by ${by}`);
    this.#issued.set(id, by);
  }

  get count(): number {
    return this.#issued.size;
  }
}

/** The options of a holder in a test. */
export interface HolderSetup {
  readonly name?: string;
  readonly options?: Partial<WorkerOptions>;
  readonly store?: MemoryStore;
  readonly clockAheadMs?: number;
  /** The disk for its resume records; absent = it keeps none. */
  readonly disk?: JournalDisk;
  readonly layout?: Layout;
  readonly policy?: RollbackPolicy;
}

/** A process in a test: a holder, what it issues, and what it said. */
export class TestProcess {
  readonly name: string;
  readonly time: ManualTime;
  readonly store: FaultyStore;
  /** How far this process's wall clock is ahead of the world's. */
  clockAheadMs = 0;
  readonly #journal: MemoryJournal | undefined;
  #isDead = false;
  readonly holder: WorkerHolder;
  readonly generator: SnowflakeGenerator;
  readonly events: WorkerEvent[] = [];
  /** Timers that were neither cancelled nor came: a process lives as long as it has any. */
  readonly pendingTimers = new Set<() => void>();
  /** Called when waiting callers are to look again. */
  onChange: () => void = () => {};
  readonly #ledger: Ledger;

  constructor(setup: HolderSetup & { name: string; store: MemoryStore }, world: HolderWorld) {
    const layout = setup.layout ?? smallLayout;
    const { time } = world;
    this.name = setup.name;
    this.time = time;
    this.store = new FaultyStore(setup.store);
    this.clockAheadMs = setup.clockAheadMs ?? 0;
    this.#journal = setup.disk?.open();
    this.#ledger = world.ledger;
    const holder = createHolder({
      instance: `${setup.name}:7609`,
      host: setup.name,
      processId: 1,
      bootId: "",
      sinceMs: 0,
      version: "",
    });
    const settings = resolveWorkerSettings({ namespace: "default", holder, ...setup.options }, layout, setup.store);
    const random = (): number => world.random();
    this.generator = new SnowflakeGenerator({ layout, policy: setup.policy, leadMaxMs: settings.leadMaxMs, random });
    this.holder = new WorkerHolder({
      store: this.store,
      settings,
      generator: this.generator,
      rebases: rollbackRules[setup.policy ?? "advance"].whileBehind === "lead",
      onChange: () => this.onChange(),
      ports: {
        clock: { nowMs: () => time.nowMs() + this.clockAheadMs, monotonicMs: () => time.monotonicMs() },
        // What a dead process was going to do does not happen.
        timers: { after: (delayMs, task) => this.#after(delayMs, task) },
        uptimeMs: () => time.uptimeMs(),
        journal: this.#journal,
        random128: () => world.random128(),
        random,
        report: (event) => this.events.push(event),
      },
    });
  }

  /** Issues up to `count` IDs into the ledger; returns how many, or why not one. */
  issue(count = 1): number | "no-grant" | "burst" | "rollback" | "window" | "rolled-back" {
    if (this.holder.grant === undefined) return "no-grant";
    const { judge } = this.holder;
    const reservation = this.generator.reserve(count, judge.nowMs(), "unary", () => judge.monotonicMs());
    if (reservation.kind === "rolled-back") {
      this.holder.wantRebase();
      return "rolled-back";
    }
    if (reservation.kind === "wait") {
      if (reservation.cause === "window") this.holder.wantWindow();
      return reservation.cause;
    }
    let issued = 0;
    for (const { firstId, count: length, stride } of reservation.runs) {
      for (let offset = 0; offset < length; offset += 1) this.#ledger.add(firstId + BigInt(offset) * stride, this.name);
      issued += length;
    }
    return issued;
  }

  /** Starts, lets time run for `waitMs`, and waits for the grant. */
  async start(waitMs = 0): Promise<void> {
    const started = this.holder.start();
    started.catch(() => {});
    await this.time.run(waitMs);
    await started;
  }

  /** Closes, and lets time run until that is done. */
  async close(): Promise<void> {
    const closed = this.holder.close(5_000);
    await this.time.run(0);
    await closed;
  }

  /** Ends without a word, as kill -9 does: the locks go, the records stay. */
  crash(): void {
    this.#isDead = true;
    this.generator.revoke();
    this.store.kill();
    this.#journal?.kill();
  }

  #after(delayMs: number, task: () => void): () => void {
    const end = (): void => void this.pendingTimers.delete(end);
    this.pendingTimers.add(end);
    const cancel = this.time.after(delayMs, () => {
      end();
      if (!this.#isDead) task();
    });
    return () => {
      end();
      cancel();
    };
  }

  kinds(): string[] {
    return this.events.map((event) => event.kind);
  }
}

/** One store, one ledger, and the processes on them. */
export class HolderWorld {
  readonly time = new ManualTime();
  readonly ledger = new Ledger();
  readonly database: MemoryDatabase;
  #drawn = 0;
  #seed = 1;

  constructor(options: MemoryDatabaseOptions & { readonly hasClock?: boolean } = {}) {
    this.database = new MemoryDatabase(options.hasClock ? { clockMs: () => this.time.nowMs(), ...options } : options);
  }

  random128(): string {
    this.#drawn += 1;
    return this.#drawn.toString(16).padStart(32, "0");
  }

  /** A small linear congruential generator (Numerical Recipes): the same in each run. */
  random(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }

  process(setup: HolderSetup = {}): TestProcess {
    return new TestProcess({ ...setup, name: setup.name ?? "a", store: setup.store ?? this.database.open() }, this);
  }

  record(workerIndex: number): WorkerRecord | undefined {
    const entry = this.database.entry(workerKey(workerIndex));
    return entry && parseWorkerRecord(entry.key, entry.text);
  }
}
