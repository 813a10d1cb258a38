import { IdError } from "../errors.ts";
import { waitersMax } from "../queue/wait-queue.ts";
import { AbsentNames } from "./absent-names.ts";
import { NameTable } from "./name-table.ts";
import { counterId, keysMax } from "./sequence-store.ts";
import { sequenceNamePattern, type StoredSequence } from "./sequence.ts";
import { callerError, shuttingDown } from "./sequence-error.ts";
import { ValueSource, type ValueSourceParts } from "./value-source.ts";

/** The objects that {@link ValueSources} passes to each source, and how many sources it keeps. */
export interface ValueSourcesParts extends ValueSourceParts {
  /** The most names in memory, at least 1. */
  readonly namesMax: number;
}

/** How long a caller waits for a sequence that is not in memory. */
export interface OpenLimits {
  /** On the monotonic clock; absent = only waitMax applies. */
  readonly deadlineMs?: number | undefined;
  /** Aborted when the caller has gone: the wait ends. */
  readonly signal?: AbortSignal | undefined;
}

const lookEveryMs = 10_000;
const evictTimeoutMs = 5_000;
/** The pause before a failed lookup of names is repeated. */
const lookupPauseMs = 100;

/** The sequences that are in memory, by name: a bounded number, looked at every ten seconds. */
export class ValueSources {
  readonly #parts: ValueSourcesParts;
  /** The source that took values longest ago is the first. */
  readonly #sources = new Map<string, ValueSource>();
  /** The same ones, by the bytes of their names. */
  readonly #table = new NameTable<ValueSource>();
  readonly #closing = new Map<string, Promise<void>>();
  /** Sources of periods that callers have named, and how many callers use each. */
  readonly #lent = new Map<string, { readonly source: ValueSource; users: number }>();
  readonly #absent: AbsentNames;
  /** Names that callers wait for. The callers of one name share a promise. */
  readonly #wanted = new Map<string, PromiseWithResolvers<ValueSource>>();
  #waiting = 0;
  #lookup: Promise<void> | undefined;
  #problem: IdError | undefined;
  #cancelLook: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: ValueSourcesParts) {
    this.#parts = parts;
    this.#absent = new AbsentNames(parts.clock);
    parts.database.watch(() => {
      for (const source of this.#sources.values()) source.empty();
    });
  }

  /** The source of a name that is in memory: the hot path. */
  find(name: string): ValueSource | undefined {
    const source = this.#sources.get(name);
    return source?.isClosed === false ? source : undefined;
  }

  /** As {@link find}, by a name in `bytes` from `start` to `end`, exclusive; at most 63 bytes. */
  findByBytes(bytes: Uint8Array, start: number, end: number): ValueSource | undefined {
    return this.#table.find(bytes, start, end);
  }

  /**
   * Finds the source of a name, in memory or by a query that is shared by all names for which callers wait.
   *
   * @throws IdError (also as rejection) SEQUENCE_NOT_FOUND, STORE_UNAVAILABLE, STORE_WENT_BACK, BURST_EXCEEDED,
   * SHUTTING_DOWN.
   */
  open(name: string, { deadlineMs, signal }: OpenLimits = {}): ValueSource | Promise<ValueSource> {
    if (this.#isClosed) throw shuttingDown();
    const found = this.find(name);
    if (found !== undefined) return found;
    if (!sequenceNamePattern.test(name) || this.#absent.has(name)) throw notFound(name);
    const nowMs = this.#parts.clock.monotonicMs();
    const waitMs = Math.min(this.#parts.waitMaxMs, (deadlineMs ?? Number.POSITIVE_INFINITY) - nowMs);
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#waiting >= waitersMax) throw tooMany("Too many calls wait for sequences that are not in memory.");
    let wanted = this.#wanted.get(name);
    if (wanted === undefined) {
      wanted = Promise.withResolvers();
      // All of its callers may have gone by the time it rejects.
      wanted.promise.catch(() => {});
      this.#wanted.set(name, wanted);
    }
    this.#startLookup();
    return this.#within(wanted.promise, Math.max(waitMs, 0), signal);
  }

  /**
   * Lends a source of one given period of a sequence. It takes values only for callers that wait, and concurrent
   * callers of the same period share it.
   */
  async withPeriod<T>(
    stored: StoredSequence,
    periodKey: string,
    work: (source: ValueSource) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw shuttingDown();
    const strict = { ...stored, definition: { ...stored.definition, allocation: "strict" as const } };
    const id = counterId({ name: stored.definition.name, periodKey });
    const lent = this.#lent.get(id) ?? { source: new ValueSource(strict, this.#parts, () => {}, periodKey), users: 0 };
    this.#lent.set(id, lent);
    lent.users += 1;
    try {
      return await work(lent.source);
    } finally {
      lent.users -= 1;
      if (lent.users === 0 && this.#lent.delete(id)) await lent.source.close(evictTimeoutMs);
    }
  }

  /** How many sequences are in memory. */
  get size(): number {
    return this.#sources.size;
  }

  /** How long the values in memory last, for the sequence that runs out first. */
  get stockMs(): number {
    let leastMs = Number.POSITIVE_INFINITY;
    for (const { stockMs } of this.#sources.values()) leastMs = Math.min(leastMs, stockMs);
    return leastMs;
  }

  /** Passes a sequence that was read again to its source, if that is in memory. */
  refresh(stored: StoredSequence): void {
    this.#absent.delete(stored.definition.name);
    this.find(stored.definition.name)?.refresh(stored);
  }

  /** Closes every source, and gives back unused values. Never rejects. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook?.();
    this.#rejectAll(shuttingDown());
    for (const [name, source] of this.#sources) this.#closeOne(name, source, timeoutMs);
    await Promise.allSettled([...this.#closing.values(), this.#lookup]);
    await this.#parts.database.leave();
  }

  /** Waits for a source that callers share, until this caller's own end. */
  async #within(source: Promise<ValueSource>, waitMs: number, signal: AbortSignal | undefined): Promise<ValueSource> {
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const cancel = this.#parts.timers.after(waitMs, () => reject(this.#late()));
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    this.#waiting += 1;
    try {
      return await Promise.race([source, ended]);
    } finally {
      this.#waiting -= 1;
      cancel();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #late(): IdError {
    const message = "The database of sequences did not answer in time.";
    return this.#problem ?? new IdError("STORE_UNAVAILABLE", message, { retryAfterMs: this.#parts.waitMaxMs });
  }

  #rejectAll(error: IdError): void {
    for (const { reject } of this.#wanted.values()) reject(error);
    this.#wanted.clear();
  }

  #startLookup(): void {
    if (this.#isClosed) return;
    // In the next turn, so that calls that arrive together share one query.
    this.#lookup ??= new Promise<void>((resolve) => void setImmediate(resolve))
      .then(() => this.#lookUp())
      .finally(() => {
        this.#lookup = undefined;
        if (this.#wanted.size > 0 && this.#problem === undefined) this.#startLookup();
      });
  }

  async #lookUp(): Promise<void> {
    const names = [...this.#wanted.keys()].slice(0, keysMax);
    try {
      await Promise.all(names.flatMap((name) => this.#closing.get(name) ?? []));
      const sequences = await this.#parts.database.find(names);
      this.#problem = undefined;
      for (const name of names) this.#resolve(name, sequences.get(name));
    } catch (error) {
      if (!(error instanceof IdError)) throw error;
      this.#onLookupFailed(callerError(error));
    }
  }

  #resolve(name: string, stored: StoredSequence | undefined): void {
    const wanted = this.#wanted.get(name);
    this.#wanted.delete(name);
    try {
      if (stored === undefined) {
        this.#absent.add(name);
        throw notFound(name);
      }
      wanted?.resolve(this.#add(stored));
    } catch (error) {
      wanted?.reject(error);
    }
  }

  /** Waiting callers continue to wait if another lookup may help; it is sent after a pause. */
  #onLookupFailed(error: IdError): void {
    this.#problem = error;
    if (this.#waiting === 0 || this.#isClosed || error.reason !== "STORE_UNAVAILABLE") return this.#rejectAll(error);
    this.#parts.timers.after(lookupPauseMs, () => this.#startLookup());
  }

  #add(stored: StoredSequence): ValueSource {
    const { name } = stored.definition;
    if (this.#isClosed) throw shuttingDown();
    if (this.#sources.size >= this.#parts.namesMax && !this.#evict()) {
      throw tooMany("Every sequence in memory is in use.");
    }
    const source = new ValueSource(stored, this.#parts, this.#onTake);
    this.#sources.set(name, source);
    this.#table.add(name, source);
    this.#cancelLook ??= this.#parts.timers.after(lookEveryMs, () => void this.#lookAgain());
    return source;
  }

  /** One function shared by all sources. */
  readonly #onTake = (name: string): void => {
    const source = this.#sources.get(name);
    if (source === undefined) return;
    this.#sources.delete(name);
    this.#sources.set(name, source);
  };

  /** Drops the idle source that took values longest ago. @returns Whether there was one. */
  #evict(): boolean {
    for (const [name, source] of this.#sources) {
      if (!source.isIdle) continue;
      this.#closeOne(name, source, evictTimeoutMs);
      return true;
    }
    return false;
  }

  #closeOne(name: string, source: ValueSource, timeoutMs: number): void {
    this.#sources.delete(name);
    this.#table.delete(name);
    const closing = source.close(timeoutMs).finally(() => this.#closing.delete(name));
    this.#closing.set(name, closing);
  }

  /** Compares everything in memory with the database, which shows changes by others and losses. */
  async #lookAgain(): Promise<void> {
    try {
      const sources = [...this.#sources.values()];
      // Looks even if none is in memory: values that were handed out must not be handed out again.
      for (let at = 0; at === 0 || at < sources.length; at += keysMax / 2) {
        const used = sources.slice(at, at + keysMax / 2).map((source) => {
          const { stored, periodKey } = source;
          return { name: stored.definition.name, periodKey, stored };
        });
        const sequences = await this.#parts.database.compare(used);
        for (const stored of sequences.values()) this.refresh(stored);
      }
      await this.#parts.database.acknowledge();
    } catch (error) {
      // Calls notice an outage by themselves, and the database has reported a loss.
      if (!(error instanceof IdError)) throw error;
    } finally {
      this.#cancelLook = undefined;
      if (!this.#isClosed) this.#cancelLook = this.#parts.timers.after(lookEveryMs, () => void this.#lookAgain());
    }
  }
}

function notFound(name: string): IdError {
  const shown = name.length <= 63 ? name : `${name.slice(0, 60)}...`;
  const text = name === "" ? 'The call names no sequence: give its "name".' : `There is no sequence ${shown}.`;
  return new IdError("SEQUENCE_NOT_FOUND", text, { metadata: { name: shown } });
}

function tooMany(message: string): IdError {
  return new IdError("BURST_EXCEEDED", message, { retryAfterMs: 1_000 });
}
