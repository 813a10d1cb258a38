import { lengthOfTime } from "../clock/length-of-time.ts";
import { IdError } from "../errors.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { storeNowMs } from "./quarantine.ts";
import { type Entry, type ListAnswer, type RecordStore, unlessRefused } from "../store/record-store.ts";
import { clockErrorMs } from "./window.ts";
import type { IncarnationRecord } from "./records/incarnation-record.ts";
import { encodeLayoutRecord, type LayoutRecord, type WorkerIdRange } from "./records/layout-record.ts";
import { deploymentIdOf, parseLayoutRecord } from "./records/layout-slot.ts";
import { noneAdded } from "./records/added-fields.ts";
import { recordKeys } from "./records/record-text.ts";
import { parseWorkerKey, parseWorkerRecord, readableFence } from "./records/worker-record.ts";
import type { WorkerSettings } from "./worker-settings.ts";

/** What this process, or an earlier life of it, knows of the layout record. */
export interface KnownLayout {
  /** The record that it saw last, even if the store has lost it since; undefined: it never saw one. */
  readonly layout: LayoutRecord | undefined;
  /**
   * The deployment whose record must still be there; undefined: it never saw one, or knows already that the store lost
   * it.
   */
  readonly deploymentId: string | undefined;
}

/**
 * Checks that the layout record is still there. It is written once and never deleted: if it is gone, or is another
 * deployment's, the store was emptied, even if the store names itself as before. A process that never saw the record
 * cannot know.
 *
 * @throws IdError STORE_WENT_BACK: a quarantine mark then has to be written.
 */
export function checkLayoutStands({ deploymentId }: KnownLayout, entries: readonly Entry[]): void {
  const entry = entries.find(({ key }) => key === recordKeys.layout);
  if (deploymentId === undefined || (entry !== undefined && deploymentIdOf(entry.text) === deploymentId)) return;
  const found = entry === undefined ? "gone" : "another deployment's";
  throw new IdError("STORE_WENT_BACK", `The layout record is ${found}: the store was emptied.`);
}

/**
 * Checks this process's settings against the layout record of the namespace, or writes that record if this is the first
 * process ever.
 *
 * @param listed - A fresh list of all records.
 * @param incarnation - The life of the store that is noted beside them.
 * @param known - What was seen of the record before.
 * @returns The record in the store, and whether this call wrote it for a new deployment.
 * @throws IdError LAYOUT_MISMATCH with every field that differs; INVALID_CONFIG for a foreign record, or where it was
 * lost; as the store does.
 */
export async function agreeOnLayout(
  context: ProtocolContext,
  listed: ListAnswer,
  incarnation: IncarnationRecord,
  known: KnownLayout,
): Promise<{ readonly record: LayoutRecord; readonly isNew: boolean }> {
  const { store, settings } = context;
  let entry = listed.entries.find(({ key }) => key === recordKeys.layout);
  // A list is not a snapshot: another first start may have written both meanwhile.
  if (entry === undefined && hasWorkers(listed)) ({ entry } = await store.read(recordKeys.layout));
  if (entry === undefined) {
    const ours = hasWorkers(listed) ? lostRecord(context, listed, incarnation, known) : createLayoutRecord(context);
    const written = unlessRefused(await store.compareAndSet(recordKeys.layout, undefined, encodeLayoutRecord(ours)));
    if (written.kind === "applied") return { record: ours, isNew: listed.entries.length === 0 };
    ({ entry } = await store.read(recordKeys.layout));
    if (entry === undefined) {
      const message = `The layout record was deleted from the ${store.kind} store while it was read: find out what deletes records.`;
      throw new IdError("STORE_UNAVAILABLE", message, { metadata: { store: store.kind } });
    }
  }
  const record = parseLayoutRecord(entry.text);
  checkAgreement(record, settings);
  return { record, isNew: false };
}

/**
 * The layout record to write where there are worker records but no layout record: only the one that was there before.
 * Holders of those records may be alive and never read it again, and under another epoch or other fields we would issue
 * the IDs that they did. docs/adr/0096 has the decision.
 *
 * @throws IdError INVALID_CONFIG if this process never saw it.
 */
function lostRecord(
  context: ProtocolContext,
  listed: ListAnswer,
  { t0Ms }: IncarnationRecord,
  known: KnownLayout,
): LayoutRecord {
  const { store, settings, judge } = context;
  if (known.layout !== undefined) return known.layout;
  // The store was emptied, or went back to before its first layout record, and a late write landed after that. Its
  // record is of no use to its sender, and once its time is over to no process at all: it must not bar every start for
  // ever.
  const nowMs = storeNowMs(listed.moment, judge.nowMs());
  if (t0Ms > 0 && !listed.entries.some((entry) => mayBeInUse(entry, nowMs))) return createLayoutRecord(context);
  throw lostLayout(store, settings.namespace);
}

/** Whether a process may issue under a worker record: it was not released, and some clock may be below its mark. */
function mayBeInUse({ key, text }: Entry, nowMs: number): boolean {
  if (parseWorkerKey(key) === undefined) return false;
  const { token, markMs } = readableFence({ key, text }) ?? parseWorkerRecord(key, text);
  return token !== "" && nowMs < markMs + 2 * clockErrorMs;
}

/** Whether there are records of workers: then there once was a layout record as well. */
export function hasWorkers({ entries }: ListAnswer): boolean {
  return entries.some(({ key }) => parseWorkerKey(key) !== undefined);
}

/** The error of a namespace that {@link hasWorkers} but has no layout record. */
export function lostLayout({ kind }: Pick<RecordStore, "kind">, namespace: string): IdError {
  const message =
    `Namespace ${namespace} has records of workers, but its layout record is lost: nothing shows which IDs they issue. ` +
    `Nothing was changed. See docs/store-losses.md, "The layout record is lost".`;
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
    workerIds: settings.workerIds ?? "all",
    windowMaxMs: settings.windowMaxMs ?? Math.max(store.timing.windowMs, settings.windowMs),
    leadMaxMs: settings.leadMaxMs,
    added: noneAdded,
  };
}

/** Checks settings against a layout record. @throws IdError LAYOUT_MISMATCH with every field that differs. */
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
    const message = `The window of ${lengthOfTime(settings.windowMs)} is longer than the longest one that the store has on record, ${lengthOfTime(record.windowMaxMs)}, which is fixed. Shorten it.`;
    throw new IdError("LAYOUT_MISMATCH", message, {
      metadata: { fields: "windowMaxMs", window_ms: settings.windowMs, window_max_ms: record.windowMaxMs },
    });
  }
}

// Settings that are absent here are taken from the store's record.
function createOurs(record: LayoutRecord, settings: WorkerSettings): LayoutRecord {
  return {
    deploymentId: record.deploymentId,
    namespace: settings.namespace,
    epochMs: settings.layout.epochMs,
    tickNs: settings.layout.tickNs,
    fields: settings.layout.fields.map(({ kind, bits }) => ({ kind, bits })),
    datacenterIds: settings.datacenterIds ?? record.datacenterIds,
    workerIds: settings.workerIds ?? record.workerIds,
    windowMaxMs: settings.windowMaxMs ?? record.windowMaxMs,
    leadMaxMs: settings.leadMaxMs,
    added: record.added,
  };
}

function show(value: unknown): string {
  if (isRange(value)) return showWorkerIds(value);
  if (!Array.isArray(value)) return String(value);
  return value.map((item: unknown) => (isField(item) ? `${item.kind} ${item.bits}` : String(item))).join(" | ");
}

function isRange(value: unknown): value is WorkerIdRange {
  return typeof value === "object" && value !== null && "first" in value && "last" in value;
}

/** Shows a range as the setting writes it: `512-1023`. */
export function showWorkerIds({ first, last }: WorkerIdRange): string {
  return `${first}-${last}`;
}

function isField(item: unknown): item is { kind: string; bits: number } {
  return typeof item === "object" && item !== null && "kind" in item && "bits" in item;
}
