import { IdError } from "../errors.ts";
import { nsPerMs } from "../snowflake/nanoseconds.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { RecordStore, StoreTiming } from "../store/record-store.ts";
import { clockErrorMs, clockOffMaxMs, type WindowRules } from "./window.ts";
import type { WorkerIdRange } from "./records/layout-record.ts";
import type { Holder } from "./records/worker-record.ts";

/** The options that a user may set for the worker; an absent one is the store's default. */
export interface WorkerOptions {
  /** The namespace: 1 to 63 of a-z, 0-9 and inner hyphens. Records of the store's other namespaces are ignored. */
  readonly namespace: string;
  /** This process, as its record names it to operators. */
  readonly holder: Holder;
  /** Only worker IDs of this datacenter. */
  readonly datacenterId?: number | undefined;
  /** Only this worker ID; needs `datacenterId` where the layout has datacenters. */
  readonly workerId?: number | undefined;
  /** Datacenter IDs that the store is bound to; absent = as the store says. */
  readonly datacenterIds?: readonly number[] | undefined;
  /**
   * Worker IDs that the store is bound to, where the layout has no datacenters; absent = as the store says. Two
   * stores of one layout that are bound to ranges without a common ID never repeat each other's IDs.
   */
  readonly workerIds?: WorkerIdRange | undefined;
  /** W, the time that a renewal reserves, in milliseconds: 1,000 to 86,400,000. */
  readonly windowMs?: number | undefined;
  /** The longest window in the namespace; absent = as the store says. */
  readonly windowMaxMs?: number | undefined;
  /**
   * How often the window is renewed, in milliseconds: 100 to half of the window. Absent = the store's, or a third of
   * the window.
   */
  readonly renewalPeriodMs?: number | undefined;
  /** Absent = the window and its slack. Users cannot set it, and uniqueness holds for any value that is not shorter. */
  readonly ttlMs?: number | undefined;
  /** How long a start retries while the store does not answer as it should; absent = without end. */
  readonly startPatienceMs?: number | undefined;
  /** How long a start waits while no worker ID is free; absent = not at all. */
  readonly workerIdPatienceMs?: number | undefined;
}

/** The settings of the protocol: {@link WorkerOptions} with all defaults filled in. Lengths are milliseconds. */
export interface WorkerSettings {
  /** See {@link WorkerOptions.namespace}. */
  readonly namespace: string;
  /** This process, as its record names it to operators. */
  readonly holder: Holder;
  /** The layout of the IDs that are issued. The store's layout record has to agree. */
  readonly layout: Layout;
  /** Worker indexes that may be taken: `count` of them from `first` on. A single one is pinned. */
  readonly range: { readonly first: number; readonly count: number };
  /** Those that the store is bound to, ascending; undefined = as the store says. */
  readonly datacenterIds: readonly number[] | undefined;
  /** Those that the store is bound to; undefined = as the store says. */
  readonly workerIds: WorkerIdRange | undefined;
  /** W: the time that a renewal reserves. */
  readonly windowMs: number;
  /** The longest window in the namespace; undefined = as the store says. */
  readonly windowMaxMs: number | undefined;
  /** A: the most that a timestamp may lead the wall clock. 2,000, or two ticks where those are longer. */
  readonly leadMaxMs: number;
  /** How often the window is renewed: at most half of it. */
  readonly renewalPeriodMs: number;
  /** How long after its last renewal a holder counts as dead; 0 where a lock shows that. */
  readonly ttlMs: number;
  /** How long a start retries while the store does not answer as it should. Infinity: without end. */
  readonly startPatienceMs: number;
  /** How long a start waits while no worker ID is free. 0: not at all. */
  readonly workerIdPatienceMs: number;
}

/**
 * The widest ranges of a worker's times, in milliseconds, both ends inclusive. Other settings narrow some of them: the
 * renewal period is at most half of the window, and the TTL at least the window and its slack.
 */
export const workerTimeRanges = {
  window: { minMs: 1_000, maxMs: 86_400_000 },
  renewalPeriod: { minMs: 100, maxMs: 43_200_000 },
  ttl: { minMs: 4_000, maxMs: 172_800_000 },
} as const;

/** The smallest lead limit: more than a leap second. */
const leadMs = 2_000;

/** A: 2 s, or two ticks where those are longer. */
export function leadMaxMs(layout: Layout): number {
  return Math.max(leadMs, Math.ceil((2 * layout.tickNs) / nsPerMs));
}

/** How much longer than its window a holder's record must be left alone: the lead, and the error of two clocks. */
export function windowSlackMs(layout: Layout): number {
  return leadMaxMs(layout) + 2 * clockErrorMs;
}

/** The properties of a store that the times depend on. */
export interface TimedStore {
  readonly timing: StoreTiming;
  readonly liveness: Pick<RecordStore["liveness"], "kind">;
}

/**
 * Fills in options that were not given and checks those that were.
 *
 * @throws IdError INVALID_CONFIG, naming the setting, its value and the range.
 */
export function resolveWorkerSettings(options: WorkerOptions, layout: Layout, store: TimedStore): WorkerSettings {
  const timing: StoreTiming = store.timing;
  const windowMs = options.windowMs ?? timing.windowMs;
  const renewalPeriodMs = options.renewalPeriodMs ?? Math.min(timing.renewalPeriodMs, windowMs / 3);
  const slackMs = windowSlackMs(layout);
  const storeTtlMs = options.windowMs === undefined ? timing.ttlMs : 0;
  const ttlMs = store.liveness.kind === "lock" ? 0 : (options.ttlMs ?? Math.max(storeTtlMs, windowMs + slackMs));
  const { window, renewalPeriod, ttl } = workerTimeRanges;
  checkRange("window_ms", windowMs, window.minMs, window.maxMs);
  checkRange("renewal_period_ms", renewalPeriodMs, renewalPeriod.minMs, windowMs / 2);
  if (store.liveness.kind === "ttl") checkRange("ttl_ms", ttlMs, windowMs + slackMs, ttl.maxMs);
  if (options.windowMaxMs !== undefined) checkRange("window_max_ms", options.windowMaxMs, windowMs, window.maxMs);
  return {
    namespace: options.namespace,
    holder: options.holder,
    layout,
    range: indexRange(options, layout),
    datacenterIds: options.datacenterIds?.toSorted((one, other) => one - other),
    workerIds: boundWorkerIds(options, layout),
    windowMs,
    windowMaxMs: options.windowMaxMs,
    leadMaxMs: leadMaxMs(layout),
    renewalPeriodMs,
    ttlMs,
    startPatienceMs: options.startPatienceMs ?? Number.POSITIVE_INFINITY,
    workerIdPatienceMs: options.workerIdPatienceMs ?? 0,
  };
}

/** Returns the rules of windows, once the store's layout record is known. */
export function windowRules(settings: WorkerSettings, store: RecordStore, windowMaxMs: number): WindowRules {
  return {
    windowMs: settings.windowMs,
    leadMaxMs: settings.leadMaxMs,
    windowMaxMs,
    // Where data may be lost, a clock that is a whole window behind the store's would renew windows that were over long
    // ago.
    behindMaxMs: store.durability === "lossy" ? settings.windowMs : clockOffMaxMs,
  };
}

/** Datacenter and worker ID of a worker index. */
export function splitWorkerIndex(layout: Layout, workerIndex: number): { datacenterId: number; workerId: number } {
  const workerCount = 2 ** layout.worker.bits;
  return { datacenterId: Math.floor(workerIndex / workerCount), workerId: workerIndex % workerCount };
}

/** Names a worker ID in a sentence: `23/24` for datacenter 23 and worker 24; `24` without datacenters. */
export function nameWorker(layout: Layout, workerIndex: number): string {
  const { datacenterId, workerId } = splitWorkerIndex(layout, workerIndex);
  return layout.datacenter.bits > 0 ? `${datacenterId}/${workerId}` : String(workerId);
}

/** Checks the range to which a store is to be bound. */
function boundWorkerIds({ workerIds, workerId }: WorkerOptions, layout: Layout): WorkerIdRange | undefined {
  if (workerIds === undefined) return undefined;
  const { first, last } = workerIds;
  if (layout.datacenter.bits > 0) {
    const message = `worker_ids is for layouts without datacenters, and ${layout.name} has some: use datacenter_ids.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "worker_ids", layout: layout.name } });
  }
  checkRange("worker_ids", last, 0, layout.worker.max);
  checkRange("worker_ids", first, 0, last);
  if (workerId !== undefined) checkRange("worker_id", workerId, first, last);
  return { first, last };
}

function indexRange({ datacenterId, workerId }: WorkerOptions, layout: Layout): { first: number; count: number } {
  const perDatacenter = 2 ** layout.worker.bits;
  if (datacenterId !== undefined) checkRange("datacenter_id", datacenterId, 0, layout.datacenter.max);
  if (workerId === undefined) {
    if (datacenterId === undefined) return { first: 0, count: layout.workerCount };
    return { first: datacenterId * perDatacenter, count: perDatacenter };
  }
  checkRange("worker_id", workerId, 0, layout.worker.max);
  if (datacenterId === undefined && layout.datacenter.bits > 0) {
    const message = `worker_id ${workerId} names a worker in each datacenter: give datacenter_id, too.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "datacenter_id", worker_id: workerId } });
  }
  return { first: (datacenterId ?? 0) * perDatacenter + workerId, count: 1 };
}

function checkRange(setting: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  const message = `${setting} is ${value}; it must be from ${min} to ${max}.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { setting, value, min, max } });
}
