import type { Clock } from "../clock/clock.ts";
import type { CounterKey, Look, SequenceStore } from "./sequence-store.ts";
import { TakeWitness, type WitnessFinding, type WitnessWatch, witnessKeptMs } from "./take-witness.ts";

/** The database in which a {@link WitnessKeeper} keeps the rows of this process. */
interface WitnessKeeperParts {
  /** Writes, reads and deletes the rows. */
  readonly store: SequenceStore;
  readonly clock: Clock;
  /** The name of this process in its rows, for operators. */
  readonly server: string;
}

/** The rows of this process under one revision. */
interface Enrolled {
  readonly witness: TakeWitness;
  readonly revision: number;
}

/** A look, and what this process had written when the look was sent. */
export interface WatchedLook extends Look {
  readonly enrolled: Enrolled | undefined;
  readonly watch: WitnessWatch | undefined;
}

const right: WitnessFinding = { kind: "right" };
const sweepEveryMs = 3_600_000;

/**
 * Keeps the rows that show this process that its takes are still there, and show operators which processes hold values.
 * It creates them before the first take, reads them with each look, and deletes those of processes that are gone.
 * docs/adr/0195 explains why.
 */
export class WitnessKeeper {
  readonly #parts: WitnessKeeperParts;
  #enrolled: Enrolled | undefined;
  #enrolling: Promise<Enrolled> | undefined;
  /** No values of an older epoch than this are in memory. */
  #epoch: number | undefined;
  /** What the first look of the present comparison showed. */
  #compared: (Pick<Look, "clockMs"> & { readonly epoch: number }) | "failed" | undefined;
  #sweptMs: number | undefined;
  /** For processes that had not looked for days at the last sweep: when they last had. */
  #unseen: ReadonlyMap<string, number> = new Map();

  constructor(parts: WitnessKeeperParts) {
    this.#parts = parts;
  }

  /** Whether this process has taken values, so that it has rows. */
  get isEnrolled(): boolean {
    return this.#enrolled !== undefined;
  }

  /** Creates the rows of a revision, if they are missing. */
  async under(revision: number): Promise<TakeWitness> {
    const { witness } = this.#enrolled?.revision === revision ? this.#enrolled : await this.#renewOnce(revision);
    return witness;
  }

  /** Creates rows under a new process_id, and deletes the former ones. */
  async renew(revision: number): Promise<void> {
    await this.#renewOnce(revision);
  }

  /** Leaves the rows to another copy of this process. */
  abandon(): void {
    this.#enrolled = undefined;
  }

  /** Looks at keys, and at the rows. */
  async look(keys: readonly CounterKey[]): Promise<WatchedLook> {
    const enrolled = this.#enrolled;
    const watch = enrolled?.witness.watch();
    try {
      const look = await this.#parts.store.look(keys, enrolled?.witness.processId);
      return { ...look, enrolled, watch };
    } catch (error) {
      if (watch !== undefined) enrolled?.witness.unwatch(watch);
      throw error;
    }
  }

  /** Returns what the rows show. To be called with every result of {@link look} that is not discarded. */
  judge({ enrolled, watch, witness: rows, clockMs }: WatchedLook, revision: number): WitnessFinding {
    if (enrolled === undefined || watch === undefined) return right;
    const finding = enrolled.witness.judge(watch, rows, clockMs);
    return enrolled === this.#enrolled && enrolled.revision === revision ? finding : right;
  }

  /** Notes a look of a comparison: all later looks have seen at least the epoch of the first one. */
  compared({ database, clockMs }: Look): void {
    this.#compared ??= { epoch: database?.epoch ?? 0, clockMs };
  }

  /** Notes that a part of a comparison failed, so that nothing is acknowledged for the whole. */
  failed(): void {
    this.#compared = "failed";
  }

  /** Writes that everything in memory was compared, and that no values of an older epoch are left. */
  async acknowledge(): Promise<void> {
    const [compared, enrolled] = [this.#compared, this.#enrolled];
    this.#compared = undefined;
    if (compared === undefined || compared === "failed" || enrolled === undefined) return;
    const { epoch, clockMs: seenMs } = compared;
    this.#epoch = epoch;
    const note = enrolled.witness.begin(0);
    if (!(await this.#parts.store.noteLook({ ...note, seenMs, epoch }))) return;
    enrolled.witness.confirmLook(note, seenMs);
    await this.#sweep(seenMs);
  }

  /** Deletes the rows: this process takes no more values, and holds none. Never rejects. */
  async leave(): Promise<void> {
    const enrolled = this.#enrolled;
    this.#enrolled = undefined;
    if (enrolled !== undefined) await this.#parts.store.dropWitness(enrolled.witness.processId).catch(() => {});
  }

  #renewOnce(revision: number): Promise<Enrolled> {
    this.#enrolling ??= this.#makeRows(revision).finally(() => {
      this.#enrolling = undefined;
    });
    return this.#enrolling;
  }

  async #makeRows(revision: number): Promise<Enrolled> {
    const { store, server } = this.#parts;
    const former = this.#enrolled;
    const { database, clockMs: seenMs } = await store.look([]);
    const witness = new TakeWitness(store.lineCount);
    const { processId, firstRows: rows } = witness;
    // Values in memory may be as old as the last acknowledgement.
    const epoch = (former === undefined ? undefined : this.#epoch) ?? database?.epoch ?? 0;
    const formerId = former?.witness.processId ?? "";
    await store.makeWitness({ processId, rows, server, seenMs, epoch, formerId });
    witness.made(seenMs);
    this.#epoch = epoch;
    this.#enrolled = { witness, revision };
    return this.#enrolled;
  }

  /** Deletes the rows of processes that have not looked for a week, nor in the last hour by our own clock. */
  async #sweep(clockMs: number): Promise<void> {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#sweptMs ??= nowMs;
    if (nowMs - this.#sweptMs < sweepEveryMs) return;
    this.#sweptMs = nowMs;
    const servers = await this.#parts.store.servers();
    const unseen = servers.filter(({ seenMs }) => clockMs - seenMs > witnessKeptMs);
    for (const { processId, seenMs } of unseen) {
      if (this.#unseen.get(processId) === seenMs) await this.#parts.store.dropWitness(processId, seenMs);
    }
    this.#unseen = new Map(unseen.map(({ processId, seenMs }) => [processId, seenMs]));
  }
}
