import type { WorkerEvent } from "../../src/lease/worker-event.ts";
import { parseWorkerKey } from "../../src/lease/records/worker-record.ts";
import type { Layout } from "../../src/snowflake/layout.ts";

interface SeenGrant {
  readonly token: string;
  readonly generation: number;
  readonly holder: { readonly instance: string };
}

/**
 * Holds grants to the quarantines that processes raised while a namespace moved: no grant that was written after a
 * quarantine stood begins below its end, also in the store to which the namespace moved afterwards.
 */
export class RaisedQuarantines {
  readonly #layout: Layout;
  /** Until when each store is under quarantine, by its name: Unix milliseconds. */
  readonly #untilMs = new Map<string, number>();
  /** What bound a store when the first operator began to copy it. */
  readonly #copiedMs = new Map<string, number>();
  /** What bound the store of a grant when its record was written, by instance, worker index and generation. */
  readonly #grants = new Map<string, number>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** An answer says that the quarantine is there. */
  onRaised(store: string, untilMs: number): void {
    this.#untilMs.set(store, Math.max(untilMs, this.#of(store)));
  }

  /** An operator begins to copy the marks of a store, and its quarantine. */
  onCopying(source: string): void {
    if (!this.#copiedMs.has(source)) this.#copiedMs.set(source, this.#of(source));
  }

  /** A store is claimed for the namespace of another. */
  onClaimed(source: string): void {
    this.#copiedMs.delete(source);
  }

  /** A store is opened for the namespace of another. */
  onOpened(target: string, source: string): void {
    this.#untilMs.set(target, this.#copiedMs.get(source) ?? Number.NEGATIVE_INFINITY);
  }

  /** A store lost what it held, or its namespace: the quarantine may be gone. */
  onLost(store: string): void {
    this.#untilMs.delete(store);
  }

  /** The other store lost what it held: what was copied from this one may be gone. */
  onCopyLost(source: string): void {
    this.#copiedMs.set(source, Number.NEGATIVE_INFINITY);
  }

  /** A store took the record of a worker ID. */
  onWritten(store: string, key: string, before: string | undefined, text: string): void {
    const { token, generation, holder } = JSON.parse(text) as SeenGrant;
    const isNew = token !== "" && (before === undefined || (JSON.parse(before) as SeenGrant).token !== token);
    if (isNew) this.#grants.set(`${holder.instance} ${parseWorkerKey(key)} ${generation}`, this.#of(store));
  }

  /** @returns What is wrong; undefined if nothing is. */
  onAcquired(instance: string, event: Extract<WorkerEvent, { kind: "acquired" }>): string | undefined {
    const workerIndex = event.datacenterId * (this.#layout.worker.max + 1) + event.workerId;
    const untilMs = this.#grants.get(`${instance} ${workerIndex} ${event.generation}`) ?? Number.NEGATIVE_INFINITY;
    if (event.fromMs >= untilMs) return undefined;
    return `${instance} begins ${untilMs - event.fromMs} ms before the end of a quarantine`;
  }

  #of(store: string): number {
    return this.#untilMs.get(store) ?? Number.NEGATIVE_INFINITY;
  }
}
