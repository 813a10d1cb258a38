/** ACQUIRE: takes a worker ID that is free, under a window that begins above everything ever issued for it. */
import { IdError } from "../errors.ts";
import { type Candidate, type CandidateRange, Candidates } from "./candidates.ts";
import { Grant } from "./grant.ts";
import { agreeOnLayout, checkLayoutStands, type KnownLayout, showWorkerIds } from "./layout-agreement.ts";
import { isRegression } from "./observed-store.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import type { GrantWaitCause } from "./worker-event.ts";
import {
  checkOneStore,
  floorStands,
  type NotedIncarnation,
  noteIncarnation,
  type QuarantineFloor,
  quarantineFloor,
  storeNowMs,
} from "./quarantine.ts";
import {
  type Entry,
  type ListAnswer,
  type StoreMoment,
  unlessRefused,
  type WriteAnswer,
} from "../store/record-store.ts";
import { grantWindow, isBehind, markMax, type WindowRules } from "./window.ts";
import type { LayoutRecord } from "./records/layout-record.ts";
import { noneAdded } from "./records/added-fields.ts";
import { recordKeys } from "./records/record-text.ts";
import { encodeWorkerRecord, type WorkerRecord, workerKey } from "./records/worker-record.ts";
import { splitWorkerIndex, type WorkerSettings, windowRules } from "./worker-settings.ts";

/** The outcome of one try to acquire. Times are Unix milliseconds. */
export type AcquireOutcome =
  | {
      readonly kind: "granted";
      readonly grant: Grant;
      readonly rules: WindowRules;
      readonly layoutRecord: LayoutRecord;
    }
  /** Another process took this worker ID first, or the grant could not be kept: try again. */
  | { readonly kind: "raced"; readonly workerIndex: number }
  /**
   * Every worker ID has a holder; the first may become free at `untilMs`. `ours`: it is pinned, and its record names
   * this instance.
   */
  | { readonly kind: "none-free"; readonly untilMs: number; readonly ours: boolean; readonly detail: string }
  /** Nothing may be granted before `untilMs`; `for` says why. */
  | { readonly kind: "wait"; readonly for: GrantWaitCause; readonly untilMs: number; readonly detail: string }
  /** Some worker IDs are free, but other processes have their locks at this moment: try again. */
  | { readonly kind: "busy" }
  /** The wall clock is too far from the store's. */
  | { readonly kind: "clock-off"; readonly aheadMs: number }
  /**
   * LAYOUT_MISMATCH, INVALID_CONFIG (foreign records, or no layout record beside those of workers), STORE_WENT_BACK
   * (emptied), or the error that the store threw.
   */
  | { readonly kind: "failed"; readonly error: IdError };

/** What one try to acquire saw before it ended. It is valid even if the try failed. */
export interface AcquireSight {
  /**
   * The life of the store that is noted. This and the two optional fields below are undefined if the try ended earlier.
   */
  readonly incarnation: NotedIncarnation | undefined;
  /** The layout record that the store has now. */
  readonly layout: LayoutRecord | undefined;
  /** Whether this try wrote the layout record, in a namespace that had no record at all. */
  readonly isNewDeployment: boolean;
  /** All worker IDs that this process may ask for. */
  readonly candidates: Candidates | undefined;
}

/** The outcome of one try to acquire, and what the try saw. */
export interface AcquireAnswer {
  readonly outcome: AcquireOutcome;
  readonly seen: AcquireSight;
}

/** The worker IDs that one try may take. */
export interface AcquireChoice {
  /** Held by us already, or lost to another process in this round. */
  readonly excluded: ReadonlySet<number>;
  /**
   * How far the mark of a free record may lie above the wall clock: A; for a rebase 0, so that IDs fall no further
   * behind.
   */
  readonly markAheadMaxMs: number;
}

/** The content of the records of a list, and the limits that they set for a grant. */
export interface Survey {
  readonly layout: LayoutRecord;
  readonly rules: WindowRules;
  readonly incarnation: NotedIncarnation;
  readonly floor: QuarantineFloor;
}

/** A survey, and the worker IDs that a choice is made from. */
interface Choosing extends Survey {
  readonly candidates: Candidates;
}

/**
 * Tries once to acquire a worker ID. Never touches a grant that is held already.
 *
 * @param known - What this process knows of the layout record from earlier looks.
 */
export async function acquire(
  context: ProtocolContext,
  choice: AcquireChoice,
  known: KnownLayout,
): Promise<AcquireAnswer> {
  const seen = createSight();
  try {
    return { outcome: await tryAcquire(context, choice, known, seen), seen };
  } catch (cause) {
    // Any other error is a bug, not an answer of the store.
    if (!(cause instanceof IdError)) throw cause;
    return { outcome: { kind: "failed", error: cause }, seen };
  }
}

/** An {@link AcquireSight} that is being filled in. */
export type MutableSight = { -readonly [K in keyof AcquireSight]: AcquireSight[K] };

/** A sight in which nothing was seen yet. */
export function createSight(): MutableSight {
  return { incarnation: undefined, layout: undefined, isNewDeployment: false, candidates: undefined };
}

/** @throws IdError: see the outcome `failed` of {@link AcquireOutcome}. */
async function tryAcquire(
  context: ProtocolContext,
  choice: AcquireChoice,
  known: KnownLayout,
  seen: MutableSight,
): Promise<AcquireOutcome> {
  const { store, settings, judge } = context;
  const listed = await store.list();
  const surveyed = await survey(context, listed, known, seen);
  const { layout, rules, floor } = surveyed;
  const wallMs = judge.nowMs();
  const storeMs = store.clockMs();
  if (isBehind(rules, wallMs, storeMs)) return { kind: "clock-off", aheadMs: wallMs - storeMs! };
  if (floor.floorMs > wallMs + rules.leadMaxMs) {
    return { kind: "wait", for: "quarantine", untilMs: floor.floorMs - rules.leadMaxMs, detail: floor.detail };
  }
  const candidates = new Candidates(listed.entries, boundRange(settings, layout), {
    liveness: store.liveness.kind,
    durability: store.durability,
    ttlMs: settings.ttlMs,
    storeMs,
    wallMs,
    monotonicMs: judge.monotonicMs(),
    unchanged: context.unchanged,
    unused: context.unused,
  });
  if (candidates.total === 0) throw notBound(settings, layout);
  seen.candidates = candidates;
  for (const markMs of candidates.marks) context.marks.see(markMs);
  return await takeOne(context, choice, { ...surveyed, candidates });
}

/**
 * Compares a list with what this process knows, notes the store's life beside the records, agrees on the layout, and
 * works out the floor. Every grant, and every claim of the past, begins with this.
 *
 * @param seen - Is filled in with what was seen, also if this throws.
 * @throws IdError: see the outcome `failed` of {@link AcquireOutcome}.
 */
export async function survey(
  context: ProtocolContext,
  listed: ListAnswer,
  known: KnownLayout,
  seen: MutableSight,
): Promise<Survey> {
  const { store, settings, judge } = context;
  context.unchanged.note(listed.entries, judge.monotonicMs());
  checkLayoutStands(known, listed.entries);
  // The incarnation is written before the layout: a process that finds other records but no incarnation record knows
  // that something was lost.
  const entry = listed.entries.find(({ key }) => key === recordKeys.incarnation);
  const shown = { entry, moment: listed.moment, empty: listed.entries.length === 0 };
  const incarnation = await noteIncarnation(store, context.storeChanges, shown, judge.nowMs());
  seen.incarnation = incarnation;
  const { record: layout, isNew } = await agreeOnLayout(context, listed, incarnation.record, known);
  seen.layout = layout;
  seen.isNewDeployment = isNew;
  const rules = windowRules(settings, store, layout.windowMaxMs);
  const floor = quarantineFloor(listed, incarnation, rules, store.kind);
  checkOneStore(incarnation.record, store.kind, storeNowMs(incarnation.moment, judge.nowMs()), rules);
  return { layout, rules, incarnation, floor };
}

async function takeOne(context: ProtocolContext, choice: AcquireChoice, choosing: Choosing): Promise<AcquireOutcome> {
  const markMaxMs = context.judge.nowMs() + choice.markAheadMaxMs;
  const usable = ({ workerIndex, record }: Candidate): boolean =>
    !choice.excluded.has(workerIndex) && (record === undefined || record.markMs <= markMaxMs);
  let isBusy = false;
  for (const candidate of inOrderOfChoice(context, choosing.candidates, usable)) {
    if (await lock(context, candidate)) return await take(context, choosing, candidate);
    isBusy ||= candidate.availability.kind === "free";
  }
  const outcome = await explainNone(context, choice, choosing.candidates);
  return isBusy && outcome.kind === "none-free" ? { kind: "busy" } : outcome;
}

/**
 * Yields the worker IDs of our own earlier life first, then the others in random order, so that a thousand processes
 * that start at once do not compete for one record.
 */
function* inOrderOfChoice(
  { settings, ports }: ProtocolContext,
  candidates: Candidates,
  usable: (candidate: Candidate) => boolean,
): Generator<Candidate> {
  const ours = ({ record, availability }: Candidate): boolean =>
    availability.kind !== "held" && record?.holder.instance === settings.holder.instance;
  for (const candidate of candidates.recorded()) if (ours(candidate) && usable(candidate)) yield candidate;
  yield* candidates.inRandomOrder((candidate) => usable(candidate) && !ours(candidate), ports.random);
}

async function take(context: ProtocolContext, surveyed: Survey, candidate: Candidate): Promise<AcquireOutcome> {
  let outcome: AcquireOutcome = { kind: "raced", workerIndex: candidate.workerIndex };
  try {
    outcome = await write(context, surveyed, candidate);
    return outcome;
  } finally {
    if (outcome.kind !== "granted") await unlock(context, workerKey(candidate.workerIndex));
  }
}

async function write(context: ProtocolContext, surveyed: Survey, candidate: Candidate): Promise<AcquireOutcome> {
  const { store, settings, ports, judge } = context;
  const { rules, floor } = surveyed;
  const { workerIndex, record } = candidate;
  const raced: AcquireOutcome = { kind: "raced", workerIndex };
  const wallMs = judge.nowMs();
  const storeMs = store.clockMs();
  const usedMs = context.used.get(workerIndex) ?? Number.NEGATIVE_INFINITY;
  const markMs = Math.max(record?.markMs ?? Number.NEGATIVE_INFINITY, usedMs);
  const window = grantWindow(rules, { wallMs, storeMs, markMs, floorMs: floor.floorMs });
  if (window === undefined) return storeMs === undefined ? raced : { kind: "clock-off", aheadMs: wallMs - storeMs };
  const next: WorkerRecord = {
    generation: (record?.generation ?? 0) + 1,
    token: ports.random128(),
    writeId: ports.random128(),
    markMs: window.untilMs,
    expiresMs: store.liveness.kind === "lock" ? 0 : (storeMs ?? wallMs) + settings.ttlMs,
    holder: settings.holder,
    added: record?.added ?? noneAdded,
  };
  context.marks.see(next.markMs);
  const sentAtMs = judge.monotonicMs();
  const key = workerKey(workerIndex);
  const landed = await land(context, candidate, next, (text) => context.unused.ask(key, text, window.fromMs));
  if (landed === undefined) return raced;
  if (!(await floorStands(store, floor, landed.moment))) return raced;
  // Another life was seen since the look, also where the store names itself as before.
  if (context.storeChanges.hasUnreported) return raced;
  // The limit is what the store's clock allows now, not what it allowed when we asked.
  const untilMs = Math.min(window.untilMs, markMax(rules, landed.moment.clockMs));
  if (judge.nowMs() >= untilMs) return raced;
  const { incarnation } = landed.moment;
  const { entry, record: granted } = landed;
  const made = { workerIndex, entry, record: granted, incarnation, sinceMs: wallMs, untilMs, sentAtMs };
  const grant = new Grant({ ...made, fromMs: window.fromMs });
  context.unused.forget(key);
  return { kind: "granted", grant, rules, layoutRecord: surveyed.layout };
}

/** A record that was written and is in the store. */
export interface LandedRecord {
  readonly entry: Entry;
  readonly record: WorkerRecord;
  readonly moment: StoreMoment;
}

/**
 * Writes the record of a worker ID. If no answer comes, the record is read: it landed if the store has exactly our
 * text, and did not otherwise. Where a text that was only read may be undone, the record is written once more, and the
 * answer to that write decides.
 *
 * @param onSend - Called with each text before it is sent.
 * @returns undefined if the store had another text than expected.
 */
export async function land(
  { store, ports }: ProtocolContext,
  { workerIndex, entry }: Pick<Candidate, "workerIndex" | "entry">,
  record: WorkerRecord,
  onSend: (text: string) => void,
): Promise<LandedRecord | undefined> {
  const key = workerKey(workerIndex);
  const text = encodeWorkerRecord(record);
  onSend(text);
  let answer: WriteAnswer;
  try {
    answer = await store.compareAndSet(key, entry, text);
  } catch (cause) {
    if (isRegression(cause)) throw cause;
    const { entry: standing, moment } = await store.read(key);
    if (standing?.text !== text) throw cause;
    if (!store.readsMayBeUndone) return { entry: standing, record, moment };
    // The text has to differ: a database may report success for one that changes nothing, without writing it.
    const again = { ...record, writeId: ports.random128() };
    const againText = encodeWorkerRecord(again);
    onSend(againText);
    const second = unlessRefused(await store.compareAndSet(key, standing, againText));
    return second.kind === "applied" ? { ...second, record: again } : undefined;
  }
  const written = unlessRefused(answer);
  return written.kind === "applied" ? { ...written, record } : undefined;
}

async function explainNone(
  context: ProtocolContext,
  choice: AcquireChoice,
  candidates: Candidates,
): Promise<AcquireOutcome> {
  const { settings } = context;
  const pinned = settings.range.count === 1;
  let heldUntilMs = Number.POSITIVE_INFINITY;
  let holder = "";
  let ours = false;
  let silentMs = Number.POSITIVE_INFINITY;
  let markMs = Number.POSITIVE_INFINITY;
  for (const candidate of candidates.recorded()) {
    const { workerIndex, record, availability } = candidate;
    if (choice.excluded.has(workerIndex) || record === undefined) continue;
    if (availability.kind === "held") {
      heldUntilMs = Math.min(heldUntilMs, availability.untilMs);
      holder = record.holder.instance;
      ours = pinned && holder === settings.holder.instance;
      if (availability.isSilent) silentMs = Math.min(silentMs, availability.untilMs);
    } else if (await lock(context, candidate)) {
      // It is free, but its mark is ahead of the clock: time has to pass the mark first.
      await unlock(context, workerKey(workerIndex));
      markMs = Math.min(markMs, record.markMs);
    } else {
      holder = record.holder.instance;
    }
  }
  if (markMs < Number.POSITIVE_INFINITY) {
    const detail = "IDs up to that time may have been issued before";
    return { kind: "wait", for: "mark", untilMs: markMs - choice.markAheadMaxMs, detail };
  }
  // A process that gave up here would never watch a dead holder's record for long enough, however often it starts.
  if (silentMs < Number.POSITIVE_INFINITY) {
    const detail = "a holder's time is over; its record is watched, as the store has no clock";
    return { kind: "wait", for: "silence", untilMs: silentMs, detail };
  }
  const barred = pinned ? candidates.unreadable.at(0)?.message : undefined;
  const inUse = pinned ? `it is held by ${holder || "another process"}` : `all ${candidates.total} are in use`;
  const detail = barred ?? inUse;
  return { kind: "none-free", untilMs: heldUntilMs, ours, detail };
}

/** True where no lock is needed. */
async function lock({ store }: ProtocolContext, { workerIndex }: Candidate): Promise<boolean> {
  return store.liveness.kind === "lock" ? await store.liveness.tryLock(workerKey(workerIndex)) : true;
}

/**
 * Gives a worker ID's lock back, where there are locks. Never throws: a lock that cannot be given back stays ours until
 * the process ends.
 */
export async function unlock({ store }: ProtocolContext, key: string): Promise<void> {
  if (store.liveness.kind !== "lock") return;
  try {
    await store.liveness.unlock(key);
  } catch {
    // The store is closed or gone, and its locks with it.
  }
}

/** The worker IDs that this process may take of those that the store is bound to. */
function boundRange({ layout, range }: WorkerSettings, { datacenterIds, workerIds }: LayoutRecord): CandidateRange {
  if (workerIds === "all") return { layout, ...range, datacenterIds };
  // Without datacenters, which such a store does not have, a worker index is the worker ID.
  const first = Math.max(range.first, workerIds.first);
  const last = Math.min(range.first + range.count - 1, workerIds.last);
  return { layout, first, count: Math.max(0, last - first + 1), datacenterIds };
}

function notBound({ range, layout }: WorkerSettings, record: LayoutRecord): IdError {
  const { datacenterId, workerId } = splitWorkerIndex(layout, range.first);
  if (record.workerIds !== "all") {
    const allowed = showWorkerIds(record.workerIds);
    const message = `worker_id is ${workerId}, but this store is bound to ${allowed}. Use one of those, or the store that has it.`;
    return new IdError("INVALID_CONFIG", message, { metadata: { setting: "worker_id", value: workerId, allowed } });
  }
  const allowed = String(record.datacenterIds);
  const message = `datacenter_id is ${datacenterId}, but this store is bound to ${allowed}. Use one of those, or the store of that datacenter.`;
  return new IdError("INVALID_CONFIG", message, {
    metadata: { setting: "datacenter_id", value: datacenterId, allowed },
  });
}
