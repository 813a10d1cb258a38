/** The check of `snowlane doctor` on the database of sequences. */
import { IdError } from "../../errors.ts";
import { openSequenceStore } from "../../sequence/open-sequence-store.ts";
import { openAheadMaxMs, type SequenceStore, type SequenceStoreOptions } from "../../sequence/sequence-store.ts";
import { equalIdentity } from "../../store/store-identity.ts";
import { type Finding, ok, warn } from "./finding.ts";
import { checkBinding } from "../../lease/sequences-binding.ts";
import type { SequencesRecord } from "../../lease/records/sequences-record.ts";
import { databaseIdOf } from "../../sequence/stripe-members.ts";
import { placeOf, recordedPlace } from "../../store/store-place.ts";

const runbook = "Follow the runbook of docs/sequences.md.";

/**
 * Checks whether values can be taken. A fault is a warning: the server starts, and issues IDs. Makes no file and no
 * table.
 */
export async function checkSequences(
  url: string,
  options: SequenceStoreOptions,
  bound: SequencesRecord | undefined,
): Promise<Finding> {
  let store: SequenceStore | undefined;
  try {
    store = await openSequenceStore(url, { ...options, whereNew: "refuse", connectionCount: 1 });
    return await checkDatabase(store, url, bound);
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    if (error.metadata["kept"] === "nothing") {
      return ok(
        "sequences",
        `No sequence was created at ${placeOf(url)} yet: the first call creates the tables, if the account may.`,
      );
    }
    return warn(
      "sequences",
      error.message,
      "Check --sequence-stores. Values are refused meanwhile; IDs need only --store.",
    );
  } finally {
    await store?.close();
  }
}

async function checkDatabase(store: SequenceStore, url: string, bound: SequencesRecord | undefined): Promise<Finding> {
  const where = placeOf(url);
  const { database, identity, clockMs } = await store.look([]);
  if (database === undefined)
    return warn("sequences", `The row of this namespace in snowlane_sequence_place at ${where} is gone.`, runbook);
  // The message of its error names both databases.
  checkBinding(bound, { databaseId: databaseIdOf(database.member), place: recordedPlace(url) });
  if (database.stopped !== "") {
    return warn("sequences", `The database at ${where} was stopped, because ${database.stopped}.`, runbook);
  }
  if (!equalIdentity(identity, database.identity)) {
    const detail = `The database at ${where} is another one or an older copy: ${identity} after ${database.identity}. The first take stops it.`;
    return warn("sequences", detail, runbook);
  }
  const aheadMs = database.openMs - clockMs;
  if (aheadMs > 0 && aheadMs <= openAheadMaxMs) {
    return ok("sequences", `The database at ${where} was opened, and gives values in ${Math.ceil(aheadMs / 1_000)} s.`);
  }
  return ok("sequences", `The database at ${where} gives values.`);
}
