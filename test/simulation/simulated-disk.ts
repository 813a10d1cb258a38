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

  /** @param delayMaxMs - Of one call, either way. */
  constructor(delayMaxMs: number) {
    this.delayMaxMs = delayMaxMs;
  }

  /** One disk in four is slow. */
  static draw(random: SeededRandom): SimulatedDisk {
    return new SimulatedDisk(random.chance(0.25) ? 900 : healthyDelayMs);
  }

  /** What a copy of the machine finds on its disk. */
  copy(): SimulatedDisk {
    const copied = new SimulatedDisk(this.delayMaxMs);
    for (const [workerIndex, record] of this.records) copied.records.set(workerIndex, record);
    return copied;
  }

  heal(): void {
    this.delayMaxMs = healthyDelayMs;
  }
}

const healthyDelayMs = 10;

/**
 * A process's way to its machine's disk. A shadow's n-th call gets the answer of its original's n-th call, and what the
 * original does happens on the shadow's disk, too, until the shadow stands alone.
 */
export class SimulatedJournal implements ResumeJournal {
  readonly place = place;
  readonly #disk: SimulatedDisk;
  readonly #queue: EventQueue;
  readonly #random: SeededRandom;
  readonly #deliver: (task: () => void) => void;
  readonly #owner = {};
  #isGone = false;
  #shadow: SimulatedJournal | undefined;
  #original: SimulatedJournal | undefined;
  /** The answers of its calls, in their order; kept where there is a shadow. */
  readonly #answers: PromiseWithResolvers<unknown>[] = [];
  #calls = 0;
  /** What it wrote last, also where that has not come to the disk, by worker index. */
  readonly #written = new Map<number, ResumeRecord>();

  /**
   * @param deliver - Runs a task in the process: at once, when it wakes up, or never if it is dead.
   * @param original - Whose shadow it is.
   */
  constructor(parts: {
    readonly disk: SimulatedDisk;
    readonly queue: EventQueue;
    readonly random: SeededRandom;
    readonly deliver: (task: () => void) => void;
    readonly original: SimulatedJournal | undefined;
  }) {
    this.#disk = parts.disk;
    this.#queue = parts.queue;
    this.#random = parts.random;
    this.#deliver = parts.deliver;
    this.#original = parts.original;
    if (parts.original !== undefined) parts.original.#shadow = this;
  }

  /** The records that are on the disk, of earlier lives too, and those on their way to it. */
  get noted(): readonly ResumeRecord[] {
    return [...this.#disk.records.values(), ...this.#written.values()];
  }

  standAlone(): void {
    if (this.#original !== undefined) this.#original.#shadow = undefined;
    this.#original = undefined;
  }

  recall(): Promise<readonly ResumeRecord[]> {
    return this.#call((journal) => {
      return [...journal.#disk.records.values()].filter(({ workerIndex }) => journal.#lock(workerIndex));
    });
  }

  write(record: ResumeRecord): Promise<void> {
    this.#written.set(record.workerIndex, record);
    return this.#call((journal) => {
      if (!journal.#lock(record.workerIndex)) throw new Error("another process keeps this resume record");
      journal.#disk.records.set(record.workerIndex, record);
    });
  }

  leave(workerIndex: number): void {
    if (this.#disk.locks.get(workerIndex) === this.#owner) this.#disk.locks.delete(workerIndex);
  }

  remove(workerIndex: number): Promise<void> {
    return this.#call((journal) => {
      // A process without the lock has no record here.
      if (!journal.#lock(workerIndex)) return;
      journal.#disk.records.delete(workerIndex);
      journal.leave(workerIndex);
    });
  }

  /** Gives up the locks, as the end of the process does. */
  dropLocks(): void {
    for (const workerIndex of this.#disk.locks.keys()) this.leave(workerIndex);
    this.#isGone = true;
  }

  #call<T>(operation: (journal: SimulatedJournal) => T): Promise<T> {
    const index = this.#calls;
    this.#calls += 1;
    if (this.#original !== undefined) return this.#original.#answer(index).promise as Promise<T>;
    const answered = this.#play(operation, this.#shadow);
    if (this.#shadow === undefined) return answered;
    const { resolve, reject } = this.#answer(index);
    answered.then(resolve, reject);
    return answered;
  }

  #answer(index: number): PromiseWithResolvers<unknown> {
    const known = this.#answers[index] ?? Promise.withResolvers<unknown>();
    this.#answers[index] = known;
    known.promise.catch(() => {});
    return known;
  }

  /** The operation runs after a while, unless the process is gone by then; its answer takes another while. */
  #play<T>(operation: (journal: SimulatedJournal) => T, shadow: SimulatedJournal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.after(this.#random.fraction() * this.#disk.delayMaxMs, () => {
        if (this.#isGone) return;
        if (shadow !== undefined) attempt(() => operation(shadow), resolve, reject);
        const end = attempt(() => operation(this), resolve, reject);
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
