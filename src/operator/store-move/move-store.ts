import { IdError } from "../../errors.ts";
import type { LayoutRecord } from "../../lease/records/layout-record.ts";
import { movedError } from "../../lease/records/move-record.ts";
import { sameIncarnation } from "../../store/record-store.ts";
import { claimTarget } from "./claim-target.ts";
import { closeSource } from "./close-source.ts";
import { checkMarks, copyMarks } from "./copy-marks.ts";
import { fenceSource, findHolders } from "./fence-source.ts";
import { type LiveHolder, type MoveParts, refused } from "./move-parts.ts";
import { markLeft, openTarget } from "./open-target.ts";
import { readSlot, type Slot } from "./slot.ts";

/** The outcome of a move. */
export type MoveOutcome =
  | { readonly kind: "moved"; readonly layout: LayoutRecord; readonly records: number }
  /** It was complete already. */
  | { readonly kind: "was-moved"; readonly layout: LayoutRecord }
  /** Some holders are alive. `isClosed`: the source already accepts no new ones. */
  | { readonly kind: "held"; readonly holders: readonly LiveHolder[]; readonly isClosed: boolean };

/**
 * Moves a namespace from one store to another, so that the two never grant at the same time, and the target never
 * grants below a mark of the source. docs/adr/0062-moving-a-namespace.md has the steps; each step may be the last one
 * before a crash, and the next run of the move continues from there.
 *
 * 1. The target is claimed: a move record in place of its layout record. No process can start there.
 * 2. The source is closed: a move record in place of its layout record, and a quarantine without end. No process can
 *    start there, and one that was about to start drops the grant that it wrote.
 * 3. Every record of the source whose holder is dead is given back, with its mark: a holder that wakes up late is
 *    fenced. A living holder stops the move here.
 * 4. Every mark is copied, and the quarantine that binds the source; the target's move record notes it.
 * 5. The target is opened: its layout record takes the place of the move record.
 * 6. The source's move record notes that its namespace has left.
 *
 * @throws IdError INVALID_CONFIG: the source holds nothing, or the target holds something else; as the stores do: run
 * it again.
 */
export async function moveStore(parts: MoveParts): Promise<MoveOutcome> {
  const { source, target } = parts;
  const [from, to] = [await readSlot(source.store), await readSlot(target.store)];
  if (from.slot === undefined) throw refused(`${source.place} holds no layout record of this namespace.`);
  const layout = from.slot.kind === "layout" ? from.slot.record : from.slot.move.layout;
  if (from.slot.kind === "move") {
    const { move } = from.slot;
    const isOpen = to.slot?.kind === "layout" && to.slot.record.deploymentId === layout.deploymentId;
    if (move.phase === "arriving" || move.phase === "abandoned") throw movedError(move);
    if (move.phase === "left" && isOpen) return { kind: "was-moved", layout };
    if (move.phase === "leaving" && isOpen) {
      await markLeft(parts);
      return { kind: "was-moved", layout };
    }
    const isThisMove = to.slot?.kind === "move" && to.slot.move.moveId === move.moveId;
    if (move.phase === "left" || !isThisMove || to.slot.move.phase !== "arriving") throw movedError(move);
  } else {
    const holders = await findHolders(parts, await source.store.list(), "at once");
    if (holders.length > 0) return { kind: "held", holders, isClosed: false };
    await checkMarks(parts, layout);
  }
  return await carryOut(parts, layout, to);
}

async function carryOut(parts: MoveParts, layout: LayoutRecord, to: Slot): Promise<MoveOutcome> {
  const { source, target, report } = parts;
  report(`claims ${target.place}`);
  const moveId = await claimTarget(parts, layout, to);
  report(`closes ${source.place}`);
  await closeSource(parts, layout, moveId);
  report("gives back the worker IDs of dead holders");
  const fenced = await fenceSource(parts);
  if (fenced.kind === "held") return { kind: "held", holders: fenced.holders, isClosed: true };
  report("copies the marks");
  const { records, noted } = await copyMarks(parts, { moveId, layout }, fenced.listed);
  const { incarnation } = await source.store.moment();
  if (!sameIncarnation(incarnation, fenced.listed.moment.incarnation)) {
    throw new IdError(
      "STORE_UNAVAILABLE",
      `${source.place} started again while it was copied. Run the same command again.`,
    );
  }
  report(`opens ${target.place}`);
  const opened = await openTarget(parts, noted);
  await markLeft(parts);
  return { kind: "moved", layout: opened, records };
}
