import type { ClockJudge } from "./clock-judge.ts";
import type { Candidates, UnchangedRecords } from "./candidates.ts";
import type { Grant } from "./grant.ts";
import type { ObservedStore } from "./observed-store.ts";
import type { NotedIncarnation } from "./quarantine.ts";
import type { Entry } from "./record-store.ts";
import type { UnusedGrants } from "./unused-grants.ts";
import type { WorkerPorts } from "./worker-ports.ts";
import type { LayoutRecord } from "./worker-record.ts";
import type { WorkerSettings } from "./worker-settings.ts";

/** What acquire, renew and release share. */
export interface ProtocolContext {
  readonly store: ObservedStore;
  readonly settings: WorkerSettings;
  readonly ports: WorkerPorts;
  /** The wall clock as judged; the protocol reads no other. */
  readonly judge: ClockJudge;
  readonly unchanged: UnchangedRecords;
  /**
   * Above every timestamp that this process issued itself, for each worker index. A copy of this process may have
   * released one of them with a mark that is lower; no new grant of ours begins below.
   */
  readonly used: Map<number, number>;
  readonly unused: UnusedGrants;
  /**
   * The highest mark of any worker ID that this process ever saw or asked for: what a store that went back may have
   * forgotten.
   */
  readonly marks: HighestMark;
  /** Told all records at each look, for the status. */
  readonly noteCandidates: (candidates: Candidates) => void;
  /** Told when the wall clock is too far from the store's. */
  readonly reportClockOff: (aheadMs: number) => void;
  /** Looks whether the layout record is still the one that stood there. @throws IdError STORE_WENT_BACK. */
  readonly checkLayout: (entries: readonly Entry[]) => void;
  /** The layout record that this process saw last; undefined: it never saw one. */
  readonly seenLayout: () => LayoutRecord | undefined;
  /** Told the layout record that stands. */
  readonly noteLayout: (record: LayoutRecord) => void;
  /** Told at each look which life of the store stands noted. */
  readonly noteIncarnation: (noted: NotedIncarnation) => void;
  /** Asked before a renewal is sent, with it among the unanswered; undefined where there is no resume record. */
  readonly noteUnanswered: (grant: Grant) => Promise<void> | undefined;
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
