import type { Remainder, Segment } from "./segment-buffer.ts";
import type { CounterKey } from "./sequence-store.ts";
import type { StoredSequence } from "./sequence.ts";

/** A take of one sequence in one period. */
export interface ValueTake extends CounterKey {
  readonly stored: StoredSequence;
  /** At least 1. */
  readonly count: number;
}

/**
 * The outcome of a take. `refused`: the database has the sequence, with the definition `stored`, but gives no value of
 * it.
 */
export type TakeAnswer =
  | { readonly kind: "taken"; readonly segment: Segment }
  | {
      readonly kind: "refused";
      readonly why: "disabled" | "exhausted" | "changed" | "closed";
      readonly stored: StoredSequence;
    };

/** A sequence in memory, and the present period of its values. */
export interface UsedSequence extends CounterKey {
  readonly stored: StoredSequence;
}

/**
 * The source of values: one database, or several that share the values of each sequence. Unless stated otherwise, every
 * method may reject with STORE_UNAVAILABLE or STORE_WENT_BACK.
 */
export interface ValueDatabase {
  /** Finds sequences by name: at most 1,000 of them. */
  find(names: readonly string[]): Promise<ReadonlyMap<string, StoredSequence>>;
  /** Takes values. If it rejects, a range that was taken is not used. */
  take(take: ValueTake): Promise<TakeAnswer>;
  /** Notes that values of a counter come into memory: its mark is kept from now on. */
  remember(key: CounterKey): void;
  /** Notes that no value of a counter is in memory any more. */
  forget(key: CounterKey): void;
  /** Gives back the unused values of a counter, once. Never rejects. */
  giveBack(key: CounterKey, sequenceId: string, remainder: Remainder): Promise<void>;
  /**
   * Compares sequences that are in use with the database.
   *
   * @param used - At most 1,000.
   * @returns The sequences as the database has them.
   */
  compare(used: readonly UsedSequence[]): Promise<ReadonlyMap<string, StoredSequence>>;
  /** Notes that the answers of {@link compare} have reached all sources in memory. */
  acknowledge(): Promise<void>;
  /** Registers a function that is called when all values in memory have to be dropped. */
  watch(onEmptied: () => void): void;
  /** Notes that nothing is in memory any more. Never rejects. */
  leave(): Promise<void>;
}
