/** The record that replaces L while its namespace moves to another store, and permanently in the store that it left. */
import * as v from "valibot";
import { IdError } from "../../errors.ts";
import { layoutEntries } from "./layout-entries.ts";
import type { LayoutRecord } from "./layout-record.ts";
import type { AddedFields } from "./added-fields.ts";
import {
  encodeRecord,
  flatFields,
  parseRecord,
  printable,
  random128,
  readFields,
  recordKeys,
  recordSchema,
  unixMs,
} from "./record-text.ts";

/** The phase of a store in a move of its namespace from one store to another: see operator/store-move/move-store.ts. */
const movePhases = ["leaving", "left", "arriving", "abandoned"] as const;

/** Replaces L while a namespace moves, and permanently in the store that it left: no process starts there. */
export interface MoveRecord {
  /** 128 random bits drawn for each move, as 32 hex digits. */
  readonly moveId: string;
  readonly phase: (typeof movePhases)[number];
  /** The other store, without credentials. 1 to 150 characters. */
  readonly place: string;
  readonly sinceMs: number;
  /**
   * In the source: until when a quarantine other than that of the move binds the store; null if there is none. In the
   * target: until when the copied quarantine does, or 0 for none, once all is copied; null before.
   */
  readonly quarantineUntilMs: number | null;
  /** The layout record: in the source the one before the move, in the target the one after it. */
  readonly layout: LayoutRecord;
  readonly added: AddedFields;
}

const schema = recordSchema({
  moveId: random128,
  phase: v.picklist(movePhases),
  place: printable(1, 150),
  sinceMs: unixMs,
  quarantineUntilMs: v.nullable(unixMs),
  layout: v.record(v.string(), v.unknown()),
});
const layoutSchema = recordSchema(layoutEntries);

/** Whether a text under the key of L is a move record. */
export function isMoveRecord(text: string): boolean {
  return text.includes('"moveId"');
}

/** Text of a move record. */
export function encodeMoveRecord(record: MoveRecord): string {
  // Field by field, because the order matters: the layout comes last.
  const { layout, added, ...others } = record;
  const fields = { ...others, layout: flatFields(layout), added };
  return encodeRecord(fields);
}

/** @throws IdError INVALID_CONFIG: a foreign or damaged value, or a higher format. */
export function parseMoveRecord(text: string): MoveRecord {
  const { layout, ...others } = parseRecord(schema, recordKeys.layout, text);
  return { ...others, layout: readFields(layoutSchema, recordKeys.layout, layout) };
}

/** The error of a start on a store that its namespace is leaving, has left, or has not reached. */
export function movedError({ phase, place, sinceMs, layout }: MoveRecord): IdError {
  const { namespace } = layout;
  const since = new Date(sinceMs).toISOString();
  const again = "Run the same snowlane store copy again to finish it, or with --abandon to undo it.";
  const message = {
    left: `Namespace ${namespace} was moved from this store to ${place} at ${since}. Start with --store set to that one.`,
    leaving: `Namespace ${namespace} is being moved from this store to ${place} since ${since}. ${again}`,
    arriving: `The copy of namespace ${namespace} from ${place} into this store, begun at ${since}, is not finished. ${again}`,
    abandoned: `This store holds part of a copy of namespace ${namespace} from ${place}, which was abandoned at ${since}. Use another store or namespace.`,
  }[phase];
  return new IdError("INVALID_CONFIG", message, { metadata: { namespace, phase, place } });
}
