import type { Entry, RecordKey } from "../store/record-store.ts";

/** How many texts of one key are remembered: a grant is written twice where a read does not confirm a write. */
const textsMax = 4;

/**
 * Grants that this process asked for and never used: the answer did not come, or came too late to be relied on. Such an
 * in-doubt write may still have been applied, and its record would block the worker ID until its time is over. No ID
 * was ever issued under it, so if this process finds exactly this record, it may take the worker ID again from where
 * the grant began. Otherwise each try over a bad network would use up one worker ID. docs/adr/0014 has the decision.
 */
export class UnusedGrants {
  readonly #sent = new Map<RecordKey, readonly { readonly text: string; readonly fromMs: number }[]>();

  /** Remembers a grant before it is asked for. */
  ask(key: RecordKey, text: string, fromMs: number): void {
    const earlier = this.#sent.get(key) ?? [];
    this.#sent.set(key, [...earlier, { text, fromMs }].slice(-textsMax));
  }

  /** Forgets a grant that is used from now on. */
  forget(key: RecordKey): void {
    this.#sent.delete(key);
  }

  /**
   * Where an unused grant began, if the record is one: nothing at or above that time was issued under it. undefined for
   * every other record.
   */
  startMs(entry: Entry): number | undefined {
    return this.#sent.get(entry.key)?.find(({ text }) => text === entry.text)?.fromMs;
  }
}
