/**
 * One history of a namespace that moves between two stores, drawn by a seed: the code of src/operator/store-move/ and
 * real holders over two simulated stores. Operators crash between any two of their calls, run again, take their move
 * back, meet another operator, and move the namespace back. Holders live, die, stand still and wake up late meanwhile,
 * and processes start on both stores at any moment. Everything is held to S1 to S8 over both stores, and to M: at most
 * one store is open, none that is open has a quarantine without end, no record that nobody holds gets a lower mark, and
 * no grant begins before the end of a quarantine that was raised before it.
 */
import { recordKeys } from "../../src/lease/records/record-text.ts";
import { foreverMs } from "../../src/lease/records/quarantine-record.ts";
import { createHolder, parseWorkerKey } from "../../src/lease/records/worker-record.ts";
import { createLayout, type Layout } from "../../src/snowflake/layout.ts";
import { EventQueue } from "./event-queue.ts";
import { drawHardships, type MoveHardships } from "./move-hardships.ts";
import { MoveOperator, type MoveWork } from "./move-operator.ts";
import { drawClaimers } from "./past-claimers.ts";
import { PromiseChecker } from "./promise-checker.ts";
import { RaisedQuarantines } from "./raised-quarantines.ts";
import type { Outcome } from "./simulation.ts";
import { SeededRandom } from "./seeded-random.ts";
import { SimulatedMachine, simulationStartMs } from "./simulated-machine.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import { type LinkState, SimulatedServer, type StoreTraits } from "./simulated-store.ts";
import { anyStore } from "./store-model.ts";

/** The outcome of a history of a move: it has no plan of faults. */
export type MoveOutcome = Omit<Outcome, "scenario">;

/** One of the two stores, and the state of the record in place of its layout record. */
interface Home {
  readonly name: string;
  readonly server: SimulatedServer;
  /** The texts that are there, as they were written. */
  readonly texts: Map<string, string>;
  slot: "nothing" | "layout" | "arriving" | "abandoned" | "leaving" | "left";
}

const roundsMax = 3;
const attemptsMax = 9;
const attemptMaxMs = 15_000;
const processesMax = 5;
const callTimeoutMs = 1_500;
/** Claims begin up to then: moves of most seeds are over by that time. */
const claimsPhaseMs = 60_000;
/** The time in which marks, quarantines and the times of the dead are over. */
const settleMs = 30_000;
/** How often it is looked whether a process serves again. */
const lookPeriodMs = 500;

class MoveHistory {
  readonly #random: SeededRandom;
  readonly #queue = new EventQueue();
  readonly #met = new Map<string, number>();
  readonly #layout: Layout;
  readonly #checker: PromiseChecker;
  readonly #homes: readonly [Home, Home];
  readonly #machines: SimulatedMachine[] = [];
  #processes: SimulatedProcess[] = [];
  /** Operators that stood still when others went on. */
  readonly #still: MoveOperator[] = [];
  #started = 0;
  #isHealed = false;
  /** How wrong clocks may be: uniqueness rests on them where a store may lose data. */
  readonly #skewMs: number;
  #digest = 0;
  readonly #hardships: MoveHardships;
  readonly #raised: RaisedQuarantines;

  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#hardships = drawHardships(seed);
    this.#random = new SeededRandom(seed);
    this.#layout = createLayout({
      name: "custom",
      epochMs: Date.UTC(2026, 0, 1),
      tickNs: this.#random.pick([1_000_000, 10_000_000, 100_000_000]),
      fields: [
        { kind: "timestamp", bits: 41 },
        { kind: "worker", bits: 1 },
        { kind: "sequence", bits: 6 },
      ],
    });
    this.#raised = new RaisedQuarantines(this.#layout);
    const durabilities = [this.#drawDurability(), this.#drawDurability()] as const;
    this.#skewMs = durabilities.includes("lossy") || this.#hardships.loses ? 450 : 4_000;
    this.#homes = [this.#createHome("one", durabilities[0]), this.#createHome("other", durabilities[1])];
    const [one, other] = this.#homes.map(({ server }) => server.traits);
    const longest = one!.timing.windowMs > other!.timing.windowMs ? one! : other!;
    this.#checker = new PromiseChecker(this.#layout, longest, "advance");
  }

  async run(): Promise<Omit<MoveOutcome, "seed">> {
    let source = this.#homes[0];
    this.#startClaimers();
    this.#start(source);
    await this.#pass(1_000, 3_000);
    for (let round = this.#random.between(1, roundsMax); round > 0; round -= 1) {
      source = this.#homes.find(({ slot }) => slot === "layout" || slot === "leaving") ?? source;
      await this.#round(source);
    }
    await this.#heal();
    this.#checker.finish();
    const { violations, issued } = this.#checker.history;
    const traceHash = (this.#digest >>> 0).toString(16).padStart(8, "0");
    return { violations, issued, traceHash, met: this.#met };
  }

  /** Operators claim the past of either store, whatever its move has come to. */
  #startClaimers(): void {
    drawClaimers(this.#seed, claimsPhaseMs, {
      queue: this.#queue,
      layout: this.#layout,
      offsetsMs: [-this.#skewMs, 0, this.#skewMs],
      server: (random) => random.pick(this.#homes).server,
      onRun: (claim, run) => {
        this.#checker.onPastRun(claim, run);
        this.#note(`claim ${claim} ${run.firstId}`);
      },
      count: (what) => this.#count(what),
    });
  }

  /** Processes serve, most of them end, and operators move the namespace meanwhile. */
  async #round(source: Home): Promise<void> {
    const random = this.#random;
    for (let count = random.between(1, 2); count > 0; count -= 1) this.#start(source);
    await this.#pass(500, 2_500);
    const target = this.#otherOf(source);
    for (let count = random.between(1, 5); count > 0; count -= 1) {
      this.#queue.after(random.between(0, 20_000), () => {
        if (!this.#isHealed) this.#start(random.chance(0.25) ? source : target);
      });
    }
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (random.chance(0.4)) await this.#endAll();
      const isBegun = target.slot === "arriving" || target.slot === "abandoned";
      const works: MoveWork[] = [random.chance(isBegun ? 0.3 : 0.03) ? "abandon" : "move"];
      const { raises, loses } = this.#hardships;
      if (raises) for (let count = random.between(0, 2); count > 0; count -= 1) this.#raiseSoon(source);
      if (loses && random.chance(0.3)) this.#loseSoon(random.pick(this.#homes));
      if (random.chance(raises ? 0.5 : 0.15)) works.push(random.pick(["move", "abandon"]));
      if (random.chance(0.5)) {
        // A process that is about to take a worker ID when the source is closed.
        this.#start(source);
        await this.#pass(0, 1_200);
      }
      await this.#work(works, source);
      if (source.slot === "left") break;
      await this.#pass(50, random.pick([200, 3_000, 9_000]));
    }
    if (source.slot !== "left") return;
    this.#count(source === this.#homes[0] ? "moved" : "moved back");
    for (let count = random.between(1, 2); count > 0; count -= 1) this.#start(target);
    await this.#pass(1_000, 6_000);
  }

  /** The servers are stopped for the move, or die, or stand still and count as dead. */
  async #endAll(): Promise<void> {
    for (const process of this.#processes) {
      const roll = this.#random.between(1, 3);
      if (roll === 1) void process.stop(3_000);
      else if (roll === 2) process.crash();
      else this.#holdStill(process, this.#random.between(5_000, 15_000));
    }
    await this.#pass(0, 6_500);
  }

  /** Lets operators work, at once where there are two, until each has ended or died. */
  async #work(works: readonly MoveWork[], source: Home): Promise<void> {
    const operators = works.map(() => this.#operator(source, this.#random.chance(0.6)));
    operators.forEach((operator, index) => operator.begin(works[index]!));
    const endMs = this.#queue.nowMs + attemptMaxMs;
    while (operators.some(({ isBusy }) => isBusy) && this.#queue.nowMs < endMs) {
      await this.#queue.run(this.#queue.nowMs + 50);
    }
    for (const operator of operators) if (operator.isBusy) operator.crash();
    this.#still.push(...operators.filter(({ isWorking }) => isWorking));
  }

  /** A process raises the quarantine while operators are at work. */
  #raiseSoon(source: Home): void {
    const operator = this.#operator(source, this.#random.chance(0.4));
    this.#still.push(operator);
    this.#queue.after(this.#random.between(0, 3_000), () => {
      if (!this.#isHealed) operator.begin("quarantine");
    });
  }

  /**
   * A store goes back to an earlier state of the same step: one that loses the record of a move's step takes servers
   * again, which docs/adr/0062 leaves to the runbook.
   */
  #loseSoon(home: Home): void {
    this.#queue.after(this.#random.between(0, 12_000), () => {
      if (this.#isHealed || !home.server.goBackKeeping(recordKeys.layout)) return;
      this.#count("a store went back");
      home.texts.clear();
      for (const [key, text] of home.server.rows) home.texts.set(key, text);
      this.#raised.onLost(home.name);
      this.#raised.onCopyLost(this.#otherOf(home).name);
    });
  }

  #otherOf(home: Home): Home {
    return this.#homes.find((each) => each !== home)!;
  }

  #operator(source: Home, isCrashing: boolean): MoveOperator {
    const random = this.#random.fork();
    const machine = this.#createMachine();
    return new MoveOperator({
      queue: this.#queue,
      random,
      machine,
      source,
      target: this.#otherOf(source),
      link: this.#isHealed ? this.#createLink(30, 0) : this.#createLink(random.pick([30, 300]), random.pick([0, 0.06])),
      callTimeoutMs,
      isCrashing,
      onEvent: (event) => this.#count(event),
      onStep: (step) => {
        if (step === "copies") this.#raised.onCopying(source.name);
      },
      onRaised: (untilMs) => this.#raised.onRaised(source.name, untilMs),
    });
  }

  #createLink(delayMaxMs: number, lossRate: number): LinkState {
    return { delayMaxMs, lossRate, duplicateRate: lossRate, isCut: false };
  }

  #drawDurability(): "durable" | "lossy" {
    return this.#random.chance(0.7) ? "durable" : "lossy";
  }

  #createHome(name: string, durability: "durable" | "lossy"): Home {
    const random = this.#random;
    const hasClock = durability === "lossy" || random.chance(0.5);
    const liveness = durability === "durable" && random.chance(0.2) ? "lock" : "ttl";
    const windowMs = random.pick([1_500, 2_500]);
    const timing = { windowMs, renewalPeriodMs: Math.round(windowMs * 0.3), ttlMs: windowMs + 3_000 };
    const readsMayBeUndone = durability === "durable" && this.#hardships.readsMayBeUndone;
    const model = { ...anyStore[durability], readsMayBeUndone };
    const traits: StoreTraits = { durability, hasClock, liveness, timing, model };
    const server = new SimulatedServer(this.#queue, random.fork(), this.#createMachine(), traits);
    const home: Home = { name, server, texts: new Map(), slot: "nothing" };
    server.onApplied = (key, text) => this.#onApplied(home, key, text);
    return home;
  }

  #createMachine(): SimulatedMachine {
    const machine = new SimulatedMachine(
      this.#queue,
      this.#isHealed ? 0 : this.#random.between(-this.#skewMs, this.#skewMs),
    );
    this.#machines.push(machine);
    return machine;
  }

  #onApplied(home: Home, key: string, text: string): void {
    if (key === recordKeys.layout) this.#onSlot(home, text);
    const before = home.texts.get(key);
    home.texts.set(key, text);
    if (parseWorkerKey(key) !== undefined) {
      if (before !== undefined) this.#checkMark(home, key, before, text);
      this.#raised.onWritten(home.name, key, before, text);
    }
    this.#checkBarred(home);
    const isMove = key === recordKeys.layout && home.slot !== "layout";
    // Marks come from both stores and all holders: the clock that is furthest ahead bounds them.
    const furthest = this.#machines.reduce((one, other) => (other.aheadMaxMs > one.aheadMaxMs ? other : one));
    if (!isMove) this.#checker.onApplied(key, text, simulationStartMs + this.#queue.nowMs, () => furthest);
    this.#note(`${home.name} ${key}`);
  }

  #onSlot(home: Home, text: string): void {
    const { phase } = JSON.parse(text) as { readonly phase?: Home["slot"] };
    const before = home.slot;
    home.slot = phase ?? "layout";
    const isBarred = home.slot === "arriving" || home.slot === "abandoned";
    if (before === "layout" && isBarred) this.#checker.history.break("M", `${home.name} was open, and is ${home.slot}`);
    this.#count(`${home.name} is ${home.slot}`);
    const other = this.#otherOf(home);
    if (home.slot === "arriving") this.#raised.onClaimed(other.name);
    if (home.slot === "layout" && before === "arriving") this.#raised.onOpened(home.name, other.name);
    if (home.slot === "left") this.#raised.onLost(home.name);
    if (this.#homes.every(({ slot }) => slot === "layout")) {
      this.#checker.history.break("M", "both stores are open");
    }
  }

  #checkBarred({ name, slot, texts }: Home): void {
    const { untilMs } = JSON.parse(texts.get(recordKeys.quarantine) ?? "{}") as { readonly untilMs?: number };
    if (slot !== "layout" || untilMs === undefined || untilMs < foreverMs) return;
    this.#checker.history.break("M", `${name} is open, under a quarantine without end`);
  }

  #checkMark({ name }: Home, key: string, before: string, after: string): void {
    const [one, other] = [before, after].map((text) => JSON.parse(text) as { token: string; hwmMs: number });
    if (one!.token !== "" || other!.hwmMs >= one!.hwmMs) return;
    this.#checker.history.break("M", `${key} of ${name} went from ${one!.hwmMs} to ${other!.hwmMs}`);
  }

  /** Starts a process on a store. A store that no move has claimed yet would be another deployment: there is none. */
  #start(home: Home): void {
    const isUnclaimed = home.slot === "nothing" && home !== this.#homes[0];
    if (isUnclaimed || this.#processes.filter(({ isAlive }) => isAlive).length >= processesMax) return;
    if (home.slot !== "layout" && home.slot !== "nothing") this.#count(`a start while the store is ${home.slot}`);
    this.#started += 1;
    const name = `p${this.#started} on ${home.name}`;
    const identity = { instance: name, host: name, processId: this.#started, bootId: "" };
    const machine = this.#createMachine();
    const workerId = this.#hardships.pins && this.#random.chance(0.5) ? this.#random.between(0, 1) : undefined;
    if (workerId !== undefined) this.#count("a start with a pinned worker ID");
    const process = new SimulatedProcess(
      {
        name,
        layout: this.#layout,
        queue: this.#queue,
        machine,
        server: home.server,
        link: this.#isHealed
          ? this.#createLink(30, 0)
          : this.#createLink(this.#random.pick([10, 400, 4_000]), this.#random.pick([0, 0.05])),
        disk: undefined,
        seed: this.#random.uint32(),
        options: {
          namespace: "default",
          workerId,
          holder: createHolder({ ...identity, sinceMs: machine.nowMs(), version: "0" }),
        },
        rollbackPolicy: "advance",
        hasSingleDraws: this.#random.chance(0.5),
        callTimeoutMs,
        onEvent: (one, event) => {
          const problem = event.kind === "acquired" ? this.#raised.onAcquired(name, event) : undefined;
          if (problem !== undefined) this.#checker.history.break("M", problem);
          this.#checker.onEvent(one, event);
        },
        onRecord: (entry, how) => this.#checker.onRecord(name, entry, how),
        onDanger: (danger) => this.#count(danger),
        onCall: () => {},
      },
      "alone",
    );
    const indexes = { first: workerId ?? 0, last: workerId ?? this.#layout.workerCount - 1 };
    this.#checker.onStart(process, { instance: name, sinceMs: this.#queue.nowMs, indexes });
    this.#processes.push(process);
    this.#scheduleDraws(process);
    if (!this.#isHealed) this.#queue.after(this.#random.between(300, 4_000), () => this.#meetFate(process));
  }

  #meetFate(process: SimulatedProcess): void {
    if (!process.isAlive || this.#isHealed) return;
    const random = this.#random;
    const roll = random.between(1, 100);
    if (roll <= 30) void process.stop(3_000);
    else if (roll <= 55) process.crash();
    else if (roll <= 90) this.#holdStill(process, random.between(1_000, 12_000));
    else {
      process.parts.link.isCut = true;
      this.#queue.after(random.between(1_000, 8_000), () => (process.parts.link.isCut = false));
    }
    this.#queue.after(random.between(4_000, 15_000), () => this.#meetFate(process));
  }

  /** Some pauses are seen by the machine's clocks, most by none. */
  #holdStill(process: SimulatedProcess, lengthMs: number): void {
    if (!process.isRunning) return;
    const home = this.#homes.find(({ server }) => server === process.parts.server);
    const isSeen = this.#random.chance(0.3);
    process.pause();
    this.#queue.after(lengthMs, () => {
      if (!isSeen) process.machine.wakeUnseen(lengthMs);
      const isGone = home?.slot === "left";
      if (isGone && process.isAlive) this.#count("a holder woke up after its store was left");
      process.resume(undefined);
      this.#draw(process);
    });
  }

  #scheduleDraws(process: SimulatedProcess): void {
    this.#queue.after(this.#random.between(50, 500), () => {
      if (!process.isAlive) return;
      this.#draw(process);
      this.#scheduleDraws(process);
    });
  }

  #draw(process: SimulatedProcess): void {
    process.draw(this.#random.pick([1, 1, 10, 70]), "unary", (runs) => {
      for (const run of runs) {
        this.#checker.onRun(process, run);
        this.#note(`${process.name} ${run.firstId}`);
      }
    });
  }

  /** Everybody is gone and all is well: an operator ends what was begun, and the namespace serves again. */
  async #heal(): Promise<void> {
    this.#isHealed = true;
    for (const operator of this.#still) operator.crash();
    for (const process of this.#processes) if (process.isAlive) process.crash();
    for (const machine of this.#machines) machine.heal();
    await this.#pass(settleMs, settleMs);
    const source = this.#homes.find(({ slot }) => slot === "leaving");
    if (source !== undefined) await this.#end(source);
    const open = this.#homes.filter(({ slot }) => slot === "layout");
    const before = this.#checker.history.issued;
    const endMs = this.#queue.nowMs + settleMs;
    while (open.length === 1 && this.#queue.nowMs < endMs && this.#checker.history.issued === before) {
      // A start that found no free worker ID is made again, as a supervisor does.
      for (const process of this.#processes) if (process.phase === "failed") process.crash();
      if (!this.#processes.some(({ isAlive }) => isAlive)) this.#start(open[0]!);
      await this.#pass(lookPeriodMs, lookPeriodMs);
    }
    if (this.#checker.history.issued > before) return;
    this.#checker.history.break("L", `nobody serves: ${this.#homes.map(({ slot }) => slot).join(", ")}`);
  }

  async #end(source: Home): Promise<void> {
    for (const work of ["move", "abandon"] as const) {
      if (source.slot !== "leaving") return;
      const operator = this.#operator(source, false);
      operator.begin(work);
      await this.#pass(settleMs, settleMs);
    }
  }

  async #pass(minMs: number, maxMs: number): Promise<void> {
    await this.#queue.run(this.#queue.nowMs + this.#random.between(minMs, maxMs));
  }

  #count(what: string): void {
    this.#met.set(what, (this.#met.get(what) ?? 0) + 1);
  }

  #note(what: string): void {
    for (let index = 0; index < what.length; index += 1) {
      this.#digest = Math.imul(this.#digest ^ what.charCodeAt(index), 0x01000193);
    }
  }
}

/** Runs the history of a seed. */
export async function runMoveHistory(seed: number): Promise<MoveOutcome> {
  return { seed, ...(await new MoveHistory(seed).run()) };
}
