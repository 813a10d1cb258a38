/**
 * Moves a namespace from one store to another, so that at no moment both grant, and the target never grants below a
 * mark of the source. docs/adr/0062-moving-a-namespace.md has the argument; each step may be the last one before a
 * crash, and whoever runs the move again goes on from there.
 *
 * 1. The target is claimed: a move record in place of its layout record. Nobody can start there.
 * 2. The source is closed: a move record in place of its layout record, and a quarantine for ever. Nobody can start
 *    there, and who was about to drops what it wrote.
 * 3. Every record of the source whose holder is dead is given back, with its mark: a holder that wakes up late is
 *    fenced. A holder that lives stops the move here.
 * 4. Every mark is copied, and the quarantine that binds the source.
 * 5. The target is opened: its layout record takes the place of the move record.
 * 6. The source says where its namespace went.
 */
import { type Clock, delay, type Timers } from "../clock.ts";
import { assert } from "../assert.ts";
import { IdError } from "../errors.ts";
import { holderUntilMs } from "./candidates.ts";
import { noteIncarnation, storeNowMs, writeQuarantine } from "./quarantine.ts";
import { type Entry, type ListAnswer, type RecordStore, sameIncarnation } from "./record-store.ts";
import { quarantineMs } from "./window.ts";
import { lossFloorMs } from "./worker-list.ts";
import {
  encodeLayoutRecord,
  encodeMoveRecord,
  encodeQuarantineRecord,
  encodeWorkerRecord,
  type LayoutRecord,
  type LayoutSlot,
  type MoveRecord,
  movedError,
  parseLayoutSlot,
  parseQuarantineRecord,
  parseWorkerKey,
  parseWorkerRecord,
  recordKeys,
  type WorkerRecord,
} from "./worker-record.ts";

/** A store and what to call it. */
interface MoveEnd {
  readonly store: RecordStore;
  /** For people, without credentials: 1 to 150 printable ASCII characters. */
  readonly place: string;
}

/** What a move is made with. */
export interface MoveParts {
  readonly source: MoveEnd;
  readonly target: MoveEnd;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random128: () => string;
  /** Told of each step that was begun. */
  readonly report: (step: string) => void;
}

/** A holder that stands in the way. */
export interface StandingHolder {
  readonly workerIndex: number;
  readonly record: WorkerRecord;
  /** When its time is over if it died; undefined where its lock tells that it lives. Unix milliseconds. */
  readonly untilMs: number | undefined;
}

/** What a move came to. */
export type MoveOutcome =
  | { readonly kind: "moved"; readonly layout: LayoutRecord; readonly records: number }
  /** It was complete already. */
  | { readonly kind: "was-moved"; readonly layout: LayoutRecord }
  /** Holders live. `isClosed`: the source takes no new ones by now. */
  | { readonly kind: "held"; readonly holders: readonly StandingHolder[]; readonly isClosed: boolean };

/** The last time that a date can name: a quarantine without end. */
const foreverMs = 8.64e15;
/** Rounds against others that write at the same time: the second nearly always ends it. */
const roundsMax = 10;
/** Where no clock tells that a holder's time is over, it is watched for so many renewals. */
const watchedPeriods = 2;
const recordBytesMax = 1_024;

/** What stands in place of a layout record, if anything does. */
interface Slot {
  readonly entry: Entry | undefined;
  readonly slot: LayoutSlot | undefined;
}

/**
 * Moves the namespace, or goes on with a move that was interrupted. See the head of this file.
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
  const moveId = await claim(parts, layout, to);
  report(`closes ${source.place}`);
  await close(parts, layout, moveId);
  report("gives back what the dead held");
  const fenced = await fence(parts);
  if (fenced.kind === "held") return { kind: "held", holders: fenced.holders, isClosed: true };
  report("copies the marks");
  const records = await copy(parts, layout, fenced.listed);
  const { incarnation } = await source.store.moment();
  if (!sameIncarnation(incarnation, fenced.listed.moment.incarnation)) {
    throw new IdError("STORE_UNAVAILABLE", `${source.place} started again while it was copied. Run the same again.`);
  }
  report(`opens ${target.place}`);
  const opened = await open(parts, moveId, layout.deploymentId);
  await markLeft(parts);
  return { kind: "moved", layout: opened, records };
}

/**
 * Takes back a move that was interrupted before the target was opened: first the target is barred for this move, then
 * the source serves again. What was given back in place of the dead stays so.
 *
 * @throws IdError INVALID_CONFIG: there is nothing to take back, or it is too late.
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
  if (claimed?.phase !== "abandoned") {
    const barred: MoveRecord = {
      moveId,
      phase: "abandoned",
      place: source.place,
      sinceMs: clock.nowMs(),
      quarantineUntilMs: null,
      layout: record,
    };
    await swapSlot(target, to.entry, encodeMoveRecord(barred));
  }
  if (leaving === undefined) return record;
  report(`reopens ${source.place}`);
  const quarantine = await source.store.read(recordKeys.quarantine);
  if (quarantine.entry !== undefined && isForever(quarantine.entry)) {
    const untilMs = leaving.quarantineUntilMs ?? leaving.sinceMs;
    const mark = { sinceMs: leaving.sinceMs, untilMs, reason: `the move to ${leaving.place} was abandoned` };
    await source.store.compareAndSet(recordKeys.quarantine, quarantine.entry, encodeQuarantineRecord(mark));
  }
  await swapSlot(source, from.entry, encodeLayoutRecord(record));
  return record;
}

// ---- 1. the target

/** @returns The ID of the move: that of the claim that stands, or a new one. */
async function claim(parts: MoveParts, layout: LayoutRecord, to: Slot): Promise<string> {
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
  // A store that the same deployment once left, or a copy into which was abandoned, may be its home again.
  if (slot !== undefined && (!isSameDeployment || slot.move.phase === "leaving")) throw movedError(slot.move);
  const listed = await target.store.list();
  if (slot === undefined && listed.entries.some(({ key }) => parseWorkerKey(key) !== undefined)) {
    throw refused(`${target.place} holds worker records without a layout record. Use an empty store.`);
  }
  // Of the target's own life, as its first server would note it: what the source's life was says nothing here.
  const entry = listed.entries.find(({ key }) => key === recordKeys.incarnation);
  await noteIncarnation(
    target.store,
    { entry, moment: listed.moment, empty: listed.entries.length === 0 },
    clock.nowMs(),
  );
  const moveId = parts.random128();
  // Servers on the target may take its own default window.
  const windowMaxMs = Math.max(layout.windowMaxMs, target.store.timing.windowMs);
  const move: MoveRecord = {
    moveId,
    phase: "arriving",
    place: source.place,
    sinceMs: clock.nowMs(),
    quarantineUntilMs: null,
    layout: { ...layout, windowMaxMs },
  };
  await swapSlot(target, to.entry, encodeMoveRecord(move));
  return moveId;
}

// ---- 2. the source

async function close({ source, target, clock }: MoveParts, layout: LayoutRecord, moveId: string): Promise<void> {
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
    // What bound the store is written down before the mark that says so is replaced.
    if (leaving === undefined || boundMs > known) {
      const sinceMs = leaving?.sinceMs ?? clock.nowMs();
      const quarantineUntilMs = Number.isFinite(boundMs) ? boundMs : null;
      const move: MoveRecord = { moveId, phase: "leaving", place: target.place, sinceMs, quarantineUntilMs, layout };
      await swapSlot(source, entry, encodeMoveRecord(move));
    }
    if (isBarred) return;
    const forever = { sinceMs: clock.nowMs(), untilMs: foreverMs, reason: `moved to ${target.place}` };
    const answer = await store.compareAndSet(recordKeys.quarantine, standing.entry, encodeQuarantineRecord(forever));
    if (answer.kind === "applied") return;
  }
  throw new IdError("STORE_UNAVAILABLE", `${source.place} changes faster than it can be closed. Run the same again.`);
}

function isForever({ text }: Entry): boolean {
  return parseQuarantineRecord(text).untilMs === foreverMs;
}

// ---- 3. the records of the source

type Fenced =
  | { readonly kind: "fenced"; readonly listed: ListAnswer }
  | { readonly kind: "held"; readonly holders: readonly StandingHolder[] };

/** Gives back every record whose holder is dead, so that no late renewal of his can raise a mark that was copied. */
async function fence(parts: MoveParts): Promise<Fenced> {
  const { store } = parts.source;
  let listed = await store.list();
  for (let round = 0; round < roundsMax; round += 1) {
    const taken = takenRecords(listed);
    if (taken.length === 0) return { kind: "fenced", listed };
    const holders = await findHolders(parts, listed, "watching");
    if (holders.length > 0) return { kind: "held", holders };
    for (const { entry, record } of taken) {
      const next = { ...record, token: "", writeId: parts.random128(), expiresMs: 0 };
      await store.compareAndSet(entry.key, entry, encodeWorkerRecord(next));
    }
    listed = await store.list();
  }
  throw new IdError("STORE_UNAVAILABLE", `${parts.source.place} changes while it is copied. Run the same again.`);
}

interface Taken {
  readonly workerIndex: number;
  readonly entry: Entry;
  readonly record: WorkerRecord;
}

/** Records that were not given back. Those that cannot be read are nobody's. */
function takenRecords({ entries }: ListAnswer): readonly Taken[] {
  return entries.flatMap((entry) => {
    const workerIndex = parseWorkerKey(entry.key);
    const record = workerIndex === undefined ? undefined : tryParse(entry);
    return workerIndex === undefined || record === undefined || record.token === ""
      ? []
      : [{ workerIndex, entry, record }];
  });
}

/** Holders that live, as far as can be told. Where locks tell, those of the dead are ours from here on. */
async function findHolders(
  parts: MoveParts,
  listed: ListAnswer,
  how: "at once" | "watching",
): Promise<readonly StandingHolder[]> {
  const { store } = parts.source;
  const taken = takenRecords(listed);
  const { liveness } = store;
  if (liveness.kind === "lock") {
    const found: StandingHolder[] = [];
    for (const { workerIndex, record, entry } of taken) {
      if (!(await liveness.tryLock(entry.key))) found.push({ workerIndex, record, untilMs: undefined });
    }
    return found;
  }
  const nowMs = storeNowMs(listed.moment, parts.clock.nowMs());
  const found = taken
    .map(({ workerIndex, record }) => ({ workerIndex, record, untilMs: holderUntilMs(record, store.durability) }))
    .filter(({ untilMs }) => nowMs < untilMs);
  if (found.length > 0 || taken.length === 0 || listed.moment.clockMs !== undefined || how === "at once") return found;
  return await watch(parts, taken);
}

/** Where only our clock says that their time is over: a holder that lives renews meanwhile. */
async function watch(
  { source, timers, report }: MoveParts,
  taken: readonly Taken[],
): Promise<readonly StandingHolder[]> {
  report("watches whether anybody renews, as the store has no clock");
  await delay(timers, watchedPeriods * source.store.timing.renewalPeriodMs);
  const again = takenRecords(await source.store.list());
  return again
    .filter(({ entry }) => !taken.some((before) => before.entry.key === entry.key && before.entry.text === entry.text))
    .map(({ workerIndex, record }) => ({ workerIndex, record, untilMs: record.expiresMs }));
}

// ---- 4. the marks

/** A store that may lose data covers only marks that its quarantine covers: so far ahead of its clock, no further. */
async function checkMarks({ source, target, clock }: MoveParts, layout: LayoutRecord): Promise<void> {
  if (target.store.durability === "durable") return;
  const { entries } = await source.store.list();
  const { clockMs } = await target.store.moment();
  const coveredMs = (clockMs ?? clock.nowMs()) + quarantineMs(layout);
  for (const entry of entries) {
    const record = parseWorkerKey(entry.key) === undefined ? undefined : tryParse(entry);
    if (record === undefined || record.hwmMs <= coveredMs) continue;
    const until = new Date(Math.min(record.hwmMs, foreverMs)).toISOString();
    throw refused(
      `The mark of ${entry.key} lies further ahead (${until}) than a store that may lose data can guard. Wait, or choose a durable one.`,
    );
  }
}

/** @returns How many worker records there are. */
async function copy(parts: MoveParts, layout: LayoutRecord, listed: ListAnswer): Promise<number> {
  const { source, target, clock } = parts;
  const records = listed.entries.filter(({ key }) => parseWorkerKey(key) !== undefined);
  const there = new Map((await target.store.list()).entries.map((entry) => [entry.key, entry]));
  for (const { key, text } of records) await copyOne(target, there.get(key), key, text);
  await copyQuarantine(parts, floorOf(parts, layout, listed, await readSlot(source.store)), clock.nowMs());
  const copied = new Map((await target.store.list()).entries.map((entry) => [entry.key, entry.text]));
  for (const { key, text } of records) {
    const isCovered = copied.has(key) && covers(key, copied.get(key) ?? "", text);
    if (!isCovered) {
      throw new IdError("STORE_UNAVAILABLE", `${target.place} lost ${key} while it was written. Run the same again.`);
    }
  }
  return records.length;
}

async function copyOne(target: MoveEnd, before: Entry | undefined, key: string, text: string): Promise<void> {
  let standing = before;
  for (let round = 0; round < roundsMax; round += 1) {
    if (standing !== undefined && covers(key, standing.text, text)) return;
    const answer = await target.store.compareAndSet(
      key,
      standing,
      standing === undefined ? text : higherOf(key, standing.text, text),
    );
    if (answer.kind === "applied") return;
    ({ entry: standing } = await target.store.read(key));
  }
  throw new IdError("STORE_UNAVAILABLE", `${target.place} changes faster than it can be written. Run the same again.`);
}

/** What is here, on top of what the same deployment left there before: a mark is never lowered. */
function higherOf(key: string, there: string, here: string): string {
  const [one, other] = [tryParse({ key, text: there }), tryParse({ key, text: here })];
  if (one === undefined || other === undefined) return here;
  return encodeWorkerRecord({
    ...other,
    hwmMs: Math.max(one.hwmMs, other.hwmMs),
    generation: Math.max(one.generation, other.generation),
  });
}

/** Whether nobody who starts from `there` could be granted what was used under `here`. */
function covers(key: string, there: string, here: string): boolean {
  if (there === here) return true;
  const [one, other] = [tryParse({ key, text: there }), tryParse({ key, text: here })];
  if (one === undefined || other === undefined) return false;
  return one.hwmMs >= other.hwmMs && one.generation >= other.generation;
}

/** Until when no grant may begin: what bound the source before the move, and what its own life says now. */
function floorOf({ clock }: MoveParts, layout: LayoutRecord, listed: ListAnswer, { slot }: Slot): number {
  const nowMs = storeNowMs(listed.moment, clock.nowMs());
  assert(slot?.kind === "move", "the source was closed before its marks were copied");
  const known = slot.move.quarantineUntilMs;
  return Math.max(known ?? Number.NEGATIVE_INFINITY, lossFloorMs(listed, layout, nowMs) ?? Number.NEGATIVE_INFINITY);
}

async function copyQuarantine({ source, target }: MoveParts, floorMs: number, wallMs: number): Promise<void> {
  const { entry, moment } = await target.store.read(recordKeys.quarantine);
  const sinceMs = storeNowMs(moment, wallMs);
  const reason = `moved from ${source.place}, which was under quarantine`;
  if (entry !== undefined && isForever(entry)) {
    // It left this store once and comes back: nobody can start here yet, and what bound it then binds no more.
    const mark = {
      sinceMs,
      untilMs: Number.isFinite(floorMs) ? floorMs : sinceMs,
      reason: `moved back from ${source.place}`,
    };
    await target.store.compareAndSet(recordKeys.quarantine, entry, encodeQuarantineRecord(mark));
  } else if (floorMs > sinceMs) {
    await writeQuarantine(target.store, { sinceMs, untilMs: floorMs, reason });
  }
}

// ---- 5 and 6

async function open({ target }: MoveParts, moveId: string, deploymentId: string): Promise<LayoutRecord> {
  const { entry, slot } = await readSlot(target.store);
  if (slot?.kind === "layout" && slot.record.deploymentId === deploymentId) return slot.record;
  if (slot?.kind !== "move" || slot.move.moveId !== moveId || slot.move.phase !== "arriving") {
    throw refused(`${target.place} is not what it was when this copy began. Look what stands there before you go on.`);
  }
  await swapSlot(target, entry, encodeLayoutRecord(slot.move.layout));
  return slot.move.layout;
}

async function markLeft({ source }: MoveParts): Promise<void> {
  const { entry, slot } = await readSlot(source.store);
  if (slot?.kind !== "move" || slot.move.phase !== "leaving") return;
  await swapSlot(source, entry, encodeMoveRecord({ ...slot.move, phase: "left" }));
}

// ---- what stands in place of a layout record

async function readSlot(store: RecordStore): Promise<Slot> {
  const { entry } = await store.read(recordKeys.layout);
  return { entry, slot: entry && parseLayoutSlot(entry.text) };
}

/** @throws IdError STORE_UNAVAILABLE if another was faster: nothing was changed then. */
async function swapSlot({ store, place }: MoveEnd, expected: Entry | undefined, text: string): Promise<void> {
  assert(text.length <= recordBytesMax, "a move record fits into every store");
  const answer = await store.compareAndSet(recordKeys.layout, expected, text);
  if (answer.kind === "applied") return;
  throw new IdError("STORE_UNAVAILABLE", `Somebody else changed ${place} at the same time. Run the same again.`);
}

function tryParse({ key, text }: Pick<Entry, "key" | "text">): WorkerRecord | undefined {
  try {
    return parseWorkerRecord(key, text);
  } catch (cause) {
    if (cause instanceof IdError) return undefined;
    throw cause;
  }
}

function refused(message: string): IdError {
  return new IdError("INVALID_CONFIG", message);
}
