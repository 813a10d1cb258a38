import { IdError } from "../errors.ts";
import type { Layout } from "../snowflake/layout.ts";
import { hasWorkers, lostLayout } from "../worker/layout-record.ts";
import type { RecordStore } from "../worker/record-store.ts";
import { layoutOf } from "../worker/worker-list.ts";
import { type LayoutRecord, parseLayoutRecord, recordKeys } from "../worker/worker-record.ts";

/** What a namespace was started with. */
export interface StoredLayout {
  readonly record: LayoutRecord;
  readonly layout: Layout;
}

/**
 * Reads what a namespace was started with.
 *
 * @throws IdError INVALID_CONFIG: it never was, or its record is not ours.
 */
export async function readStoredLayout(store: RecordStore, namespace: string): Promise<StoredLayout> {
  const { entry } = await store.read(recordKeys.layout);
  if (entry === undefined) throw await noLayout(store, namespace);
  const record = parseLayoutRecord(entry.text);
  return { record, layout: layoutOf(record) };
}

/** What a command on a namespace without a layout record says. */
export async function noLayout(store: RecordStore, namespace: string): Promise<IdError> {
  if (hasWorkers(await store.list())) return lostLayout(store, namespace);
  // Most likely its name, or the store, is another.
  const message = `Namespace ${namespace} of this store has no layout record: nothing was ever started on it. Check --store and --namespace.`;
  return new IdError("INVALID_CONFIG", message, { metadata: { namespace } });
}
