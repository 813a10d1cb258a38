/** Steps 5 and 6: opens the target, and says in the source where its namespace went. */
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
 * Notes in the target's move record that all is copied, before it is checked that all stands there. A target that goes
 * back afterwards loses this note, too, and is not opened without what it lost.
 *
 * @param untilMs - The quarantine that was copied; -Infinity where there was none.
 * @returns The record as it stands now: also a layout record, where another operator was faster.
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

/** Puts the layout record in place of the target's move record, as it stood when all had been copied. */
export async function openTarget({ target }: MoveParts, { entry, slot }: Noted): Promise<LayoutRecord> {
  if (slot.kind === "layout") return slot.record;
  await swapSlot(target, entry, encodeLayoutRecord(slot.move.layout));
  return slot.move.layout;
}

/** Notes in the source that its namespace has left; nothing happens where it does not leave. */
export async function markLeft({ source }: MoveParts): Promise<void> {
  const { entry, slot } = await readSlot(source.store);
  if (slot?.kind !== "move" || slot.move.phase !== "leaving") return;
  await swapSlot(source, entry, encodeMoveRecord({ ...slot.move, phase: "left" }));
}
