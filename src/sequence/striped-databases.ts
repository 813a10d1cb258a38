import type { Clock, Timers } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import type { Remainder } from "./segment-buffer.ts";
import type { SequenceEvent } from "./sequence-database.ts";
import { type CounterKey, counterId } from "./sequence-store.ts";
import { compareEpochs, type StoredSequence } from "./sequence.ts";
import { patienceMs, type StripePart, type StripeSet } from "./stripe-set.ts";
import type { TakeAnswer, ValueTake, UsedSequence, ValueDatabase } from "./value-database.ts";

/** The databases that {@link StripedDatabases} takes from, and how long it waits for one before it asks the next. */
export interface StripedDatabasesParts {
  /** Finds the databases that can be used now. */
  readonly stripes: Pick<StripeSet, "usable" | "usableLater">;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The longest that a call waits for values, in milliseconds: see {@link patienceMs}. */
  readonly waitMaxMs: number;
  /** Called when a database does not answer, answers again, or lacks a sequence, for logs and metrics. */
  readonly onEvent: (event: SequenceEvent) => void;
}

/** A question that is asked of one database after the other. */
interface Question<A> {
  /**
   * The counter that it takes from; a database has only one such question about a counter at a time. undefined: it
   * takes nothing.
   */
  readonly key?: CounterKey;
  readonly ask: (part: StripePart) => Promise<A>;
  /** Called with an answer that came in time. @returns Whether no other database has to be asked. */
  readonly accept: (answer: A, part: StripePart) => boolean;
  /** Called with an answer that came after the next database had been asked. */
  readonly acceptLate: (answer: A, part: StripePart) => Promise<void> | undefined;
}

/** The facts that are known about one database. */
interface DatabaseHealth {
  /**
   * The sequences as this database has them: each database draws its own sequence_id. null if it did not have the name
   * at the last look.
   */
  readonly known: Map<string, StoredSequence | null>;
  /** The counters for which a take is still on its way, although the next database has been asked instead. */
  readonly late: Set<string>;
  failures: number;
  failedMs: number;
}

const backOffMinMs = 500;
const backOffMaxMs = 30_000;
/** The most names that are remembered of one database; the oldest one is dropped, and looked up again when needed. */
const knownMax = 100_000;

/** Takes from the databases of a {@link StripeSet} in turn, and skips those that do not answer. */
export class StripedDatabases implements ValueDatabase {
  readonly #parts: StripedDatabasesParts;
  readonly #health = new Map<number, DatabaseHealth>();
  /** The databases that were used, by the index of their stripe. */
  readonly #seen = new Map<number, StripePart>();
  readonly #held = new Map<string, CounterKey>();
  /** How often values of a sequence were forbidden or left out in one of several databases. */
  readonly #changes = new Map<string, number>();
  #onEmptied: () => void = () => {};
  #turn = 0;

  constructor(parts: StripedDatabasesParts) {
    this.#parts = parts;
  }

  /** Why one of the databases gives no values, as far as this process knows. */
  get stopReason(): string | undefined {
    return [...this.#seen.values()].find(({ database }) => database.stopReason !== undefined)?.database.stopReason;
  }

  async find(names: readonly string[]): Promise<ReadonlyMap<string, StoredSequence>> {
    const found = new Map<string, StoredSequence>();
    let missing = names;
    await this.#inTurn({
      ask: (part) => part.database.find(missing),
      accept: (sequences, part) => {
        for (const [name, stored] of sequences) found.set(name, this.#learn(part, name, stored));
        missing = missing.filter((name) => !found.has(name));
        return missing.length === 0;
      },
      acceptLate: () => undefined,
    });
    return found;
  }

  async take(take: ValueTake): Promise<TakeAnswer> {
    const { name, periodKey } = take;
    let refusal: TakeAnswer | undefined;
    let answer: TakeAnswer | undefined;
    const errors = await this.#inTurn({
      key: take,
      ask: (part) => this.#takeFrom(part, take),
      accept: (taken, part) => {
        if (taken?.given.kind === "refused") {
          const refused = { ...taken.given, stored: this.#learn(part, name, taken.given.stored) };
          // Another database may have values left.
          if (refused.why === "exhausted" || refused.why === "closed") refusal = refused;
          else answer = refused;
        } else answer = taken?.given;
        return answer !== undefined;
      },
      // The caller has values of another database already, so these are given back.
      acceptLate: (taken, { database }) => {
        if (taken?.given.kind !== "taken") return undefined;
        const { firstIndex, count, writeId, stripe } = taken.given.segment;
        const endIndex = firstIndex + BigInt(count);
        return database.giveBack({ name, periodKey }, taken.sequenceId, { firstIndex, endIndex, writeId, stripe });
      },
    });
    if (answer !== undefined) return answer;
    if (errors.length > 0) throw errors[0]!;
    if (refusal !== undefined) return refusal;
    throw new IdError("STORE_UNAVAILABLE", `No database has the sequence ${name} now.`, { metadata: { name } });
  }

  remember(key: CounterKey): void {
    this.#held.set(counterId(key), key);
    for (const { database } of this.#seen.values()) database.remember(key);
  }

  forget(key: CounterKey): void {
    this.#held.delete(counterId(key));
    for (const { database } of this.#seen.values()) database.forget(key);
  }

  async giveBack(key: CounterKey, sequenceId: string, remainder: Remainder): Promise<void> {
    const part = this.#seen.get(remainder.stripe.index);
    if (part === undefined) return;
    const known = this.#healthOf(part).known.get(key.name);
    await part.database.giveBack(key, known?.sequenceId ?? sequenceId, remainder);
  }

  watch(onEmptied: () => void): void {
    this.#onEmptied = onEmptied;
  }

  async acknowledge(): Promise<void> {
    await Promise.all([...this.#seen.values()].map(({ database }) => database.acknowledge().catch(onlyOfDatabase)));
  }

  async leave(): Promise<void> {
    await Promise.all([...this.#seen.values()].map(({ database }) => database.leave()));
  }

  /** Updates a sequence that an operator has changed in all databases. @returns It, for the source in memory. */
  changed(stored: StoredSequence): StoredSequence {
    const [part] = this.#seen.values();
    if (part === undefined || part.stripe.count === 1) return stored;
    this.#noteChange(stored.definition.name);
    return this.#withChanges(stored);
  }

  async compare(used: readonly UsedSequence[]): Promise<ReadonlyMap<string, StoredSequence>> {
    const found = new Map<string, StoredSequence>();
    const errors: unknown[] = [];
    const parts = await this.#usable();
    const comparing = parts.map(async (part) => {
      try {
        for (const [name, stored] of await this.#compareWith(part, used)) {
          found.set(name, this.#learn(part, name, stored));
        }
      } catch (error) {
        errors.push(error);
        throw error;
      }
    });
    const all = Promise.allSettled(comparing);
    // One answer is enough then: a frozen database would delay the answers of the others for each thousand sequences.
    // It is still asked, because after an opening it must be looked at within half a minute.
    if ((await this.#inTime(all)) === undefined) await Promise.any([...comparing, all]);
    if (errors.length === parts.length) throw errors[0];
    return found;
  }

  async #compareWith(part: StripePart, used: readonly UsedSequence[]): Promise<ReadonlyMap<string, StoredSequence>> {
    const { known } = this.#healthOf(part);
    const ours = used.flatMap((one) => {
      const stored = part.stripe.count === 1 ? one.stored : known.get(one.name);
      // The sequence may have been created there since.
      if (stored === null) known.delete(one.name);
      return stored ? [{ name: one.name, periodKey: one.periodKey, stored }] : [];
    });
    return part.database.compare(ours);
  }

  /** @returns undefined if the database does not have the sequence. */
  async #takeFrom(part: StripePart, take: ValueTake) {
    const stored = await this.#storedOn(part, take);
    if (stored === undefined) return undefined;
    return { sequenceId: stored.sequenceId, given: await part.database.take({ ...take, stored }) };
  }

  /**
   * Asks one database after the other, until an answer is accepted. All but the last have a quarter of a call's wait to
   * answer.
   *
   * A database has to answer a question about a counter before it is asked about that counter again: the ranges of two
   * takes could arrive in the wrong order, and the first one would then look like a loss.
   *
   * @returns The errors of those that failed. @throws IdError if all failed.
   */
  async #inTurn<A>(question: Question<A>): Promise<readonly IdError[]> {
    const id = question.key === undefined ? "" : counterId(question.key);
    const errors: IdError[] = [];
    const tried = new Set<StripePart>();
    const untried = (usable: readonly StripePart[]): readonly StripePart[] =>
      this.#inOrder(usable.filter((part) => !tried.has(part) && !this.#healthOf(part).late.has(id)));
    let parts = untried(await this.#usable());
    while (parts.length > 0) {
      if (await this.#askEach(question, parts, errors)) return errors;
      for (const part of parts) tried.add(part);
      // A database whose stripe became known later may have the values that the first ones did not give.
      parts = untried(this.#see(await this.#parts.stripes.usableLater()));
    }
    if (errors.length === tried.size && errors[0] !== undefined) throw errors[0];
    return errors;
  }

  /** Asks databases one by one until an answer is accepted. @returns Whether one was. */
  async #askEach<A>(question: Question<A>, parts: readonly StripePart[], errors: IdError[]): Promise<boolean> {
    for (const [at, part] of parts.entries()) {
      try {
        const asked = question.ask(part).then((answer) => ({ answer }));
        const outcome = at === parts.length - 1 ? await asked : await this.#inTime(asked);
        if (outcome === undefined) {
          this.#finishLate(part, question, asked);
          throw late(this.#patienceMs);
        }
        this.#worked(part);
        if (question.accept(outcome.answer, part)) return true;
      } catch (error) {
        if (!(error instanceof IdError)) throw error;
        errors.push(error);
        this.#failed(part, error);
      }
    }
    return false;
  }

  get #patienceMs(): number {
    return patienceMs(this.#parts.waitMaxMs);
  }

  /** @returns undefined if the answer did not come within a quarter of a call's wait. */
  async #inTime<T>(asked: Promise<T>): Promise<T | undefined> {
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    const cancel = this.#parts.timers.after(this.#patienceMs, () => resolve(undefined));
    try {
      return await Promise.race([asked, over]);
    } finally {
      cancel();
    }
  }

  /**
   * Handles the late end of a question after the next database was asked instead. Until then its database is not asked
   * about that counter.
   */
  #finishLate<A>(part: StripePart, { key, acceptLate }: Question<A>, asked: Promise<{ readonly answer: A }>): void {
    const { late: ids } = this.#healthOf(part);
    if (key !== undefined) ids.add(counterId(key));
    const finish = async (): Promise<void> => {
      try {
        await acceptLate((await asked).answer, part);
      } catch (error) {
        // Its failure was noted when it was late.
        if (!(error instanceof IdError)) throw error;
      } finally {
        if (key !== undefined) ids.delete(counterId(key));
      }
    };
    void finish();
  }

  /**
   * The databases in turn, from the next one on, without those that failed recently; if all did, only the one that
   * failed longest ago.
   */
  #inOrder(parts: readonly StripePart[]): readonly StripePart[] {
    if (parts.length <= 1) return parts;
    const nowMs = this.#parts.clock.monotonicMs();
    const begin = (this.#turn = (this.#turn + 1) % parts.length);
    const turned = [...parts.slice(begin), ...parts.slice(0, begin)];
    const free = turned.filter((part) => {
      const { failures, failedMs } = this.#healthOf(part);
      return failures === 0 || nowMs - failedMs >= Math.min(backOffMinMs * 2 ** (failures - 1), backOffMaxMs);
    });
    if (free.length > 0) return free;
    const failedOf = (part: StripePart): number => this.#healthOf(part).failedMs;
    return [turned.reduce((least, part) => (failedOf(part) < failedOf(least) ? part : least))];
  }

  async #usable(): Promise<readonly StripePart[]> {
    return this.#see(await this.#parts.stripes.usable());
  }

  /** Begins to work with databases whose stripe is known. */
  #see(parts: readonly StripePart[]): readonly StripePart[] {
    for (const part of parts) {
      if (this.#seen.has(part.stripe.index)) continue;
      this.#seen.set(part.stripe.index, part);
      part.database.watch(() => this.#onEmptied());
      for (const key of this.#held.values()) part.database.remember(key);
    }
    return parts;
  }

  /** The sequence as a database has it; undefined if it does not have it. */
  async #storedOn(part: StripePart, { name, stored }: ValueTake): Promise<StoredSequence | undefined> {
    if (part.stripe.count === 1) return stored;
    const known = this.#healthOf(part).known.get(name);
    if (known !== undefined) return known ?? undefined;
    const found = (await part.database.find([name])).get(name);
    if (found === undefined) this.#know(part, name, null);
    else this.#learn(part, name, found);
    if (found === undefined) this.#parts.onEvent({ kind: "stripe-lacks", stripe: part.stripe.index, name });
    return found;
  }

  /**
   * Remembers a sequence as one database has it.
   *
   * @returns The sequence for the source in memory: each of several databases has its own epochs, so changes are
   * counted here.
   */
  #learn(part: StripePart, name: string, read: StoredSequence): StoredSequence {
    if (part.stripe.count === 1) return read;
    const known = this.#healthOf(part).known.get(name);
    const age = known ? compareEpochs(known, read) : "same";
    if (age !== "older") this.#know(part, name, read);
    if (age === "changed") this.#noteChange(name);
    return this.#withChanges(age === "older" ? known! : read);
  }

  #noteChange(name: string): void {
    this.#changes.set(name, (this.#changes.get(name) ?? 0) + 1);
  }

  #withChanges(stored: StoredSequence): StoredSequence {
    return { ...stored, epoch: this.#changes.get(stored.definition.name) ?? 0, revision: 0 };
  }

  #know(part: StripePart, name: string, stored: StoredSequence | null): void {
    if (part.stripe.count === 1) return;
    const { known } = this.#healthOf(part);
    known.delete(name);
    known.set(name, stored);
    if (known.size <= knownMax) return;
    for (const oldest of known.keys()) {
      known.delete(oldest);
      return;
    }
  }

  #healthOf({ stripe }: StripePart): DatabaseHealth {
    let health = this.#health.get(stripe.index);
    if (health === undefined) {
      health = { known: new Map(), late: new Set(), failures: 0, failedMs: 0 };
      this.#health.set(stripe.index, health);
    }
    return health;
  }

  #worked(part: StripePart): void {
    const health = this.#healthOf(part);
    if (health.failures > 0 && part.stripe.count > 1) {
      this.#parts.onEvent({ kind: "stripe-answers", stripe: part.stripe.index });
    }
    health.failures = 0;
  }

  #failed(part: StripePart, error: IdError): void {
    const health = this.#healthOf(part);
    if (health.failures === 0 && part.stripe.count > 1) {
      this.#parts.onEvent({ kind: "stripe-problem", stripe: part.stripe.index, error });
    }
    health.failures += 1;
    health.failedMs = this.#parts.clock.monotonicMs();
  }
}

function late(waitedMs: number): IdError {
  const message = `A database of sequences did not answer within ${waitedMs / 1_000} s, and the next one is asked.`;
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { waited_ms: waitedMs } });
}

/** Ignores an error of a database: the next look reports it. */
function onlyOfDatabase(error: unknown): void {
  if (!(error instanceof IdError)) throw error;
}
