import type { ClockJudge } from "../clock/clock-judge.ts";
import type { UnchangedRecords } from "./candidates.ts";
import type { ObservedStore } from "./observed-store.ts";
import type { StoreChanges } from "./store-changes.ts";
import type { UnusedGrants } from "./unused-grants.ts";
import type { WorkerPorts } from "./worker-ports.ts";
import type { WorkerSettings } from "./worker-settings.ts";

/**
 * What acquire, renew and release share: ports, settings, and what this process remembers. It has no callbacks: each
 * operation returns what it saw, and its caller acts on that.
 */
export interface ProtocolContext {
  readonly store: ObservedStore;
  readonly settings: WorkerSettings;
  readonly ports: WorkerPorts;
  /** The wall clock as judged; the protocol reads no other. */
  readonly judge: ClockJudge;
  readonly unchanged: UnchangedRecords;
  /**
   * Above every timestamp that this process issued itself, for each worker index. A copy of this process may have
   * released one of them with a lower mark, so no new grant of ours begins below these. docs/adr/0014 has the decision.
   */
  readonly used: Map<number, number>;
  readonly unused: UnusedGrants;
  /**
   * The highest mark of any worker ID that this process ever saw or asked for: what a store that went back may have
   * forgotten.
   */
  readonly marks: HighestMark;
  /** The changes of the store that this process saw, and whether one is still to be reported. */
  readonly storeChanges: StoreChanges;
}

/** Keeps the highest of the marks shown to it. */
export class HighestMark {
  #ms = Number.NEGATIVE_INFINITY;

  /** Unix milliseconds; -Infinity if none was ever seen. */
  get ms(): number {
    return this.#ms;
  }

  see(markMs: number): void {
    if (markMs > this.#ms) this.#ms = markMs;
  }
}
