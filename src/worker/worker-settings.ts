import { IdError } from "../errors.ts";
import type { Layout } from "../snowflake/layout.ts";
import type { RecordStore, StoreTiming } from "./record-store.ts";
import { clockErrorMs, clockOffMaxMs, type WindowRules } from "./window.ts";
import type { Holder } from "./worker-record.ts";

/** What a user may say about the worker; what is absent is the store's default. */
export interface WorkerOptions {
  readonly namespace: string;
  readonly holder: Holder;
  /** Only worker IDs of this datacenter. */
  readonly datacenterId?: number | undefined;
  /** Only this worker ID; needs `datacenterId` where the layout has datacenters. */
  readonly workerId?: number | undefined;
  /** Datacenter IDs that the store is bound to; absent = as the store says. */
  readonly datacenterIds?: readonly number[] | undefined;
  /** W, in milliseconds. */
  readonly windowMs?: number | undefined;
  /** The longest window in the namespace; absent = as the store says. */
  readonly windowMaxMs?: number | undefined;
  readonly renewalPeriodMs?: number | undefined;
  readonly ttlMs?: number | undefined;
  /** How long a start goes on while the store does not answer as it should; absent = without end. */
  readonly startPatienceMs?: number | undefined;
}

/** What the protocol goes by: {@link WorkerOptions} with everything filled in. */
export interface WorkerSettings {
  readonly namespace: string;
  readonly holder: Holder;
  readonly layout: Layout;
  /** Worker indexes that may be taken: `count` of them from `first` on. A single one is pinned. */
  readonly range: { readonly first: number; readonly count: number };
  readonly datacenterIds: readonly number[] | undefined;
  readonly windowMs: number;
  readonly windowMaxMs: number | undefined;
  readonly leadMaxMs: number;
  readonly renewalPeriodMs: number;
  readonly ttlMs: number;
  /** Infinity: without end. */
  readonly startPatienceMs: number;
}

/** The least that a timestamp may lead the wall clock: above a leap second. */
const leadMs = 2_000;
const nsPerMs = 1_000_000;

/** A: 2 s, or two ticks where those are longer. */
export function leadMaxMs(layout: Layout): number {
  return Math.max(leadMs, Math.ceil((2 * layout.tickNs) / nsPerMs));
}

/** {@link windowSlackMs} of the layouts with ticks of up to a second. */
export const windowSlackMinMs = leadMs + 2 * clockErrorMs;

/** How much longer than its window a holder's record must be left alone: the lead, and the error of two clocks. */
export function windowSlackMs(layout: Layout): number {
  return leadMaxMs(layout) + 2 * clockErrorMs;
}

/**
 * Fills in what was not said and checks what was.
 *
 * @throws IdError INVALID_CONFIG, naming the setting, its value and the range.
 */
export function settleWorkerSettings(options: WorkerOptions, layout: Layout, store: RecordStore): WorkerSettings {
  const timing: StoreTiming = store.timing;
  const windowMs = options.windowMs ?? timing.windowMs;
  const renewalPeriodMs = options.renewalPeriodMs ?? Math.min(timing.renewalPeriodMs, windowMs / 3);
  const slackMs = windowSlackMs(layout);
  const ttlMs = store.liveness.kind === "lock" ? 0 : (options.ttlMs ?? Math.max(timing.ttlMs, windowMs + slackMs));
  checkRange("window_ms", windowMs, 1_000, 86_400_000);
  checkRange("renewal_period_ms", renewalPeriodMs, 100, windowMs / 2);
  if (store.liveness.kind === "ttl") checkRange("ttl_ms", ttlMs, windowMs + slackMs, 172_800_000);
  if (options.windowMaxMs !== undefined) checkRange("window_max_ms", options.windowMaxMs, windowMs, 86_400_000);
  return {
    namespace: options.namespace,
    holder: options.holder,
    layout,
    range: indexRange(options, layout),
    datacenterIds: options.datacenterIds?.toSorted((one, other) => one - other),
    windowMs,
    windowMaxMs: options.windowMaxMs,
    leadMaxMs: leadMaxMs(layout),
    renewalPeriodMs,
    ttlMs,
    startPatienceMs: options.startPatienceMs ?? Number.POSITIVE_INFINITY,
  };
}

/** What windows are worked out with, once the store's layout record is known. */
export function windowRules(settings: WorkerSettings, store: RecordStore, windowMaxMs: number): WindowRules {
  return {
    windowMs: settings.windowMs,
    leadMaxMs: settings.leadMaxMs,
    windowMaxMs,
    // Where data may be lost, a clock that is a whole window behind the store's would renew what was over long ago.
    behindMaxMs: store.durability === "lossy" ? settings.windowMs : clockOffMaxMs,
  };
}

/** Datacenter and worker ID of a worker index. */
export function splitWorkerIndex(layout: Layout, workerIndex: number): { datacenterId: number; workerId: number } {
  const workerCount = 2 ** layout.worker.bits;
  return { datacenterId: Math.floor(workerIndex / workerCount), workerId: workerIndex % workerCount };
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
    const message = `worker_id ${workerId} alone names one worker in each datacenter: give datacenter_id, too.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "datacenter_id", worker_id: workerId } });
  }
  return { first: (datacenterId ?? 0) * perDatacenter + workerId, count: 1 };
}

function checkRange(setting: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  const message = `${setting} is ${value}; ${min} to ${max} is possible here.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { setting, value, min, max } });
}
