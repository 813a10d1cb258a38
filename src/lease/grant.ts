import type { Entry, Incarnation } from "../store/record-store.ts";
import type { GrantEnd } from "./worker-event.ts";
import type { WorkerRecord } from "./records/worker-record.ts";

/** A write that was sent and never answered: it may have landed, may still land, or never will. */
export interface UnansweredWrite {
  /** The whole text that was sent; only exactly this counts as ours. */
  readonly text: string;
  /** The mark in it: Unix milliseconds. */
  readonly markMs: number;
  /** Monotonic time of sending. */
  readonly sentAtMs: number;
}

/**
 * The right to one worker ID, as the store's answers confirmed it. Only acquire.ts makes one; only renewal.ts and
 * release.ts change it.
 */
export class Grant {
  readonly workerIndex: number;
  readonly key: string;
  readonly generation: number;
  readonly token: string;
  /** When it was granted: Unix milliseconds by our clock. */
  readonly sinceMs: number;
  /** First timestamp that it may issue: Unix milliseconds, rounded up to a tick by the generator. */
  readonly fromMs: number;
  /** The life of the store under which it was granted. */
  readonly incarnation: Incarnation;
  /** Whether it was continued from a resume record: see resume-record.ts. */
  readonly isResumed: boolean;
  /**
   * Whether the store itself gave us `entry`. After a resume it has not yet: the record is read before a write expects
   * it, so that the store's clock bounds the first renewal, and another life of the store is noticed.
   */
  isResolved: boolean;
  /** The record as we last confirmed it: the next write expects exactly it. */
  entry: Entry;
  record: WorkerRecord;
  /** Our own writes without an answer, by writeId. Emptied when one of them, or a later one, is confirmed. */
  readonly unanswered = new Map<string, UnansweredWrite>();
  /** hi: timestamps below it may be issued. Grows only by a durable answer: Unix milliseconds, exclusive. */
  untilMs: number;
  /** Above every timestamp issued under it; set when issuing stops: Unix milliseconds, exclusive. */
  usedToMs: number;
  /** Monotonic time at which the last confirmed write had been sent. */
  confirmedAtMs: number;

  /** Resolves when the grant is over: from then on nothing is issued under it. */
  readonly ended: Promise<GrantEnd>;
  readonly #resolveEnded: (end: GrantEnd) => void;

  constructor(made: {
    readonly workerIndex: number;
    readonly entry: Entry;
    readonly record: WorkerRecord;
    readonly incarnation: Incarnation;
    readonly sinceMs: number;
    readonly fromMs: number;
    readonly untilMs: number;
    readonly sentAtMs: number;
    readonly isResumed?: boolean;
  }) {
    this.isResumed = made.isResumed ?? false;
    this.isResolved = !this.isResumed;
    this.workerIndex = made.workerIndex;
    this.key = made.entry.key;
    this.generation = made.record.generation;
    this.token = made.record.token;
    this.sinceMs = made.sinceMs;
    this.fromMs = made.fromMs;
    this.incarnation = made.incarnation;
    this.entry = made.entry;
    this.record = made.record;
    this.untilMs = made.untilMs;
    this.usedToMs = made.fromMs;
    this.confirmedAtMs = made.sentAtMs;
    ({ promise: this.ended, resolve: this.#resolveEnded } = Promise.withResolvers<GrantEnd>());
  }

  /** Every mark that it may have in a store: the confirmed one, its end, and those of the writes without an answer. */
  *marks(): Generator<number> {
    yield this.record.markMs;
    yield this.untilMs;
    for (const { markMs } of this.unanswered.values()) yield markMs;
  }

  /** Marks the grant as over. Only the holder calls it. */
  end(end: GrantEnd): void {
    this.#resolveEnded(end);
  }

  /** Records that a write of ours is in the store. */
  confirm(entry: Entry, record: WorkerRecord, sentAtMs: number): void {
    this.entry = entry;
    this.record = record;
    this.isResolved = true;
    this.unanswered.clear();
    this.confirmedAtMs = sentAtMs;
  }
}
