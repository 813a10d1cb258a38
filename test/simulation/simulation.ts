import type { IdRun } from "../../src/snowflake/run.ts";
import { rollbackRules } from "../../src/snowflake/rollback-policy.ts";
import { IdError } from "../../src/errors.ts";
import { releaseExpired } from "../../src/operator/release-expired.ts";
import type { Entry } from "../../src/store/record-store.ts";
import { leadMaxMs } from "../../src/lease/worker-settings.ts";
import type { WorkerEvent } from "../../src/lease/worker-event.ts";
import { createHolder } from "../../src/lease/records/worker-record.ts";
import { type Danger, DangerWatch, dangers } from "./danger-watch.ts";
import { bindingOf, indexesOf, servingMax } from "./deployment.ts";
import { EventQueue, settled } from "./event-queue.ts";
import type { Fault, HolderState } from "./fault.ts";
import { injectFault } from "./inject-fault.ts";
import type { Violation } from "./issue-history.ts";
import { PromiseChecker, type StartedProcess } from "./promise-checker.ts";
import { claimCounts, startClaimers } from "./past-claimers.ts";
import { createScenario, type Scenario } from "./scenario.ts";
import { SeededRandom } from "./seeded-random.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { SimulatedMachine, simulationStartMs } from "./simulated-machine.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import { type LinkState, SimulatedServer, SimulatedStore } from "./simulated-store.ts";
import type { TraceEvent, TraceSink } from "./trace-event.ts";
import { TraceHash } from "./trace-hash.ts";

/** The outcome of one seed. */
export interface Outcome {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly issued: number;
  /** Hash of everything that happened: one seed, one history. */
  readonly traceHash: string;
  /** How often each fault met a holder in each state, `kind/state`, and how often each thing of note happened. */
  readonly met: ReadonlyMap<string, number>;
  readonly scenario: Scenario;
}

/** The counters of a run besides faults: see {@link Outcome.met}. */
export const counted = [
  "clone that lived",
  "a copy started again from its copied record",
  "resumed",
  "an operator released a worker ID",
  "a loss that did not show took a worker record back",
  ...claimCounts,
  ...dangers,
] as const;

/** Changes to a run for shrinking, and the sink of its events. */
export interface RunOptions {
  /** Only these of the plan's faults, by place. */
  readonly keep?: ReadonlySet<number> | undefined;
  /** In place of the one that the seed draws. No operator claims the past in it. */
  readonly scenario?: Scenario | undefined;
  /** Takes what happens. The history is the same with it and without. */
  readonly sink?: TraceSink | undefined;
}

/** An event without its time. */
type Happening<T = TraceEvent> = T extends TraceEvent ? Omit<T, "atMs"> : never;

/** A place in which a process runs, dies and is started again: a machine, its disk, an instance name, a link. */
export interface Slot {
  readonly index: number;
  readonly instance: string;
  readonly machine: SimulatedMachine;
  readonly disk: SimulatedDisk | undefined;
  readonly link: LinkState;
  process: SimulatedProcess;
  starts: number;
}

/** A fault that waits for its target to come into the state in which it is to meet it. */
interface ArmedFault {
  readonly fault: Fault;
  readonly slot: Slot;
  readonly inject: (slot: Slot) => void;
  readonly disarm: () => void;
  isInduced: boolean;
}

const healthyLink: LinkState = { delayMaxMs: 30, lossRate: 0, duplicateRate: 0, isCut: false };
const callTimeoutMs = 1_500;
const timeToStopMs = 3_000;
/** So long a fault waits for its target's state; then it happens all the same. */
const armedMaxMs = 3_500;
/** In a state that passes a fault must fall soon. */
const fireWithinMs: Readonly<Record<HolderState, number>> = {
  acquiring: 12,
  waiting: 60,
  holding: 60,
  rebasing: 10,
  releasing: 3,
};
/** After so long a process that failed for good is started again. */
const superviseMs = 500;
/**
 * Timers fall on whole milliseconds, and those of a process and its shadow one after the other: no fault may come
 * between them.
 */
const betweenTimersMs = 0.37;
/** Calls of a rush: each gets half a burst at most. */
const rushCalls = 5;
/** How often it is looked whether everybody serves again. */
const lookPeriodMs = 500;

/** Runs one seed: faults first, then all is healed and everybody must serve again. */
export async function simulate(seed: number, options: RunOptions = {}): Promise<Outcome> {
  const scenario = options.scenario ?? createScenario(new SeededRandom(seed).fork(), seed);
  return await simulateScenario(seed, scenario, options, (simulation) => {
    if (options.scenario !== undefined) return;
    startClaimers(scenario, seed, {
      queue: simulation.queue,
      server: () => simulation.server,
      onRun: (claim, run) => simulation.onPastRun(claim, run),
      count: (what) => simulation.count(what),
    });
  });
}

/** The same with a scenario that is given, without the code that draws one. */
export async function simulateScenario(
  seed: number,
  scenario: Scenario,
  options: Omit<RunOptions, "scenario"> = {},
  prepare: (simulation: Simulation) => void = () => {},
): Promise<Outcome> {
  const random = new SeededRandom(seed);
  // What the seed draws a scenario with is left out here, so that all else is drawn alike.
  random.fork();
  const simulation = new Simulation(scenario, random, options);
  prepare(simulation);
  await simulation.run();
  return { seed, scenario, ...simulation.outcome() };
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
  readonly #checker: PromiseChecker;
  readonly #trace: TraceHash;
  readonly #met = new Map<string, number>();
  readonly #armed = new Set<ArmedFault>();
  /** Functions that end the faults that last. */
  readonly #ends = new Set<() => void>();
  /** Copies of processes, beside the slots. */
  readonly #clones: SimulatedProcess[] = [];
  /** Processes whose present grant is that of an earlier life. */
  readonly #resumed = new Set<SimulatedProcess>();
  /** How far ahead each machine's clock was at the last look of the trace. */
  readonly #toldAheadMs = new Map<number, number>();
  #isHealed = false;

  constructor(scenario: Scenario, random: SeededRandom, options: RunOptions) {
    this.#scenario = scenario;
    this.random = random;
    this.#options = options;
    this.#checker = new PromiseChecker(scenario.layout, scenario.traits, scenario.variety.rollbackPolicy);
    this.#trace = new TraceHash(this.queue);
    this.serverMachine = new SimulatedMachine(this.queue, scenario.offsetsMs.at(-1) ?? 0);
    this.server = new SimulatedServer(this.queue, random.fork(), this.serverMachine, scenario.traits);
    this.server.onApplied = (key, text) => this.#onApplied(key, text);
  }

  async run(): Promise<void> {
    const { processCount, faults } = this.#scenario;
    for (let index = 0; index < processCount; index++) this.#addSlot(index);
    this.#tellClocks();
    faults.forEach((fault, place) => {
      if (this.#options.keep?.has(place) === false) return;
      this.queue.at(fault.atMs + betweenTimersMs, () => injectFault(this, fault));
    });
    await this.queue.run(this.#scenario.faultPhaseMs);
    this.#heal();
    await settled();
    await this.#awaitServing();
    this.#checker.finish();
    for (const violation of this.#checker.history.violations) this.#tell({ kind: "violation", ...violation });
  }

  outcome(): Pick<Outcome, "violations" | "issued" | "traceHash" | "met"> {
    const { violations, issued } = this.#checker.history;
    return { violations, issued, traceHash: this.#trace.text, met: this.#met };
  }

  /** Starts a process in a slot: the instance is the slot's, so that a restart finds its own record. */
  start(slot: Slot): void {
    slot.starts += 1;
    const { layout, traits, faults, variety, deployment } = this.#scenario;
    const isCloned = faults.some(({ kind, target }) => kind === "clone" && target === slot.index);
    const { windowShares, windowMaxShare } = variety;
    const share = windowShares[slot.index % windowShares.length]!;
    const [windowMs, renewalPeriodMs] = [traits.timing.windowMs, traits.timing.renewalPeriodMs].map((ms) => share * ms);
    const windowMaxMs = windowMaxShare > 1 ? windowMaxShare * traits.timing.windowMs : undefined;
    const { ttlMs } = traits.timing;
    const binding = bindingOf(deployment, layout, slot.index);
    const identity = { instance: slot.instance, host: `host${slot.index}`, processId: slot.starts, bootId: "" };
    const holder = createHolder({ ...identity, sinceMs: slot.machine.nowMs(), version: "0" });
    const timing = { windowMs, renewalPeriodMs, ...(traits.liveness === "ttl" ? { ttlMs } : {}) };
    const parts = {
      layout,
      queue: this.queue,
      machine: slot.machine,
      server: this.server,
      link: slot.link,
      disk: isCloned && !deployment.copiesDisks ? undefined : slot.disk,
      seed: this.random.uint32(),
      callTimeoutMs,
      options: { namespace: "default", holder, ...timing, windowMaxMs, ...binding },
      rollbackPolicy: variety.rollbackPolicy,
      hasSingleDraws: variety.hasSingleDraws,
      onEvent: (process: SimulatedProcess, event: WorkerEvent) => this.#onEvent(process, event),
      onRecord: (entry: Entry, how: "shown" | "confirmed") => this.#checker.onRecord(slot.instance, entry, how),
      onDanger: (danger: Danger) => this.count(danger),
      onCall: (process: SimulatedProcess) => this.#onCall(process),
      onCrash: (process: SimulatedProcess) => this.#tell({ kind: "crash", process: process.name }),
    };
    const name = `${slot.index}.${slot.starts}`;
    this.#tell({ kind: "start", slot: slot.index, process: name });
    slot.process = new SimulatedProcess({ ...parts, name }, isCloned ? "shadowed" : "alone");
    this.#checker.onStart(slot.process, this.#startOf(slot));
    if (!isCloned) return;
    const disk = parts.disk?.copy();
    const shadow = new SimulatedProcess({ ...parts, disk, name: `${name}c` }, slot.process);
    this.#checker.onStart(shadow, this.#startOf(slot));
  }

  /** A claimer of the past issued a run. */
  onPastRun(claim: string, run: IdRun): void {
    this.#checker.onPastRun(claim, run);
    this.#trace.note(`claim ${claim} issued`, Number(run.firstId));
  }

  /** A copy of a slot's process begins to live, on a machine and a link of its own kind: the same. */
  clone(slot: Slot): void {
    const original = slot.process;
    const copy = original.releaseShadow(this.random.fork());
    if (copy === undefined) return;
    this.count("clone that lived");
    this.#clones.push(copy);
    this.#checker.onClone(original, copy);
    this.#scheduleCloneDraws(copy);
    if (copy.parts.disk !== undefined && this.random.chance(0.5)) this.#restartCopyLater(copy, slot);
  }

  /** The copy's process is killed, and goes on from the copied resume record. */
  #restartCopyLater(copy: SimulatedProcess, slot: Slot): void {
    this.queue.after(this.random.between(0, 1_500) + betweenTimersMs, () => {
      if (this.#isHealed || !copy.isAlive) return;
      copy.crash();
      const next = new SimulatedProcess({ ...copy.parts, name: `${copy.name}r`, seed: this.random.uint32() }, "alone");
      this.count("a copy started again from its copied record");
      this.#clones.push(next);
      this.#checker.onStart(next, { ...this.#startOf(slot), copyOf: copy });
      this.#scheduleCloneDraws(next);
    });
  }

  #startOf({ index, instance }: Slot): StartedProcess {
    const { deployment, layout } = this.#scenario;
    const indexes = indexesOf(bindingOf(deployment, layout, index), layout);
    return { instance, sinceMs: this.queue.nowMs, indexes };
  }

  /** Brings the target into a state as far as that can be done, then lets the fault meet it. */
  meet(fault: Fault, inject: (slot: Slot) => void): void {
    const slot = this.slots[fault.target]!;
    const disarm = this.queue.after(armedMaxMs, () => this.#fire(armed, 0));
    const armed: ArmedFault = { fault, slot, inject, disarm, isInduced: false };
    this.#armed.add(armed);
    if (!slot.process.isAlive || slot.process.phase === "failed") this.#startAgain(slot);
    // What can only follow on holding waits for it: see #onCall. In a story a fault falls when it falls.
    const { state } = fault;
    const isAfterHolding = state === "rebasing" || state === "releasing";
    if (slot.process.phase !== state && (!isAfterHolding || slot.process.phase === "holding")) this.#induce(armed);
    if (slot.process.phase === state || this.#scenario.story !== "mixed") this.#fire(armed, fireWithinMs[state]);
  }

  /** Writes are lost, and nothing that the store says of itself shows it. */
  loseUnseen(): void {
    const before = this.server.goBackUnseen();
    const hasLost = this.#checker.onUnseenLoss(before, this.server.rows, simulationStartMs + this.queue.nowMs);
    if (hasLost) this.count("a loss that did not show took a worker record back");
  }

  /** An operator takes the holder of a slot's worker ID for dead, and releases it. */
  releaseByOperator(slotIndex: number): void {
    if (this.#isHealed) return;
    const workerIndex = this.#checker.lastWorkerIndex(this.slots[slotIndex]!.process);
    if (workerIndex === undefined) return;
    const { queue, server, random } = this;
    const operatorRandom = random.fork();
    const store = new SimulatedStore({
      server,
      queue,
      random: operatorRandom.fork(),
      link: { ...healthyLink },
      deliver: (task) => task(),
      callTimeoutMs,
      onRecord: () => {},
      watch: new DangerWatch(() => {}),
    });
    const ports = {
      clock: new SimulatedMachine(queue, operatorRandom.between(-450, 450)),
      timers: { after: (delayMs: number, task: () => void) => queue.after(delayMs, task) },
      random128: () => operatorRandom.hex128(),
    };
    const release = async (): Promise<void> => {
      try {
        const { kind } = await releaseExpired(store, workerIndex, ports);
        if (kind === "released") this.count("an operator released a worker ID");
      } catch (error) {
        // The store did not answer: the operator is informed.
        if (!(error instanceof IdError)) throw error;
      } finally {
        await store.close();
      }
    };
    release().catch((error: unknown) => queue.fail(error instanceof Error ? error : new Error(String(error))));
  }

  /** Lets something end after a while, or when everything is healed. */
  lasting(lengthMs: number, end: () => void): void {
    const once = (): void => {
      if (!this.#ends.delete(once)) return;
      end();
      this.#tell({ kind: "fault-ended" });
      this.#tellClocks();
    };
    this.#ends.add(once);
    this.queue.after(lengthMs + betweenTimersMs, once);
  }

  restartLater(slot: Slot, delayMs: number): void {
    this.queue.after(delayMs, () => {
      if (!slot.process.isAlive) this.start(slot);
    });
  }

  /** Draws as the service would; what comes is held against the promises. */
  draw(process: SimulatedProcess, count: number): void {
    process.draw(count, count === 1 ? "unary" : "bulk", (runs) => {
      for (const run of runs) {
        const timestampMs = this.#checker.onRun(process, run);
        this.#trace.note(`${process.name} issued`, timestampMs, run.count);
        this.#tellIssued(process.name, run, timestampMs);
      }
    });
  }

  /** Counts something of note, for the run's table. */
  count(what: (typeof counted)[number] | `${string}/${string}`): void {
    this.#met.set(what, (this.#met.get(what) ?? 0) + 1);
  }

  #addSlot(index: number): void {
    const machine = new SimulatedMachine(this.queue, this.#scenario.offsetsMs[index] ?? 0);
    const disk = this.#scenario.hasJournal ? SimulatedDisk.draw(this.random.fork()) : undefined;
    const instance = `host${index}:7609`;
    const process = undefined as unknown as SimulatedProcess;
    const slot: Slot = { index, instance, machine, disk, link: { ...healthyLink }, starts: 0, process };
    this.slots.push(slot);
    this.start(slot);
    this.#scheduleDraws(slot);
  }

  #fire(armed: ArmedFault, delayMaxMs: number): void {
    if (!this.#armed.delete(armed)) return;
    armed.disarm();
    const { fault, slot, inject } = armed;
    this.queue.after(this.random.between(0, delayMaxMs) + betweenTimersMs, () => {
      if (this.#isHealed) return;
      const key: `${string}/${string}` = `${fault.kind}/${slot.process.isAlive ? slot.process.phase : "dead"}`;
      this.count(key);
      this.#trace.note(key);
      this.#tell({ kind: "fault", fault: fault.kind, slot: slot.index, phase: key.slice(fault.kind.length + 1) });
      const before = new Map(this.#options.sink === undefined ? [] : this.server.rows);
      inject(slot);
      this.#tellLost(before);
      this.#tellClocks();
    });
  }

  #onCall(process: SimulatedProcess): void {
    for (const armed of this.#armed) {
      if (armed.slot.process !== process) continue;
      const { state } = armed.fault;
      if (process.phase === state) this.#fire(armed, fireWithinMs[state]);
      else if (!armed.isInduced && process.phase === "holding") {
        armed.isInduced = true;
        this.queue.after(this.random.between(10, 300) + betweenTimersMs, () => this.#induce(armed));
      }
    }
  }

  /** What a supervisor does with a process that is dead, or that ended because only an operator could help. */
  #startAgain(slot: Slot): void {
    if (slot.process.phase === "failed") slot.process.crash();
    if (!slot.process.isAlive) this.start(slot);
  }

  #induce(armed: ArmedFault): void {
    const { slot, fault } = armed;
    const { state } = fault;
    const { process } = slot;
    if (!this.#armed.has(armed) || !process.isRunning || state === "holding") return;
    armed.isInduced = true;
    if (state === "rebasing" && this.#scenario.needsRightClocks) this.#fire(armed, fireWithinMs.holding);
    else if (state === "releasing") {
      void process.stop(timeToStopMs).then(() => this.restartLater(slot, this.random.between(10, 2_000)));
    } else if (state === "rebasing") {
      // The clock goes back by more than the lead, and an ID is wanted: the way to another worker ID takes a few round
      // trips.
      this.draw(process, 1);
      slot.machine.step(-leadMaxMs(this.#scenario.layout) - this.random.between(500, 1_500));
      this.draw(process, 1);
      this.lasting(3_000, () => slot.machine.heal());
    } else {
      process.crash();
      if (state === "waiting") this.#makeWait(slot);
      this.start(slot);
    }
    if (process.phase === state) this.#fire(armed, fireWithinMs[state]);
  }

  /** A new start must wait: for the mark of the record that was its own, or for the end of a quarantine. */
  #makeWait(slot: Slot): void {
    const { faults, traits } = this.#scenario;
    const { durability, hasClock } = traits;
    // Where the store has no clock, the quarantine is longer by as much as the noting process's clock is ahead.
    const isNoted =
      hasClock ||
      (this.slots.every(({ machine }) => machine.aheadMs < 1_000) &&
        faults.every(({ kind }) => kind !== "clock-forward-large"));
    if (durability === "lossy") this.server.restart("same");
    else if (isNoted) this.server.restart("another");
    else slot.machine.step(-1_500);
  }

  #onEvent(process: SimulatedProcess, event: WorkerEvent): void {
    this.#checker.onEvent(process, event);
    const isVisible = this.#clones.includes(process) || this.slots.some((slot) => slot.process === process);
    if (!isVisible) return;
    this.#trace.note(`${process.name} ${event.kind}`);
    this.#tell({ kind: "worker", process: process.name, event });
    if (event.kind === "resumed") {
      this.count("resumed");
      this.#resumed.add(process);
    }
    if (event.kind === "acquired") this.#resumed.delete(process);
    if (event.kind !== "grant-ended" || !event.detail.startsWith("taken over by")) return;
    this.count("a believing holder was taken over");
    if (this.#resumed.has(process)) this.count("a resumed holder was taken over");
  }

  #onApplied(key: string, text: string): void {
    const machineOf = (instance: string): SimulatedMachine =>
      this.#scenario.traits.hasClock
        ? this.serverMachine
        : (this.slots.find((slot) => slot.instance === instance)?.machine ?? this.serverMachine);
    const markMs = this.#checker.onApplied(key, text, simulationStartMs + this.queue.nowMs, machineOf);
    if (markMs !== undefined) this.#trace.note(key, markMs);
    this.#tell({ kind: "applied", key, markMs });
  }

  #tell(happening: Happening): void {
    this.#options.sink?.({ atMs: this.queue.nowMs, ...happening });
  }

  #tellIssued(process: string, { firstId, count, stride }: IdRun, timestampMs: number): void {
    if (this.#options.sink === undefined) return;
    const workerIndex = this.#checker.history.workerIndex(firstId);
    this.#tell({ kind: "issued", process, workerIndex, firstId, count, stride, timestampMs });
  }

  /** @param before - The texts of all records before the fault. */
  #tellLost(before: ReadonlyMap<string, string>): void {
    const keys = [...before].flatMap(([key, text]) => (this.server.rows.get(key) === text ? [] : [key]));
    if (keys.length > 0) this.#tell({ kind: "lost", keys });
  }

  #tellClocks(): void {
    for (const { index, machine } of this.slots) {
      const { aheadMs } = machine;
      if (Math.abs(aheadMs - (this.#toldAheadMs.get(index) ?? 0)) < 1) continue;
      this.#toldAheadMs.set(index, aheadMs);
      this.#tell({ kind: "clock", slot: index, aheadMs });
    }
  }

  #scheduleDraws(slot: Slot): void {
    const { drawGapMs, layout } = this.#scenario;
    this.queue.after(this.random.between(20, drawGapMs), () => {
      this.draw(slot.process, this.random.chance(0.4) ? 1 : this.random.between(1, 2 * layout.sequence.max));
      if (this.random.chance(0.02)) this.#rush(slot.process);
      if (slot.process.phase === "failed") this.queue.after(superviseMs, () => this.#startAgain(slot));
      if (!this.#isHealed) this.#scheduleDraws(slot);
    });
  }

  /** More at once than the burst allows. */
  #rush(process: SimulatedProcess): void {
    for (let call = 0; call < rushCalls; call += 1) this.draw(process, 20 * this.#scenario.layout.sequence.max);
  }

  #scheduleCloneDraws(process: SimulatedProcess): void {
    this.queue.after(this.random.between(1, 200), () => {
      this.draw(process, this.random.between(1, 2 * this.#scenario.layout.sequence.max));
      if (!this.#isHealed) this.#scheduleCloneDraws(process);
    });
  }

  #heal(): void {
    this.#isHealed = true;
    this.#trace.note("heal");
    this.#tell({ kind: "healed" });
    for (const end of this.#ends) end();
    this.server.healSplit();
    this.server.unfreeze();
    this.server.isDown = false;
    this.serverMachine.heal();
    for (const slot of this.slots) {
      Object.assign(slot.link, healthyLink);
      slot.machine.heal();
      slot.disk?.heal();
      slot.process.resume(undefined);
      this.#startAgain(slot);
    }
    for (const clone of this.#clones) if (clone.isAlive) clone.crash();
  }

  /** L: as many as there are worker IDs for serve again within 2 (TTL + W). */
  async #awaitServing(): Promise<void> {
    const { traits, layout, deployment } = this.#scenario;
    const { ttlMs, windowMs } = traits.timing;
    // A clock that was set right by a step forward is followed after 10 s, where nobody can confirm it.
    const judgedMs = traits.hasClock ? 0 : 10_000;
    const untilMs = this.queue.nowMs + judgedMs + 2 * (ttlMs + windowMs);
    const wanted = servingMax(deployment, layout, this.slots.length);
    while (this.queue.nowMs < untilMs) {
      await this.queue.run(this.queue.nowMs + lookPeriodMs);
      for (const slot of this.slots) if (slot.process.phase === "failed") this.#startAgain(slot);
      const serving = this.slots.filter(({ process }) => process.source.state.kind === "serving");
      if (serving.length < wanted) continue;
      let served = 0;
      for (const slot of serving) served += (await this.#serves(slot)) ? 1 : 0;
      if (served >= wanted) return;
    }
    // They wait or refuse for as long as a clock was ahead: see docs/clock.md.
    if (rollbackRules[this.#scenario.variety.rollbackPolicy].whileBehind !== "lead") return;
    for (const slot of this.slots) {
      if (await this.#serves(slot)) continue;
      const { process } = slot;
      const { state, phase } = process.source.status();
      const detail = `${phase}: ${state.kind === "serving" ? "serving" : state.error.message}`;
      this.#checker.history.break("L", `${process.name}, ${detail} ${process.startError}`);
    }
  }

  async #serves({ process }: Slot): Promise<boolean> {
    const before = this.#checker.history.issued;
    this.draw(process, 1);
    await settled();
    return this.#checker.history.issued > before;
  }
}
