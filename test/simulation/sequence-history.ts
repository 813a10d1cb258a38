/**
 * One history of sequences, drawn by a seed: servers that take, hand out, give back, crash, stop in order and are cut
 * off, some with clocks that are ahead; a database that answers late or not at all, goes back to an older copy, fails
 * over to a replica that lags, and loses rows; and an operator who raises and opens. The real code runs over a database
 * in memory.
 */
import type { Clock } from "../../src/clock/clock.ts";
import { IdError } from "../../src/errors.ts";
import { SequenceCatalog } from "../../src/sequence/sequence-catalog.ts";
import { SequenceDatabase } from "../../src/sequence/sequence-database.ts";
import { onlyStripe } from "../../src/sequence/sequence.ts";
import { StripedDatabases } from "../../src/sequence/striped-databases.ts";
import { counterId, type SequenceStore } from "../../src/sequence/sequence-store.ts";
import { ValueSources } from "../../src/sequence/value-sources.ts";
import { ManualTime } from "../support/worlds/manual-time.ts";
import {
  MemorySequences,
  memorySequenceStore,
  type SequenceData,
  type SequenceMutant,
  sequenceMutants,
} from "../support/worlds/memory-sequences.ts";
import { SeededRandom } from "./seeded-random.ts";
import { type ProcessMutant, storeOfMutant } from "./sequence-mutants.ts";

/** What came of a history. */
export interface HistoryOutcome {
  /** Values that were handed out twice, and stops without a loss, in words. */
  readonly faults: readonly string[];
  /** Which kinds of event there were, with their number. */
  readonly events: ReadonlyMap<string, number>;
}

/** What a database lacks: the takes since a copy of it was made. */
interface Loss {
  /** How many servers had ended when the copy was made; -1 = rows were lost alone. */
  readonly deaths: number;
  /** When the copy was made. */
  readonly madeMs: number;
}

interface Copy {
  readonly data: SequenceData;
  /** By how much an operator had raised all counters by then, over all repairs. */
  readonly raised: bigint;
  /** What a database lacks that this copy is put back into. */
  readonly loss: Loss;
}

interface Server {
  readonly id: number;
  readonly sources: ValueSources;
  /** Grows when it dies: what its timers and answers do then is nothing. */
  isAlive: boolean;
  isCutOff: boolean;
}

const names = ["orders", "strict", "daily"] as const;
const stepCount = 120;
const dayMs = 86_400_000;

class History {
  readonly #random: SeededRandom;
  readonly #time = new ManualTime(Date.UTC(2027, 0, 1, 12));
  readonly #mutant: SequenceMutant | ProcessMutant | undefined;
  /** Servers are stopped in order all the time, callers do not wait for an opening, and counters alone go back. */
  readonly #isRestless: boolean;
  /** By how much the clock of every other server is ahead: such a server takes from a period before it begins. */
  readonly #aheadMs: number;
  readonly #issued = new Map<string, Set<bigint>>();
  readonly #faults: string[] = [];
  readonly #events = new Map<string, number>();
  /** How far each counter ever was, in whatever copy. */
  readonly #highest = new Map<string, bigint>();
  readonly #copies: Copy[] = [];
  /** Servers that ended, and so lost their marks. */
  #deaths = 0;
  /** The loss that no repair has followed yet. */
  #loss: Loss | undefined;
  /** The most values that one counter lacks since that loss, as an operator reckons them: from what was lost. */
  #missing = 0n;
  /** By how much operators have raised all counters of this copy of the database, and how much of it a move undid. */
  #raised = 0n;
  #raiseLost = 0n;
  /** Something happened that is to stop the database, and no repair has followed yet. */
  #hasCause = false;
  /** Nothing is lost on its way meanwhile. */
  #isCalm = false;
  readonly #late: (() => void)[] = [];
  #database: MemorySequences;
  #timeline = 1;
  #servers: Server[] = [];
  #nextServer = 0;

  constructor(seed: number, mutant: SequenceMutant | ProcessMutant | undefined) {
    this.#random = new SeededRandom(seed);
    this.#mutant = mutant;
    this.#isRestless = seed % 2 === 1;
    this.#aheadMs = seed % 7 === 5 ? 1.5 * dayMs : 0;
    this.#database = this.#newDatabase();
  }

  async run(): Promise<HistoryOutcome> {
    await this.#makeSequences();
    for (let count = 0; count < 3; count += 1) this.#startServer();
    for (let step = 0; step < stepCount && this.#faults.length === 0; step += 1) {
      await this.#step();
      this.#noteHighest();
    }
    for (const server of this.#servers) this.#kill(server);
    return { faults: this.#faults, events: this.#events };
  }

  async #makeSequences(): Promise<void> {
    const store = memorySequenceStore(() => this.#database);
    const clock = this.#time;
    const database = new SequenceDatabase({ store, clock, onEvent: () => {} });
    const parts = async () => [{ stripe: onlyStripe, store, database }];
    const catalog = new SequenceCatalog({
      stripes: { all: parts, answered: parts, listed: parts },
      clock,
      onChanged: () => {},
    });
    // Equal steps bring a counter back to where it was when a range went back.
    await catalog.create({ name: "orders", stepMin: 5, stepMax: this.#isRestless ? 5 : 50 });
    await catalog.create({ name: "strict", allocation: "strict" });
    await catalog.create({ name: "daily", period: "day", stepMin: 3, stepMax: 20 });
    this.#copy();
  }

  async #step(): Promise<void> {
    const random = this.#random;
    if (this.#isRestless && random.chance(0.3)) await this.#stepRestless();
    const roll = random.between(1, 100);
    if (roll <= 55) await this.#call(random.pick(this.#servers));
    else if (roll <= 70) await this.#pass(random.pick([1, 10, 200, 1_000, 11_000]));
    else if (roll <= 78) this.#copy();
    else if (roll <= 81) this.#crash(random.pick(this.#servers));
    else if (roll <= 85) await this.#stopInOrder(random.pick(this.#servers));
    else if (roll <= 88) this.#note("cut", random.pick(this.#servers)).isCutOff = true;
    else if (roll <= 92) for (const server of this.#servers) server.isCutOff = false;
    else if (roll <= 94) this.#goBack();
    else if (roll <= 95) this.#loseCounter();
    else if (roll <= 97) this.#late.splice(0, 3).forEach((statement) => statement());
    else if (roll <= 98) await this.#time.pause(dayMs);
    else if (roll <= 99) this.#startServer();
    else this.#stopByOperator();
    if (this.#isStopped() && random.chance(0.4)) await this.#repair();
  }

  async #stepRestless(): Promise<void> {
    const random = this.#random;
    const roll = random.between(1, 100);
    if (roll <= 50) await this.#stopInOrder(random.pick(this.#servers));
    else if (roll <= 95) this.#late.splice(0, 3).forEach((statement) => statement());
    else if (!this.#isStopped()) await this.#loseTakes();
  }

  #stopByOperator(): void {
    this.#hasCause = true;
    const { database } = this.#database.look([]);
    const revision = database?.revision ?? 0;
    this.#database.stop({ reason: "an operator", revision, emptiesStock: false, by: "operator" });
  }

  #copy(): void {
    this.#note("copy", undefined);
    const loss = this.#loss ?? { deaths: this.#deaths, madeMs: this.#time.nowMs() };
    this.#copies.push({ data: this.#database.copy(), raised: this.#raised, loss });
  }

  #note<T>(event: string, value: T): T {
    this.#events.set(event, (this.#events.get(event) ?? 0) + 1);
    return value;
  }

  async #pass(ms: number): Promise<void> {
    await this.#time.run(ms);
  }

  async #call(server: Server | undefined): Promise<void> {
    if (server === undefined || !server.isAlive) return;
    const name = this.#random.pick(names);
    const count = this.#random.pick([1, 1, 1, 4, 12]);
    const work = this.#draw(server, name, count);
    await this.#time.run(this.#random.pick([0, 0, 5]));
    void work;
  }

  async #draw(server: Server, name: string, count: number): Promise<void> {
    try {
      const source = await server.sources.open(name);
      const { runs, periodKey } = await source.reserve({ count, priority: "unary" });
      // A server that was killed meanwhile has answered nobody.
      if (!server.isAlive) return;
      this.#note("answered", undefined);
      const issued = this.#issued.get(`${name} ${periodKey}`) ?? new Set();
      this.#issued.set(`${name} ${periodKey}`, issued);
      for (const { firstValue, count: length, increment } of runs) {
        for (let at = 0n; at < length; at += 1n) {
          const value = firstValue + at * increment;
          if (issued.has(value)) this.#faults.push(`${name} ${periodKey} ${value} by server ${server.id}`);
          issued.add(value);
        }
      }
    } catch (error) {
      if (!(error instanceof IdError)) throw error;
      this.#note(error.reason, undefined);
    }
  }

  #startServer(): void {
    if (this.#servers.length >= 4) return;
    const id = (this.#nextServer += 1);
    const clock = this.#clockOf(id);
    const timers = {
      after: (delayMs: number, task: () => void) => this.#time.after(delayMs, () => server.isAlive && task()),
    };
    const onEvent = ({ kind }: { readonly kind: string }): undefined => this.#note(kind, undefined);
    const store = this.#storeOf(() => server);
    const part = { stripe: onlyStripe, store, database: new SequenceDatabase({ store, clock, onEvent }) };
    const database = new StripedDatabases({
      stripes: { usable: async () => [part], usableLater: async () => [part] },
      clock,
      timers,
      waitMaxMs: 500,
      onEvent,
    });
    const sources = new ValueSources({
      counters: { issued: 0, taken: 0, refused: 0, failed: 0 },
      database,
      clock,
      timers,
      waitMaxMs: 500,
      namesMax: 2,
      onEvent,
    });
    const server: Server = { id, sources, isAlive: true, isCutOff: false };
    this.#servers.push(server);
  }

  #clockOf(serverId: number): Clock {
    const time = this.#time;
    const aheadMs = serverId % 2 === 0 ? this.#aheadMs : 0;
    return { nowMs: () => time.nowMs() + aheadMs, monotonicMs: () => time.monotonicMs() };
  }

  #kill(server: Server): void {
    server.isAlive = false;
    this.#deaths += 1;
    this.#servers = this.#servers.filter((other) => other !== server);
  }

  #crash(server: Server | undefined): void {
    if (server === undefined) return;
    this.#note("crash", undefined);
    this.#kill(server);
    this.#startServer();
  }

  async #stopInOrder(server: Server | undefined): Promise<void> {
    if (server === undefined) return;
    this.#note("stop in order", undefined);
    const closed = server.sources.close(100);
    void closed;
    await this.#time.run(300);
    this.#kill(server);
    this.#startServer();
  }

  /** A statement of a server may be lost on its way, its answer may be, and it may be done long after its error. */
  #storeOf(serverOf: () => Server): SequenceStore {
    const carry = async <T>(done: () => T, name: string): Promise<T> => {
      const statement = name === "stop" ? () => this.#watchStop(done) : done;
      const server = serverOf();
      const random = this.#random;
      await Promise.resolve();
      // A process that is killed or cut off hears nothing any more.
      if (!server.isAlive) return new Promise(() => {});
      if (this.#isCalm) return statement();
      if (server.isCutOff) throw unanswered(name);
      const roll = random.between(1, 100);
      if (roll <= 3) throw unanswered(name);
      if (roll <= 6) {
        this.#late.push(() => void statement());
        throw unanswered(name);
      }
      const answer = statement();
      if (roll <= 10) {
        if (name === "take" && this.#mutant === "uses-unanswered-range") return answer;
        throw unanswered(name);
      }
      if (name === "giveBack" && roll <= 40) this.#late.push(() => void statement());
      if (roll <= 20) {
        // The answer is late, while everything else goes on.
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#time.after(random.pick([1, 20, 400]), resolve);
        await promise;
      }
      return server.isAlive ? answer : new Promise(() => {});
    };
    const store = memorySequenceStore(() => this.#database, carry);
    if (this.#mutant === "uses-unanswered-range") {
      const guess = { ...store };
      guess.take = async (request, witness) => {
        const before = this.#database.look([request]).counters.get(counterId(request));
        return store.take(request, witness).catch(() => before);
      };
      return guess;
    }
    return storeOfMutant(store, this.#mutant);
  }

  #watchStop<T>(stop: () => T): T {
    const isStopped = stop();
    if (isStopped && !this.#hasCause)
      this.#faults.push(`stopped without a loss: ${this.#database.copy().database?.stopped}`);
    return isStopped;
  }

  #newDatabase(): MemorySequences {
    const mutant = sequenceMutants.find((one) => one === this.#mutant);
    return new MemorySequences(`system=1 timeline=${this.#timeline}`, () => this.#time.nowMs(), mutant);
  }

  /** A replica that lags is promoted, or a backup is put back: an older state under another identity. */
  #goBack(): void {
    this.#note("went back", undefined);
    this.#noteHighest();
    const copy = this.#random.pick(this.#copies.slice(-4));
    this.#timeline += 1;
    this.#late.length = 0;
    const database = this.#newDatabase();
    database.restore(copy.data);
    this.#loss = copy.loss;
    this.#raiseLost += this.#raised - copy.raised;
    this.#raised = copy.raised;
    this.#database = database;
    this.#noteLoss();
  }

  /** Counters alone go back, below what one server has taken: it is the only one that can know, so it looks first. */
  async #loseTakes(): Promise<void> {
    const server = this.#random.pick(this.#servers);
    this.#isCalm = true;
    for (const each of this.#servers) each.isCutOff = false;
    // No other caller waits any more, and nobody is to be told of an older opening.
    await this.#time.run(31_000);
    const copy = this.#database.copy();
    const loss = { deaths: this.#deaths, madeMs: this.#time.nowMs() };
    for (let count = 0; count < 3; count += 1) {
      const work = this.#draw(server, "orders", 4);
      await this.#time.run(5);
      void work;
    }
    if (!this.#isStopped()) {
      this.#note("lost takes", undefined);
      this.#noteHighest();
      this.#database.restoreCounters(copy);
      this.#loss ??= loss;
      this.#noteLoss();
      await this.#time.run(11_000);
    }
    this.#isCalm = false;
  }

  #noteLoss(): void {
    this.#hasCause = true;
    const { counters } = this.#database.copy();
    this.#missing = 0n;
    for (const [id, highest] of this.#highest) {
      const missing = highest - (counters.get(id)?.used ?? 0n);
      if (missing > this.#missing) this.#missing = missing;
    }
  }

  #loseCounter(): void {
    this.#note("lost a counter", undefined);
    this.#noteHighest();
    this.#loss = { deaths: -1, madeMs: this.#time.nowMs() };
    const { counters } = this.#database.copy();
    const id = this.#random.pick([...counters.keys()]);
    const [name = "", periodKey = ""] = id.split("\n");
    this.#database.loseCounter({ name, periodKey });
    this.#noteLoss();
    // A loss of one period's row alone shows only to those that know it, so an operator is needed.
    if (periodKey !== "") this.#stopByOperator();
  }

  #isStopped(): boolean {
    return this.#database.copy().database?.stopped !== "";
  }

  /** Whether every server lives that took since the copy was made, with its marks: these are kept for a day. */
  #isCovered(): boolean {
    if (this.#loss === undefined) return true;
    const { deaths, madeMs } = this.#loss;
    return deaths === this.#deaths && this.#time.nowMs() - madeMs <= dayMs * 0.8;
  }

  /** As the runbook says: raise by the most that can be missing, give counters that are missing, open. */
  async #repair(): Promise<void> {
    this.#note("repair", undefined);
    this.#noteHighest();
    const { counters } = this.#database.copy();
    // The last raise may be among what the copy lacks: then one reckoning of what callers got is not enough.
    const undone = this.#mutant === "raises-once-after-two-moves" ? this.#raiseLost : 0n;
    const most = this.#missing > undone ? this.#missing - undone : 0n;
    this.#missing = 0n;
    this.#raiseLost = 0n;
    const isCovered = this.#isCovered();
    this.#loss = undefined;
    if (isCovered && this.#random.chance(0.7)) {
      this.#note("open without a raise", undefined);
      this.#isCalm = true;
      for (const server of this.#servers) server.isCutOff = false;
      this.#database.raise({ kind: "all", count: 0n }, `raise ${this.#timeline}`);
      this.#database.open();
      this.#hasCause = this.#isStopped();
      await this.#openingPasses();
      this.#isCalm = false;
      return;
    }
    if (this.#mutant !== "no-raise") {
      this.#database.raise({ kind: "all", count: most }, `raise ${this.#timeline}`);
      this.#raised += most;
      for (const name of names) {
        const key = { name, periodKey: "" };
        if (counters.has(counterId(key))) continue;
        this.#database.raise({ kind: "to", key, index: this.#highest.get(counterId(key)) ?? 0n }, "operator");
      }
    }
    const outcome = this.#database.open();
    this.#hasCause = this.#isStopped();
    if (outcome.kind === "opened" && this.#random.chance(0.7)) await this.#time.run(31_000);
  }

  async #openingPasses(): Promise<void> {
    for (let count = 0; this.#isRestless && count < 3; count += 1) await this.#call(this.#random.pick(this.#servers));
    await this.#time.run(31_000);
  }

  #noteHighest(): void {
    for (const [id, { used }] of this.#database.copy().counters) {
      if (used > (this.#highest.get(id) ?? -1n)) this.#highest.set(id, used);
    }
  }
}

function unanswered(name: string): IdError {
  return new IdError("STORE_UNAVAILABLE", `No answer to ${name}.`);
}

/** Runs the history of a seed. `mutant` leaves one rule out, which some seeds must show. */
export function runSequenceHistory(seed: number, mutant?: SequenceMutant | ProcessMutant): Promise<HistoryOutcome> {
  return new History(seed, mutant).run();
}
