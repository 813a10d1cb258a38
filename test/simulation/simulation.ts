import type { IdRun } from "../../src/snowflake/run.ts";
import { leadMaxMs } from "../../src/worker/worker-settings.ts";
import type { WorkerEvent } from "../../src/worker/worker-event.ts";
import { createHolder, parseLayoutRecord, parseWorkerRecord, recordKeys } from "../../src/worker/worker-record.ts";
import { EventQueue } from "./event-queue.ts";
import type { Fault, HolderState } from "./fault.ts";
import { injectFault } from "./inject-fault.ts";
import { IssueHistory, type Violation } from "./issue-history.ts";
import { createScenario, faultPhaseMs, type Scenario } from "./scenario.ts";
import { SeededRandom } from "./seeded-random.ts";
import { SimulatedMachine, simulationStartMs } from "./simulated-machine.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import { type LinkState, markOf, SimulatedServer } from "./simulated-store.ts";

/** What one seed came to. */
export interface Outcome {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly issued: number;
  /** Hash of everything that happened: one seed, one history. */
  readonly traceHash: string;
  /** How often each fault met a holder in each state: `kind/state`. */
  readonly met: ReadonlyMap<string, number>;
  readonly scenario: Scenario;
}

/** Changes to a run, for shrinking and for mutants. */
export interface RunOptions {
  /** Only these of the plan's faults, by place. */
  readonly keep?: ReadonlySet<number> | undefined;
  /** A clone draws the same random numbers as its original. */
  readonly clonesRandom?: boolean | undefined;
}

const healthyLink: LinkState = { delayMaxMs: 30, lossRate: 0, duplicateRate: 0, isCut: false };
const callTimeoutMs = 1_500;
const timeToStopMs = 3_000;

/** Runs one seed: faults first, then all is healed and everybody must serve again. */
export async function simulate(seed: number, options: RunOptions = {}): Promise<Outcome> {
  const random = new SeededRandom(seed);
  const scenario = createScenario(random.fork());
  const simulation = new Simulation(scenario, random, options);
  await simulation.run();
  return { seed, scenario, ...simulation.outcome() };
}

/** A place in which a process runs, dies and is started again: a machine, an instance name, a link. */
export interface Slot {
  readonly index: number;
  readonly machine: SimulatedMachine;
  readonly link: LinkState;
  process: SimulatedProcess;
  starts: number;
}

/** The world of one seed. The faults act on it through what is public. */
export class Simulation {
  readonly queue = new EventQueue();
  readonly slots: Slot[] = [];
  readonly server: SimulatedServer;
  readonly serverMachine: SimulatedMachine;
  readonly random: SeededRandom;
  readonly #scenario: Scenario;
  readonly #options: RunOptions;
  readonly #history: IssueHistory;
  readonly #met = new Map<string, number>();
  /** The highest mark that the store ever applied, for each worker ID, whatever it lost later. */
  readonly #highestMark = new Map<number, number>();
  /** Copies of processes, beside the slots. */
  readonly #clones: SimulatedProcess[] = [];
  #layoutText: string | undefined;
  #hash = 0x811c9dc5;
  #isHealed = false;

  constructor(scenario: Scenario, random: SeededRandom, options: RunOptions) {
    this.#scenario = scenario;
    this.random = random;
    this.#options = options;
    this.#history = new IssueHistory(scenario.layout);
    this.serverMachine = new SimulatedMachine(this.queue, scenario.offsetsMs.at(-1) ?? 0);
    this.server = new SimulatedServer(this.queue, random.fork(), this.serverMachine, scenario.traits);
    this.server.onApplied = (key, text) => this.#onApplied(key, text);
  }

  async run(): Promise<void> {
    const { processCount, offsetsMs, faults } = this.#scenario;
    for (let index = 0; index < processCount; index++) {
      const machine = new SimulatedMachine(this.queue, offsetsMs[index] ?? 0);
      const link = { ...healthyLink };
      const slot: Slot = { index, machine, link, starts: 0, process: undefined as unknown as SimulatedProcess };
      this.slots.push(slot);
      this.start(slot);
      this.#scheduleDraws(slot);
    }
    faults.forEach((fault, place) => {
      if (this.#options.keep?.has(place) === false) return;
      this.queue.at(fault.atMs, () => injectFault(this, fault));
    });
    await this.queue.run(faultPhaseMs);
    // Faults that were begun late, and what they put off, end by themselves; then everything is set right.
    await this.queue.run(faultPhaseMs + 10_000);
    this.#heal();
    const { ttlMs, windowMs } = this.#scenario.traits.timing;
    await this.queue.run(this.queue.nowMs + 2 * (ttlMs + windowMs));
    this.#checkServing();
    this.#history.checkUnique();
  }

  outcome(): Pick<Outcome, "violations" | "issued" | "traceHash" | "met"> {
    const { violations, issued } = this.#history;
    return { violations, issued, traceHash: (this.#hash >>> 0).toString(16).padStart(8, "0"), met: this.#met };
  }

  /** Starts a process in a slot: the instance is the slot's, so that a restart finds its own record. */
  start(slot: Slot): void {
    slot.starts += 1;
    const seed = this.random.uint32();
    const { layout, traits } = this.#scenario;
    const instance = `host${slot.index}:7609`;
    const sinceMs = slot.machine.nowMs();
    const holder = createHolder({
      instance,
      host: `host${slot.index}`,
      processId: slot.starts,
      bootId: "",
      sinceMs,
      version: "0",
    });
    const { windowMs, renewalPeriodMs, ttlMs } = traits.timing;
    const parts = {
      layout,
      queue: this.queue,
      machine: slot.machine,
      server: this.server,
      link: slot.link,
      seed,
      callTimeoutMs,
      options: {
        namespace: "default",
        holder,
        windowMs,
        renewalPeriodMs,
        ...(traits.liveness === "ttl" ? { ttlMs } : {}),
      },
      onEvent: (process: SimulatedProcess, event: WorkerEvent) => this.#onEvent(process, event),
    };
    const name = `${slot.index}.${slot.starts}`;
    const isCloned = this.#scenario.faults.some(({ kind, target }) => kind === "clone" && target === slot.index);
    slot.process = new SimulatedProcess({ ...parts, name }, isCloned ? "shadowed" : "alone");
    if (isCloned) void new SimulatedProcess({ ...parts, name: `${name}c` }, slot.process);
  }

  /** A copy of a slot's process begins to live, on a machine and a link of its own kind: the same. */
  clone(slot: Slot): void {
    const original = slot.process;
    const copy = original.releaseShadow(this.#options.clonesRandom === true ? undefined : this.random.fork());
    if (copy === undefined) return;
    this.#clones.push(copy);
    const bounds = [...original.mirror.askedFor].flatMap(([key, text]) => markOf(key, text) ?? []);
    this.#history.allowClone({ names: [original.name, copy.name], bounds });
    this.#scheduleCloneDraws(copy);
  }

  /** Brings the target into a state as far as that can be done, then lets the fault meet it. */
  meet(fault: Fault, inject: (slot: Slot) => void): void {
    const slot = this.slots[fault.target]!;
    this.#induce(slot, fault.state);
    this.queue.after(this.random.between(0, 60), () => {
      const key = `${fault.kind}/${slot.process.isAlive ? slot.process.phase : "dead"}`;
      this.#met.set(key, (this.#met.get(key) ?? 0) + 1);
      this.#note(`fault ${key}`);
      inject(slot);
    });
  }

  restartLater(slot: Slot, delayMs: number): void {
    this.queue.after(delayMs, () => {
      if (!slot.process.isAlive) this.start(slot);
    });
  }

  /** What a supervisor does with a process that is dead, or that ended because only an operator could help. */
  #startAgain(slot: Slot): void {
    if (slot.process.phase === "failed") slot.process.crash();
    if (!slot.process.isAlive) this.start(slot);
  }

  #induce(slot: Slot, state: HolderState): void {
    const { process } = slot;
    if (state === "holding" || !process.isRunning) return;
    if (state === "releasing") {
      void process.stop(timeToStopMs).then(() => this.restartLater(slot, this.random.between(10, 2_000)));
      return;
    }
    if (state === "rebasing") {
      // The clock goes back by more than the lead, and an ID is wanted: the way to another worker ID takes a few round
      // trips.
      slot.machine.step(-leadMaxMs(this.#scenario.layout) - this.random.between(1_000, 3_000));
      this.draw(process, 1);
      this.queue.after(3_000, () => slot.machine.heal());
      return;
    }
    process.crash();
    if (state === "waiting") this.#makeWait(slot);
    this.start(slot);
  }

  /** A new start must wait: for the mark of the record that was its own, or for the end of a quarantine. */
  #makeWait(slot: Slot): void {
    if (this.#scenario.traits.durability === "lossy") this.server.restart("same");
    else slot.machine.step(-1_500);
  }

  /** Draws as the service would; what comes is held against S2, S5 and S7. */
  draw(process: SimulatedProcess, count: number): void {
    process.draw(count, count === 1 ? "unary" : "bulk", (runs) => {
      for (const run of runs) this.#onRun(process, run);
    });
  }

  #onRun(process: SimulatedProcess, run: IdRun): void {
    const { workerIndex, firstMs, lastMs } = this.#history.add(run, process.name);
    this.#note(`${process.name} ${run.firstId} ${run.count}`);
    const mark = this.#highestMark.get(workerIndex) ?? Number.NEGATIVE_INFINITY;
    if (lastMs >= mark) this.#history.break("S2", `${process.name}: ${lastMs} is not below the mark ${mark}`);
    const { machine } = process;
    const trueMs = simulationStartMs + this.queue.nowMs;
    const { layout } = this.#scenario;
    const slackMs = leadMaxMs(layout) + Math.ceil(layout.tickNs / 1_000_000) + 1;
    if (lastMs > trueMs + machine.aheadMaxMs + slackMs) {
      this.#history.break(
        "S5",
        `${process.name}: ${lastMs - trueMs} ms ahead, its clock at most ${machine.aheadMaxMs}`,
      );
    }
    if (firstMs < trueMs - machine.backwardMs - slackMs) {
      const detail = `${process.name}: ${trueMs - firstMs} ms behind, its clock went back ${machine.backwardMs}`;
      this.#history.break("S5", detail);
    }
    if (process.endedGrant !== undefined)
      this.#history.break("S7", `${process.name} issued after ${process.endedGrant}`);
  }

  #onEvent(process: SimulatedProcess, event: WorkerEvent): void {
    const isVisible = this.#clones.includes(process) || this.slots.some((slot) => slot.process === process);
    if (event.kind === "grant-ended") process.endedGrant = event.end;
    if (event.kind === "acquired") process.endedGrant = undefined;
    if (isVisible) this.#note(`${process.name} ${event.kind}`);
  }

  #onApplied(key: string, text: string): void {
    if (key === recordKeys.layout) {
      // Another deployment may begin in an emptied store, but never with another layout.
      const { epochMs, tickNs, fields } = parseLayoutRecord(text);
      const layout = JSON.stringify({ epochMs, tickNs, fields });
      if (this.#layoutText !== undefined && this.#layoutText !== layout) this.#history.break("S6", text);
      this.#layoutText = layout;
    }
    const mark = markOf(key, text);
    if (mark === undefined) return;
    this.#note(`${key} ${mark.hwmMs}`);
    this.#highestMark.set(
      mark.workerIndex,
      Math.max(mark.hwmMs, this.#highestMark.get(mark.workerIndex) ?? mark.hwmMs),
    );
    this.#checkMark(text, key, mark.hwmMs);
  }

  /** S8: a mad clock cannot burn a worker ID. */
  #checkMark(text: string, key: string, hwmMs: number): void {
    const { holder } = parseWorkerRecord(key, text);
    const slot = this.slots.find(({ index }) => holder.instance === `host${index}:7609`);
    const { traits, layout } = this.#scenario;
    const machine = traits.hasClock ? this.serverMachine : slot?.machine;
    const skewMs = (machine?.aheadMaxMs ?? 0) + 1_000;
    const boundMs = simulationStartMs + this.queue.nowMs + traits.timing.windowMs + leadMaxMs(layout) + skewMs;
    if (hwmMs > boundMs) this.#history.break("S8", `${key}: the mark is ${hwmMs - boundMs} ms above what it may be`);
  }

  #scheduleDraws(slot: Slot): void {
    this.queue.after(this.random.between(50, 1_200), () => {
      this.draw(slot.process, this.random.chance(0.4) ? 1 : this.random.between(1, 3_000));
      if (slot.process.phase === "failed") this.queue.after(2_000, () => this.#startAgain(slot));
      if (!this.#isHealed) this.#scheduleDraws(slot);
    });
  }

  #scheduleCloneDraws(process: SimulatedProcess): void {
    this.queue.after(this.random.between(1, 500), () => {
      this.draw(process, this.random.between(1, 5_000));
      if (!this.#isHealed) this.#scheduleCloneDraws(process);
    });
  }

  #heal(): void {
    this.#note("heal");
    this.server.healSplit();
    this.server.unfreeze();
    this.server.isDown = false;
    this.serverMachine.heal();
    for (const slot of this.slots) {
      Object.assign(slot.link, healthyLink);
      slot.machine.heal();
      slot.process.resume();
      this.#startAgain(slot);
    }
    for (const clone of this.#clones) if (clone.isAlive) clone.crash();
  }

  #checkServing(): void {
    this.#isHealed = true;
    for (const { process } of this.slots) {
      const before = this.#history.issued;
      this.draw(process, 1);
      if (this.#history.issued === before) {
        const { state, phase } = process.source.status();
        const detail = `${phase}: ${state.kind === "serving" ? "serving" : state.error.message}`;
        this.#history.break("L", `${process.name} does not serve: ${detail} ${process.startError}`);
      }
    }
  }

  #note(what: string): void {
    for (let index = 0; index < what.length; index++) {
      this.#hash = Math.imul(this.#hash ^ what.charCodeAt(index), 0x01000193);
    }
    this.#hash = Math.imul(this.#hash ^ Math.floor(this.queue.nowMs * 16), 0x01000193);
  }
}
