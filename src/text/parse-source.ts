import { type ParsedId, parseId, type PlausibleLayout, plausibleLayouts } from "../snowflake/parse.ts";
import type { FormattedText, ReadOptions, TextCodec } from "./text-codec.ts";
import type { TextFormat } from "./text-form.ts";
import type { UuidInfo } from "./uuid.ts";

/** What an ID or a text says: all that can be told without asking anyone. */
export interface ParsedSource {
  /** How the text was written; absent where an ID was given. */
  readonly format?: TextFormat;
  /** Absent for a UUID that holds no ID of this layout and namespace. */
  readonly parsed?: ParsedId;
  /** What the UUID says, if the text is one. */
  readonly uuid?: UuidInfo;
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
  const { format, id, uuid } = codec.read(source, options);
  const head = uuid === undefined ? { format } : { format, uuid };
  return id === undefined ? { ...head, texts: [], plausibleLayouts: [] } : describe(codec, id, head, options);
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
