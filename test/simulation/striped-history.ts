/**
 * One history of sequences over several databases, drawn by a seed: servers that name them in another order each,
 * databases that are down, freeze or lose answers, and operators who add databases, two at once included. The real code
 * runs over databases in memory.
 */
import { IdError } from "../../src/errors.ts";
import { SequenceCatalog } from "../../src/sequence/sequence-catalog.ts";
import { SequenceDatabase } from "../../src/sequence/sequence-database.ts";
import type { SequenceStore } from "../../src/sequence/sequence-store.ts";
import type { Stripe } from "../../src/sequence/sequence.ts";
import { type StripePart, StripeSet } from "../../src/sequence/stripe-set.ts";
import { StripedDatabases } from "../../src/sequence/striped-databases.ts";
import { ValueSources } from "../../src/sequence/value-sources.ts";
import { ManualTime } from "../support/worlds/manual-time.ts";
import { MemorySequences, memorySequenceStore } from "../support/worlds/memory-sequences.ts";
import type { HistoryOutcome } from "./sequence-history.ts";
import { SeededRandom } from "./seeded-random.ts";

/** A rule that a mutant leaves out. */
export type StripeMutant = "stripe-by-position" | "stride-by-urls" | "two-takes-of-a-counter";

interface Database {
  readonly data: MemorySequences;
  isDown: boolean;
  /** It answers nothing until this is settled; undefined = it is not frozen. */
  thaw: PromiseWithResolvers<void> | undefined;
}

interface Server {
  readonly sources: ValueSources;
  readonly catalog: SequenceCatalog;
  isAlive: boolean;
}

const stripeCount = 4;
const names = ["orders", "daily"] as const;
const stepCount = 80;
const waitMaxMs = 500;
/** For how long a statement waits for a frozen database: three times what a caller waits. */
const statementTimeoutMs = 1_500;
/** A call whose database stays frozen ends with its statements: the work of a step is over long before. */
const waitingRoundsMax = 1_000;

class StripedHistory {
  readonly #random: SeededRandom;
  readonly #mutant: StripeMutant | undefined;
  readonly #time = new ManualTime(Date.UTC(2027, 0, 1, 12));
  readonly #issued = new Set<string>();
  readonly #faults: string[] = [];
  readonly #events = new Map<string, number>();
  readonly #databases: readonly Database[];
  /** How many of the databases servers are given; the last are added by operators. */
  #namedCount = 2;
  #servers: Server[] = [];

  constructor(seed: number, mutant: StripeMutant | undefined) {
    this.#random = new SeededRandom(seed);
    this.#mutant = mutant;
    this.#databases = Array.from({ length: stripeCount }, (_, index) => {
      const storeId = `${this.#random.between(100, 999)}${index}`;
      const member = { storeId, stripeIndex: -1, stripeCount };
      const data = new MemorySequences(`system=${index}`, () => this.#time.nowMs(), undefined, member);
      return { data, isDown: false, thaw: undefined };
    });
  }

  async run(): Promise<HistoryOutcome> {
    for (let count = 0; count < 3; count += 1) this.#startServer();
    for (let step = 0; step < stepCount && this.#faults.length === 0; step += 1) await this.#step();
    for (const server of this.#servers) server.isAlive = false;
    return { faults: this.#faults, events: this.#events };
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const server = random.pick(this.#servers);
    const roll = random.between(1, 100);
    if (roll <= 60) await this.#draw(server, random.pick(names), random.pick([1, 3, 9]));
    else if (roll <= 70) await this.#time.run(random.pick([1, 600, 11_000]));
    else if (roll <= 78) await this.#create(server);
    else if (roll <= 81) random.pick(this.#databases).isDown = true;
    else if (roll <= 84) random.pick(this.#databases).thaw ??= Promise.withResolvers();
    else if (roll <= 92) this.#restore();
    else if (roll <= 97) await this.#restart(server);
    else await this.#addDatabases();
  }

  async #draw(server: Server, name: string, count: number): Promise<void> {
    const work = this.#attempt("answered", async () => {
      const source = await server.sources.open(name);
      const { runs, periodKey } = await source.reserve({ count, priority: "unary" });
      for (const { firstValue, count: length, increment } of runs) {
        for (let at = 0n; at < length; at += 1n) {
          const value = `${name} ${periodKey} ${firstValue + at * increment}`;
          if (this.#issued.has(value)) this.#faults.push(value);
          this.#issued.add(value);
        }
      }
    });
    await this.#finish(work, 700);
  }

  async #create({ catalog }: Server): Promise<void> {
    const work = this.#attempt("created", async () => {
      await catalog.create({ name: "orders", startValue: 7n, increment: 3n, stepMin: 4, stepMax: 20 });
      await catalog.create({ name: "daily", period: "day", stepMin: 2, stepMax: 9 });
    });
    await this.#finish(work, 50);
  }

  #restore(): void {
    for (const database of this.#databases) {
      database.isDown = false;
      database.thaw?.resolve();
      database.thaw = undefined;
    }
  }

  /** Lets time pass, and more of it where some work waits for a frozen database. */
  async #finish(work: Promise<unknown>, forMs: number): Promise<void> {
    const progress = { isDone: false };
    void work.finally(() => {
      progress.isDone = true;
    });
    await this.#time.run(forMs);
    for (let round = 0; !progress.isDone; round += 1) {
      if (round === waitingRoundsMax) throw new Error("some work of a server never ended");
      await this.#time.run(statementTimeoutMs);
    }
  }

  /** Half of the time in order, so that its values go back. */
  async #restart(server: Server): Promise<void> {
    if (this.#random.chance(0.5)) {
      await this.#finish(server.sources.close(100), 300);
    }
    server.isAlive = false;
    this.#servers = this.#servers.filter((other) => other !== server);
    this.#startServer();
  }

  /** Two operators at once, each with another new database, where there are two. */
  async #addDatabases(): Promise<void> {
    const named = this.#databases.slice(0, this.#namedCount);
    const added = this.#databases.slice(this.#namedCount);
    const outcomes = added.map((database) =>
      this.#attempt("added", async () => {
        const stripes = this.#stripesOf(named, () => true);
        await stripes.add(this.#storeOf(database, () => true));
        this.#namedCount = this.#databases.length;
      }),
    );
    await this.#finish(Promise.all(outcomes), 2_000);
  }

  async #attempt(event: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#note(event);
    } catch (error) {
      if (!(error instanceof IdError)) throw error;
      this.#note(error.reason);
    }
  }

  #note(event: string): void {
    // No history loses anything.
    if (event === "stopped") this.#faults.push("a database was stopped without a loss");
    this.#events.set(event, (this.#events.get(event) ?? 0) + 1);
  }

  #startServer(): void {
    const named = this.#databases.slice(0, this.#namedCount);
    const ordered = this.#random.chance(0.5) ? named : named.toReversed();
    const isAlive = (): boolean => server.isAlive;
    const stripes = this.#stripesOf(ordered, isAlive);
    const isMutated = this.#mutant === "stripe-by-position" || this.#mutant === "stride-by-urls";
    const usable = isMutated ? () => this.#mutatedParts(stripes, ordered) : () => stripes.usable();
    const clock = this.#time;
    const onEvent = ({ kind }: { readonly kind: string }): void => this.#note(kind);
    const timers = { after: (delayMs: number, task: () => void) => clock.after(delayMs, () => isAlive() && task()) };
    const database = new StripedDatabases({
      stripes: { usable, usableLater: usable },
      clock,
      timers,
      waitMaxMs,
      onEvent,
    });
    const counters = { issued: 0, taken: 0, refused: 0, failed: 0 };
    const sources = new ValueSources({ counters, database, clock, timers, waitMaxMs, namesMax: 2, onEvent });
    const catalog = new SequenceCatalog({ stripes, clock, onChanged: (stored) => sources.refresh(stored) });
    const server: Server = { sources, catalog, isAlive: true };
    this.#servers.push(server);
  }

  readonly #mutated = new WeakMap<StripePart, StripePart>();

  /** The databases with the stripes that a mutant gives them. */
  async #mutatedParts(stripes: StripeSet, ordered: readonly Database[]): Promise<readonly StripePart[]> {
    const parts = await stripes.usable();
    return parts.map((part, position) => {
      const known = this.#mutated.get(part);
      if (known !== undefined) return known;
      const stripe =
        this.#mutant === "stripe-by-position"
          ? { index: position, count: stripeCount }
          : { index: part.stripe.index % ordered.length, count: ordered.length };
      const database = new SequenceDatabase({ store: part.store, clock: this.#time, onEvent: () => {}, stripe });
      const mutated = { store: part.store, stripe, database };
      this.#mutated.set(part, mutated);
      return mutated;
    });
  }

  #stripesOf(databases: readonly Database[], isAlive: () => boolean): StripeSet {
    const clock = this.#time;
    return new StripeSet({
      stores: databases.map((database) => this.#storeOf(database, isAlive)),
      stripeCount: undefined,
      clock,
      timers: clock,
      waitMaxMs,
      databaseOf: (store, stripe) => this.#databaseOf(store, stripe),
      bind: async () => {},
      onProblem: () => this.#note("problem"),
      onAnswers: () => {},
    });
  }

  #databaseOf(store: SequenceStore, stripe: Stripe): SequenceDatabase {
    const database = new SequenceDatabase({
      store,
      clock: this.#time,
      onEvent: ({ kind }) => this.#note(kind),
      stripe,
    });
    if (this.#mutant !== "two-takes-of-a-counter") return database;
    // A take is given up while it is on its way, and its database is then asked again.
    const take = database.take.bind(database);
    database.take = (request) => Promise.race([take(request), this.#noAnswer(100, "take")]);
    return database;
  }

  async #pass(forMs: number): Promise<void> {
    await new Promise<void>((resolve) => this.#time.after(forMs, resolve));
  }

  async #noAnswer(afterMs: number, name: string): Promise<never> {
    await this.#pass(afterMs);
    throw unanswered(name);
  }

  #storeOf(database: Database, isAlive: () => boolean): SequenceStore {
    return memorySequenceStore(
      () => database.data,
      async (statement, name) => {
        // Operators and servers come in between each other's statements.
        for (let turn = this.#random.between(0, 3); turn > 0; turn -= 1) await Promise.resolve();
        if (!isAlive()) return new Promise(() => {});
        const { thaw } = database;
        if (thaw !== undefined) {
          const gaveUp = this.#noAnswer(statementTimeoutMs, name);
          try {
            await Promise.race([thaw.promise, gaveUp]);
          } catch (error) {
            // It may have been received, and is then done after all.
            if (this.#random.chance(0.5)) void thaw.promise.then(statement).catch(() => {});
            throw error;
          }
          if (!isAlive()) return new Promise(() => {});
        }
        if (database.isDown || this.#random.chance(0.02)) throw unanswered(name);
        const answer = statement();
        if (this.#random.chance(0.03)) throw unanswered(name);
        if (this.#random.chance(0.03)) await this.#pass(this.#random.between(100, statementTimeoutMs));
        if (!isAlive()) return new Promise(() => {});
        return answer;
      },
    );
  }
}

function unanswered(name: string): IdError {
  return new IdError("STORE_UNAVAILABLE", `No answer to ${name}.`);
}

/** Runs the history of a seed. `mutant` leaves one rule out, which some seeds must show. */
export function runStripedHistory(seed: number, mutant?: StripeMutant): Promise<HistoryOutcome> {
  return new StripedHistory(seed, mutant).run();
}
