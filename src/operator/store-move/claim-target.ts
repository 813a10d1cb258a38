/** Step 1: claims the target. */
import { noteIncarnation } from "../../lease/quarantine.ts";
import { StoreChanges } from "../../lease/store-changes.ts";
import type { LayoutRecord } from "../../lease/records/layout-record.ts";
import { encodeMoveRecord, movedError, type MoveRecord } from "../../lease/records/move-record.ts";
import { noneAdded } from "../../lease/records/added-fields.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import { parseWorkerKey } from "../../lease/records/worker-record.ts";
import { type MoveEnd, type MoveParts, refused } from "./move-parts.ts";
import { type Slot, swapSlot } from "./slot.ts";

/**
 * Puts a move record in place of the target's layout record, unless it is there already.
 *
 * @returns The ID of the move: that of the claim that is there already, or a new one.
 * @throws IdError INVALID_CONFIG: the target holds something else; as the stores do.
 */
export async function claimTarget(parts: MoveParts, layout: LayoutRecord, to: Slot): Promise<string> {
  const { source, target, clock } = parts;
  const { slot } = to;
  const isSameDeployment = slot?.kind === "move" && slot.move.layout.deploymentId === layout.deploymentId;
  if (isSameDeployment && slot.move.phase === "arriving") return slot.move.moveId;
  if (slot?.kind === "layout") {
    const isOneStore = slot.record.deploymentId === layout.deploymentId;
    throw refused(
      isOneStore
        ? `${source.place} and ${target.place} hold the same deployment: they are one store, or a copy of it.`
        : `${target.place} holds another deployment in this namespace. Use an empty store, or another one.`,
    );
  }
  // A store that the same deployment once left, or to which a copy was abandoned, may become its store again.
  if (slot !== undefined && (!isSameDeployment || slot.move.phase === "leaving")) throw movedError(slot.move);
  const listed = await target.store.list();
  if (slot === undefined && listed.entries.some(({ key }) => parseWorkerKey(key) !== undefined)) {
    throw refused(`${target.place} holds worker records without a layout record. Use an empty store.`);
  }
  // The target's own life, as its first server would note it: the life of the source does not matter here.
  const entry = listed.entries.find(({ key }) => key === recordKeys.incarnation);
  await noteIncarnation(
    target.store,
    new StoreChanges(),
    { entry, moment: listed.moment, empty: listed.entries.length === 0 },
    clock.nowMs(),
  );
  const moveId = parts.random128();
  const move: MoveRecord = {
    moveId,
    phase: "arriving",
    place: source.place,
    sinceMs: clock.nowMs(),
    quarantineUntilMs: null,
    layout: layoutOnTarget(target, layout),
    added: noneAdded,
  };
  await swapSlot(target, to.entry, encodeMoveRecord(move));
  return moveId;
}

/** The layout record as the target will have it: servers there may take its own default window. */
export function layoutOnTarget({ store }: MoveEnd, layout: LayoutRecord): LayoutRecord {
  return { ...layout, windowMaxMs: Math.max(layout.windowMaxMs, store.timing.windowMs) };
}
