/** Step 2: closes the source. */
import { IdError } from "../../errors.ts";
import type { LayoutRecord } from "../../lease/records/layout-record.ts";
import { encodeMoveRecord, movedError, type MoveRecord } from "../../lease/records/move-record.ts";
import {
  encodeQuarantineRecord,
  foreverMs,
  isForever,
  parseQuarantineRecord,
  type QuarantineRecord,
} from "../../lease/records/quarantine-record.ts";
import { noneAdded } from "../../lease/records/added-fields.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import { unlessRefused } from "../../store/record-store.ts";
import { type MoveParts, roundsMax, takenBack } from "./move-parts.ts";
import { readSlot, swapSlot } from "./slot.ts";

/**
 * Puts a move record in place of the source's layout record, and a quarantine without end.
 *
 * @throws IdError INVALID_CONFIG: another move holds the source, or another process took this one back;
 * STORE_UNAVAILABLE: run the move again.
 */
export async function closeSource(
  { source, target, clock }: MoveParts,
  layout: LayoutRecord,
  moveId: string,
): Promise<void> {
  const { store } = source;
  for (let round = 0; round < roundsMax; round += 1) {
    // In this order, a mark that was read while the source was closed is replaced before the source opens again.
    const standing = await store.read(recordKeys.quarantine);
    const { entry, slot } = await readSlot(store);
    const mark = standing.entry && parseQuarantineRecord(standing.entry.text);
    const isBarred = standing.entry !== undefined && isForever(standing.entry);
    const leaving = slot?.kind === "move" && slot.move.phase === "leaving" ? slot.move : undefined;
    if (slot?.kind === "move" && leaving?.moveId !== moveId) throw movedError(slot.move);
    const isOpenAgain = round > 0 && leaving === undefined;
    if (isOpenAgain || (leaving !== undefined && isAbandonedMark(mark, leaving))) throw takenBack(source.place);
    const known = leaving?.quarantineUntilMs ?? Number.NEGATIVE_INFINITY;
    const boundMs = Math.max(known, isBarred ? known : (mark?.untilMs ?? Number.NEGATIVE_INFINITY));
    // The quarantine of the store is written into the move record before its mark is replaced. So is one that a process
    // raised after another operator wrote its mark to take the move back: the record then changes, and that operator
    // cannot reopen the source.
    if (leaving === undefined || boundMs > known) {
      const sinceMs = leaving?.sinceMs ?? clock.nowMs();
      const quarantineUntilMs = Number.isFinite(boundMs) ? boundMs : null;
      const added = leaving?.added ?? noneAdded;
      const place = target.place;
      const move: MoveRecord = { moveId, phase: "leaving", place, sinceMs, quarantineUntilMs, layout, added };
      await swapSlot(source, entry, encodeMoveRecord(move));
    }
    if (isBarred) return;
    const added = mark?.added ?? noneAdded;
    const forever = { sinceMs: clock.nowMs(), untilMs: foreverMs, reason: `moved to ${target.place}`, added };
    const answer = unlessRefused(
      await store.compareAndSet(recordKeys.quarantine, standing.entry, encodeQuarantineRecord(forever)),
    );
    if (answer.kind === "applied") return;
  }
  throw new IdError(
    "STORE_UNAVAILABLE",
    `${source.place} changes faster than it can be closed. Run the same command again.`,
  );
}

/**
 * The start and the reason of the quarantine that taking back a move writes before the source opens again. An operator
 * that is still closing the source for this move recognizes by it that it is too late.
 */
export function abandonedMark({ sinceMs, place }: MoveRecord): Pick<QuarantineRecord, "sinceMs" | "reason"> {
  return { sinceMs, reason: `the move to ${place} was abandoned` };
}

function isAbandonedMark(mark: QuarantineRecord | undefined, leaving: MoveRecord): boolean {
  const { sinceMs, reason } = abandonedMark(leaving);
  return mark?.sinceMs === sinceMs && mark.reason === reason;
}
