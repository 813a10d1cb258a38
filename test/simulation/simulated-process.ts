import { IdError } from "../../src/errors.ts";
import { SnowflakeGenerator } from "../../src/snowflake/generator.ts";
import type { Layout } from "../../src/snowflake/layout.ts";
import type { RollbackPolicy } from "../../src/snowflake/rollback-policy.ts";
import type { IdRun } from "../../src/snowflake/run.ts";
import type { Priority } from "../../src/queue/wait-queue.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { workerKey } from "../../src/lease/records/worker-record.ts";
import type { WorkerEvent } from "../../src/lease/worker-event.ts";
import { WorkerSource } from "../../src/worker/worker-source.ts";
import { resolveWorkerSettings, type WorkerOptions } from "../../src/lease/worker-settings.ts";
import { type Danger, DangerWatch } from "./danger-watch.ts";
import type { EventQueue } from "./event-queue.ts";
import { MirroredStore } from "./mirrored-store.ts";
import { SeededRandom } from "./seeded-random.ts";
import { type SimulatedDisk, SimulatedJournal } from "./simulated-disk.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import { type LinkState, type OnRecord, type SimulatedServer, SimulatedStore } from "./simulated-store.ts";

/** The settings that a process is started with. */
export interface ProcessParts {
  readonly name: string;
  readonly layout: Layout;
  readonly queue: EventQueue;
  readonly machine: SimulatedMachine;
  readonly server: SimulatedServer;
  readonly link: LinkState;
  /** undefined where no resume records are kept. */
  readonly disk: SimulatedDisk | undefined;
  /** Two processes of one seed draw alike. */
  readonly seed: number;
  readonly options: WorkerOptions;
  readonly rollbackPolicy: RollbackPolicy;
  /** Whether a single ID is drawn as NextId draws it. */
  readonly hasSingleDraws: boolean;
  readonly callTimeoutMs: number;
  readonly onEvent: (process: SimulatedProcess, event: WorkerEvent) => void;
  /** Told of each record that an answer showed to this process. */
  readonly onRecord: OnRecord;
  readonly onDanger: (danger: Danger) => void;
  /** Told whenever the process asks the store for something. */
  readonly onCall: (process: SimulatedProcess) => void;
  /** Told when the process is killed, and of no other end. */
  readonly onCrash?: (process: SimulatedProcess) => void;
}

interface WaitingTask {
  readonly kind: TaskKind;
  readonly order: number;
  readonly run: () => void;
}

/** A timer that is due, or an answer that has come. */
type TaskKind = "timer" | "answer";

const waitMaxMs = 1_000;

/** A call may be refused; anything but a typed error is a fault. */
function passIdError(error: unknown): void {
  if (!(error instanceof IdError)) throw error;
}

/**
 * One process: the real holder and generator over simulated clocks, timers, network and store. It can stand still, die,
 * and be copied.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly machine: SimulatedMachine;
  readonly source: WorkerSource;
  readonly #queue: EventQueue;
  readonly #store: SimulatedStore;
  /** Draws that a copy repeats until it is on its own. */
  #random: SeededRandom;
  #state: "running" | "paused" | "dead" = "running";
  /** The tasks that come due while it stands still, in the order in which they came. */
  #waiting: WaitingTask[] = [];
  /** A copy that does all that this process does, unseen, until the moment of the cloning. */
  #shadow: SimulatedProcess | undefined;
  readonly mirror: MirroredStore;
  readonly #hasSingleDraws: boolean;
  readonly #journal: SimulatedJournal | undefined;
  readonly parts: ProcessParts;
  startError = "";

  /**
   * @param role - `shadowed`: another is made in this same step, with this one as its role: its shadow, which does
   * unseen what it does until it is cloned.
   */
  constructor(parts: ProcessParts, role: "alone" | "shadowed" | SimulatedProcess) {
    const { layout, queue, machine, server, link } = parts;
    const random = new SeededRandom(parts.seed);
    this.name = parts.name;
    this.parts = parts;
    this.machine = machine;
    this.#queue = queue;
    this.#random = random;
    this.#hasSingleDraws = parts.hasSingleDraws;
    const deliver = (task: () => void): void => this.#run("answer", task);
    this.#store = new SimulatedStore({
      server,
      queue,
      random: random.fork(),
      link,
      deliver,
      callTimeoutMs: parts.callTimeoutMs,
      onRecord: parts.onRecord,
      watch: new DangerWatch(parts.onDanger),
    });
    const { disk } = parts;
    const original = role instanceof SimulatedProcess ? role.#journal : undefined;
    if (disk !== undefined)
      this.#journal = new SimulatedJournal({ disk, queue, random: random.fork(), deliver, original });
    const onCall = (): void => {
      queue.countStep();
      parts.onCall(this);
    };
    const onDiverged = (error: Error): void => queue.fail(error);
    const mirrored = role instanceof SimulatedProcess ? role.mirror : role;
    this.mirror = new MirroredStore(this.#store, mirrored, { onCall, onDiverged });
    const store: RecordStore = this.mirror;
    if (role instanceof SimulatedProcess) role.#shadow = this;
    const settings = resolveWorkerSettings(parts.options, layout, store);
    this.source = new WorkerSource({
      store,
      settings,
      generator: new SnowflakeGenerator({
        layout,
        leadMaxMs: settings.leadMaxMs,
        policy: parts.rollbackPolicy,
        random: () => this.#random.fraction(),
      }),
      waitMaxMs,
      ports: {
        clock: machine,
        timers: { after: (delayMs, task) => queue.after(delayMs, () => this.#run("timer", task)) },
        uptimeMs: () => machine.uptimeMs(),
        random128: () => this.#random.hex128(),
        random: () => this.#random.fraction(),
        report: (event) => parts.onEvent(this, event),
        journal: this.#journal,
      },
    });
    this.source.start().catch((error: unknown) => {
      this.startError = error instanceof Error ? error.message : "?";
    });
  }

  /** The worker records that its resume records say were confirmed or asked for: key and text. */
  get notedTexts(): readonly (readonly [key: string, text: string])[] {
    return (this.#journal?.noted ?? []).flatMap(({ workerIndex, confirmedText, unansweredTexts }) =>
      [confirmedText, ...unansweredTexts].map((text) => [workerKey(workerIndex), text] as const),
    );
  }

  get isAlive(): boolean {
    return this.#state !== "dead";
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  /**
   * The name of its present state. Asking must not make it read its clock: asked in the middle of a step, its shadow
   * would have read the clock once less or once more when it takes the same step.
   */
  get phase(): string {
    return this.source.phase;
  }

  /**
   * Draws up to `count` IDs as a call does, which waits for a moment if it must.
   *
   * @param onDrawn - Told what came, now or later.
   */
  draw(count: number, priority: Priority, onDrawn: (runs: readonly IdRun[]) => void): void {
    if (this.#state !== "running") return;
    this.#shadow?.draw(count, priority, () => {});
    const deadlineMs = this.machine.monotonicMs() + waitMaxMs / 4;
    try {
      const id = count === 1 && this.#hasSingleDraws ? this.source.tryNext() : undefined;
      if (id !== undefined) {
        void Promise.resolve().then(() => onDrawn([{ firstId: id, count: 1, stride: this.source.layout.stride }]));
        return;
      }
      // All by way of a promise, so that what was drawn first is told first.
      const answer = Promise.resolve(this.source.reserve({ count, priority, deadlineMs }));
      answer.then(({ runs }) => onDrawn(runs), passIdError);
    } catch (error) {
      passIdError(error);
    }
  }

  pause(): void {
    if (this.#state !== "running") return;
    this.#state = "paused";
    this.#shadow?.pause();
  }

  /**
   * Everything that was due meanwhile happens now: to a process and its shadow alike.
   *
   * @param first - What an event loop that was stopped looks at first; undefined = all in the order in which it came.
   */
  resume(first: TaskKind | undefined): void {
    if (this.#state !== "paused") return;
    const waiting = [...this.#wake(), ...(this.#shadow === undefined ? [] : this.#shadow.#wake())];
    const rank = ({ kind }: WaitingTask): number => (first === undefined || kind === first ? 0 : 1);
    waiting.sort((one, other) => rank(one) - rank(other) || one.order - other.order);
    for (const { run } of waiting) this.#queue.after(0, run);
  }

  #wake(): WaitingTask[] {
    this.#state = "running";
    return this.#waiting.splice(0);
  }

  /** kill -9: what is under way stays under way. */
  crash(): void {
    this.parts.onCrash?.(this);
    this.#state = "dead";
    this.#waiting = [];
    this.#dropLocks();
    this.#shadow?.crash();
  }

  /** SIGTERM. */
  async stop(timeoutMs: number): Promise<void> {
    // Not waited for: it may become a process of its own meanwhile.
    void this.#shadow?.source.close(timeoutMs);
    await this.source.close(timeoutMs);
    this.#state = "dead";
    this.#dropLocks();
  }

  #dropLocks(): void {
    this.#store.dropLocks();
    this.#journal?.dropLocks();
  }

  /**
   * The cloning: the shadow is a process of its own from here on.
   *
   * @param random - What the kernel gives it.
   */
  releaseShadow(random: SeededRandom): SimulatedProcess | undefined {
    const shadow = this.#shadow;
    if (shadow === undefined || this.#state === "dead") return undefined;
    this.#shadow = undefined;
    shadow.mirror.standAlone();
    shadow.#journal?.standAlone();
    shadow.#random = random;
    return shadow;
  }

  #run(kind: TaskKind, task: () => void): void {
    if (this.#state === "running") task();
    else if (this.#state === "paused") {
      this.#waiting.push({ kind, order: this.#queue.nextOrder(), run: () => this.#run(kind, task) });
    }
  }
}
