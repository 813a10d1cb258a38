import { SnowflakeGenerator } from "../../../src/snowflake/generator.ts";
import type { Layout } from "../../../src/snowflake/layout.ts";
import { createHolder } from "../../../src/lease/records/worker-record.ts";
import { resolveWorkerSettings, type WorkerOptions } from "../../../src/lease/worker-settings.ts";
import type { WorkerEvent } from "../../../src/lease/worker-event.ts";
import { serverTiming, type StoreTiming } from "../../../src/store/record-store.ts";
import { WorkerSource } from "../../../src/worker/worker-source.ts";
import { EventQueue, settled } from "../event-queue.ts";
import { SeededRandom } from "../seeded-random.ts";
import { SimulatedMachine } from "../simulated-machine.ts";
import { ModelledServer, ModelledStore, type ServerModel } from "./modelled-server.ts";

/** What a {@link Fleet} is built on. */
export interface FleetParts {
  readonly model: ServerModel;
  readonly layout: Layout;
  readonly seed: number;
  /** Whether the store tells the time, as PostgreSQL does and etcd does not. */
  readonly hasClock: boolean;
  /** Default: that of a durable server. */
  readonly timing?: StoreTiming;
  /** Of one call to the store. Default: as a server has it. */
  readonly callTimeoutMs?: number;
}

/** A process of a fleet: the real worker, over virtual time. Times are milliseconds since the simulation began. */
export interface FleetMember {
  readonly source: WorkerSource;
  readonly startedMs: number;
  /** When it had its first worker ID; undefined: it has none yet. */
  grantedMs: number | undefined;
  /** Why its start ended without one. */
  refusal: string | undefined;
  /** Grants that ended without its will. */
  endedGrants: number;
  isServing: boolean;
  isDead: boolean;
}

/** Clocks of one data centre agree to about this. */
const clockErrorMs = 20;

/** Many workers on one store. */
export class Fleet {
  readonly queue = new EventQueue();
  readonly server: ModelledServer;
  readonly members: FleetMember[] = [];
  /** When the number of members that serve last changed. */
  servingChangedMs = 0;
  readonly #parts: FleetParts;
  readonly #random: SeededRandom;

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#random = new SeededRandom(parts.seed);
    const machine = new SimulatedMachine(this.queue, 0);
    this.server = new ModelledServer(this.queue, parts.model, {
      timing: parts.timing ?? serverTiming,
      ...(parts.hasClock ? { clockMs: () => machine.nowMs() } : {}),
    });
  }

  /** Starts members, each at a random moment of the next `spreadMs`. */
  start(count: number, spreadMs = 0, options: Partial<WorkerOptions> = {}): void {
    for (let index = 0; index < count; index += 1) {
      this.queue.after(this.#random.fraction() * spreadMs, () => this.#startOne(options));
    }
  }

  /** Lets so much time pass. */
  async run(forMs: number): Promise<void> {
    // Calls that were begun outside of any event are sent first.
    await settled();
    await this.queue.run(this.queue.nowMs + forMs);
  }

  /** Lets time pass until `isOver`, in steps of `stepMs`, at most for `maxMs`. */
  async runUntil(isOver: () => boolean, { stepMs, maxMs }: { stepMs: number; maxMs: number }): Promise<void> {
    const endMs = this.queue.nowMs + maxMs;
    while (!isOver() && this.queue.nowMs < endMs) await this.run(stepMs);
  }

  get serving(): readonly FleetMember[] {
    return this.members.filter(({ isServing }) => isServing);
  }

  /** The worker index of each member that serves, as `datacenter/worker`. */
  get heldWorkerIds(): readonly string[] {
    return this.serving.map(({ source }) => {
      const { datacenterId, workerId } = source.status().grant!;
      return `${datacenterId}/${workerId}`;
    });
  }

  /** Ends all members as kill -9 does. */
  kill(): void {
    for (const member of this.members.splice(0)) member.isDead = true;
  }

  /** Ends all members in order: each gives its worker ID back. */
  async stop(): Promise<void> {
    const closed = this.members.splice(0).map(({ source }) => source.close(60_000));
    await this.run(60_000);
    await Promise.all(closed);
  }

  #startOne(options: Partial<WorkerOptions>): void {
    const { layout, callTimeoutMs = 5_000 } = this.#parts;
    const { queue } = this;
    const random = this.#random.fork();
    const machine = new SimulatedMachine(queue, (random.fraction() * 2 - 1) * clockErrorMs);
    const store = new ModelledStore(this.server, callTimeoutMs);
    const name = `pod-${random.hex128().slice(0, 12)}`;
    const who = { instance: `${name}:7609`, host: name, processId: 1, bootId: random.hex128(), version: "0.1.0" };
    const holder = createHolder({ ...who, sinceMs: machine.nowMs() });
    const settings = resolveWorkerSettings({ namespace: "default", holder, ...options }, layout, store);
    const member: FleetMember = {
      startedMs: queue.nowMs,
      grantedMs: undefined,
      refusal: undefined,
      endedGrants: 0,
      isServing: false,
      isDead: false,
      source: new WorkerSource({
        store,
        settings,
        waitMaxMs: 1_000,
        generator: new SnowflakeGenerator({
          layout,
          leadMaxMs: settings.leadMaxMs,
          random: () => random.fraction(),
        }),
        ports: {
          clock: machine,
          timers: { after: (delayMs, task) => queue.after(delayMs, () => member.isDead || task()) },
          uptimeMs: () => machine.uptimeMs(),
          random128: () => random.hex128(),
          random: () => random.fraction(),
          report: (event) => noteEvent(member, event),
        },
      }),
    };
    member.source.onStateChange(({ kind }) => {
      member.isServing = kind === "serving";
      this.servingChangedMs = queue.nowMs;
    });
    this.members.push(member);
    member.source.start().then(
      () => (member.grantedMs = queue.nowMs),
      (error: unknown) => (member.refusal = error instanceof Error ? error.message : String(error)),
    );
  }
}

function noteEvent(member: FleetMember, event: WorkerEvent): void {
  if (event.kind === "grant-ended" && event.end !== "released") member.endedGrants += 1;
}
