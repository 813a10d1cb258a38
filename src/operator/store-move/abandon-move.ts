import { storeNowMs } from "../../lease/quarantine.ts";
import { encodeLayoutRecord, type LayoutRecord } from "../../lease/records/layout-record.ts";
import { encodeMoveRecord, movedError, type MoveRecord } from "../../lease/records/move-record.ts";
import { encodeQuarantineRecord, isForever, parseQuarantineRecord } from "../../lease/records/quarantine-record.ts";
import { noneAdded } from "../../lease/records/added-fields.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import { lossFloorMs } from "../../lease/worker-list.ts";
import { layoutOnTarget } from "./claim-target.ts";
import { abandonedMark } from "./close-source.ts";
import { type MoveParts, refused } from "./move-parts.ts";
import { readSlot, swapRecord, swapSlot } from "./slot.ts";

/**
 * Undoes a move that was interrupted before the target was opened: first the target is closed for this move, then the
 * source serves again. Worker IDs that were given back in place of dead holders stay free.
 *
 * @throws IdError INVALID_CONFIG: there is no move to take back, or it is too late; STORE_UNAVAILABLE: run it again.
 */
export async function abandonMove(parts: MoveParts): Promise<LayoutRecord> {
  const { source, target, clock, report } = parts;
  const [from, to] = [await readSlot(source.store), await readSlot(target.store)];
  const leaving = from.slot?.kind === "move" && from.slot.move.phase === "leaving" ? from.slot.move : undefined;
  if (leaving === undefined && from.slot?.kind === "move") throw movedError(from.slot.move);
  const record = from.slot?.kind === "layout" ? from.slot.record : leaving?.layout;
  if (record === undefined) throw refused(`${source.place} holds no layout record of this namespace.`);
  const claimed = to.slot?.kind === "move" ? to.slot.move : undefined;
  const moveId = leaving?.moveId ?? claimed?.moveId;
  const isOurs =
    to.slot === undefined || (claimed?.moveId === moveId && claimed?.layout.deploymentId === record.deploymentId);
  const isBarrable = claimed === undefined || claimed.phase === "arriving" || claimed.phase === "abandoned";
  if (moveId === undefined || !isOurs || !isBarrable) {
    throw refused(
      `No copy of this namespace from ${source.place} into ${target.place} is unfinished: nothing was changed.`,
    );
  }
  report(`bars ${target.place}`);
  // This is used even if the target lost the claim: its servers may continue for the longest window of this record.
  const there = layoutOnTarget(target, claimed?.layout ?? record);
  if (claimed?.phase !== "abandoned") {
    const barred: MoveRecord = {
      moveId,
      phase: "abandoned",
      place: source.place,
      sinceMs: clock.nowMs(),
      quarantineUntilMs: null,
      layout: there,
      added: claimed?.added ?? noneAdded,
    };
    await swapSlot(target, to.entry, encodeMoveRecord(barred));
  }
  if (leaving === undefined) return record;
  report(`reopens ${source.place}`);
  // The present mark is replaced, no matter which it is: an operator that closes the source meanwhile replaces only the
  // mark that it has read.
  const { entry } = await source.store.read(recordKeys.quarantine);
  const standing = entry && parseQuarantineRecord(entry.text);
  const isBarred = entry !== undefined && isForever(entry);
  const standingMs = isBarred ? undefined : standing?.untilMs;
  // A target that went back may have lost the record that it was opened, and its servers continue to the end of their
  // windows.
  const listed = await target.store.list();
  const lostMs = lossFloorMs(listed, there, storeNowMs(listed.moment, clock.nowMs()));
  const never = Number.NEGATIVE_INFINITY;
  const untilMs = Math.max(leaving.quarantineUntilMs ?? leaving.sinceMs, standingMs ?? never, lostMs ?? never);
  const mark = { ...abandonedMark(leaving), untilMs, added: standing?.added ?? noneAdded };
  await swapRecord(source, recordKeys.quarantine, entry, encodeQuarantineRecord(mark));
  await swapSlot(source, from.entry, encodeLayoutRecord(record));
  return record;
}
