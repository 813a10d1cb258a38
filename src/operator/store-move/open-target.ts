/** Steps 5 and 6: opens the target, and notes in the source that its namespace has left. */
import { encodeLayoutRecord, type LayoutRecord } from "../../lease/records/layout-record.ts";
import { encodeMoveRecord } from "../../lease/records/move-record.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import { type MoveParts, refused } from "./move-parts.ts";
import { readSlot, type Slot, swapSlot } from "./slot.ts";
import type { LayoutSlot } from "../../lease/records/layout-slot.ts";

/** The record in place of the target's layout record when all had been copied. */
export interface Noted extends Slot {
  readonly slot: LayoutSlot;
}

/**
 * Notes in the target's move record that everything is copied, before it is checked that everything is there. A target
 * that goes back afterwards loses this note as well, and so is not opened without the records that it lost.
 *
 * @param untilMs - The quarantine that was copied; -Infinity if there was none.
 * @returns The record as it is now: a layout record if another operator was faster.
 * @throws IdError INVALID_CONFIG: the target is not what it was when the move began.
 */
export async function noteCopied(
  { target }: MoveParts,
  { moveId, deploymentId }: { readonly moveId: string; readonly deploymentId: string },
  untilMs: number,
): Promise<Noted> {
  const { entry, slot } = await readSlot(target.store);
  if (slot?.kind === "layout" && slot.record.deploymentId === deploymentId) return { entry, slot };
  if (slot?.kind !== "move" || slot.move.moveId !== moveId || slot.move.phase !== "arriving") {
    throw refused(`${target.place} is not what it was when this copy began. Check its content before you go on.`);
  }
  const move = { ...slot.move, quarantineUntilMs: Number.isFinite(untilMs) ? untilMs : 0 };
  const text = encodeMoveRecord(move);
  if (text !== entry?.text) await swapSlot(target, entry, text);
  return { entry: { key: recordKeys.layout, text }, slot: { kind: "move", move } };
}

/** Puts the layout record in place of the move record that the target had when everything was copied. */
export async function openTarget({ target }: MoveParts, { entry, slot }: Noted): Promise<LayoutRecord> {
  if (slot.kind === "layout") return slot.record;
  await swapSlot(target, entry, encodeLayoutRecord(slot.move.layout));
  return slot.move.layout;
}

/** Notes in the source that its namespace has left; does nothing if the namespace is not leaving. */
export async function markLeft({ source }: MoveParts): Promise<void> {
  const { entry, slot } = await readSlot(source.store);
  if (slot?.kind !== "move" || slot.move.phase !== "leaving") return;
  await swapSlot(source, entry, encodeMoveRecord({ ...slot.move, phase: "left" }));
}
