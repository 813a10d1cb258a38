/** Sequences in a SQLite file of this machine, `PATH.sequences` beside the worker store's. */
import type { StoreOptions } from "../../store/record-store.ts";
import { parseSqliteUrl } from "../../store/sqlite/sqlite.ts";
import { findThread, ThreadLink } from "../../store/sqlite/thread-link.ts";
import type {
  CounterKey,
  GiveBackRequest,
  JoinRequest,
  ListRange,
  Look,
  LookNote,
  Mark,
  NewSequence,
  OpenOutcome,
  PruneOutcome,
  PruneRequest,
  RaiseRequest,
  Replacement,
  SequenceStoreOptions,
  ServerRow,
  StopRequest,
  TakeRequest,
  WitnessRequest,
} from "../sequence-store.ts";
import type { MovableStore, MoveRequest } from "../movable-store.ts";
import type { StoredSequence } from "../sequence.ts";
import type { Note, TakeWitness } from "../take-witness.ts";
import type { SequenceFile, SequenceFileOptions, SharedUpdate } from "./sqlite-sequence-file.ts";

/** The suffix of sequences' files. */
const suffix = ".sequences";
/** The most takes and give-backs of one transaction: 256 of them cost the disk 2 to 4 ms, as one does. */
const updatesMax = 256;

/**
 * Opens the sequences beside an embedded store. The file is opened, or created, with the first call.
 *
 * @param url - `sqlite:PATH` as for worker records; the file is `PATH.sequences`.
 * @throws IdError INVALID_CONFIG.
 */
export async function openSqliteSequences(url: string, options: SequenceStoreOptions): Promise<MovableStore> {
  const file = { ...parseSqliteUrl(url, options), stripeCount: options.stripeCount };
  return new SqliteSequences({ ...file, path: file.path + suffix }, options);
}

interface WaitingUpdate extends PromiseWithResolvers<bigint | undefined> {
  readonly update: SharedUpdate;
  /** The witness of a take; absent for a give-back. */
  readonly witness?: TakeWitness;
}

class SqliteSequences implements MovableStore {
  readonly kind = "sqlite";
  /** Takes share transactions, so one row is enough for all of them. */
  readonly lineCount = 1;
  readonly #link: ThreadLink<SequenceFile>;
  #waiting: WaitingUpdate[] = [];
  #isUpdating = false;

  constructor(file: SequenceFileOptions, { callTimeoutMs }: StoreOptions) {
    const code = findThread("sqlite-sequence-thread", import.meta.url);
    this.#link = new ThreadLink({ code, path: file.path, callTimeoutMs, workerData: file });
  }

  look(keys: readonly CounterKey[], processId = ""): Promise<Look> {
    return this.#link.call("look", keys, processId);
  }

  list(range: ListRange): Promise<readonly StoredSequence[]> {
    return this.#link.call("list", range);
  }

  create(sequence: NewSequence, revision: number): Promise<boolean> {
    return this.#link.call("create", sequence, revision);
  }

  replace(replacement: Replacement, name: string): Promise<boolean> {
    return this.#link.call("replace", replacement, name);
  }

  take(request: TakeRequest, witness: TakeWitness): Promise<bigint | undefined> {
    return this.#update({ kind: "take", request }, witness);
  }

  beginPeriod(request: TakeRequest, startMs: number): Promise<number> {
    return this.#link.call("beginPeriod", request, startMs);
  }

  prune(request: PruneRequest): Promise<PruneOutcome> {
    return this.#link.call("prune", request);
  }

  counters(after: CounterKey, count: number): Promise<readonly Mark[]> {
    return this.#link.call("counters", after, count);
  }

  move(request: MoveRequest): Promise<boolean> {
    return this.#link.call("move", request);
  }

  async giveBack(request: GiveBackRequest): Promise<boolean> {
    return (await this.#update({ kind: "give-back", request })) !== undefined;
  }

  cover(marks: readonly Mark[], writeId: string): Promise<void> {
    return this.#link.call("cover", marks, writeId);
  }

  raise(request: RaiseRequest, writeId: string): Promise<number | undefined> {
    return this.#link.call("raise", request, writeId);
  }

  stop(request: StopRequest): Promise<boolean> {
    return this.#link.call("stop", request);
  }

  open(): Promise<OpenOutcome> {
    return this.#link.call("open");
  }

  join(request: JoinRequest): Promise<boolean> {
    return this.#link.call("join", request);
  }

  makeWitness(request: WitnessRequest): Promise<void> {
    return this.#link.call("makeWitness", request);
  }

  noteLook(note: LookNote): Promise<boolean> {
    return this.#link.call("noteLook", note);
  }

  servers(): Promise<readonly ServerRow[]> {
    return this.#link.call("servers");
  }

  dropWitness(processId: string, seenMs?: number): Promise<void> {
    return this.#link.call("dropWitness", processId, seenMs);
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /** Takes and give-backs that arrive while one is on its way wait for it, and then share a transaction. */
  #update(update: SharedUpdate, witness?: TakeWitness): Promise<bigint | undefined> {
    const waiting = { update, ...(witness && { witness }), ...Promise.withResolvers<bigint | undefined>() };
    this.#waiting.push(waiting);
    if (!this.#isUpdating) void this.#updateAll();
    return waiting.promise;
  }

  async #updateAll(): Promise<void> {
    this.#isUpdating = true;
    while (this.#waiting.length > 0) {
      const shared = this.#nextShared();
      this.#waiting = this.#waiting.slice(shared.length);
      const witness = shared.find((waiting) => waiting.witness !== undefined)?.witness;
      const note: Note | undefined = witness?.begin(1);
      try {
        const updates = shared.map(({ update }) => update);
        const { answers, isNoted } = await this.#link.call("updateAll", updates, note);
        if (note !== undefined && isNoted) witness?.confirm(note);
        for (const [index, { resolve }] of shared.entries()) resolve(answers[index]);
      } catch (error) {
        for (const { reject } of shared) reject(error);
      }
    }
    this.#isUpdating = false;
  }

  /** The updates of one transaction; all of its takes have the same witness. */
  #nextShared(): readonly WaitingUpdate[] {
    const first = this.#waiting.find(({ witness }) => witness !== undefined)?.witness;
    const end = this.#waiting.findIndex(({ witness }) => witness !== undefined && witness !== first);
    return this.#waiting.slice(0, end < 0 ? updatesMax : Math.min(end, updatesMax));
  }
}
