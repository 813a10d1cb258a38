/** SEQUENCES: the record of the database in which a deployment keeps its sequences. */
import type { AddedFields } from "./added-fields.ts";
import { placeLengthMax } from "../../store/store-place.ts";
import { encodeRecord, parseRecord, printable, random128, recordKeys, recordSchema, unixMs } from "./record-text.ts";

/** SEQUENCES: written once. A process whose database is not the one that it names takes no values. */
export interface SequencesRecord {
  /** 32 hex digits: the `store_id` of the database; if there are several, of the one with stripe 0. */
  readonly databaseId: string;
  /** The URL at the time of writing, without credentials: 1 to 150 characters. Only for people to read. */
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
