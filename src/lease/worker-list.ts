/**
 * The state of each worker ID, as the records of a store show it: for operators. Reads what was listed, and changes
 * nothing.
 */
import { createLayout, type Layout } from "../snowflake/layout.ts";
import { holderUntilMs } from "./candidates.ts";
import { judgeIncarnation, lossDetail, storeNowMs } from "./quarantine.ts";
import type { Entry, ListAnswer, RecordStore } from "../store/record-store.ts";
import { quarantineMs } from "./window.ts";
import { parseIncarnationRecord } from "./records/incarnation-record.ts";
import type { LayoutRecord } from "./records/layout-record.ts";
import { parseLayoutRecord } from "./records/layout-slot.ts";
import { isNeverHeld } from "./records/past-holder.ts";
import { parseQuarantineRecord } from "./records/quarantine-record.ts";
import { recordKeys } from "./records/record-text.ts";
import { type Holder, parseWorkerKey, readableRecord } from "./records/worker-record.ts";
import { splitWorkerIndex } from "./worker-settings.ts";

/**
 * The state of a worker ID. `held`: its holder has time left; where locks show whether a holder runs, a dead one counts
 * until its window is over. `released`: given back. `expired`: its holder's time is over. `quarantined`: released or
 * expired, but times that may be in use have to pass before it is granted again. `unreadable`: it is never granted.
 */
export type WorkerState = "held" | "released" | "expired" | "quarantined" | "unreadable";

/**
 * A worker ID that has a record. Times are Unix milliseconds by the store's clock, or by ours where it has no clock.
 */
export interface ListedWorker {
  readonly workerIndex: number;
  readonly datacenterId: number;
  readonly workerId: number;
  readonly state: WorkerState;
  /** The content of the record; undefined if it is unreadable. */
  readonly record: { readonly holder: Holder; readonly generation: number; readonly markMs: number } | undefined;
  /** The rest of the window, never negative; undefined unless held. */
  readonly windowLeftMs: number | undefined;
  /** The time from which it may be granted again; undefined unless held or quarantined. */
  readonly freeFromMs: number | undefined;
}

/** Why no process is granted a worker ID at present. */
interface StoreQuarantine {
  /** No grant begins below it: Unix milliseconds. */
  readonly untilMs: number;
  readonly reason: string;
}

/** All worker IDs of a namespace. */
export interface WorkerList {
  /** undefined: the namespace holds no layout record; nothing was ever started on it. */
  readonly layoutRecord: LayoutRecord | undefined;
  /** In ascending order of their index. */
  readonly workers: readonly ListedWorker[];
  /** How many worker IDs the store may hand out. */
  readonly total: number;
  /** How many of them could be granted now. */
  readonly free: number;
  /** How many worker IDs no live holder ever had, as far as the records show: for claims of the past. */
  readonly neverHeld: number;
  /** undefined if there is none, or it is over. */
  readonly quarantine: StoreQuarantine | undefined;
  /** The clock by which all this was judged: Unix milliseconds. */
  readonly nowMs: number;
}

/** The settings by which a store's records are judged. */
export type JudgedStore = Pick<RecordStore, "kind" | "durability"> & {
  readonly liveness: { readonly kind: "ttl" | "lock" };
};

/** How many records are judged in one turn of the event loop, so that no call waits for a list: docs/adr/0154. */
const judgedInATurn = 64;

/**
 * Judges every record of a fresh list, a few in each turn of the event loop.
 *
 * @throws IdError INVALID_CONFIG: the layout record, or one of those for the whole store, is foreign or damaged.
 */
export async function listWorkers(store: JudgedStore, listed: ListAnswer, wallMs: number): Promise<WorkerList> {
  const nowMs = storeNowMs(listed.moment, wallMs);
  const layoutText = textOf(listed, recordKeys.layout);
  if (layoutText === undefined) {
    return { layoutRecord: undefined, workers: [], total: 0, free: 0, neverHeld: 0, quarantine: undefined, nowMs };
  }
  const layoutRecord = parseLayoutRecord(layoutText);
  const layout = layoutOf(layoutRecord);
  const quarantine = standingQuarantine(store.kind, listed, layoutRecord, nowMs);
  const workers: ListedWorker[] = [];
  let everHeld = 0;
  for (const [index, entry] of listed.entries.entries()) {
    if (index % judgedInATurn === judgedInATurn - 1) await new Promise((resolve) => void setImmediate(resolve));
    const worker = judge(entry, { store, layout, layoutRecord, quarantine, nowMs });
    if (worker === undefined) continue;
    workers.push(worker);
    const record = readableRecord(entry);
    if (record === undefined || !isNeverHeld(record)) everHeld += 1;
  }
  workers.sort((one, other) => one.workerIndex - other.workerIndex);
  const total = countWorkerIds(layout, layoutRecord);
  const taken = workers.filter(({ state }) => state !== "released" && state !== "expired").length;
  const free = quarantine === undefined ? total - taken : 0;
  return { layoutRecord, workers, total, free, neverHeld: total - everHeld, quarantine, nowMs };
}

/** The layout that a namespace was started with. The name of its preset is not stored. */
export function layoutOf({ epochMs, tickNs, fields }: LayoutRecord): Layout {
  return createLayout({ name: "stored", epochMs, tickNs, fields });
}

/** How many worker IDs a store may hand out. */
function countWorkerIds(layout: Layout, { datacenterIds, workerIds }: LayoutRecord): number {
  if (workerIds !== "all") return workerIds.last - workerIds.first + 1;
  return datacenterIds === "all" ? layout.workerCount : datacenterIds.length * 2 ** layout.worker.bits;
}

/**
 * The quarantine that binds the whole store, worked out as an acquire would do it, but without noting what it saw.
 *
 * @returns undefined if nothing binds a grant that begins now, or as far ahead as a timestamp may.
 */
function standingQuarantine(
  kind: string,
  listed: ListAnswer,
  rules: Pick<LayoutRecord, "windowMaxMs" | "leadMaxMs">,
  nowMs: number,
): StoreQuarantine | undefined {
  const found: StoreQuarantine[] = [];
  const lostUntilMs = lossFloorMs(listed, rules, nowMs);
  if (lostUntilMs !== undefined) {
    found.push({ untilMs: lostUntilMs, reason: lossDetail(kind) });
  }
  const markText = textOf(listed, recordKeys.quarantine);
  if (markText !== undefined) found.push(parseQuarantineRecord(markText));
  const last = found.toSorted((one, other) => other.untilMs - one.untilMs).at(0);
  return last !== undefined && last.untilMs > nowMs + rules.leadMaxMs ? last : undefined;
}

/** The floor that the store's own life sets; undefined if nothing was ever lost. Writes nothing. */
export function lossFloorMs(
  listed: ListAnswer,
  rules: Pick<LayoutRecord, "windowMaxMs" | "leadMaxMs">,
  nowMs: number,
): number | undefined {
  const text = textOf(listed, recordKeys.incarnation);
  const known = text === undefined ? undefined : parseIncarnationRecord(text);
  const sight = { moment: listed.moment, empty: listed.entries.length === 0, sawAnother: false };
  const { t0Ms } = judgeIncarnation(known, sight, nowMs);
  return t0Ms === 0 ? undefined : t0Ms + quarantineMs(rules);
}

interface Judging {
  readonly store: JudgedStore;
  readonly layout: Layout;
  readonly layoutRecord: LayoutRecord;
  readonly quarantine: StoreQuarantine | undefined;
  readonly nowMs: number;
}

function judge(entry: Entry, judging: Judging): ListedWorker | undefined {
  const { store, layout, layoutRecord, quarantine, nowMs } = judging;
  const workerIndex = parseWorkerKey(entry.key);
  if (workerIndex === undefined || workerIndex >= layout.workerCount) return undefined;
  const place = { workerIndex, ...splitWorkerIndex(layout, workerIndex) };
  const record = readableRecord(entry);
  if (record === undefined) {
    return { ...place, state: "unreadable", record: undefined, windowLeftMs: undefined, freeFromMs: undefined };
  }
  const { holder, generation, markMs, token } = record;
  const shown = { ...place, record: { holder, generation, markMs: markMs } };
  const untilMs = store.liveness.kind === "lock" ? markMs : holderUntilMs(record, store.durability);
  if (token !== "" && nowMs < untilMs) {
    return { ...shown, state: "held", windowLeftMs: Math.max(0, markMs - nowMs), freeFromMs: untilMs };
  }
  const floorMs = Math.max(markMs, quarantine?.untilMs ?? Number.NEGATIVE_INFINITY);
  const freeFromMs = floorMs - layoutRecord.leadMaxMs;
  if (freeFromMs > nowMs) return { ...shown, state: "quarantined", windowLeftMs: undefined, freeFromMs };
  const state = token === "" ? "released" : "expired";
  return { ...shown, state, windowLeftMs: undefined, freeFromMs: undefined };
}

function textOf({ entries }: ListAnswer, key: string): string | undefined {
  return entries.find((entry) => entry.key === key)?.text;
}
