import { IdError } from "../errors.ts";
import { type PlausibleLayout, plausibleLayouts } from "../snowflake/layout-guess.ts";
import { type ParsedId, parseId } from "../snowflake/parse.ts";
import { type ForeignText, readForeignText } from "./foreign-text.ts";
import type { FormattedText, ReadOptions, TextCodec, TextReading } from "./text-codec.ts";
import type { TextFormat } from "./text-form.ts";
import type { UuidInfo } from "./uuid.ts";

/** The parts of an ID or a text: everything that can be read without a server. */
export interface ParsedSource {
  /** How the text was written; absent where an ID was given. */
  readonly format?: TextFormat;
  /** Absent for a UUID that holds no ID of this layout and namespace. */
  readonly parsed?: ParsedId;
  /** The parts of the UUID, if the text is one. */
  readonly uuid?: UuidInfo;
  /** The parts of a text that another generator wrote; it has no format and no ID. */
  readonly foreign?: ForeignText;
  /** The ID in every form, a serial number with the prefix and the offset of the source; empty where there is no ID. */
  readonly texts: readonly FormattedText[];
  /** Presets under which the ID could have been made, the most plausible first. A guess. */
  readonly plausibleLayouts: readonly PlausibleLayout[];
}

/**
 * Reads an ID, or a text in any form.
 *
 * @throws IdError MALFORMED_ID, MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT.
 */
export function parseSource(codec: TextCodec, source: bigint | string, options: ReadOptions): ParsedSource {
  if (typeof source === "bigint") return describe(codec, source, {}, options);
  const reading = readText(codec, source, options);
  if ("kind" in reading) return { foreign: reading, texts: [], plausibleLayouts: [] };
  const { format, id, uuid } = reading;
  const head = uuid === undefined ? { format } : { format, uuid };
  return id === undefined ? { ...head, texts: [], plausibleLayouts: [] } : describe(codec, id, head, options);
}

/**
 * Reads a text in one of our forms, or in another generator's where it has none of ours: only if neither a form nor a
 * type prefix is named.
 *
 * @throws IdError MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT.
 */
export function readText(codec: TextCodec, text: string, options: ReadOptions): TextReading | ForeignText {
  const { form, typePrefix = "" } = options;
  try {
    return codec.read(text, options);
  } catch (error) {
    const foreign = form === undefined && typePrefix === "" && hasNoForm(error) ? readForeignText(text) : undefined;
    if (foreign === undefined) throw error;
    return foreign;
  }
}

/** Whether an error says that a text has none of our shapes; a TypeID has the underscore of our typed IDs. */
function hasNoForm(error: unknown): boolean {
  if (!(error instanceof IdError) || error.reason !== "MALFORMED_TEXT") return false;
  const { form = "typed" } = error.metadata;
  return form === "typed";
}

function describe(
  codec: TextCodec,
  id: bigint,
  head: { readonly format?: TextFormat; readonly uuid?: UuidInfo },
  { utcOffsetMinutes = 0, nowMs }: ReadOptions,
): ParsedSource {
  return {
    ...head,
    parsed: parseId(codec.layout, id),
    texts: codec.writeAll(id, { ...head.format, utcOffsetMinutes }),
    plausibleLayouts: plausibleLayouts(id, nowMs),
  };
}
