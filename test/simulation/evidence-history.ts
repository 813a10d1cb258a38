/**
 * One history of evidence, drawn by a seed: servers that take, look, crash and are cut off, over a database that stays
 * the same one by its identity. It goes back as a whole, counters are changed by hand, and operators raise sequences
 * that are in use. Statements get lost, come late, and come twice.
 */
import { IdError } from "../../src/errors.ts";
import { counterId, type SequenceStore } from "../../src/sequence/sequence-store.ts";
import { SequenceDatabase } from "../../src/sequence/sequence-database.ts";
import { completeDefinition, onlyStripe } from "../../src/sequence/sequence.ts";
import { StripedDatabases } from "../../src/sequence/striped-databases.ts";
import { ValueSources } from "../../src/sequence/value-sources.ts";
import { ManualTime } from "../support/worlds/manual-time.ts";
import { MemorySequences, memorySequenceStore, type SequenceMutant } from "../support/worlds/memory-sequences.ts";
import { SeededRandom } from "./seeded-random.ts";

/** What came of a history. */
export interface EvidenceOutcome {
  readonly faults: readonly string[];
  readonly events: ReadonlyMap<string, number>;
}

interface Server {
  readonly id: number;
  readonly sources: ValueSources;
  isAlive: boolean;
  isCutOff: boolean;
}

const names = ["orders", "strict"] as const;
const stepCount = 60;
/** Two looks, and what they wait for. */
const twoLooksMs = 25_000;

class History {
  readonly #random: SeededRandom;
  readonly #time = new ManualTime(Date.UTC(2027, 0, 1, 12));
  readonly #mutant: SequenceMutant | undefined;
  readonly #database: MemorySequences;
  readonly #issued = new Map<string, Set<bigint>>();
  readonly #faults: string[] = [];
  readonly #events = new Map<string, number>();
  readonly #late: (() => void)[] = [];
  /** Values below are not to be given any more, by the name of the sequence. */
  readonly #floors = new Map<string, bigint>();
  /** The raises that not every server has acknowledged. */
  #raises: { readonly name: string; readonly floor: bigint; readonly epoch: number }[] = [];
  #servers: Server[] = [];
  #nextServer = 0;
  /** A loss that servers have not found yet: values may come twice meanwhile. */
  #isLost = false;
  /** Every server has learned of it: no value may come at all. */
  #isLearned = false;
  #isCalm = false;

  constructor(seed: number, mutant: SequenceMutant | undefined) {
    this.#random = new SeededRandom(seed);
    this.#mutant = mutant;
    this.#database = new MemorySequences("system=1", () => this.#time.nowMs(), mutant);
  }

  async run(): Promise<EvidenceOutcome> {
    this.#database.look([]);
    for (const name of names) {
      const steps = name === "strict" ? { allocation: "strict" as const } : { stepMin: 5, stepMax: 40 };
      const definition = completeDefinition({ name, ...steps });
      const stored = { definition, sequenceId: name, createdMs: 1, updatedMs: 1 };
      this.#database.create({ stored, writeId: "made" }, 1);
    }
    for (let count = 0; count < 3; count += 1) this.#startServer();
    for (let step = 0; step < stepCount && this.#faults.length === 0; step += 1) await this.#step();
    for (const server of this.#servers) server.isAlive = false;
    return { faults: this.#faults, events: this.#events };
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const roll = random.between(1, 100);
    if (roll <= 60) await this.#call();
    else if (roll <= 72) await this.#pass(random.pick([1, 200, 3_000, 11_000]));
    else if (roll <= 76) this.#crash(random.pick(this.#servers));
    else if (roll <= 79) random.pick(this.#servers).isCutOff = true;
    else if (roll <= 84) for (const server of this.#servers) server.isCutOff = false;
    else if (roll <= 90) this.#late.splice(0, 3).forEach((statement) => statement());
    else if (roll <= 95) this.#raise(random.pick(names));
    else if (roll <= 98) await this.#lose(() => this.#goBack());
    else await this.#lose(() => this.#editByHand());
    this.#settleRaises();
  }

  async #pass(ms: number): Promise<void> {
    await this.#time.run(ms);
    this.#settleRaises();
  }

  #note(event: string): void {
    this.#events.set(event, (this.#events.get(event) ?? 0) + 1);
  }

  async #call(): Promise<void> {
    const work = this.#draw(this.#random.pick(this.#servers), this.#random.pick(names));
    await this.#time.run(this.#random.pick([0, 0, 5]));
    void work;
  }

  async #draw(server: Server, name: string): Promise<void> {
    try {
      const source = await server.sources.open(name);
      const { runs } = await source.reserve({ count: this.#random.pick([1, 1, 4, 12]), priority: "unary" });
      if (!server.isAlive) return;
      this.#note("answered");
      for (const { firstValue, count } of runs) {
        for (let at = 0n; at < count; at += 1n) this.#noteValue(server, name, firstValue + at);
      }
    } catch (error) {
      if (!(error instanceof IdError)) throw error;
      this.#note(error.reason);
    }
  }

  #noteValue({ id }: Server, name: string, value: bigint): void {
    const issued = this.#issued.get(name) ?? new Set();
    this.#issued.set(name, issued);
    if (issued.has(value) && !this.#isLost) this.#faults.push(`${name} ${value} comes twice, by server ${id}`);
    if (this.#isLearned) this.#faults.push(`${name} ${value} comes after every server has learned of a loss`);
    if (value <= (this.#floors.get(name) ?? 0n)) this.#faults.push(`${name} ${value} comes after a raise above it`);
    issued.add(value);
  }

  #startServer(): void {
    const id = (this.#nextServer += 1);
    const clock = this.#time;
    const timers = {
      after: (delayMs: number, task: () => void) => this.#time.after(delayMs, () => server.isAlive && task()),
    };
    const onEvent = ({ kind }: { readonly kind: string }): void => this.#note(kind);
    const store = this.#storeOf(() => server);
    const database = new SequenceDatabase({ store, clock, onEvent, server: String(id) });
    const part = { stripe: onlyStripe, store, database };
    const striped = new StripedDatabases({
      stripes: { usable: async () => [part], usableLater: async () => [part] },
      clock,
      timers,
      waitMaxMs: 500,
      onEvent,
    });
    const counters = { issued: 0, taken: 0, refused: 0, failed: 0 };
    const sources = new ValueSources({
      counters,
      database: striped,
      clock,
      timers,
      waitMaxMs: 500,
      namesMax: 2,
      onEvent,
    });
    const server: Server = { id, sources, isAlive: true, isCutOff: false };
    this.#servers.push(server);
  }

  #crash(server: Server): void {
    server.isAlive = false;
    this.#servers = this.#servers.filter((other) => other !== server);
    // An operator says that it is dead.
    for (const { processId, server: name } of this.#database.servers()) {
      if (name === String(server.id)) this.#database.dropWitness(processId);
    }
    this.#startServer();
  }

  #storeOf(serverOf: () => Server): SequenceStore {
    const carry = async <T>(done: () => T, name: string): Promise<T> => {
      const statement = name === "stop" ? () => this.#watchStop(done) : done;
      const [server, random] = [serverOf(), this.#random];
      await Promise.resolve();
      if (!server.isAlive) return new Promise(() => {});
      const roll = this.#isCalm ? 50 : random.between(1, 100);
      if (server.isCutOff || roll <= 3) throw unanswered(name);
      if (roll <= 6) {
        this.#late.push(() => void statement());
        throw unanswered(name);
      }
      if (roll > 90) await this.#delay();
      const answer = statement();
      if (roll <= 9) throw unanswered(name);
      // A packet that came twice.
      if (roll <= 12) this.#late.push(() => void statement());
      if (roll <= 22) await this.#delay();
      return server.isAlive ? answer : new Promise(() => {});
    };
    return memorySequenceStore(() => this.#database, carry);
  }

  async #delay(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#time.after(this.#random.pick([1, 20, 400]), resolve);
    await promise;
  }

  #watchStop<T>(stop: () => T): T {
    const isStopped = stop();
    const reason = this.#database.copy().database?.stopped;
    if (isStopped && !this.#isLost) this.#faults.push(`stopped without a loss: ${reason}`);
    return isStopped;
  }

  /** An operator leaves values out of a sequence that is in use. */
  #raise(name: string): void {
    this.#note("raise");
    const key = { name, periodKey: "" };
    const used = this.#database.look([key]).counters.get(counterId(key)) ?? 0n;
    this.#database.raise({ kind: "by", key, count: 100n }, `raise ${used}`);
    this.#raises.push({ name, floor: used, epoch: this.#database.look([]).database!.epoch });
  }

  #settleRaises(): void {
    const seen = Math.min(...this.#database.servers().map(({ epoch }) => epoch), Number.MAX_SAFE_INTEGER);
    const isSeen = ({ epoch }: { readonly epoch: number }): boolean => epoch <= seen;
    for (const { name, floor } of this.#raises.filter(isSeen)) {
      this.#note("raise seen by all");
      if (floor > (this.#floors.get(name) ?? 0n)) this.#floors.set(name, floor);
    }
    this.#raises = this.#raises.filter((raise) => !isSeen(raise));
  }

  /** Something is lost while all servers reach the database: it is found, and an operator repairs it. */
  async #lose(lose: () => Promise<boolean>): Promise<void> {
    this.#isCalm = true;
    for (const server of this.#servers) server.isCutOff = false;
    await this.#pass(twoLooksMs);
    // Answers to what callers still wait for.
    const isLost = await lose();
    await this.#passBusy(twoLooksMs);
    if (isLost && this.#database.copy().database?.stopped === "") this.#faults.push("a loss was not found");
    if (isLost) {
      // Those that found it, and those that hear of it.
      await this.#pass(twoLooksMs);
      this.#isLearned = true;
      await this.#passBusy(1_000);
      this.#isLearned = false;
      await this.#repair();
    }
    this.#isLost = false;
    this.#isCalm = false;
  }

  async #passBusy(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      if (this.#random.chance(0.5)) await this.#call();
      await this.#time.run(500);
    }
  }

  /** The whole database goes back to a copy, as a snapshot of its volume that is put back. */
  async #goBack(): Promise<boolean> {
    this.#note("went back");
    const copy = this.#database.copy();
    // Only one server takes since, or a server that then crashes, or none at all.
    const taker = this.#random.pick([...this.#servers, undefined]);
    if (taker !== undefined) await this.#drawOften(() => taker);
    await this.#pass(11_000);
    if (taker !== undefined && this.#random.chance(0.3)) this.#crash(taker);
    const rows = new Set(this.#database.servers().map(({ server }) => server));
    const isSeen = this.#servers.some(({ id }) => rows.has(String(id)));
    // Where nobody lives who took, nobody can see it: the runbook has to come first.
    if (!isSeen) return false;
    this.#isLost = true;
    this.#late.length = 0;
    this.#raises = [];
    this.#database.restore(copy);
    return true;
  }

  /** Somebody sets a counter to nothing, and others take past it before anybody looks. */
  async #editByHand(): Promise<boolean> {
    const key = { name: "orders", periodKey: "" };
    const taken = this.#database.copy().counters.get(counterId(key))?.taken ?? 0n;
    if (taken === 0n && this.#mutant !== "no-taken-count") return false;
    this.#note("edited");
    this.#isLost = true;
    this.#raises = [];
    this.#database.editCounter(key, taken === 0n ? 0n : taken - 1n);
    await this.#drawOften(() => this.#random.pick(this.#servers));
    return true;
  }

  async #drawOften(server: () => Server): Promise<void> {
    for (let count = 0; count < 6; count += 1) {
      const work = this.#draw(server(), this.#random.pick(names));
      await this.#time.run(5);
      void work;
    }
  }

  async #repair(): Promise<void> {
    this.#note("repair");
    let missing = 0n;
    for (const name of names) {
      const used = this.#database.copy().counters.get(counterId({ name, periodKey: "" }))?.used ?? 0n;
      const floor = this.#floors.get(name) ?? 0n;
      for (const value of [...(this.#issued.get(name) ?? []), floor]) {
        if (value - used > missing) missing = value - used;
      }
    }
    this.#database.raise({ kind: "all", count: missing + 1n }, `repair ${this.#time.nowMs()}`);
    const outcome = this.#database.open();
    if (outcome.kind !== "opened") this.#faults.push(`it is ${outcome.kind} after a repair`);
    await this.#time.run(35_000);
  }
}

function unanswered(name: string): IdError {
  return new IdError("STORE_UNAVAILABLE", `No answer to ${name}.`);
}

/** Runs the history of a seed. `mutant` leaves one rule of the database out, which some seeds must show. */
export function runEvidenceHistory(seed: number, mutant?: SequenceMutant): Promise<EvidenceOutcome> {
  return new History(seed, mutant).run();
}
