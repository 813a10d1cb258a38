/** Steps 5 and 6: opens the target, and says in the source where its namespace went. */
import { encodeLayoutRecord, type LayoutRecord } from "../../lease/records/layout-record.ts";
import { encodeMoveRecord } from "../../lease/records/move-record.ts";
import { type MoveParts, refused } from "./move-parts.ts";
import { readSlot, swapSlot } from "./slot.ts";

/**
 * Puts the layout record in place of the target's move record.
 *
 * @throws IdError INVALID_CONFIG: the target is not what it was when the move began.
 */
export async function openTarget({ target }: MoveParts, moveId: string, deploymentId: string): Promise<LayoutRecord> {
  const { entry, slot } = await readSlot(target.store);
  if (slot?.kind === "layout" && slot.record.deploymentId === deploymentId) return slot.record;
  if (slot?.kind !== "move" || slot.move.moveId !== moveId || slot.move.phase !== "arriving") {
    throw refused(`${target.place} is not what it was when this copy began. Check its content before you go on.`);
  }
  await swapSlot(target, entry, encodeLayoutRecord(slot.move.layout));
  return slot.move.layout;
}

/** Notes in the source that its namespace has left; nothing happens where it does not leave. */
export async function markLeft({ source }: MoveParts): Promise<void> {
  const { entry, slot } = await readSlot(source.store);
  if (slot?.kind !== "move" || slot.move.phase !== "leaving") return;
  await swapSlot(source, entry, encodeMoveRecord({ ...slot.move, phase: "left" }));
}
