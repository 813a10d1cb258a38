import type { ResumeJournal } from "./resume-record.ts";

/**
 * The database of sequences that this process, or an earlier life of it, has compared with the note of its deployment.
 * It is written into the resume records, so that a restart may use that database while the worker store is down.
 */
export class DatabaseNote {
  #databaseId: string | undefined;

  /** Whether this database was compared. */
  has(databaseId: string): boolean {
    return this.#databaseId === databaseId;
  }

  /** Notes a database that was compared. The next record that is written names it. */
  set(databaseId: string): void {
    this.#databaseId = databaseId;
  }

  /**
   * A journal whose records name the database. All records of one place belong to one deployment, so any of them can
   * name it.
   */
  within(journal: ResumeJournal): ResumeJournal {
    return {
      place: journal.place,
      recall: async (isAnothers) => {
        const records = await journal.recall(isAnothers);
        this.#databaseId ??= records.find(({ databaseId }) => databaseId !== undefined)?.databaseId;
        return records;
      },
      leave: (workerIndex) => journal.leave(workerIndex),
      write: (record) => {
        const databaseId = this.#databaseId;
        return journal.write(databaseId === undefined ? record : { ...record, databaseId });
      },
      remove: (workerIndex) => journal.remove(workerIndex),
    };
  }
}
