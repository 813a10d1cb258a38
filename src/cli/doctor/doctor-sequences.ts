/** The check of `snowlane doctor` on the database of sequences. */
import { IdError } from "../../errors.ts";
import { openSequenceStore } from "../../sequence/open-sequence-store.ts";
import { openAheadMaxMs, type SequenceStore, type SequenceStoreOptions } from "../../sequence/sequence-store.ts";
import { equalIdentity } from "../../store/store-identity.ts";
import { type Finding, ok, warn } from "./finding.ts";
import { placeOf } from "../store/open-records.ts";

const runbook = "Follow the runbook of docs/sequences.md.";

/**
 * Looks whether values can be taken. A fault is a warning: the server starts, and issues IDs. Makes no file and no
 * table.
 */
export async function checkSequences(url: string, options: SequenceStoreOptions): Promise<Finding> {
  let store: SequenceStore | undefined;
  try {
    store = await openSequenceStore(url, { ...options, whereNew: "refuse", connectionCount: 1 });
    return await checkPlace(store, placeOf(url));
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    if (error.metadata["kept"] === "nothing") {
      return ok("sequences", `No sequence was made at ${placeOf(url)} yet: the first call makes the place for them.`);
    }
    return warn(
      "sequences",
      error.message,
      "Check --sequence-stores. Values are refused meanwhile; IDs need --store alone.",
    );
  } finally {
    await store?.close();
  }
}

async function checkPlace(store: SequenceStore, where: string): Promise<Finding> {
  const { place, identity, clockMs } = await store.look([]);
  if (place === undefined) return warn("sequences", `The place of this namespace at ${where} is gone.`, runbook);
  if (place.stopped !== "") {
    return warn("sequences", `The database at ${where} was stopped, because ${place.stopped}.`, runbook);
  }
  if (!equalIdentity(identity, place.identity)) {
    const detail = `The database at ${where} is another one or an older copy: ${identity} after ${place.identity}. The first take stops it.`;
    return warn("sequences", detail, runbook);
  }
  const aheadMs = place.openMs - clockMs;
  if (aheadMs > 0 && aheadMs <= openAheadMaxMs) {
    return ok("sequences", `The database at ${where} was opened, and gives values in ${Math.ceil(aheadMs / 1_000)} s.`);
  }
  return ok("sequences", `The database at ${where} gives values.`);
}
