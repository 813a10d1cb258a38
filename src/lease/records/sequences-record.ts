/** SEQUENCES: the record of the database in which a deployment keeps its sequences. */
import type { AddedFields } from "./added-fields.ts";
import { placeLengthMax } from "../../store/store-place.ts";
import { encodeRecord, parseRecord, printable, random128, recordKeys, recordSchema, unixMs } from "./record-text.ts";

/** SEQUENCES: written once. Where it names another database, nobody takes values. */
export interface SequencesRecord {
  /** 32 hex digits: the `store_id` of the database, of several that of stripe 0. */
  readonly databaseId: string;
  /** The URL of then, without credentials: 1 to 150 characters. For people alone. */
  readonly place: string;
  readonly sinceMs: number;
  readonly added: AddedFields;
}

const schema = recordSchema({ databaseId: random128, place: printable(1, placeLengthMax), sinceMs: unixMs });

/** Text of SEQUENCES. */
export function encodeSequencesRecord(record: SequencesRecord): string {
  return encodeRecord(record);
}

/** @throws IdError INVALID_CONFIG: a foreign or damaged value, or a higher format. */
export function parseSequencesRecord(text: string): SequencesRecord {
  return parseRecord(schema, recordKeys.sequences, text);
}
