import { expect, test } from "vitest";
import { JournalDisk } from "../../../test/support/worlds/memory-journal.ts";
import { HolderWorld } from "../../../test/support/worlds/holder-world.ts";
import { DatabaseNote } from "./database-note.ts";
import { encodeResumeRecord, parseResumeRecord, type ResumeJournal, type ResumeRecord } from "./resume-record.ts";

/** A resume record of a process that was killed. */
async function record(): Promise<ResumeRecord> {
  const world = new HolderWorld({ hasClock: true });
  const disk = new JournalDisk();
  await world.process({ disk }).start();
  return parseResumeRecord([...disk.texts.values()][0]!)!;
}

/** A journal that keeps one record as its text. */
function journalOf(kept: { text: string }, { place }: ResumeRecord): ResumeJournal {
  return {
    place,
    recall: async () => [parseResumeRecord(kept.text)!],
    leave: () => {},
    write: async (written) => void (kept.text = encodeResumeRecord(written)),
    remove: async () => {},
  };
}

test("a restart knows the database that an earlier life has compared, and no other one", async () => {
  const first = await record();
  const kept = { text: encodeResumeRecord(first) };
  const note = new DatabaseNote();
  const journal = note.within(journalOf(kept, first));
  await journal.write(first);
  expect(parseResumeRecord(kept.text)!.databaseId).toBeUndefined();
  note.set("a");
  await journal.write(first);
  const again = new DatabaseNote();
  const recalled = await again.within(journalOf(kept, first)).recall(() => false);
  expect(recalled).toEqual([{ ...first, databaseId: "a" }]);
  expect([again.has("a"), again.has("b"), new DatabaseNote().has("a")]).toEqual([true, false, false]);
});
