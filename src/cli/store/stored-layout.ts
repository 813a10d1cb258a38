import { IdError } from "../../errors.ts";
import type { Layout } from "../../snowflake/layout.ts";
import { hasWorkers, lostLayout } from "../../lease/layout-agreement.ts";
import type { RecordStore } from "../../store/record-store.ts";
import { layoutOf } from "../../lease/worker-list.ts";
import type { LayoutRecord } from "../../lease/records/layout-record.ts";
import { parseLayoutRecord } from "../../lease/records/layout-slot.ts";
import { recordKeys } from "../../lease/records/record-text.ts";

/** The layout and window that a namespace was started with. */
export interface StoredLayout {
  readonly record: LayoutRecord;
  readonly layout: Layout;
}

/**
 * Reads the layout and window that a namespace was started with.
 *
 * @throws IdError INVALID_CONFIG: the namespace was never started, or its record is not ours.
 */
export async function readStoredLayout(store: RecordStore, namespace: string): Promise<StoredLayout> {
  const { entry } = await store.read(recordKeys.layout);
  if (entry === undefined) throw await noLayout(store, namespace);
  const record = parseLayoutRecord(entry.text);
  return { record, layout: layoutOf(record) };
}

/** The error of a command on a namespace without a layout record. */
export async function noLayout(store: RecordStore, namespace: string): Promise<IdError> {
  if (hasWorkers(await store.list())) return lostLayout(store, namespace);
  // Most likely the name or the store is wrong.
  const message = `Namespace ${namespace} of this store has no layout record: no server was ever started on it. Check --store and --namespace.`;
  return new IdError("INVALID_CONFIG", message, { metadata: { namespace } });
}
