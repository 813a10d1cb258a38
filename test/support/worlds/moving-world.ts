/** A namespace that moves between two memory stores, with processes on both, and operators that die at a write. */
import { IdError } from "../../../src/errors.ts";
import type { MoveParts } from "../../../src/operator/store-move/move-parts.ts";
import { type MoveOutcome, moveStore } from "../../../src/operator/store-move/move-store.ts";
import { recordKeys } from "../../../src/lease/records/record-text.ts";
import type { Entry, RecordKey, RecordStore, WriteAnswer } from "../../../src/store/record-store.ts";
import { HolderWorld, type TestProcess } from "./holder-world.ts";
import { MemoryDatabase, type MemoryDatabaseOptions, MemoryStore } from "./memory-store.ts";

/** When a process that died counts as dead. */
export const ttlMs = 13_000;

/** A world whose namespace is to move into a second database. */
export class MovingWorld extends HolderWorld {
  readonly target: MemoryDatabase;

  constructor(options: MemoryDatabaseOptions & { hasClock?: boolean } = {}, target: MemoryDatabaseOptions = {}) {
    super(options);
    this.target = new MemoryDatabase({ clockMs: () => this.time.nowMs(), ...target });
  }

  parts(source: RecordStore = this.database.open(), target: RecordStore = this.target.open()): MoveParts {
    return {
      source: { store: source, place: "memory://source" },
      target: { store: target, place: "memory://target" },
      clock: this.time,
      timers: this.time,
      random128: () => this.random128(),
      report: () => {},
    };
  }

  /** Moves, while time runs. */
  async move(parts = this.parts()): Promise<MoveOutcome> {
    return await this.running(moveStore(parts));
  }

  async running<T>(work: Promise<T>): Promise<T> {
    const progress = { isOver: false };
    const done = work.finally(() => (progress.isOver = true));
    done.catch(() => {});
    for (let round = 0; round < 1_000 && !progress.isOver; round += 1) await this.time.run(100);
    return await done;
  }

  /** A process on the target. */
  arrival(setup: Parameters<HolderWorld["process"]>[0] = {}): TestProcess {
    return this.process({ name: "arrival", store: this.target.open(), ...setup });
  }

  /** Some worker IDs with marks, one of a process that crashed; nobody lives afterwards. */
  async populate(): Promise<void> {
    const [left, crashed] = [at(0, 0), at(1, 1)].map((setup, index) => this.process({ ...setup, name: `p${index}` }));
    await left!.start();
    await crashed!.start();
    left!.issue(50);
    crashed!.issue(50);
    await left!.close();
    crashed!.crash();
    await this.time.run(ttlMs + 1);
  }
}

/** A process that is pinned to a worker ID. */
export const at = (datacenterId: number, workerId: number) => ({ options: { datacenterId, workerId } });

/** The message of the error with which a start ends; undefined if it is granted a worker ID. */
export async function startRefusal(process: TestProcess): Promise<string | undefined> {
  try {
    await process.start();
    return undefined;
  } catch (error) {
    if (error instanceof IdError) return error.message;
    throw error;
  }
}

/** Calls `before` ahead of each write, with its key and its text. */
export class HookedStore extends MemoryStore {
  readonly #before: (key: RecordKey, next: string) => Promise<void>;

  constructor(database: MemoryDatabase, before: (key: RecordKey, next: string) => Promise<void>) {
    super(database);
    this.#before = before;
  }

  override async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    await this.#before(key, next);
    return await super.compareAndSet(key, expected, next);
  }
}

/** Ends the process at a write of either store: before it reaches the store, or after. */
class Crash extends Error {}

function crashingParts(world: MovingWorld, at: number, when: "before" | "after"): MoveParts {
  let writes = 0;
  const crashing = (database: MemoryDatabase): RecordStore =>
    new (class extends MemoryStore {
      override async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
        writes += 1;
        if (writes === at && when === "before") throw new Crash();
        const answer = await super.compareAndSet(key, expected, next);
        if (writes === at) throw new Crash();
        return answer;
      }
    })(database);
  return world.parts(crashing(world.database), crashing(world.target));
}

/** The work of an operator. */
export type Work = (parts: MoveParts) => Promise<unknown>;

/** Ends an operator before or after its n-th write. @returns Whether the work came to its end before. */
export async function runUntilCrash(
  world: MovingWorld,
  work: Work,
  at: number,
  when: "before" | "after",
): Promise<boolean> {
  try {
    await world.running(work(crashingParts(world, at, when)));
    return true;
  } catch (error) {
    if (error instanceof Crash) return false;
    throw error;
  }
}

/**
 * Finds which stores grant: starts a server on each, lets it issue, and stops it. The ledger fails on a repeated ID. A
 * target that was not yet claimed is an ordinary empty store.
 */
export async function whoGrants(world: MovingWorld, round: number): Promise<string> {
  const grants: string[] = [];
  const one = world.process({ ...at(1, 1), name: `source-${round}`, store: world.database.open() });
  const other = world.arrival({ ...at(1, 1), name: `target-${round}` });
  for (const [name, process] of [["source", one] as const, ["target", other] as const]) {
    if (name === "target" && world.target.entry(recordKeys.layout) === undefined) continue;
    if ((await startRefusal(process)) !== undefined) continue;
    grants.push(name);
    if (process.issue(20) !== 20) throw new Error(`${name} has a grant, and issues nothing.`);
  }
  await one.close();
  await other.close();
  return grants.join("+");
}
