/**
 * The text form that all records in a store have: one line of JSON in printable ASCII, with its format's version.
 *
 * Reading is strict about the fields that this version knows, and tolerant of fields that a later version added: each
 * process that rewrites the record keeps them. A text of a higher format is never read as a record. docs/adr/0110 has
 * the decision.
 */
import * as v from "valibot";
import { IdError } from "../../errors.ts";
import { programName } from "../../store/program-name.ts";
import type { RecordKey } from "../../store/record-store.ts";
import type { AddedFields } from "./added-fields.ts";

/** Keys of the records that a namespace has once. */
export const recordKeys = {
  layout: "layout",
  incarnation: "incarnation",
  quarantine: "quarantine",
  sequences: "sequences",
} as const;

/**
 * A version of Snowlane that raises it also writes `program`, its own version, into each such record: docs/adr/0110.
 */
const formatVersion = 1;

/** The most bytes of a record that every store takes. */
export const recordBytesMax = 1_024;
/** The most bytes that the fields of a record that this version knows may take. */
export const knownBytesMax = 560;
/** The rest: the most bytes of fields that a later version added, so that a rewritten record always fits. */
const addedBytesMax = recordBytesMax - knownBytesMax;

/** A count or a length: a whole number from `min` on that a JavaScript number holds exactly. */
export const wholeFrom = (min: number) => v.pipe(v.number(), v.safeInteger(), v.minValue(min));
/** Unix time in whole milliseconds; negative before 1970. */
export const unixMs = v.pipe(v.number(), v.safeInteger());
/** `min` to `max` printable ASCII characters. */
export const printable = (min: number, max: number) =>
  v.pipe(v.string(), v.regex(/^[ -~]*$/), v.minLength(min), v.maxLength(max));
/** 128 bits as 32 hex digits. */
export const random128 = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/));

const addedName = /^[a-z][A-Za-z0-9]*$/;
const addedValue = v.union([v.pipe(v.string(), v.regex(/^[ -~]*$/)), v.pipe(v.number(), v.safeInteger())]);

/** Describes the fields of a record that this version knows, without its format's version. */
export function recordSchema<TEntries extends v.ObjectEntries>(entries: TEntries) {
  return v.strictObject(entries);
}

/** Text of a record: the fields that this version knows, then those that a later one added. */
export function encodeRecord(record: { readonly added: AddedFields }): string {
  return JSON.stringify({ formatVersion, ...flatFields(record) });
}

/** The fields of a record as its text has them, all at the top level. */
export function flatFields({ added, ...known }: { readonly added: AddedFields }): object {
  return { ...known, ...added };
}

/** @throws IdError INVALID_CONFIG: a foreign or damaged value, or a record of a higher format. */
export function parseRecord<TEntries extends v.ObjectEntries>(
  schema: ReturnType<typeof recordSchema<TEntries>>,
  key: RecordKey,
  text: string,
) {
  const all = parseFields(key, text);
  const { formatVersion: version, ...fields } = all;
  if (version === formatVersion) return readFields(schema, key, fields);
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < formatVersion) {
    throw foreignRecord(key, "formatVersion: no version of Snowlane writes this one");
  }
  throw newerRecord(key, all, `has format ${version}, and this version of Snowlane reads format ${formatVersion}`);
}

/** The fields of a text. @throws IdError INVALID_CONFIG: it is not the JSON of an object. */
export function parseFields(key: RecordKey, text: string): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw foreignRecord(key, "it is not JSON");
  }
  if (!isFields(json)) throw foreignRecord(key, "it is not an object");
  return json;
}

function isFields(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/**
 * Reads fields: those that this version knows, and those that a later one added.
 *
 * @throws IdError INVALID_CONFIG: a foreign or damaged value.
 */
export function readFields<TEntries extends v.ObjectEntries>(
  schema: ReturnType<typeof recordSchema<TEntries>>,
  key: RecordKey,
  fields: Readonly<Record<string, unknown>>,
) {
  const known: Record<string, unknown> = {};
  const added: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(schema.entries, name)) known[name] = value;
    else if (addedName.test(name) && v.is(addedValue, value)) added[name] = value;
    else throw foreignRecord(key, `${name}: no version of Snowlane adds such a field`);
  }
  const result = v.safeParse(schema, known);
  if (!result.success) {
    const [issue] = result.issues;
    throw foreignRecord(key, `${v.getDotPath(issue) ?? "it"}: ${issue.message}`);
  }
  // Their length behind the known ones: a comma in place of the two braces.
  const addedBytes = JSON.stringify(added).length - 1;
  if (addedBytes > addedBytesMax) {
    const rest = `this version of Snowlane can keep ${addedBytesMax} bytes of them`;
    throw newerRecord(key, fields, `has ${addedBytes} bytes of fields that a newer version added, and ${rest}`);
  }
  return { ...result.output, added };
}

/** The error of a record that no version of Snowlane wrote, or that is damaged. */
export function foreignRecord(key: RecordKey, problem: string): IdError {
  const message =
    `The record ${key} in the store is damaged, or Snowlane did not write it (${problem}). ` +
    "Check that the store URL and the namespace are right.";
  return new IdError("INVALID_CONFIG", message, { metadata: { record: key, problem } });
}

/** The error of a record that only a newer version can read or write again. */
function newerRecord(key: RecordKey, fields: Readonly<Record<string, unknown>>, finding: string): IdError {
  const program = programOf(fields);
  const newer = program === undefined ? "the newer version" : `Snowlane ${program}`;
  const message = `The record ${key} in the store ${finding}. Start ${newer} that wrote it (docs/upgrading.md).`;
  const metadata = { record: key, finding, ...(program === undefined ? {} : { program }) };
  return new IdError("INVALID_CONFIG", message, { metadata });
}

/** The version that wrote a record: its own field, or that of its holder, which wrote it last. */
function programOf({ program, holder }: Readonly<Record<string, unknown>>): string | undefined {
  return programName(program ?? (isFields(holder) ? holder["version"] : undefined));
}

/** Whether an error of reading a record means that a newer version wrote it, not that it is foreign or damaged. */
export function isOfNewerVersion(error: unknown): error is IdError {
  return error instanceof IdError && error.metadata["record"] !== undefined && error.metadata["finding"] !== undefined;
}
