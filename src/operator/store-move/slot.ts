/** The record in place of a layout record: each step reads the state of the move from it and writes it there. */
import { IdError } from "../../errors.ts";
import { type LayoutSlot, parseLayoutSlot } from "../../lease/records/layout-slot.ts";
import { recordBytesMax, recordKeys } from "../../lease/records/record-text.ts";
import { type Entry, type RecordKey, type RecordStore, unlessRefused } from "../../store/record-store.ts";
import { type MoveEnd, refused } from "./move-parts.ts";

/** The record in place of a layout record, if there is one. */
export interface Slot {
  readonly entry: Entry | undefined;
  readonly slot: LayoutSlot | undefined;
}

/** Reads the record in place of the layout record. @throws IdError INVALID_CONFIG for a foreign record. */
export async function readSlot(store: RecordStore): Promise<Slot> {
  const { entry } = await store.read(recordKeys.layout);
  return { entry, slot: entry && parseLayoutSlot(entry.text) };
}

/**
 * Replaces the record in place of the layout record.
 *
 * @throws IdError STORE_UNAVAILABLE if another process was faster, INVALID_CONFIG if the record would be too long:
 * nothing was changed then.
 */
export async function swapSlot(end: MoveEnd, expected: Entry | undefined, text: string): Promise<void> {
  if (text.length > recordBytesMax) {
    throw refused(
      `The layout record is too long to be moved: with its move, ${text.length} bytes of ${recordBytesMax}.`,
    );
  }
  await swapRecord(end, recordKeys.layout, expected, text);
}

/** Replaces a record. @throws IdError STORE_UNAVAILABLE if another process was faster: nothing was changed then. */
export async function swapRecord(
  { store, place }: MoveEnd,
  key: RecordKey,
  expected: Entry | undefined,
  text: string,
): Promise<void> {
  const answer = unlessRefused(await store.compareAndSet(key, expected, text));
  if (answer.kind === "applied") return;
  throw new IdError(
    "STORE_UNAVAILABLE",
    `Another process changed ${place} at the same time. Run the same command again.`,
  );
}
