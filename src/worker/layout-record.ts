import { IdError } from "../errors.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { storeNowMs } from "./quarantine.ts";
import type { Entry, ListAnswer, RecordStore } from "./record-store.ts";
import { clockErrorMs } from "./window.ts";
import {
  encodeLayoutRecord,
  type IncarnationRecord,
  type LayoutRecord,
  parseLayoutRecord,
  parseWorkerKey,
  parseWorkerRecord,
  recordKeys,
} from "./worker-record.ts";
import type { WorkerSettings } from "./worker-settings.ts";

/**
 * Holds this process to what the namespace agreed on, or writes it if this is the first process ever.
 *
 * @param listed - A fresh list of all records.
 * @param incarnation - Which life of the store stands noted beside them.
 * @returns The record that stands.
 * @throws IdError LAYOUT_MISMATCH with every field that differs; INVALID_CONFIG for a foreign record, or where it was
 * lost; as the store does.
 */
export async function agreeOnLayout(
  context: ProtocolContext,
  listed: ListAnswer,
  incarnation: IncarnationRecord,
): Promise<LayoutRecord> {
  const { store, settings } = context;
  let entry = listed.entries.find(({ key }) => key === recordKeys.layout);
  // A list is no snapshot: a first start may have written both meanwhile.
  if (entry === undefined && hasWorkers(listed)) ({ entry } = await store.read(recordKeys.layout));
  if (entry === undefined) {
    const ours = hasWorkers(listed) ? lostRecord(context, listed, incarnation) : createLayoutRecord(context);
    const written = await store.compareAndSet(recordKeys.layout, undefined, encodeLayoutRecord(ours));
    if (written.kind === "applied") return ours;
    ({ entry } = await store.read(recordKeys.layout));
    if (entry === undefined) throw new IdError("STORE_UNAVAILABLE", "The layout record vanished while it was read.");
  }
  const record = parseLayoutRecord(entry.text);
  checkAgreement(record, settings);
  return record;
}

/**
 * What may be written where worker records stand without a layout record: only what stood there before. Their holders
 * may live and never look at it again, and under another epoch or other fields we would issue what they did.
 *
 * @throws IdError INVALID_CONFIG if this process never saw it.
 */
function lostRecord(context: ProtocolContext, listed: ListAnswer, { t0Ms }: IncarnationRecord): LayoutRecord {
  const { store, settings, judge, seenLayout } = context;
  const seen = seenLayout();
  if (seen !== undefined) return seen;
  // The store was emptied, or went back to before its first layout record, and a write that was late came after. What
  // it wrote is of no use to its sender, and soon to nobody; for ever it must not stand in the way.
  const nowMs = storeNowMs(listed.moment, judge.nowMs());
  if (t0Ms > 0 && !listed.entries.some((entry) => mayBeInUse(entry, nowMs))) return createLayoutRecord(context);
  throw lostLayout(store, settings.namespace);
}

/** Whether somebody may issue under a worker record: it was not released, and some clock may be below its mark. */
function mayBeInUse({ key, text }: Entry, nowMs: number): boolean {
  if (parseWorkerKey(key) === undefined) return false;
  const { token, hwmMs } = parseWorkerRecord(key, text);
  return token !== "" && nowMs < hwmMs + 2 * clockErrorMs;
}

/** Whether records of workers stand here: then a layout record once did, too. */
export function hasWorkers({ entries }: ListAnswer): boolean {
  return entries.some(({ key }) => parseWorkerKey(key) !== undefined);
}

/** What is said where {@link hasWorkers} and there is no layout record. */
export function lostLayout({ kind }: Pick<RecordStore, "kind">, namespace: string): IdError {
  const message =
    `Namespace ${namespace} has records of workers, but its layout record is lost: nobody can tell which IDs they issue. ` +
    `Nothing was changed. See docs/stores.md, "The layout record is lost".`;
  return new IdError("INVALID_CONFIG", message, { metadata: { store: kind, namespace, lost: recordKeys.layout } });
}

function createLayoutRecord({ store, settings, ports }: ProtocolContext): LayoutRecord {
  return {
    deploymentId: ports.random128(),
    namespace: settings.namespace,
    epochMs: settings.layout.epochMs,
    tickNs: settings.layout.tickNs,
    fields: settings.layout.fields,
    datacenterIds: settings.datacenterIds ?? "all",
    windowMaxMs: settings.windowMaxMs ?? Math.max(store.timing.windowMs, settings.windowMs),
    leadMaxMs: settings.leadMaxMs,
  };
}

/** Holds settings to a layout record. @throws IdError LAYOUT_MISMATCH with every field that differs. */
export function checkAgreement(record: LayoutRecord, settings: WorkerSettings): void {
  const ours = createOurs(record, settings);
  const differing = (Object.keys(ours) as (keyof LayoutRecord)[]).filter(
    (field) => JSON.stringify(ours[field]) !== JSON.stringify(record[field]),
  );
  if (differing.length > 0) {
    const text = differing.map(
      (field) => `${field} is ${show(ours[field])} here and ${show(record[field])} in the store`,
    );
    const message = `The layout differs from the one that namespace ${record.namespace} was started with: ${text.join("; ")}. Use the store's settings. Another namespace would be another deployment, whose IDs can equal those of this one.`;
    throw new IdError("LAYOUT_MISMATCH", message, {
      metadata: { namespace: record.namespace, fields: differing.join(",") },
    });
  }
  if (settings.windowMs > record.windowMaxMs) {
    const message = `The window of ${settings.windowMs} ms is longer than windowMaxMs ${record.windowMaxMs} in the store, which is fixed. Shorten it.`;
    throw new IdError("LAYOUT_MISMATCH", message, {
      metadata: { fields: "windowMaxMs", window_ms: settings.windowMs, window_max_ms: record.windowMaxMs },
    });
  }
}

// What was not set here is as the store has it.
function createOurs(record: LayoutRecord, settings: WorkerSettings): LayoutRecord {
  return {
    deploymentId: record.deploymentId,
    namespace: settings.namespace,
    epochMs: settings.layout.epochMs,
    tickNs: settings.layout.tickNs,
    fields: settings.layout.fields.map(({ kind, bits }) => ({ kind, bits })),
    datacenterIds: settings.datacenterIds ?? record.datacenterIds,
    windowMaxMs: settings.windowMaxMs ?? record.windowMaxMs,
    leadMaxMs: settings.leadMaxMs,
  };
}

function show(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value.map((item: unknown) => (isField(item) ? `${item.kind} ${item.bits}` : String(item))).join(" | ");
}

function isField(item: unknown): item is { kind: string; bits: number } {
  return typeof item === "object" && item !== null && "kind" in item && "bits" in item;
}
