import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/clock/clock.ts";
import { presetLayout } from "../../../src/snowflake/presets.ts";
import { type OpenWorkerOptions, openWorker, type Worker } from "../../../src/worker/open-worker.ts";
import type { WorkerEvent } from "../../../src/lease/worker-event.ts";

/** Between two IDs. */
const pauseMs = 2;

/** A real worker on a real store that draws IDs all the time and notes each of them. */
export class IssuingWorker {
  readonly #worker: Worker;
  readonly #done: Promise<void>;
  readonly events: WorkerEvent[];
  readonly ids: bigint[] = [];
  /** Calls that were refused; each had up to a second. */
  failedCount = 0;
  #isEnding = false;

  private constructor(worker: Worker, events: WorkerEvent[]) {
    this.#worker = worker;
    this.events = events;
    this.#done = this.#draw();
  }

  /** Resolves when it has its first worker ID. */
  static async start(
    options: Partial<OpenWorkerOptions> & Pick<OpenWorkerOptions, "storeUrl">,
  ): Promise<IssuingWorker> {
    const events: WorkerEvent[] = [];
    const worker = await openWorker({
      namespace: "default",
      layout: presetLayout("twitter"),
      instance: `instance-${Math.random()}`,
      version: "test",
      onEvent: (event) => events.push(event),
      ...options,
    });
    return new IssuingWorker(worker, events);
  }

  get source(): Worker["source"] {
    return this.#worker.source;
  }

  /** Stops drawing, and gives the worker ID back unless the store is gone. */
  async stop(timeoutMs = 20_000): Promise<void> {
    this.#isEnding = true;
    await this.#done;
    await this.#worker.close(timeoutMs);
  }

  async #draw(): Promise<void> {
    const { source } = this.#worker;
    while (!this.#isEnding) {
      const id = source.tryNext();
      if (id !== undefined) this.ids.push(id);
      else await this.#wait();
      await sleep(pauseMs);
    }
  }

  async #wait(): Promise<void> {
    const deadlineMs = systemClock.monotonicMs() + 1_000;
    try {
      const { runs } = await this.source.reserve({ count: 1, priority: "unary", deadlineMs });
      for (const { firstId } of runs) this.ids.push(firstId);
    } catch {
      this.failedCount += 1;
    }
  }
}

/** IDs that occur more than once in all of these together. */
export function duplicatesOf(...lists: readonly (readonly bigint[])[]): bigint[] {
  const seen = new Set<bigint>();
  return lists.flat().filter((id) => seen.has(id) || !seen.add(id));
}
