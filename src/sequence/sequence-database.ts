import type { Clock } from "../clock/clock.ts";
import { lengthOfTime } from "../clock/length-of-time.ts";
import { IdError } from "../errors.ts";
import { kernelRandom128 } from "../kernel-random.ts";
import { equalIdentity } from "../store/store-identity.ts";
import type { Remainder } from "./segment-buffer.ts";
import { type WatchedLook, WitnessKeeper } from "./witness-keeper.ts";
import { CounterMarks } from "./counter-marks.ts";
import {
  type CounterKey,
  counterId,
  keysMax,
  keysOf,
  type Look,
  openAheadMaxMs,
  type SequenceStore,
} from "./sequence-store.ts";
import { endCountOf, onlyStripe, type Stripe, type StoredSequence } from "./sequence.ts";
import type { TakeAnswer, ValueTake, UsedSequence, ValueDatabase } from "./value-database.ts";
import { earliestStartMs } from "./period.ts";

/** What happened to the database of sequences, for logs and metrics. */
export type SequenceEvent =
  /** A loss or a move was found, or an operator stopped the database: no process takes values any more. */
  | { readonly kind: "stopped"; readonly reason: string; readonly stripe?: number | undefined }
  /**
   * Another copy of this process takes values: both drop the values that they hold, and continue with rows of their
   * own.
   */
  | { readonly kind: "copied" }
  /** This process takes values again, under a new revision. */
  | { readonly kind: "opened"; readonly revision: number }
  /** The time of the opening is more than a minute ahead of the database's clock, so it is treated as past. */
  | { readonly kind: "opening-ahead"; readonly aheadMs: number }
  /** One of several databases is not used, while the others are. `stripe` is undefined if it is not known. */
  | { readonly kind: "stripe-problem"; readonly stripe: number | undefined; readonly error: unknown }
  /** That database is used again. */
  | { readonly kind: "stripe-answers"; readonly stripe: number }
  /** One of several databases does not have a sequence: its creation did not reach all of them. */
  | { readonly kind: "stripe-lacks"; readonly stripe: number; readonly name: string }
  /** An operator's call to a sequence failed for an error of the database, which the caller is not shown. */
  | { readonly kind: "call-failed"; readonly error: unknown }
  /** A take got no answer, so its range is never used: a gap. */
  | { readonly kind: "range-discarded"; readonly name: string; readonly count: number; readonly error: unknown }
  /** The unused values of a sequence were given back, or could not be. */
  | { readonly kind: "given-back"; readonly name: string; readonly count: bigint; readonly outcome: "given" | "kept" };

/** The store that a {@link SequenceDatabase} takes from, its share of the values, and where it reports. */
export interface DatabaseParts {
  /** The database, one call at a time. */
  readonly store: SequenceStore;
  readonly clock: Clock;
  /** Called with each event of the database, for logs and metrics. */
  readonly onEvent: (event: SequenceEvent) => void;
  /** The share of all values that the database has; absent = it has all of them. */
  readonly stripe?: Stripe | undefined;
  /** The name of this process, for operators: up to 100 printable characters; absent = empty. */
  readonly server?: string | undefined;
}

/** A stop that this process found. */
interface FoundStop {
  readonly reason: string;
  readonly revision: number;
  /** Whether values from before and after the loss may be in memory, because the identity did not reveal the loss. */
  readonly emptiesStock: boolean;
}

/** How often a take is retried because the database changed meanwhile. */
const attemptsMax = 8;
/** How long a database that was found stopped counts as stopped before it is looked at again. */
const stoppedForMs = 500;

/**
 * What one process knows about the database of its sequences: the revision that it takes under, and how far it has
 * taken each counter. Everything that shows a loss or a move stops the database for all servers; only an operator can
 * open it again, by a raise and an open. docs/sequence-losses.md has the table of losses.
 */
export class SequenceDatabase implements ValueDatabase {
  readonly #parts: DatabaseParts;
  readonly #marks: CounterMarks;
  readonly #stripe: Stripe;
  readonly #witness: WitnessKeeper;
  /** The revision that takes name; undefined if the database has to be looked at before the next take. */
  #revision: number | undefined;
  /** The highest revision that was seen. */
  #revisionSeen = -1;
  /** The revision under which no counter is lower than our marks. */
  #coveredRevision: number | undefined;
  /**
   * Grows with each event that invalidates a take on its way: the marks were written to the database, or all stock was
   * dropped.
   */
  #turn = 0;
  /** The revision of the last stop that made this process drop all stock. */
  #emptiedRevision: number | undefined;
  #onEmptied: () => void = () => {};
  #adopting: Promise<number> | undefined;
  /** A stop that may not have reached the database, with its revision; an opening ends it. */
  #pendingStop: FoundStop | undefined;
  #stopped: { readonly reason: string; readonly sinceMs: number } | undefined;

  constructor(parts: DatabaseParts) {
    this.#parts = parts;
    this.#marks = new CounterMarks(parts.clock);
    this.#stripe = parts.stripe ?? onlyStripe;
    const { store, clock, server = "" } = parts;
    this.#witness = new WitnessKeeper({ store, clock, server });
  }

  /** Why no process may take values, as far as this process knows. */
  get stopReason(): string | undefined {
    return this.#stopped?.reason;
  }

  /** Registers a function that is called when all values in memory have to be dropped. */
  watch(onEmptied: () => void): void {
    this.#onEmptied = onEmptied;
  }

  /** Finds sequences by name. */
  async find(names: readonly string[]): Promise<ReadonlyMap<string, StoredSequence>> {
    await this.ready();
    const { sequences } = await this.#parts.store.look(names.map((name) => ({ name, periodKey: "" })));
    return sequences;
  }

  /**
   * Takes values.
   *
   * @throws IdError STORE_WENT_BACK: the database is stopped. STORE_UNAVAILABLE: if a range was taken, it is not used.
   */
  async take({ stored, count, ...key }: ValueTake): Promise<TakeAnswer> {
    const endCount = endCountOf(stored.definition, this.#stripe);
    let wanted = count;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const revision = await this.ready();
      const witness = await this.#witness.under(revision);
      const turn = this.#turn;
      const writeId = kernelRandom128();
      const { sequenceId } = stored;
      const request = { ...key, sequenceId, count: wanted, endCount, revision, writeId };
      const firstIndex = await this.#parts.store.take(request, witness);
      if (firstIndex !== undefined) {
        if (turn !== this.#turn) throw overtaken();
        const mark = this.#marks.get(key);
        // A check in addition to the witness: docs/adr/0228.
        if (mark !== undefined && firstIndex < mark) {
          throw await this.#stop({ reason: below(key, firstIndex, mark), revision, emptiesStock: true });
        }
        this.#marks.take(key, firstIndex, firstIndex + BigInt(wanted));
        return { kind: "taken", segment: { firstIndex, count: wanted, writeId, stripe: this.#stripe } };
      }
      const found = await this.#explain(key, stored, revision);
      if (found.kind === "refused") return found;
      if (found.kind === "begin") {
        const lostCount = await this.#parts.store.beginPeriod(request, earliestStartMs(key.periodKey));
        if (lostCount > 0)
          throw await this.#stop({ reason: lostPeriods(key, lostCount), revision, emptiesStock: true });
      }
      if (found.leftCount < BigInt(wanted)) wanted = Number(found.leftCount);
    }
    throw new IdError("STORE_UNAVAILABLE", "The database of sequences changed with every attempt.", { metadata: key });
  }

  /** Notes that values of a counter come into memory: its mark is kept from now on. */
  remember(key: CounterKey): void {
    this.#marks.remember(key);
  }

  /** Notes that no value of a counter is in memory any more. */
  forget(key: CounterKey): void {
    this.#marks.forget(key);
  }

  /** Gives back the unused values of a counter, once. Its mark is lowered accordingly. */
  async giveBack(key: CounterKey, sequenceId: string, { firstIndex, endIndex, writeId }: Remainder): Promise<void> {
    const revision = this.#revision;
    const { store, onEvent } = this.#parts;
    this.#marks.giveBack(key, firstIndex);
    let outcome: "given" | "kept" = "kept";
    if (revision !== undefined) {
      const newWriteId = kernelRandom128();
      const request = { ...key, sequenceId, firstIndex, endIndex, writeId, newWriteId, revision };
      const isGiven = await store.giveBack(request).catch(() => false);
      if (isGiven) outcome = "given";
    }
    onEvent({ kind: "given-back", name: key.name, count: endIndex - firstIndex, outcome });
  }

  /**
   * Compares sequences that are in use with the database.
   *
   * @param used - At most 1,000.
   * @returns The sequences as the database has them.
   * @throws IdError STORE_WENT_BACK: a loss was found, and the database is stopped.
   */
  async compare(used: readonly UsedSequence[]): Promise<ReadonlyMap<string, StoredSequence>> {
    try {
      return await this.#compare(used);
    } catch (error) {
      this.#witness.failed();
      throw error;
    }
  }

  /**
   * Writes to the database that everything in memory was compared, and that no values of an older epoch are left. To be
   * called when the answers of {@link compare} have reached the sources.
   */
  async acknowledge(): Promise<void> {
    if (this.#revision !== undefined) await this.#witness.acknowledge();
  }

  /** Deletes the rows of this process: it takes no more values, and holds none. */
  async leave(): Promise<void> {
    await this.#witness.leave();
  }

  async #compare(used: readonly UsedSequence[]): Promise<ReadonlyMap<string, StoredSequence>> {
    const marksBefore = new Map(used.map((key) => [counterId(key), this.#marks.get(key)]));
    const keys = used.flatMap(({ name, periodKey }) => keysOf({ name, periodKey }));
    const look = await this.#witness.look(keys);
    const revision = await this.#check(look);
    if (this.#revision === undefined) {
      // Under a new revision our marks have to reach the database before it opens; the look was made before that.
      await this.ready();
      return look.sequences;
    }
    this.#witness.compared(look);
    await this.#judge(look, revision);
    for (const { stored, ...key } of used) {
      const before = marksBefore.get(counterId(key));
      // A give-back of our own may have lowered the mark since the look was sent.
      const now = this.#marks.get(key);
      const mark = before === undefined || now === undefined ? undefined : before < now ? before : now;
      const loss = lossOf(look, key, stored, mark);
      if (loss !== undefined) throw await this.#stop({ reason: loss, revision, emptiesStock: true });
    }
    return look.sequences;
  }

  /** Compares the rows of this process with what it wrote. @throws IdError STORE_WENT_BACK. */
  async #judge(look: WatchedLook, revision: number): Promise<void> {
    const finding = this.#witness.judge(look, revision);
    if (finding.kind === "loss") throw await this.#stop({ reason: finding.reason, revision, emptiesStock: true });
    if (finding.kind === "expired") await this.#witness.renew(revision);
    if (finding.kind !== "copied") return;
    this.#parts.onEvent({ kind: "copied" });
    this.#witness.abandon();
    this.#empty();
    throw overtaken();
  }

  /** Drops all stock, and the takes whose answers are on their way. */
  #empty(): void {
    this.#turn += 1;
    this.#onEmptied();
  }

  /**
   * Checks that values may be taken.
   *
   * @returns The revision to take under. @throws IdError STORE_WENT_BACK, STORE_UNAVAILABLE.
   */
  async ready(): Promise<number> {
    if (this.#revision !== undefined) return this.#revision;
    this.#adopting ??= this.#adopt().finally(() => {
      this.#adopting = undefined;
    });
    return this.#adopting;
  }

  /** Makes the next take look at the database first, because an operator changed it. */
  recheck(): void {
    this.#revision = undefined;
    this.#stopped = undefined;
  }

  async #adopt(): Promise<number> {
    const { store, clock, onEvent } = this.#parts;
    if (this.#stopped !== undefined && clock.monotonicMs() - this.#stopped.sinceMs < stoppedForMs) {
      throw stoppedError(this.#stopped.reason);
    }
    const look = await store.look([]);
    const pending = this.#pendingStop;
    if (pending !== undefined && look.database?.revision === pending.revision) {
      throw await this.#stop(pending);
    }
    this.#pendingStop = undefined;
    const revision = await this.#check(look);
    if (this.#coveredRevision !== revision) await this.#cover(revision);
    // Also for values that are in memory already: the rows show operators which servers hold values.
    if (this.#witness.isEnrolled) await this.#witness.under(revision);
    const aheadMs = (look.database?.openMs ?? 0) - look.clockMs;
    if (aheadMs > openAheadMaxMs) onEvent({ kind: "opening-ahead", aheadMs });
    else if (aheadMs > 0) throw notOpenYet(aheadMs);
    this.#revision = revision;
    if (this.#stopped !== undefined) onEvent({ kind: "opened", revision });
    this.#stopped = undefined;
    return revision;
  }

  /**
   * Raises every counter to how far this process has taken it. This is done well before the database opens, because
   * afterwards other processes would take values that this one may still hand out.
   */
  async #cover(revision: number): Promise<void> {
    // The marks do not include a take whose answer is still on its way, so its range is not used.
    this.#turn += 1;
    const marks = this.#marks.all();
    for (let at = 0; at < marks.length; at += keysMax) {
      await this.#parts.store.cover(marks.slice(at, at + keysMax), kernelRandom128());
    }
    this.#coveredRevision = revision;
  }

  /** Checks the row of the database. @returns Its revision. @throws IdError STORE_WENT_BACK. */
  async #check({ database, identity }: Look): Promise<number> {
    if (database === undefined)
      throw stoppedError("the database of this namespace is gone, though its tables are there");
    const { revision, stopped, emptiedRevision } = database;
    const isEmptied = this.#emptiedRevision !== undefined && emptiedRevision > this.#emptiedRevision;
    this.#emptiedRevision = Math.max(emptiedRevision, this.#emptiedRevision ?? emptiedRevision);
    if (isEmptied) this.#empty();
    if (stopped !== "") {
      this.#revisionSeen = Math.max(this.#revisionSeen, revision);
      throw this.#noteStop(stopped);
    }
    if (revision < this.#revisionSeen) {
      const reason = `its revision is ${revision} after ${this.#revisionSeen}`;
      throw await this.#stop({ reason, revision, emptiesStock: true });
    }
    if (!equalIdentity(identity, database.identity)) {
      const reason = `it is another database or an older copy: ${identity} after ${database.identity}`;
      // No values were taken after the change, because every take compares the identity.
      throw await this.#stop({ reason, revision, emptiesStock: false });
    }
    if (revision !== this.#revisionSeen) this.#revision = undefined;
    this.#revisionSeen = revision;
    return revision;
  }

  /** Finds out why a take took nothing. */
  async #explain(key: CounterKey, known: StoredSequence, revision: number) {
    const look = await this.#witness.look(keysOf(key));
    const revisionNow = await this.#check(look);
    const aheadMs = (look.database?.openMs ?? 0) - look.clockMs;
    if (aheadMs > 0 && aheadMs <= openAheadMaxMs) throw notOpenYet(aheadMs);
    const knownEnd = endCountOf(known.definition, this.#stripe);
    // Our marks have to reach the database before the next attempt; only then is it compared with them.
    if (revision !== revisionNow) return { kind: "again", leftCount: knownEnd } as const;
    await this.#judge(look, revisionNow);
    const loss = lossOf(look, key, known, this.#marks.get(key));
    if (loss !== undefined) throw await this.#stop({ reason: loss, revision: revisionNow, emptiesStock: true });
    const stored = look.sequences.get(key.name)!;
    if (stored.definition.disabled) return { kind: "refused", why: "disabled", stored } as const;
    if (isClosed(key, stored)) return { kind: "refused", why: "closed", stored } as const;
    const [used, endCount] = [look.counters.get(counterId(key)), endCountOf(stored.definition, this.#stripe)];
    if (used === undefined && endCount > 0n) return { kind: "begin", leftCount: endCount } as const;
    if (endCount !== knownEnd) return { kind: "refused", why: "changed", stored } as const;
    if (used === undefined || used >= endCount) return { kind: "refused", why: "exhausted", stored } as const;
    return { kind: "again", leftCount: endCount - used } as const;
  }

  /** Stops the database for every server. @returns The error for the caller. */
  async #stop(found: FoundStop): Promise<IdError> {
    const { reason, revision, emptiesStock } = found;
    this.#pendingStop = found;
    this.#revision = undefined;
    this.#revisionSeen = Math.max(this.#revisionSeen, revision);
    if (emptiesStock) {
      this.#empty();
      this.#emptiedRevision = Math.max(this.#emptiedRevision ?? -1, revision + 1);
    }
    const isStopped = await this.#parts.store.stop({ reason, revision, emptiesStock, by: "server" });
    this.#pendingStop = undefined;
    return isStopped ? this.#noteStop(reason) : notOpenYet(0);
  }

  #noteStop(reason: string): IdError {
    const isNews = this.#stopped?.reason !== reason;
    this.#stopped = { reason, sinceMs: this.#parts.clock.monotonicMs() };
    this.#revision = undefined;
    // A single database is reported without a stripe.
    const stripe = this.#stripe.count === 1 ? {} : { stripe: this.#stripe.index };
    if (isNews) this.#parts.onEvent({ kind: "stopped", reason, ...stripe });
    return stoppedError(reason);
  }
}

/** The loss that a look shows of one sequence; undefined = none. */
function lossOf(look: Look, key: CounterKey, known: StoredSequence, mark: bigint | undefined): string | undefined {
  const stored = look.sequences.get(key.name);
  if (stored === undefined) return `the sequence ${key.name} is gone`;
  if (stored.sequenceId !== known.sequenceId) return `the sequence ${key.name} is another one of the same name`;
  if (!look.counters.has(counterId({ name: key.name, periodKey: "" }))) return `the counter of ${key.name} is gone`;
  if (isClosed(key, stored)) return undefined;
  const used = look.counters.get(counterId(key));
  const taken = look.lowered.get(counterId(key));
  if (taken !== undefined && (mark === undefined || used! >= mark)) return lowered(key, used!, taken);
  if (mark === undefined || (used !== undefined && used >= mark)) return undefined;
  return used === undefined ? `the counter of ${key.name} ${key.periodKey} is gone` : below(key, used, mark);
}

/** Whether an operator has permanently pruned the counter of a period. */
function isClosed({ periodKey }: CounterKey, { closedBefore }: StoredSequence): boolean {
  return periodKey !== "" && periodKey < closedBefore;
}

function lostPeriods({ name }: CounterKey, count: number): string {
  return `${count === 1 ? "a counter" : `${count} counters`} of ${name} ${count === 1 ? "is" : "are"} gone, of periods that were begun`;
}

function below(key: CounterKey, index: bigint, mark: bigint): string {
  return `the counter of ${shown(key)} is at ${index}, after ${mark}`;
}

function lowered(key: CounterKey, index: bigint, taken: bigint): string {
  return `the counter of ${shown(key)} is at ${index}, and ${taken} values were taken of it: it was changed by hand`;
}

function shown({ name, periodKey }: CounterKey): string {
  return [name, periodKey].join(" ").trimEnd();
}

/** The error of calls while the database is stopped. */
function stoppedError(reason: string): IdError {
  const message = `No values can be taken: the database of sequences was stopped, because ${reason}. Where it was not moved, an operator must raise and open it.`;
  return new IdError("STORE_WENT_BACK", message, { metadata: { stopped: reason } });
}

function overtaken(): IdError {
  const message = "The database of sequences was opened again while values were taken.";
  return new IdError("STORE_UNAVAILABLE", message, { retryAfterMs: 1 });
}

function notOpenYet(aheadMs: number): IdError {
  const message = `The database of sequences opens in ${lengthOfTime(aheadMs)}.`;
  const retryAfterMs = Math.max(1, aheadMs);
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { opens_in_ms: aheadMs }, retryAfterMs });
}
