/** QMARK: the record of a quarantine that a holder or an operator put down. */
import type { AddedFields } from "./added-fields.ts";
import type { Entry } from "../../store/record-store.ts";
import { encodeRecord, parseRecord, printable, recordKeys, recordSchema, unixMs } from "./record-text.ts";

/** QMARK: no process is granted a window that begins before `untilMs`. */
export interface QuarantineRecord {
  readonly sinceMs: number;
  /** Unix milliseconds, exclusive. */
  readonly untilMs: number;
  /** For operators. 1 to 200 characters. */
  readonly reason: string;
  readonly added: AddedFields;
}

/** The last time that a date can name: the quarantine of a store that its namespace is leaving has no end. */
export const foreverMs = 8.64e15;

const schema = recordSchema({ sinceMs: unixMs, untilMs: unixMs, reason: printable(1, 200) });

/** Text of QMARK. */
export function encodeQuarantineRecord(record: QuarantineRecord): string {
  return encodeRecord(record);
}

/** @throws IdError INVALID_CONFIG: a foreign or damaged value, or a higher format. */
export function parseQuarantineRecord(text: string): QuarantineRecord {
  return parseRecord(schema, recordKeys.quarantine, text);
}

/** Whether a quarantine is the one that a move puts down: without end. */
export function isForever({ text }: Entry): boolean {
  return parseQuarantineRecord(text).untilMs === foreverMs;
}
