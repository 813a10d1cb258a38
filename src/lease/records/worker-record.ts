/** R[w]: the record of one worker ID. docs/adr/0110 lists the fields that every format has. */
import * as v from "valibot";
import { IdError } from "../../errors.ts";
import type { Entry, RecordKey } from "../../store/record-store.ts";
import type { AddedFields } from "./added-fields.ts";
import {
  encodeRecord,
  foreignRecord,
  isOfNewerVersion,
  parseFields,
  parseRecord,
  printable,
  random128,
  recordBytesMax,
  recordSchema,
  unixMs,
  wholeFrom,
} from "./record-text.ts";

/**
 * The process that holds or last held a worker ID. For operators, and so that a restart finds its own record; never for
 * uniqueness.
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
  /** The version of the program. */
  readonly version: string;
}

/**
 * The fields of R[w] that keep their place and meaning in every format, so that a holder can judge a record that a
 * newer version wrote.
 */
export interface Fence {
  /** Grows with each grant; never reset, also not by a release. */
  readonly generation: number;
  /** 128 random bits drawn for each grant, as 32 hex digits; empty when released. */
  readonly token: string;
  /**
   * High-water mark: above every timestamp ever issued or issuable under this record. It alone says where a successor
   * begins: an added field may come with a higher mark, but never replaces it. Unix milliseconds, exclusive. In the
   * text it is `hwmMs`.
   */
  readonly markMs: number;
}

/** R[w]: one for each worker ID that was ever held. */
export interface WorkerRecord extends Fence {
  /** 128 random bits drawn for each write, as 32 hex digits: shows whose write landed. */
  readonly writeId: string;
  /**
   * From when on another process may take over; 0 in a store with locks. Unix milliseconds. Uniqueness does not depend
   * on it.
   */
  readonly expiresMs: number;
  /** Fields in it that a later version added are not read: they are lost with the holder. */
  readonly holder: Holder;
  readonly added: AddedFields;
}

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

// Quotes and backslashes are replaced as well: JSON would escape them, and the size of a record is calculated without
// that.
function fit(text: string, length: number): string {
  return text.replaceAll(/[^ !#-[\]-~]/gu, "?").slice(0, length);
}

const fenceEntries = {
  generation: wholeFrom(1),
  token: v.union([random128, v.literal("")]),
  hwmMs: unixMs,
};
const fenceSchema = v.object(fenceEntries);
const schema = recordSchema({
  ...fenceEntries,
  writeId: random128,
  expiresMs: unixMs,
  // Not strict: fields that a later version added to a holder are dropped.
  holder: v.object({
    instance: printable(1, 100),
    host: printable(1, 64),
    processId: wholeFrom(0),
    bootId: printable(0, 36),
    sinceMs: unixMs,
    version: printable(0, 32),
  }),
});

/** Text of R[w]. */
export function encodeWorkerRecord(record: WorkerRecord): string {
  // Field by field: records are compared as texts, in which the order of fields counts.
  const { generation, token, writeId, markMs, expiresMs, holder, added } = record;
  const fields = { generation, token, writeId, hwmMs: markMs, expiresMs, holder, added };
  return encodeRecord(fields);
}

/** @throws IdError INVALID_CONFIG: a foreign or damaged value, a higher format, or one that cannot be written again. */
export function parseWorkerRecord(key: RecordKey, text: string): WorkerRecord {
  if (text.length > recordBytesMax) throw foreignRecord(key, `it is longer than ${recordBytesMax} bytes`);
  const { hwmMs: markMs, ...others } = parseRecord(schema, key, text);
  return { ...others, markMs };
}

/**
 * The record under the key of a worker ID. No process is granted a worker ID whose record it cannot write again.
 * `newer`: only a newer version can, and this one reads the fence alone. `unreadable`: the record is foreign or
 * damaged, and its mark is not known.
 */
export type WorkerSlot =
  | { readonly kind: "record"; readonly record: WorkerRecord }
  | { readonly kind: "newer"; readonly fence: Fence; readonly error: IdError }
  | { readonly kind: "unreadable"; readonly error: IdError };

/** Reads a record that may not be readable. Its content never makes this throw. */
export function readWorkerSlot({ key, text }: Pick<Entry, "key" | "text">): WorkerSlot {
  try {
    return { kind: "record", record: parseWorkerRecord(key, text) };
  } catch (cause) {
    if (!(cause instanceof IdError)) throw cause;
    const fields = isOfNewerVersion(cause) ? parseFields(key, text) : undefined;
    if (!v.is(fenceSchema, fields)) return { kind: "unreadable", error: cause };
    const { generation, token, hwmMs: markMs } = fields;
    return { kind: "newer", fence: { generation, token, markMs }, error: cause };
  }
}

/** The fence of an entry's record; undefined where it is unreadable. */
export function readableFence(entry: Pick<Entry, "key" | "text">): Fence | undefined {
  const slot = readWorkerSlot(entry);
  if (slot.kind === "unreadable") return undefined;
  return slot.kind === "record" ? slot.record : slot.fence;
}

/** The record that an entry holds; undefined where it is not readable as a whole. */
export function readableRecord(entry: Pick<Entry, "key" | "text">): WorkerRecord | undefined {
  const slot = readWorkerSlot(entry);
  return slot.kind === "record" ? slot.record : undefined;
}
