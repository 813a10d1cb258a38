/** Step 4: copies the marks, and the quarantine of the source. */
import { IdError } from "../../errors.ts";
import { storeNowMs, writeQuarantine } from "../../lease/quarantine.ts";
import type { LayoutRecord } from "../../lease/records/layout-record.ts";
import {
  encodeQuarantineRecord,
  foreverMs,
  isForever,
  parseQuarantineRecord,
} from "../../lease/records/quarantine-record.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import {
  encodeWorkerRecord,
  parseWorkerKey,
  readableFence,
  readableRecord,
} from "../../lease/records/worker-record.ts";
import { quarantineMs } from "../../lease/window.ts";
import { type Entry, type ListAnswer, unlessRefused } from "../../store/record-store.ts";
import { lossFloorMs } from "../../lease/worker-list.ts";
import { type MoveEnd, type MoveParts, refused, roundsMax, takenBack } from "./move-parts.ts";
import { type Noted, noteCopied } from "./open-target.ts";
import { refuseNewer } from "./refuse-newer.ts";
import { readSlot, type Slot, swapRecord } from "./slot.ts";

/**
 * Refuses a move whose marks the target could not guard: a store that may lose data guards only marks that its
 * quarantine covers, and that reaches only so far ahead of its clock.
 *
 * @throws IdError INVALID_CONFIG.
 */
export async function checkMarks({ source, target, clock }: MoveParts, layout: LayoutRecord): Promise<void> {
  if (target.store.durability === "durable") return;
  const { entries } = await source.store.list();
  const { clockMs } = await target.store.moment();
  const coveredMs = (clockMs ?? clock.nowMs()) + quarantineMs(layout);
  for (const entry of entries) {
    const fence = parseWorkerKey(entry.key) === undefined ? undefined : readableFence(entry);
    if (fence === undefined || fence.markMs <= coveredMs) continue;
    const until = new Date(Math.min(fence.markMs, foreverMs)).toISOString();
    throw refused(
      `The mark of ${entry.key} is further ahead (${until}) than a store that may lose data can guard. Wait, or choose a durable one.`,
    );
  }
}

/**
 * Copies every mark, never lowering one, and the quarantine of the source, and notes it; then checks that everything is
 * there.
 *
 * @returns How many worker records there are, and the note.
 * @throws IdError STORE_UNAVAILABLE: run the move again; INVALID_CONFIG: a newer version wrote records of the target,
 * or another process took the move back.
 */
export async function copyMarks(
  parts: MoveParts,
  { moveId, layout }: { readonly moveId: string; readonly layout: LayoutRecord },
  listed: ListAnswer,
): Promise<{ readonly records: number; readonly noted: Noted }> {
  const { source, target, clock } = parts;
  const records = listed.entries.filter(({ key }) => parseWorkerKey(key) !== undefined);
  const standing = (await target.store.list()).entries;
  // A mark that only a newer version can write again must not be replaced by ours.
  refuseNewer(standing);
  const there = new Map(standing.map((entry) => [entry.key, entry]));
  for (const { key, text } of records) await copyOne(target, there.get(key), key, text);
  const sequences = listed.entries.find(({ key }) => key === recordKeys.sequences);
  if (sequences !== undefined) await copySequences(target, there.get(sequences.key), sequences);
  const floorMs = floorOf(parts, layout, listed, await readSlot(source.store));
  await copyQuarantine(parts, floorMs, clock.nowMs());
  const noted = await noteCopied(parts, { moveId, deploymentId: layout.deploymentId }, floorMs);
  const copied = new Map((await target.store.list()).entries.map((entry) => [entry.key, entry]));
  for (const { key, text } of records) if (!covers(key, copied.get(key)?.text ?? "", text)) throw lost(target, key);
  if (sequences !== undefined && copied.get(sequences.key)?.text !== sequences.text) throw lost(target, sequences.key);
  const mark = copied.get(recordKeys.quarantine);
  if (mark !== undefined && isForever(mark)) throw lost(target, mark.key);
  return { records: records.length, noted };
}

function lost({ place }: MoveEnd, key: string): IdError {
  return new IdError("STORE_UNAVAILABLE", `${place} lost ${key} while it was written. Run the same command again.`);
}

async function copyOne(target: MoveEnd, before: Entry | undefined, key: string, text: string): Promise<void> {
  let standing = before;
  for (let round = 0; round < roundsMax; round += 1) {
    if (standing !== undefined && covers(key, standing.text, text)) return;
    const answer = unlessRefused(
      await target.store.compareAndSet(
        key,
        standing,
        standing === undefined ? text : higherOf(key, standing.text, text),
      ),
    );
    if (answer.kind === "applied") return;
    ({ entry: standing } = await target.store.read(key));
  }
  throw new IdError(
    "STORE_UNAVAILABLE",
    `${target.place} changes faster than it can be written. Run the same command again.`,
  );
}

/** Copies the note of which database keeps the sequences; the sequences stay there. */
async function copySequences(target: MoveEnd, standing: Entry | undefined, { key, text }: Entry): Promise<void> {
  if (standing?.text !== text) await swapRecord(target, key, standing, text);
}

/** The higher of two records of the same deployment, because a mark is never lowered. */
function higherOf(key: string, there: string, here: string): string {
  const [one, other] = [readableRecord({ key, text: there }), readableRecord({ key, text: here })];
  if (one === undefined || other === undefined) return here;
  return encodeWorkerRecord({
    ...other,
    markMs: Math.max(one.markMs, other.markMs),
    generation: Math.max(one.generation, other.generation),
  });
}

/** Whether no process that starts from `there` could be granted a time that was used under `here`. */
function covers(key: string, there: string, here: string): boolean {
  if (there === here) return true;
  const [one, other] = [readableRecord({ key, text: there }), readableRecord({ key, text: here })];
  if (one === undefined || other === undefined) return false;
  return one.markMs >= other.markMs && one.generation >= other.generation;
}

/** Until when no grant may begin, by the quarantine of the source before the move and by its present life. */
function floorOf({ source, clock }: MoveParts, layout: LayoutRecord, listed: ListAnswer, { slot }: Slot): number {
  const nowMs = storeNowMs(listed.moment, clock.nowMs());
  if (slot?.kind !== "move") throw takenBack(source.place);
  const known = slot.move.quarantineUntilMs;
  return Math.max(known ?? Number.NEGATIVE_INFINITY, lossFloorMs(listed, layout, nowMs) ?? Number.NEGATIVE_INFINITY);
}

async function copyQuarantine({ source, target }: MoveParts, floorMs: number, wallMs: number): Promise<void> {
  const { entry, moment } = await target.store.read(recordKeys.quarantine);
  const sinceMs = storeNowMs(moment, wallMs);
  const reason = `moved from ${source.place}, which was under quarantine`;
  if (entry !== undefined && isForever(entry)) {
    // The namespace once left this store and comes back: no process can start here yet, and the former quarantine no
    // longer applies.
    const mark = {
      sinceMs,
      untilMs: Number.isFinite(floorMs) ? floorMs : sinceMs,
      reason: `moved back from ${source.place}`,
      added: parseQuarantineRecord(entry.text).added,
    };
    unlessRefused(await target.store.compareAndSet(recordKeys.quarantine, entry, encodeQuarantineRecord(mark)));
  } else if (Number.isFinite(floorMs)) {
    // Written even if it is over by this clock: a process whose clock is behind then begins at its end, not before.
    await writeQuarantine(target.store, { sinceMs, untilMs: floorMs, reason });
  }
}
