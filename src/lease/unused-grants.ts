import type { Entry, RecordKey } from "../store/record-store.ts";

/** How many texts of one key are remembered: a grant is written twice where a read confirms nothing. */
const textsMax = 4;

/**
 * Grants that this process asked for and never used: the answer did not come, or came too late to be relied on. Such an
 * in-doubt write may still have been applied, and the record would stand there until its time is over. No ID was ever
 * issued under it, so the process that finds exactly this record may take it again from where it began. Otherwise a bad
 * network would use up one worker ID with each try. docs/adr/0014 has the decision.
 */
export class UnusedGrants {
  readonly #sent = new Map<RecordKey, readonly { readonly text: string; readonly fromMs: number }[]>();

  /** Takes note before a grant is asked for. */
  ask(key: RecordKey, text: string, fromMs: number): void {
    const earlier = this.#sent.get(key) ?? [];
    this.#sent.set(key, [...earlier, { text, fromMs }].slice(-textsMax));
  }

  /** The grant is used from now on. */
  forget(key: RecordKey): void {
    this.#sent.delete(key);
  }

  /**
   * Where a record that is one of these began: nothing at or above it was issued under it. undefined for every other
   * record.
   */
  startMs(entry: Entry): number | undefined {
    return this.#sent.get(entry.key)?.find(({ text }) => text === entry.text)?.fromMs;
  }
}
