/** The tie of a deployment to the database of its sequences: one record beside those of its workers, written once. */
import { IdError } from "../errors.ts";
import { type RecordStore, unlessRefused } from "../store/record-store.ts";
import { noneAdded } from "./records/added-fields.ts";
import { parseLayoutRecord } from "./records/layout-slot.ts";
import { recordKeys } from "./records/record-text.ts";
import { encodeSequencesRecord, parseSequencesRecord, type SequencesRecord } from "./records/sequences-record.ts";

/** A database of sequences, as its row and the settings of this process name it. */
export type NamedDatabase = Pick<SequencesRecord, "databaseId" | "place">;

/**
 * Reads the database that a deployment has noted; undefined = none yet. @throws IdError INVALID_CONFIG,
 * STORE_UNAVAILABLE.
 */
export async function readBinding(store: RecordStore): Promise<SequencesRecord | undefined> {
  const { entry } = await store.read(recordKeys.sequences);
  return entry && parseSequencesRecord(entry.text);
}

/** Compares a database with what the deployment has noted. @throws IdError INVALID_CONFIG: it is another one. */
export function checkBinding(bound: SequencesRecord | undefined, ours: NamedDatabase): void {
  if (bound === undefined || bound.databaseId === ours.databaseId) return;
  const since = new Date(bound.sinceMs).toISOString();
  const message =
    `This deployment keeps its sequences in ${bound.place} since ${since} (database ${bound.databaseId}). ` +
    `Another database is named: ${ours.place} (database ${ours.databaseId}). Name the first one with --sequence-stores.`;
  const metadata = { setting: "sequenceStores", bound: bound.databaseId, named: ours.databaseId };
  throw new IdError("INVALID_CONFIG", message, { metadata });
}

/**
 * Notes the database of a deployment, or compares it with the one that is noted.
 *
 * @returns Whether this call noted it.
 * @throws IdError INVALID_CONFIG: another database is noted. STORE_UNAVAILABLE: the store did not answer, or holds no
 * deployment yet; nothing may be taken then.
 */
export async function bindSequences(store: RecordStore, ours: NamedDatabase, nowMs: number): Promise<boolean> {
  const bound = await readBinding(store);
  if (bound === undefined) {
    await checkServes(store);
    const text = encodeSequencesRecord({ ...ours, sinceMs: nowMs, added: noneAdded });
    const answer = unlessRefused(await store.compareAndSet(recordKeys.sequences, undefined, text));
    if (answer.kind === "applied") {
      // A move that closed the store meanwhile may have copied the records before this write.
      await checkServes(store);
      return true;
    }
  }
  checkBinding(bound ?? (await readBinding(store)), ours);
  return false;
}

async function checkServes(store: RecordStore): Promise<void> {
  const { entry } = await store.read(recordKeys.layout);
  if (entry === undefined) {
    const message = "The worker store holds no deployment yet that could note its database of sequences.";
    throw new IdError("STORE_UNAVAILABLE", message, { metadata: { store: store.kind } });
  }
  parseLayoutRecord(entry.text);
}
