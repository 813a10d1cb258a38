/** The worker IDs that a claim of the past may take, and the order in which it asks for them. */
import type { Layout } from "../snowflake/layout.ts";
import type { Entry } from "../store/record-store.ts";
import { reserveFrom } from "./candidates.ts";
import type { LayoutRecord, WorkerIdRange } from "./records/layout-record.ts";
import { isNeverHeld } from "./records/past-holder.ts";
import { parseWorkerKey, readWorkerSlot, type WorkerRecord } from "./records/worker-record.ts";
import { splitWorkerIndex } from "./worker-settings.ts";

/** The worker IDs among which a claim chooses: those of the store's binding, or some of them. */
export interface PastRange {
  readonly layout: Layout;
  readonly bound: Pick<LayoutRecord, "datacenterIds" | "workerIds">;
  /** Only these datacenters; absent = all of the binding. */
  readonly datacenterIds?: readonly number[] | undefined;
  /** Only these worker IDs of each datacenter; absent = all of the binding. */
  readonly workerIds?: WorkerIdRange | undefined;
}

/** A worker ID that a claim may take. */
export interface PastCandidate {
  readonly workerIndex: number;
  /** undefined: there is no record yet. */
  readonly entry: Entry | undefined;
  readonly record: WorkerRecord | undefined;
}

/** The worker IDs that a list of records offers for a claim that begins at a certain time. */
export interface PastChoice {
  /** In the order in which they are asked for; at most the number that was wanted. */
  readonly candidates: readonly PastCandidate[];
  /** How many worker IDs the claim could take, these among them. */
  readonly usableCount: number;
  /** How many worker IDs of the range no live holder ever had. */
  readonly neverHeldCount: number;
  /**
   * Unix milliseconds: the earliest beginning for which the range has enough worker IDs; -Infinity: any beginning;
   * undefined: it never has enough.
   */
  readonly earliestMs: number | undefined;
}

/** The worker IDs that a claim asks for. */
export interface PastWish {
  /** Its beginning: Unix milliseconds. */
  readonly fromMs: number;
  readonly count: number;
  /** Worker indexes that are claimed already. */
  readonly excluded: ReadonlySet<number>;
  /** See `used` of ProtocolContext. */
  readonly used: ReadonlyMap<number, number>;
}

/**
 * Chooses among the worker IDs that have no holder and whose mark is at most the beginning of the claim.
 *
 * Those that no live holder ever had come first, for they are the ones that a copy of the store cannot repeat unseen.
 * Among them the highest mark comes first, so that the lower ones are left for an older past; among equal marks the
 * reserve comes first, from its end, because live grants take it last.
 */
export function choosePast(entries: readonly Entry[], range: PastRange, wish: PastWish): PastChoice {
  const records = new Map<number, { readonly entry: Entry; readonly record: WorkerRecord | undefined }>();
  for (const entry of entries) {
    const workerIndex = parseWorkerKey(entry.key);
    if (workerIndex === undefined || !isInRange(range, workerIndex)) continue;
    const slot = readWorkerSlot(entry);
    records.set(workerIndex, { entry, record: slot.kind === "record" ? slot.record : undefined });
  }
  const known = [...records].flatMap(([workerIndex, { entry, record }]) =>
    record === undefined || record.token !== "" || wish.excluded.has(workerIndex)
      ? []
      : [{ workerIndex, entry, record }],
  );
  const markOf = ({ workerIndex, record }: PastCandidate): number =>
    Math.max(record?.markMs ?? Number.NEGATIVE_INFINITY, wish.used.get(workerIndex) ?? Number.NEGATIVE_INFINITY);
  const fits = (candidate: PastCandidate): boolean => markOf(candidate) <= wish.fromMs;
  const reserveId = reserveStart(range);
  const isReserve = ({ workerIndex }: PastCandidate): boolean =>
    splitWorkerIndex(range.layout, workerIndex).workerId >= reserveId;
  const order = (one: PastCandidate, other: PastCandidate): number =>
    markOf(other) - markOf(one) ||
    Number(isReserve(other)) - Number(isReserve(one)) ||
    other.workerIndex - one.workerIndex;
  const fitting = known.filter(fits).toSorted(order);
  const absentCount = countOf(range) - records.size;
  const absent = absentFrom(range, (index) => records.has(index) || wish.excluded.has(index), wish.count);
  const candidates = [
    ...fitting.filter(({ record }) => isNeverHeld(record)),
    ...absent.filter(fits),
    ...fitting.filter(({ record }) => !isNeverHeld(record)),
  ];
  const marks = [...absent.map(markOf), ...known.map(markOf)].toSorted((one, other) => one - other);
  const neverHeld = [...records.values()].filter(({ record }) => record !== undefined && isNeverHeld(record));
  return {
    candidates: candidates.slice(0, wish.count),
    usableCount: fitting.length + absentCount,
    neverHeldCount: absentCount + neverHeld.length,
    earliestMs: marks[wish.count - 1],
  };
}

/** Worker IDs without a record, at most `count`: those of the reserve first, from the end. */
function absentFrom(range: PastRange, isTaken: (index: number) => boolean, count: number): readonly PastCandidate[] {
  const found: PastCandidate[] = [];
  const { first, last } = workerIdsOf(range);
  const reserveId = reserveStart(range);
  const parts = [
    { first: Math.max(first, reserveId), last },
    { first, last: Math.min(last, reserveId - 1) },
  ];
  for (const part of parts) {
    for (const workerIndex of indexesFromEnd(range, part)) {
      if (found.length >= count) return found;
      if (!isTaken(workerIndex)) found.push({ workerIndex, entry: undefined, record: undefined });
    }
  }
  return found;
}

function* indexesFromEnd(range: PastRange, { first, last }: WorkerIdRange): Generator<number> {
  if (first > last) return;
  const perDatacenter = 2 ** range.layout.worker.bits;
  for (let datacenterId = range.layout.datacenter.max; datacenterId >= 0; datacenterId -= 1) {
    if (!hasDatacenter(range, datacenterId)) continue;
    for (let workerId = last; workerId >= first; workerId -= 1) yield datacenterId * perDatacenter + workerId;
  }
}

function hasDatacenter({ bound, datacenterIds }: PastRange, id: number): boolean {
  return (bound.datacenterIds === "all" || bound.datacenterIds.includes(id)) && (datacenterIds?.includes(id) ?? true);
}

function workerIdsOf({ layout, bound, workerIds }: PastRange): WorkerIdRange {
  const widest = bound.workerIds === "all" ? { first: 0, last: layout.worker.max } : bound.workerIds;
  if (workerIds === undefined) return widest;
  return { first: Math.max(widest.first, workerIds.first), last: Math.min(widest.last, workerIds.last) };
}

function countOf(range: PastRange): number {
  const { layout, bound, datacenterIds } = range;
  const { first, last } = workerIdsOf(range);
  const listed = datacenterIds ?? bound.datacenterIds;
  const datacenters =
    listed === "all" ? 2 ** layout.datacenter.bits : listed.filter((id) => hasDatacenter(range, id)).length;
  return datacenters * Math.max(0, last - first + 1);
}

function isInRange(range: PastRange, workerIndex: number): boolean {
  const { datacenterId, workerId } = splitWorkerIndex(range.layout, workerIndex);
  const { first, last } = workerIdsOf(range);
  return (
    datacenterId <= range.layout.datacenter.max &&
    hasDatacenter(range, datacenterId) &&
    workerId >= first &&
    workerId <= last
  );
}

/** The worker ID from which the reserve begins; it depends only on the binding of the store. */
function reserveStart({ layout, bound: { workerIds } }: PastRange): number {
  const bound = workerIds === "all" ? { first: 0, last: layout.workerCount - 1 } : workerIds;
  return reserveFrom({ layout, first: bound.first, count: bound.last - bound.first + 1 });
}
