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
  Mark,
  NewSequence,
  OpenOutcome,
  RaiseRequest,
  Replacement,
  SequenceStore,
  SequenceStoreOptions,
  TakeRequest,
} from "../sequence-store.ts";
import type { StoredSequence } from "../sequence.ts";
import type { SequenceFile, SequenceFileOptions, SharedUpdate } from "./sqlite-sequence-file.ts";

/** What the names of sequences' files end in. */
const suffix = ".sequences";
/** The most takes and give-backs of one transaction: one of them costs the disk 2 to 4 ms, and so do 256. */
const updatesMax = 256;

/**
 * Opens the sequences beside an embedded store. The file is opened, or made, with the first call.
 *
 * @param url - `sqlite:PATH` as for worker records; the file is `PATH.sequences`.
 * @throws IdError INVALID_CONFIG.
 */
export async function openSqliteSequences(url: string, options: SequenceStoreOptions): Promise<SequenceStore> {
  const file = { ...parseSqliteUrl(url, options), stripeCount: options.stripeCount };
  return new SqliteSequences({ ...file, path: file.path + suffix }, options);
}

interface WaitingUpdate extends PromiseWithResolvers<bigint | undefined> {
  readonly update: SharedUpdate;
}

class SqliteSequences implements SequenceStore {
  readonly kind = "sqlite";
  readonly #link: ThreadLink<SequenceFile>;
  #waiting: WaitingUpdate[] = [];
  #isUpdating = false;

  constructor(file: SequenceFileOptions, { callTimeoutMs }: StoreOptions) {
    const code = findThread("sqlite-sequence-thread", import.meta.url);
    this.#link = new ThreadLink({ code, path: file.path, callTimeoutMs, workerData: file });
  }

  look(keys: readonly CounterKey[]): Promise<Look> {
    return this.#link.call("look", keys);
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

  take(request: TakeRequest): Promise<bigint | undefined> {
    return this.#update({ kind: "take", request });
  }

  beginPeriod(request: TakeRequest, startMs: number): Promise<void> {
    return this.#link.call("beginPeriod", request, startMs);
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

  stop(reason: string, revision: number): Promise<boolean> {
    return this.#link.call("stop", reason, revision);
  }

  open(): Promise<OpenOutcome> {
    return this.#link.call("open");
  }

  join(request: JoinRequest): Promise<boolean> {
    return this.#link.call("join", request);
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /** Takes and give-backs that arrive while one is on its way wait for it, and then share a transaction. */
  #update(update: SharedUpdate): Promise<bigint | undefined> {
    const waiting = { update, ...Promise.withResolvers<bigint | undefined>() };
    this.#waiting.push(waiting);
    if (!this.#isUpdating) void this.#updateAll();
    return waiting.promise;
  }

  async #updateAll(): Promise<void> {
    this.#isUpdating = true;
    while (this.#waiting.length > 0) {
      const shared = this.#waiting.slice(0, updatesMax);
      this.#waiting = this.#waiting.slice(shared.length);
      try {
        const answers = await this.#link.call(
          "updateAll",
          shared.map(({ update }) => update),
        );
        for (const [index, { resolve }] of shared.entries()) resolve(answers[index]);
      } catch (error) {
        for (const { reject } of shared) reject(error);
      }
    }
    this.#isUpdating = false;
  }
}
