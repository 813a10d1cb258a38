/**
 * The records that the protocol keeps in a store, and their text form: one line of JSON in printable ASCII.
 *
 * Reading is strict: a text that is not exactly what this file writes is a foreign or damaged value and never taken for
 * a record.
 */
import * as v from "valibot";
import { IdError } from "../errors.ts";
import type { LayoutField } from "../snowflake/layout.ts";
import type { RecordKey } from "./record-store.ts";

/**
 * Who holds or last held a worker ID. For operators, and so that a restart finds its own record; never for uniqueness.
 */
export interface Holder {
  /** Host name and port of the server; what stays the same over a restart. 1 to 100 characters. */
  readonly instance: string;
  /** 1 to 64 characters. */
  readonly host: string;
  readonly processId: number;
  /** Changes with each boot of the machine; empty if unknown. */
  readonly bootId: string;
  /** When the process started: Unix milliseconds by its own clock. */
  readonly sinceMs: number;
  /** Of the program. */
  readonly version: string;
}

/** R[w]: one for each worker ID that was ever held. At most 512 bytes as text. */
export interface WorkerRecord {
  /** Grows with each grant; never reset, also not by a release. */
  readonly generation: number;
  /** 128 random bits drawn for each grant, as 32 hex digits; empty when released. */
  readonly token: string;
  /** 128 random bits drawn for each write, as 32 hex digits: tells whose write landed. */
  readonly writeId: string;
  /** High-water mark: above every timestamp ever issued or issuable under this record. Unix milliseconds, exclusive. */
  readonly hwmMs: number;
  /** From when on another may take over; 0 where locks tell. Unix milliseconds. Uniqueness does not depend on it. */
  readonly expiresMs: number;
  readonly holder: Holder;
}

/** L: what everyone in a namespace must agree on. Written once; any difference is refused. */
export interface LayoutRecord {
  /** 128 random bits drawn when the record was written, as 32 hex digits: tells deployments apart that look alike. */
  readonly deploymentId: string;
  readonly namespace: string;
  readonly epochMs: number;
  readonly tickNs: number;
  /** From the top bit down. */
  readonly fields: readonly LayoutField[];
  /** Datacenter IDs that this store may hand out, rising; `all` where it is bound to none. */
  readonly datacenterIds: readonly number[] | "all";
  /** The longest window that any process of this namespace may reserve. */
  readonly windowMaxMs: number;
  /** A: the most that a timestamp may lead the wall clock. */
  readonly leadMaxMs: number;
}

/** Where a store stands in a move of its namespace from one store to another: see store-move.ts. */
const movePhases = ["leaving", "left", "arriving", "abandoned"] as const;

/** Stands in place of L while a namespace moves, and for good in the store that it left: nobody starts there. */
export interface MoveRecord {
  /** 128 random bits drawn for each move, as 32 hex digits. */
  readonly moveId: string;
  readonly phase: (typeof movePhases)[number];
  /** The other store, without credentials. 1 to 150 characters. */
  readonly place: string;
  readonly sinceMs: number;
  /** Where it is left: until when QMARK bound it before the move; null if it did not. */
  readonly quarantineUntilMs: number | null;
  /** L as it was here; where it arrives, as it will be. */
  readonly layout: LayoutRecord;
}

/** QMARK: nobody is granted a window that begins before `untilMs`. */
export interface QuarantineRecord {
  readonly sinceMs: number;
  /** Unix milliseconds, exclusive. */
  readonly untilMs: number;
  /** For operators. 1 to 200 characters. */
  readonly reason: string;
}

/** Which incarnation of the store was seen first when: "t0 beside the records". See quarantine.ts. */
export interface IncarnationRecord {
  readonly identity: string;
  /** null where the store does not tell. */
  readonly startedMs: number | null;
  /** Store time of the start or of the first sight; 0 = nothing can have been lost. Unix milliseconds. */
  readonly t0Ms: number;
}

/** Keys of the records that a namespace has once. */
export const recordKeys = { layout: "layout", incarnation: "incarnation", quarantine: "quarantine" } as const;

/** The most that a worker record may take, in bytes. */
export const workerRecordBytesMax = 512;

const formatVersion = 1;
const workerKeyPattern = /^worker-(0|[1-9][0-9]{0,9})$/;

/**
 * Key of the record of one worker ID.
 *
 * @param workerIndex - Datacenter and worker in one number: `datacenterId << worker.bits | workerId`.
 */
export function workerKey(workerIndex: number): RecordKey {
  return `worker-${workerIndex}`;
}

/** The reverse of {@link workerKey}; undefined for every other key. */
export function parseWorkerKey(key: RecordKey): number | undefined {
  const digits = workerKeyPattern.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Makes a holder that fits into a record: text is cut to its length, and what is not printable ASCII becomes `?`. */
export function createHolder(holder: Holder): Holder {
  return {
    instance: fit(holder.instance, 100) || "?",
    host: fit(holder.host, 64) || "?",
    processId: holder.processId,
    bootId: fit(holder.bootId, 36),
    sinceMs: holder.sinceMs,
    version: fit(holder.version, 32),
  };
}

// Quotes and backslashes go, too: JSON would double them, and the 512 bytes are counted without.
function fit(text: string, length: number): string {
  return text.replaceAll(/[^ !#-[\]-~]/gu, "?").slice(0, length);
}

// Whole milliseconds that a JavaScript number holds exactly; negative before 1970.
const unixMs = v.pipe(v.number(), v.safeInteger());
const printable = (min: number, max: number) =>
  v.pipe(v.string(), v.regex(/^[ -~]*$/), v.minLength(min), v.maxLength(max));
const random128 = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/));
const version = v.literal(formatVersion);

const holderSchema = v.strictObject({
  instance: printable(1, 100),
  host: printable(1, 64),
  processId: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  bootId: printable(0, 36),
  sinceMs: unixMs,
  version: printable(0, 32),
});
const workerSchema = v.strictObject({
  formatVersion: version,
  generation: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  token: v.union([random128, v.literal("")]),
  writeId: random128,
  hwmMs: unixMs,
  expiresMs: unixMs,
  holder: holderSchema,
});
const layoutEntries = {
  deploymentId: random128,
  namespace: printable(1, 63),
  epochMs: unixMs,
  tickNs: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  fields: v.array(
    v.strictObject({
      kind: v.picklist(["timestamp", "datacenter", "worker", "sequence"]),
      bits: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(62)),
    }),
  ),
  datacenterIds: v.union([v.literal("all"), v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(0)))]),
  windowMaxMs: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  leadMaxMs: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
};
const layoutSchema = v.strictObject({ formatVersion: version, ...layoutEntries });
const moveSchema = v.strictObject({
  formatVersion: version,
  moveId: random128,
  phase: v.picklist(movePhases),
  place: printable(1, 150),
  sinceMs: unixMs,
  quarantineUntilMs: v.nullable(unixMs),
  layout: v.strictObject(layoutEntries),
});
const quarantineSchema = v.strictObject({
  formatVersion: version,
  sinceMs: unixMs,
  untilMs: unixMs,
  reason: printable(1, 200),
});
const incarnationSchema = v.strictObject({
  formatVersion: version,
  identity: printable(1, 200),
  startedMs: v.nullable(unixMs),
  t0Ms: unixMs,
});

/** Text of R[w]. */
export function encodeWorkerRecord(record: WorkerRecord): string {
  return encode(record);
}

/** @throws IdError INVALID_CONFIG: a foreign or damaged value. So do the three below. */
export function parseWorkerRecord(key: RecordKey, text: string): WorkerRecord {
  if (text.length > workerRecordBytesMax) throw foreign(key, `it is longer than ${workerRecordBytesMax} bytes`);
  const { formatVersion: _, ...record } = parse(workerSchema, key, text);
  return record;
}

/** Text of L. */
export function encodeLayoutRecord(record: LayoutRecord): string {
  return encode(record);
}

/** @throws IdError INVALID_CONFIG: foreign, damaged, or the namespace moves or was moved. */
export function parseLayoutRecord(text: string): LayoutRecord {
  const slot = parseLayoutSlot(text);
  if (slot.kind === "layout") return slot.record;
  throw movedError(slot.move);
}

/** What stands under the key of L. */
export type LayoutSlot =
  | { readonly kind: "layout"; readonly record: LayoutRecord }
  | { readonly kind: "move"; readonly move: MoveRecord };

/** @throws IdError INVALID_CONFIG: foreign or damaged. */
export function parseLayoutSlot(text: string): LayoutSlot {
  if (!text.includes('"moveId"')) {
    const { formatVersion: _, ...record } = parse(layoutSchema, recordKeys.layout, text);
    return { kind: "layout", record };
  }
  const { formatVersion: _, ...move } = parse(moveSchema, recordKeys.layout, text);
  return { kind: "move", move };
}

/** The deployment whose layout record a text is, also while its namespace moves. @throws IdError INVALID_CONFIG. */
export function deploymentIdOf(layoutText: string): string {
  const slot = parseLayoutSlot(layoutText);
  return slot.kind === "layout" ? slot.record.deploymentId : slot.move.layout.deploymentId;
}

/** Text of what stands in place of L. */
export function encodeMoveRecord(record: MoveRecord): string {
  return encode(record);
}

/** What anyone gets who wants to start on a store that its namespace leaves, left, or has not reached. */
export function movedError({ phase, place, sinceMs, layout }: MoveRecord): IdError {
  const { namespace } = layout;
  const since = new Date(sinceMs).toISOString();
  const again = "Run the same snowlane store copy again to finish it, or with --abandon to take it back.";
  const message = {
    left: `Namespace ${namespace} was moved from this store to ${place} at ${since}. Start with --store set to that one.`,
    leaving: `Namespace ${namespace} is being moved from this store to ${place} since ${since}. ${again}`,
    arriving: `The copy of namespace ${namespace} from ${place} into this store, begun at ${since}, is not finished. ${again}`,
    abandoned: `This store holds part of a copy of namespace ${namespace} from ${place}, which was abandoned at ${since}. Use another store or namespace.`,
  }[phase];
  return new IdError("INVALID_CONFIG", message, { metadata: { namespace, phase, place } });
}

/** Text of QMARK. */
export function encodeQuarantineRecord(record: QuarantineRecord): string {
  return encode(record);
}

/** @throws IdError INVALID_CONFIG. */
export function parseQuarantineRecord(text: string): QuarantineRecord {
  const { formatVersion: _, ...record } = parse(quarantineSchema, recordKeys.quarantine, text);
  return record;
}

/** Text of the incarnation record. */
export function encodeIncarnationRecord(record: IncarnationRecord): string {
  return encode(record);
}

/** @throws IdError INVALID_CONFIG. */
export function parseIncarnationRecord(text: string): IncarnationRecord {
  const { formatVersion: _, ...record } = parse(incarnationSchema, recordKeys.incarnation, text);
  return record;
}

function encode(record: object): string {
  return JSON.stringify({ formatVersion, ...record });
}

function parse<TSchema extends v.GenericSchema>(schema: TSchema, key: RecordKey, text: string): v.InferOutput<TSchema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw foreign(key, "it is not JSON");
  }
  const result = v.safeParse(schema, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw foreign(key, `${v.getDotPath(issue) ?? "it"}: ${issue.message}`);
}

function foreign(key: RecordKey, problem: string): IdError {
  const message =
    `The record ${key} in the store was not written by this version of Snowlane (${problem}). ` +
    "Check that the store URL and the namespace are right, and that all processes run one version.";
  return new IdError("INVALID_CONFIG", message, { metadata: { key, problem } });
}
