/**
 * CLAIM OF THE PAST: takes an interval [from, until) of a worker ID for ever, for rows that exist already.
 *
 * A claim is a grant whose window lies in the past. One compare-and-set writes a record without a token whose mark is
 * `until`, over one whose mark is at most `from`. From then on all of the interval belongs to the claimer, without
 * lease, renewal or server; a crash wastes the rest. docs/safety.md has the proof, docs/adr/0194 the decision.
 *
 * The rules:
 * 1. The store has a layout record; a claim never writes one.
 * 2. The worker ID has no record, or one whose text has no token. A grant of ours that was never used (see
 *    UnusedGrants) does not qualify, nor does an expired one.
 * 3. Its mark is at most `from`, and so is the end of what this process itself issued with it.
 * 4. `until` is not in the future; where the store has no clock, it is not above the highest mark either.
 * 5. `from` is at or above the floor that losses set, and not before the time since which all IDs are known to come
 *    from this store.
 * 6. The compare-and-set compares the whole text and writes a fresh writeId; after its answer, the floor and the
 *    store's life are checked again.
 * 7. Worker IDs that no live holder ever had come first: see past-choice.ts.
 */
import { IdError } from "../errors.ts";
import { type Layout, msToTicksUp } from "../snowflake/layout.ts";
import type { Entry, ListAnswer, RecordStore } from "../store/record-store.ts";
import { type AcquireSight, createSight, land, type MutableSight, type Survey, survey } from "./acquire.ts";
import { checkLayoutStands, hasWorkers, type KnownLayout, lostLayout } from "./layout-agreement.ts";
import { type PastCandidate, type PastChoice, type PastRange, choosePast } from "./past-choice.ts";
import { checkPast, type PastInterval, type PastStatements } from "./past-rules.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { floorStands, storeNowMs } from "./quarantine.ts";
import { noneAdded } from "./records/added-fields.ts";
import { pastInstance } from "./records/past-holder.ts";
import { recordKeys } from "./records/record-text.ts";
import { timeText } from "./records/time-text.ts";
import { createHolder, type WorkerRecord } from "./records/worker-record.ts";
import { splitWorkerIndex } from "./worker-settings.ts";

/** An interval to claim, and what the operator stated. */
export interface PastRequest extends PastInterval, PastStatements, Pick<PastRange, "datacenterIds" | "workerIds"> {
  /** How many worker IDs to claim: 1 to 16. */
  readonly laneCount: number;
  /** For operators: 1 to 60 printable ASCII characters. */
  readonly reason: string;
}

/** An interval of worker IDs that belongs to the claimer. */
export interface PastGrant extends PastInterval {
  /** Rising. */
  readonly workerIndexes: readonly number[];
  /** The same as parts of an ID. */
  readonly lanes: readonly { readonly datacenterId: number; readonly workerId: number }[];
  /** The ticks of the interval, counted from the layout's epoch; the last is exclusive. */
  readonly firstTick: number;
  readonly endTick: number;
  /** How many more claims of this interval, with the same number of worker IDs, are possible. */
  readonly passesLeft: number;
}

/** The outcome of a claim. */
export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly grant: PastGrant }
  /**
   * The request, or what the operator stated, does not allow it: INVALID_TIME_RANGE, INVALID_CONFIG, STORE_WENT_BACK.
   */
  | { readonly kind: "refused"; readonly error: IdError }
  /** As the outcome `failed` of an acquire; NO_FREE_WORKER_ID. */
  | { readonly kind: "failed"; readonly error: IdError };

/** The outcome of a claim, and what the claim saw. */
export interface ClaimAnswer {
  readonly outcome: ClaimOutcome;
  readonly seen: AcquireSight;
}

/** How often a claim starts again because another process was faster, or the store changed meanwhile. */
const roundsMax = 5;

/**
 * Claims an interval. If the claim fails midway, the worker IDs claimed by then are wasted: their marks stay raised,
 * which repeats no ID.
 *
 * @param known - What this process knows of the layout record from earlier looks.
 */
export async function claimPast(
  context: ProtocolContext,
  request: PastRequest,
  known: KnownLayout,
): Promise<ClaimAnswer> {
  const seen = createSight();
  try {
    return { outcome: await tryRounds(context, request, known, seen), seen };
  } catch (cause) {
    // Any other error is a bug, not an answer of the store.
    if (!(cause instanceof IdError)) throw cause;
    return { outcome: { kind: "failed", error: cause }, seen };
  }
}

async function tryRounds(
  context: ProtocolContext,
  request: PastRequest,
  known: KnownLayout,
  seen: MutableSight,
): Promise<ClaimOutcome> {
  const claimed = new Set<number>();
  let passesLeft = 0;
  for (let round = 0; round < roundsMax; round += 1) {
    const listed = await context.store.list();
    // If this process saw the record before, the store was emptied.
    checkLayoutStands(known, listed.entries);
    refuseWithoutLayout(context.store, context.settings.namespace, listed);
    const surveyed = await survey(context, listed, known, seen);
    const refusal = refusalOf(context, surveyed, listed.entries, request);
    if (refusal !== undefined) return { kind: "refused", error: refusal };
    const choice = choose(context, surveyed, listed.entries, request, claimed);
    passesLeft = passesAfter(choice, request, claimed.size);
    for (const candidate of choice.candidates) {
      if (!(await take(context, surveyed, candidate, request))) break;
      claimed.add(candidate.workerIndex);
    }
    if (claimed.size === request.laneCount) {
      return { kind: "claimed", grant: grantOf(context.settings.layout, request, claimed, passesLeft) };
    }
  }
  const message = `The records of the ${context.store.kind} store were changed by others ${roundsMax} times while this process tried to claim the past. Nothing was issued; try again.`;
  throw new IdError("STORE_UNAVAILABLE", message, { metadata: { store: context.store.kind, rounds: roundsMax } });
}

function grantOf(
  layout: Layout,
  { fromMs, untilMs }: PastInterval,
  claimed: ReadonlySet<number>,
  passesLeft: number,
): PastGrant {
  const workerIndexes = [...claimed].toSorted((one, other) => one - other);
  const lanes = workerIndexes.map((index) => splitWorkerIndex(layout, index));
  const [firstTick, endTick] = [msToTicksUp(layout, fromMs), msToTicksUp(layout, untilMs)];
  return { workerIndexes, lanes, fromMs, untilMs, firstTick, endTick, passesLeft };
}

/** How many more claims of this kind there is room for, after this one. */
export function passesAfter(
  { usableCount }: PastChoice,
  { laneCount }: Pick<PastRequest, "laneCount">,
  had = 0,
): number {
  return Math.floor((usableCount - (laneCount - had)) / laneCount);
}

/** @throws IdError INVALID_CONFIG if there is no layout record. */
export function refuseWithoutLayout(store: Pick<RecordStore, "kind">, namespace: string, listed: ListAnswer): void {
  if (listed.entries.some(({ key }) => key === recordKeys.layout)) return;
  if (hasWorkers(listed)) throw lostLayout(store, namespace);
  const message = `Namespace ${namespace} of this store has no layout record: no server was ever started on it, so nothing shows which IDs are its own.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { store: store.kind, namespace } });
}

function refusalOf(
  { store, settings: { layout }, judge }: ProtocolContext,
  { rules, incarnation }: Survey,
  entries: readonly Entry[],
  request: PastRequest,
): IdError | undefined {
  const { moment } = incarnation;
  const sight = {
    kind: store.kind,
    durability: store.durability,
    layout,
    rules,
    entries,
    incarnation: incarnation.record,
    nowMs: storeNowMs(moment, judge.nowMs()),
    hasClock: moment.clockMs !== undefined,
  };
  try {
    checkPast(sight, request, request);
    return undefined;
  } catch (cause) {
    if (cause instanceof IdError) return cause;
    throw cause;
  }
}

/** @throws IdError NO_FREE_WORKER_ID, with the earliest time that can be claimed. */
function choose(
  { settings: { layout }, used }: ProtocolContext,
  { layout: bound }: Survey,
  entries: readonly Entry[],
  request: PastRequest,
  claimed: ReadonlySet<number>,
): PastChoice {
  const { fromMs, laneCount, datacenterIds, workerIds } = request;
  const count = laneCount - claimed.size;
  const range = { layout, bound, datacenterIds, workerIds };
  const choice = choosePast(entries, range, { fromMs, count, excluded: claimed, used });
  if (choice.candidates.length < count) throw noneLeft(choice, count);
  return choice;
}

/** The error of a claim for which too few worker IDs have an unused past. */
export function noneLeft({ usableCount, earliestMs }: PastChoice, count: number): IdError {
  const wanted = count === 1 ? "No worker ID is" : `${count} worker IDs are needed, and ${usableCount} are`;
  const rest =
    earliestMs === undefined
      ? "That many are not free at any time."
      : `The earliest time that can be claimed is ${timeText(earliestMs)}.`;
  const message = `${wanted} free whose past is unused from there on. ${rest} See docs/back-fill.md, "How many passes".`;
  return new IdError("NO_FREE_WORKER_ID", message, {
    metadata: { usable: usableCount, ...(earliestMs === undefined ? {} : { earliest_unix_ms: earliestMs }) },
  });
}

/** @returns Whether the interval is ours now; if it is not, list the records again. */
async function take(
  context: ProtocolContext,
  { floor }: Survey,
  candidate: PastCandidate,
  request: PastRequest,
): Promise<boolean> {
  const { store, settings, ports } = context;
  const { record } = candidate;
  const next: WorkerRecord = {
    generation: (record?.generation ?? 0) + 1,
    token: "",
    writeId: ports.random128(),
    markMs: request.untilMs,
    expiresMs: 0,
    holder: createHolder({ ...settings.holder, instance: pastInstance(request, record) }),
    added: record?.added ?? noneAdded,
  };
  // The claim is not noted as an unused grant: this process could then take the worker ID again from where the claim
  // began, and issue IDs inside the claimed interval.
  const landed = await land(context, candidate, next, () => {});
  if (landed === undefined || !(await floorStands(store, floor, landed.moment))) return false;
  return !context.storeChanges.hasUnreported;
}
