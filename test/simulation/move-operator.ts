import { IdError } from "../../src/errors.ts";
import { storeNowMs, writeQuarantine } from "../../src/lease/quarantine.ts";
import { abandonMove } from "../../src/operator/store-move/abandon-move.ts";
import type { MoveParts } from "../../src/operator/store-move/move-parts.ts";
import { moveStore } from "../../src/operator/store-move/move-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { DangerWatch } from "./danger-watch.ts";
import type { EventQueue } from "./event-queue.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import { type LinkState, type SimulatedServer, SimulatedStore } from "./simulated-store.ts";

/** The work that an operator is asked for; a holder whose record went back puts the source under quarantine, too. */
export type MoveWork = "move" | "abandon" | "quarantine";

/** The steps between which an operator may die, by the first word of its report. */
const moveSteps = {
  move: ["claims", "closes", "watches", "gives", "copies", "copies", "opens", "opens"],
  abandon: ["bars", "reopens"],
  quarantine: ["raises"],
} as const;

/** The longest quarantine that is put down: over before everybody must serve again. */
const quarantineMaxMs = 8_000;

interface End {
  readonly name: string;
  readonly server: SimulatedServer;
  /** The state of the record in place of its layout record. */
  readonly slot: string;
}

/** An operator's process: it asks both stores, and may die before any call, or before the answer to it. */
export class MoveOperator {
  readonly #parts: OperatorParts;
  readonly #stores: SimulatedStore[] = [];
  #state: "idle" | "working" | "over" = "idle";
  #step = "begins";
  #callsInStep = 0;
  /** Where it dies, or stands still. */
  #fate:
    | { readonly step: string; readonly call: number; readonly kind: "dies before" | "dies after" | "still" }
    | undefined;
  #isStill = false;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  get isWorking(): boolean {
    return this.#state === "working";
  }

  /** Whether it works now, and does not stand still. */
  get isBusy(): boolean {
    return this.isWorking && !this.#isStill;
  }

  begin(work: MoveWork): void {
    const { random, queue, isCrashing, onEvent } = this.#parts;
    this.#state = "working";
    if (isCrashing) {
      const kind = random.pick(["dies before", "dies after", "still"] as const);
      this.#fate = { step: random.pick(moveSteps[work]), call: random.between(1, 4), kind };
    }
    this.#carryOut(work, this.#moveParts()).then(
      (kind) => this.#end(kind),
      (error: unknown) => {
        if (error instanceof IdError) this.#end(`${work}: ${error.reason}`);
        else queue.fail(error instanceof Error ? error : new Error(String(error)));
      },
    );
    onEvent(work);
  }

  /** @returns The outcome, for counting. */
  async #carryOut(work: MoveWork, parts: MoveParts): Promise<string> {
    if (work === "move") return (await moveStore(parts)).kind;
    if (work === "abandon") {
      await abandonMove(parts);
      return "abandoned";
    }
    const { source, clock, report } = parts;
    report("raises the quarantine");
    const sinceMs = storeNowMs(await source.store.moment(), clock.nowMs());
    const untilMs = sinceMs + this.#parts.random.between(500, quarantineMaxMs);
    await writeQuarantine(source.store, { sinceMs, untilMs, reason: "a record went back" });
    this.#parts.onRaised(untilMs);
    return "raised";
  }

  /** kill -9: what is under way stays under way, and no answer is heard. */
  crash(): void {
    if (this.#state !== "working") return;
    const isNoted = this.#step === "opens" && this.#parts.target.slot === "layout";
    this.#parts.onEvent(`an operator died while it ${isNoted ? "notes where it went" : this.#step}`);
    this.#close();
  }

  #end(outcome: string): void {
    if (this.#state !== "working") return;
    this.#parts.onEvent(outcome);
    this.#close();
  }

  #close(): void {
    this.#state = "over";
    for (const store of this.#stores) store.dropLocks();
  }

  #moveParts(): MoveParts {
    const { source, target, machine, random, queue } = this.#parts;
    return {
      source: { store: this.#open(source), place: source.name },
      target: { store: this.#open(target), place: target.name },
      clock: machine,
      timers: { after: (delayMs, task) => queue.after(delayMs, () => this.isWorking && task()) },
      random128: () => random.hex128(),
      report: (step) => {
        this.#step = step.split(" ")[0]!;
        this.#callsInStep = 0;
        this.#parts.onStep(this.#step);
      },
    };
  }

  #open({ server }: End): RecordStore {
    const { queue, random, link, callTimeoutMs } = this.#parts;
    const store = new SimulatedStore({
      server,
      queue,
      random: random.fork(),
      link,
      deliver: (task) => {
        if (this.isWorking) task();
      },
      callTimeoutMs,
      onRecord: () => {},
      watch: new DangerWatch(() => {}),
    });
    this.#stores.push(store);
    const { kind, durability, readsMayBeUndone, liveness, timing } = store;
    return {
      kind,
      durability,
      readsMayBeUndone,
      liveness,
      timing,
      moment: () => this.#call(() => store.moment()),
      list: () => this.#call(() => store.list()),
      read: (key) => this.#call(() => store.read(key)),
      compareAndSet: (key, expected, next) => this.#call(() => store.compareAndSet(key, expected, next)),
      close: () => store.close(),
    };
  }

  #call<T>(send: () => Promise<T>): Promise<T> {
    this.#parts.queue.countStep();
    this.#callsInStep += 1;
    const isHere = this.#fate?.step === this.#step && this.#fate.call === this.#callsInStep;
    if (!isHere) return send();
    const { kind } = this.#fate!;
    if (kind === "still") return this.#standStill(send);
    const sent = kind === "dies before" ? undefined : send();
    this.crash();
    // The dead hear nothing.
    return sent ?? new Promise(() => {});
  }

  /** SIGSTOP before a call, SIGCONT a while after: others work meanwhile. */
  async #standStill<T>(send: () => Promise<T>): Promise<T> {
    const { queue, random, onEvent } = this.#parts;
    this.#isStill = true;
    onEvent("an operator stood still");
    await new Promise<void>((resolve) => {
      queue.after(random.between(500, 12_000), resolve);
    });
    this.#isStill = false;
    return this.isWorking ? await send() : await new Promise(() => {});
  }
}

interface OperatorParts {
  readonly queue: EventQueue;
  readonly random: SeededRandom;
  readonly machine: SimulatedMachine;
  readonly source: End;
  readonly target: End;
  readonly link: LinkState;
  readonly callTimeoutMs: number;
  /** Whether it may die. */
  readonly isCrashing: boolean;
  /** Told of the first word of each step. */
  readonly onStep: (step: string) => void;
  /** Told when an answer says that the source is under quarantine: until Unix milliseconds. */
  readonly onRaised: (untilMs: number) => void;
  /** Told of its outcome, or in which step it died. */
  readonly onEvent: (event: string) => void;
}
