import { expect } from "vitest";
import type { Priority } from "../../../src/queue/wait-queue.ts";
import { SnowflakeGenerator } from "../../../src/snowflake/generator.ts";
import { decomposeId, type Layout, msToTicksDown, msToTicksUp } from "../../../src/snowflake/layout.ts";
import type { RollbackPolicy } from "../../../src/snowflake/rollback-policy.ts";
import { idsOf } from "../../../src/snowflake/run.ts";
import { SeededRandom } from "./seeded-random.ts";

/** One thing that happens to a {@link MarkedDeployment}. */
export type DeploymentEvent =
  | { readonly kind: "time"; readonly wallMs: number; readonly monotonicMs: number }
  | { readonly kind: "next"; readonly count: number }
  | { readonly kind: "reserve"; readonly count: number; readonly priority: Priority }
  | { readonly kind: "renew" }
  /** The process dies and another begins, on the same worker ID or another. */
  | { readonly kind: "crash"; readonly workerIndex: number }
  | { readonly kind: "release"; readonly workerIndex: number };

const windowMs = 3_000;

/**
 * A deployment of one process at a time that keeps the mark rule and nothing else: each worker ID has a high-water
 * mark, a grant begins at it or at the clock if that is higher, and the mark is raised before the window. Takes any
 * clock, checks each ID as it comes, and moves to another worker ID when the generator asks for it.
 */
export class MarkedDeployment {
  readonly #layout: Layout;
  readonly #policy: RollbackPolicy;
  readonly #random: () => number;
  readonly #marks = new Map<number, number>();
  readonly #ids = new Set<bigint>();
  readonly #lastTickOf = new Map<number, number>();
  #generator: SnowflakeGenerator;
  #wallMs: number;
  #monotonicMs = 0;
  #worker = 0;
  /** First tick that this grant may use: above all of the worker's grants before. */
  #fromTick = 0;
  #lastId = -1n;
  #risingSpan = -1;

  constructor(layout: Layout, policy: RollbackPolicy, startMs: number, seed: number) {
    this.#layout = layout;
    this.#policy = policy;
    this.#wallMs = startMs;
    const random = new SeededRandom(seed);
    this.#random = () => random.below(2 ** 32) / 2 ** 32;
    this.#generator = this.#start();
    this.#acquire(0);
  }

  get issuedCount(): number {
    return this.#ids.size;
  }

  happen(event: DeploymentEvent): void {
    switch (event.kind) {
      case "time":
        this.#wallMs += event.wallMs;
        this.#monotonicMs += event.monotonicMs;
        return;
      case "renew":
        return this.#renew();
      case "next":
        for (let index = 0; index < event.count; index++) if (!this.#issueOne()) return;
        return;
      case "reserve":
        return this.#reserve(event.count, event.priority);
      case "crash":
        this.#generator = this.#start();
        return this.#acquire(event.workerIndex);
      case "release":
        this.#generator.revoke();
        // The only lawful lowering of a mark.
        this.#marks.set(this.#worker, Math.min(this.#marks.get(this.#worker) ?? 0, this.#generator.markMs));
        return this.#acquire(event.workerIndex);
    }
  }

  #start(): SnowflakeGenerator {
    return new SnowflakeGenerator({ layout: this.#layout, policy: this.#policy, random: this.#random });
  }

  #acquire(workerIndex: number): void {
    this.#worker = workerIndex % this.#layout.workerCount;
    const fromMs = Math.max(this.#marks.get(this.#worker) ?? 0, this.#wallMs);
    const untilMs = fromMs + windowMs;
    this.#marks.set(this.#worker, untilMs);
    const datacenterId = this.#worker % (this.#layout.datacenter.max + 1);
    const workerId = Math.floor(this.#worker / (this.#layout.datacenter.max + 1));
    this.#generator.grant({ datacenterId, workerId, fromMs, untilMs }, this.#wallMs);
    this.#fromTick = (this.#lastTickOf.get(this.#worker) ?? -1) + 1;
    this.#lastId = -1n;
  }

  #renew(): void {
    const newUntilMs = Math.max(this.#wallMs, this.#generator.lastMs) + windowMs;
    if (newUntilMs > this.#wallMs + this.#generator.leadMaxMs + windowMs) return;
    const mark = Math.max(newUntilMs, this.#marks.get(this.#worker) ?? 0);
    this.#marks.set(this.#worker, mark);
    this.#generator.extend(mark);
  }

  #issueOne(): boolean {
    const id = this.#attempt(() => this.#generator.tryNext(this.#wallMs, () => this.#monotonicMs));
    if (id === undefined) return false;
    this.#check(id);
    return true;
  }

  #reserve(count: number, priority: Priority): void {
    const answer = this.#attempt(() => this.#generator.reserve(count, this.#wallMs, priority, () => this.#monotonicMs));
    if (answer === undefined) return;
    if (answer.kind === "rolled-back") return this.#acquire(this.#worker + 1);
    if (answer.kind === "wait") return expect(answer.untilMs).toBeGreaterThan(this.#wallMs);
    for (const id of idsOf(answer.runs)) this.#check(id);
  }

  /** Passes over the errors that a clock may cause; a broken invariant is none of them. */
  #attempt<Result>(issue: () => Result): Result | undefined {
    try {
      return issue();
    } catch (error) {
      expect(["CLOCK_ROLLED_BACK", "CLOCK_BEFORE_EPOCH", "TIMESTAMP_EXHAUSTED"]).toContain(
        (error as { reason?: string }).reason,
      );
      return undefined;
    }
  }

  #check(id: bigint): void {
    if (this.#ids.has(id)) throw new Error(`${id} was issued twice`);
    this.#ids.add(id);
    const layout = this.#layout;
    const { ticks, datacenterId, workerId } = decomposeId(layout, id);
    const worker = workerId * (layout.datacenter.max + 1) + datacenterId;
    if (worker !== this.#worker) throw new Error(`${id} is of worker ${worker}, granted was ${this.#worker}`);
    if (ticks >= msToTicksUp(layout, this.#marks.get(worker) ?? 0)) throw new Error(`${id} is not below the mark`);
    if (ticks < this.#fromTick) throw new Error(`${id} is not above the grants before`);
    this.#lastTickOf.set(worker, Math.max(ticks, this.#lastTickOf.get(worker) ?? -1));
    const leadMaxTicks = Math.floor((this.#generator.leadMaxMs * 1_000_000) / layout.tickNs);
    const leadTicks = ticks - msToTicksDown(layout, this.#wallMs);
    if (leadTicks > leadMaxTicks) throw new Error(`${id} is ${leadTicks} ticks ahead, ${leadMaxTicks} are allowed`);
    if (this.#generator.risingSpan !== this.#risingSpan) this.#lastId = -1n;
    this.#risingSpan = this.#generator.risingSpan;
    if (id <= this.#lastId) throw new Error(`${id} does not rise above ${this.#lastId}`);
    this.#lastId = id;
  }
}
