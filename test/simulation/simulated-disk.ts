import type { ResumeJournal, ResumePlace, ResumeRecord } from "../../src/lease/resume/resume-record.ts";
import type { EventQueue } from "./event-queue.ts";
import type { SeededRandom } from "./seeded-random.ts";

const place: ResumePlace = { namespace: "default", storeUrl: "simulated:", machineId: "machine", bootId: "boot" };

/** The resume records that a machine keeps for its processes, and that outlive them. */
export class SimulatedDisk {
  readonly records = new Map<number, ResumeRecord>();
  /** Which process holds which record's lock. */
  readonly locks = new Map<number, object>();
  delayMaxMs: number;

  /** @param random - One disk in four is slow. */
  constructor(random: SeededRandom) {
    this.delayMaxMs = random.chance(0.25) ? 900 : healthyDelayMs;
  }

  heal(): void {
    this.delayMaxMs = healthyDelayMs;
  }
}

const healthyDelayMs = 10;

/** A process's way to its machine's disk. */
export class SimulatedJournal implements ResumeJournal {
  readonly place = place;
  readonly #disk: SimulatedDisk;
  readonly #queue: EventQueue;
  readonly #random: SeededRandom;
  readonly #deliver: (task: () => void) => void;
  readonly #owner = {};
  #isGone = false;

  /** @param deliver - Runs a task in the process: at once, when it wakes up, or never if it is dead. */
  constructor(parts: {
    readonly disk: SimulatedDisk;
    readonly queue: EventQueue;
    readonly random: SeededRandom;
    readonly deliver: (task: () => void) => void;
  }) {
    this.#disk = parts.disk;
    this.#queue = parts.queue;
    this.#random = parts.random;
    this.#deliver = parts.deliver;
  }

  recall(): Promise<readonly ResumeRecord[]> {
    return this.#call(() => {
      return [...this.#disk.records.values()].filter(({ workerIndex }) => this.#lock(workerIndex));
    });
  }

  write(record: ResumeRecord): Promise<void> {
    return this.#call(() => {
      if (!this.#lock(record.workerIndex)) throw new Error("another process keeps this resume record");
      this.#disk.records.set(record.workerIndex, record);
    });
  }

  leave(workerIndex: number): void {
    if (this.#disk.locks.get(workerIndex) === this.#owner) this.#disk.locks.delete(workerIndex);
  }

  remove(workerIndex: number): Promise<void> {
    return this.#call(() => {
      // A process without the lock has no record here.
      if (!this.#lock(workerIndex)) return;
      this.#disk.records.delete(workerIndex);
      this.leave(workerIndex);
    });
  }

  /** Gives up the locks, as the end of the process does. */
  dropLocks(): void {
    for (const workerIndex of this.#disk.locks.keys()) this.leave(workerIndex);
    this.#isGone = true;
  }

  /** The operation runs after a while, unless the process is gone by then; its answer takes another while. */
  #call<T>(operation: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.after(this.#random.fraction() * this.#disk.delayMaxMs, () => {
        if (this.#isGone) return;
        const end = attempt(operation, resolve, reject);
        this.#queue.after(this.#random.fraction() * this.#disk.delayMaxMs, () => this.#deliver(end));
      });
    });
  }

  #lock(workerIndex: number): boolean {
    const owner = this.#disk.locks.get(workerIndex);
    if (owner === undefined) this.#disk.locks.set(workerIndex, this.#owner);
    return owner === undefined || owner === this.#owner;
  }
}

function attempt<T>(operation: () => T, resolve: (answer: T) => void, reject: (error: unknown) => void): () => void {
  try {
    const answer = operation();
    return () => resolve(answer);
  } catch (error) {
    return () => reject(error);
  }
}
