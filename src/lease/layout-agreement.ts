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
  /** The record that it saw last, whatever became of it since; undefined: it never saw one. */
  readonly layout: LayoutRecord | undefined;
  /**
   * The deployment whose record must still stand; undefined: it never saw one, or knows already that the store lost it.
   */
  readonly deploymentId: string | undefined;
}

/**
 * Looks whether the layout record that stood there still stands. It is written once and never deleted: where it is
 * gone, or is another deployment's, the store was emptied, whatever it says of itself. A process that never saw it
 * cannot know.
 *
 * @throws IdError STORE_WENT_BACK: a quarantine mark is owed then.
 */
export function checkLayoutStands({ deploymentId }: KnownLayout, entries: readonly Entry[]): void {
  const entry = entries.find(({ key }) => key === recordKeys.layout);
  if (deploymentId === undefined || (entry !== undefined && deploymentIdOf(entry.text) === deploymentId)) return;
  const found = entry === undefined ? "gone" : "another deployment's";
  throw new IdError("STORE_WENT_BACK", `The layout record is ${found}: the store was emptied.`);
}

/**
 * Holds this process to what the namespace agreed on, or writes it if this is the first process ever.
 *
 * @param listed - A fresh list of all records.
 * @param incarnation - Which life of the store stands noted beside them.
 * @param known - What was seen of the record before.
 * @returns The record that stands, and whether this call wrote it for a new deployment.
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
  // A list is no snapshot: a first start may have written both meanwhile.
  if (entry === undefined && hasWorkers(listed)) ({ entry } = await store.read(recordKeys.layout));
  if (entry === undefined) {
    const ours = hasWorkers(listed) ? lostRecord(context, listed, incarnation, known) : createLayoutRecord(context);
    const written = unlessRefused(await store.compareAndSet(recordKeys.layout, undefined, encodeLayoutRecord(ours)));
    if (written.kind === "applied") return { record: ours, isNew: listed.entries.length === 0 };
    ({ entry } = await store.read(recordKeys.layout));
    if (entry === undefined) {
      const message = `The layout record was deleted from the ${store.kind} store while it was read: look who deletes records.`;
      throw new IdError("STORE_UNAVAILABLE", message, { metadata: { store: store.kind } });
    }
  }
  const record = parseLayoutRecord(entry.text);
  checkAgreement(record, settings);
  return { record, isNew: false };
}

/**
 * What may be written where worker records stand without a layout record: only what stood there before. Their holders
 * may live and never look at it again, and under another epoch or other fields we would issue what they did.
 * docs/adr/0096 has the decision.
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
  // The store was emptied, or went back to before its first layout record, and a write that was late came after. What
  // it wrote is of no use to its sender, and soon to nobody; for ever it must not stand in the way.
  const nowMs = storeNowMs(listed.moment, judge.nowMs());
  if (t0Ms > 0 && !listed.entries.some((entry) => mayBeInUse(entry, nowMs))) return createLayoutRecord(context);
  throw lostLayout(store, settings.namespace);
}

/** Whether somebody may issue under a worker record: it was not released, and some clock may be below its mark. */
function mayBeInUse({ key, text }: Entry, nowMs: number): boolean {
  if (parseWorkerKey(key) === undefined) return false;
  const { token, markMs } = readableFence({ key, text }) ?? parseWorkerRecord(key, text);
  return token !== "" && nowMs < markMs + 2 * clockErrorMs;
}

/** Whether records of workers stand here: then a layout record once did, too. */
export function hasWorkers({ entries }: ListAnswer): boolean {
  return entries.some(({ key }) => parseWorkerKey(key) !== undefined);
}

/** The error of a namespace that {@link hasWorkers} but has no layout record. */
export function lostLayout({ kind }: Pick<RecordStore, "kind">, namespace: string): IdError {
  const message =
    `Namespace ${namespace} has records of workers, but its layout record is lost: nobody can tell which IDs they issue. ` +
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
    const message = `The window of ${lengthOfTime(settings.windowMs)} is longer than the longest one that the store has on record, ${lengthOfTime(record.windowMaxMs)}, which is fixed. Shorten it.`;
    throw new IdError("LAYOUT_MISMATCH", message, {
      metadata: { fields: "windowMaxMs", window_ms: settings.windowMs, window_max_ms: record.windowMaxMs },
    });
  }
}

// Settings that are absent here are as the store has them.
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
