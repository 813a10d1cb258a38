import type { Remainder, Segment } from "./segment-buffer.ts";
import type { CounterKey } from "./sequence-store.ts";
import type { StoredSequence } from "./sequence.ts";

/** A take of one sequence in one period. */
export interface ValueTake extends CounterKey {
  readonly stored: StoredSequence;
  /** At least 1. */
  readonly count: number;
}

/** The outcome of a take. `refused`: the database has the sequence, as `stored` says, and gives no value of it. */
export type TakeAnswer =
  | { readonly kind: "taken"; readonly segment: Segment }
  | {
      readonly kind: "refused";
      readonly why: "disabled" | "exhausted" | "changed" | "closed";
      readonly stored: StoredSequence;
    };

/** A sequence in memory, and the period that values are of now. */
export interface UsedSequence extends CounterKey {
  readonly stored: StoredSequence;
}

/**
 * Where sources take their values from: one database, or several that share the values of each sequence. All of it
 * rejects with STORE_UNAVAILABLE or STORE_WENT_BACK.
 */
export interface ValueDatabase {
  /** Finds sequences by name: at most 1,000 of them. */
  find(names: readonly string[]): Promise<ReadonlyMap<string, StoredSequence>>;
  /** Takes values. Where it rejects, the range is not used, if there is one. */
  take(take: ValueTake): Promise<TakeAnswer>;
  /** Notes that values of a counter come into memory: what was taken of it is then remembered. */
  remember(key: CounterKey): void;
  /** Notes that no value of a counter is in memory any more. */
  forget(key: CounterKey): void;
  /** Gives back what is left of a counter, once. Never rejects. */
  giveBack(key: CounterKey, sequenceId: string, remainder: Remainder): Promise<void>;
  /**
   * Compares sequences that are in use with the database.
   *
   * @param used - At most 1,000.
   * @returns The sequences as the database has them.
   */
  compare(used: readonly UsedSequence[]): Promise<ReadonlyMap<string, StoredSequence>>;
  /** Notes that the answers of {@link compare} have reached all that is in memory. */
  acknowledge(): Promise<void>;
  /** Has a function called where all values in memory are to go. */
  watch(onEmptied: () => void): void;
  /** Notes that nothing is in memory any more. Never rejects. */
  leave(): Promise<void>;
}
