/** Step 2: closes the source. */
import { IdError } from "../../errors.ts";
import type { LayoutRecord } from "../../lease/records/layout-record.ts";
import { encodeMoveRecord, movedError, type MoveRecord } from "../../lease/records/move-record.ts";
import { encodeQuarantineRecord, parseQuarantineRecord } from "../../lease/records/quarantine-record.ts";
import { noneAdded } from "../../lease/records/added-fields.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import { type Entry, unlessRefused } from "../../store/record-store.ts";
import { type MoveParts, roundsMax } from "./move-parts.ts";
import { readSlot, swapSlot } from "./slot.ts";

/** The last time that a date can name: a quarantine without end. */
export const foreverMs = 8.64e15;

/**
 * Puts a move record in place of the source's layout record, and a quarantine without end.
 *
 * @throws IdError INVALID_CONFIG: another move holds the source; STORE_UNAVAILABLE: run the move again.
 */
export async function closeSource(
  { source, target, clock }: MoveParts,
  layout: LayoutRecord,
  moveId: string,
): Promise<void> {
  const { store } = source;
  for (let round = 0; round < roundsMax; round += 1) {
    const { entry, slot } = await readSlot(store);
    const standing = await store.read(recordKeys.quarantine);
    const mark = standing.entry && parseQuarantineRecord(standing.entry.text);
    const isBarred = standing.entry !== undefined && isForever(standing.entry);
    const leaving = slot?.kind === "move" && slot.move.phase === "leaving" ? slot.move : undefined;
    if (slot?.kind === "move" && leaving?.moveId !== moveId) throw movedError(slot.move);
    const known = leaving?.quarantineUntilMs ?? Number.NEGATIVE_INFINITY;
    const boundMs = Math.max(known, isBarred ? known : (mark?.untilMs ?? Number.NEGATIVE_INFINITY));
    // The quarantine of the store is written down before its mark is replaced.
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

/** Whether a quarantine is the one that a move puts down: without end. */
export function isForever({ text }: Entry): boolean {
  return parseQuarantineRecord(text).untilMs === foreverMs;
}
