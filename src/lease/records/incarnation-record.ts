/** The record that says when a life of the store was first seen. */
import * as v from "valibot";
import { identityLengthMax } from "../../store/store-identity.ts";
import type { AddedFields } from "./added-fields.ts";
import { earlierLivesLengthMax } from "./earlier-lives.ts";
import { encodeRecord, parseRecord, printable, recordKeys, recordSchema, unixMs } from "./record-text.ts";

/** The present incarnation of the store and when it was first seen: "t0 beside the records". See quarantine.ts. */
export interface IncarnationRecord {
  /** All parts that any process saw of it: see store-identity.ts. */
  readonly identity: string;
  /** When the store started; null if the store does not report it. */
  readonly startedMs: number | null;
  /** Store time of the start or of the first sight; 0 = nothing can have been lost. Unix milliseconds. */
  readonly t0Ms: number;
  /** Lives that ended shortly before: see earlier-lives.ts. Absent where there was none. */
  readonly earlier?: string | undefined;
  readonly added: AddedFields;
}

const schema = recordSchema({
  identity: printable(1, identityLengthMax),
  startedMs: v.nullable(unixMs),
  t0Ms: unixMs,
  earlier: v.optional(v.pipe(printable(0, earlierLivesLengthMax), v.regex(/^(?:[0-9a-f]{16}@-?\d{1,14}(?: |$))*$/))),
});

/** Text of the incarnation record. */
export function encodeIncarnationRecord(record: IncarnationRecord): string {
  return encodeRecord(record);
}

/** @throws IdError INVALID_CONFIG: a foreign or damaged value, or a higher format. */
export function parseIncarnationRecord(text: string): IncarnationRecord {
  return parseRecord(schema, recordKeys.incarnation, text);
}
