/** The record under the key of L: the layout record, or a move record in its place. */
import { layoutEntries } from "./layout-entries.ts";
import type { LayoutRecord } from "./layout-record.ts";
import { isMoveRecord, type MoveRecord, movedError, parseMoveRecord } from "./move-record.ts";
import { parseRecord, recordKeys, recordSchema } from "./record-text.ts";

/** The record under the key of L. */
export type LayoutSlot =
  | { readonly kind: "layout"; readonly record: LayoutRecord }
  | { readonly kind: "move"; readonly move: MoveRecord };

const schema = recordSchema(layoutEntries);

/** @throws IdError INVALID_CONFIG: foreign, damaged, or of a higher format. */
export function parseLayoutSlot(text: string): LayoutSlot {
  if (isMoveRecord(text)) return { kind: "move", move: parseMoveRecord(text) };
  return { kind: "layout", record: parseRecord(schema, recordKeys.layout, text) };
}

/**
 * @throws IdError INVALID_CONFIG: foreign, damaged, of a higher format, or the namespace is being moved or was moved.
 */
export function parseLayoutRecord(text: string): LayoutRecord {
  const slot = parseLayoutSlot(text);
  if (slot.kind === "layout") return slot.record;
  throw movedError(slot.move);
}

/**
 * The deployment that a text under the key of L belongs to, also while its namespace moves. @throws IdError
 * INVALID_CONFIG.
 */
export function deploymentIdOf(layoutText: string): string {
  const slot = parseLayoutSlot(layoutText);
  return slot.kind === "layout" ? slot.record.deploymentId : slot.move.layout.deploymentId;
}
