import { IdError } from "../../src/errors.ts";
import type { Layout } from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { type ParsedSource, parseSource, readText } from "../../src/text/parse-source.ts";
import type { TextForm } from "../../src/text/text-form.ts";
import { codecOf } from "./layout-choice.ts";

/** One line of Parse, read; or the reason why it cannot be. */
export type Reading<Source> =
  | { readonly kind: "read"; readonly line: string; readonly source: Source }
  | { readonly kind: "refused"; readonly line: string; readonly error: IdError };

/** What the table of many lines shows of one. */
export type LineReading = Reading<Pick<ParsedSource, "parsed" | "uuid" | "foreign">>;

/** The most lines that are read. */
export const linesMax = 10_000;

/** The most characters of a line that are looked at: far more than any ID has in any form. */
export const lineLengthMax = 1_000;

/** Lines of a text. */
interface TextLines {
  readonly lines: readonly string[];
  /** Where each line begins in the text: UTF-16 units. */
  readonly starts: readonly number[];
  readonly leftOutCount: number;
}

/**
 * The lines of a text that hold something, without the spaces around them: {@link linesMax} at most, of
 * {@link lineLengthMax} characters at most.
 */
export function linesOf(text: string): TextLines {
  const lines: string[] = [];
  const starts: number[] = [];
  let leftOutCount = 0;
  // Line by line: a split of a hundred megabytes would hold millions of texts at once.
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf("\n", at);
    const end = found === -1 ? text.length : found;
    const whole = text.slice(at, Math.min(end, at + lineLengthMax));
    const line = whole.trim();
    const start = at + whole.length - whole.trimStart().length;
    at = end + 1;
    if (line === "") continue;
    if (lines.length < linesMax) {
      lines.push(line);
      starts.push(start);
    } else leftOutCount++;
  }
  return { lines, starts, leftOutCount };
}

/** How lines are read. */
interface LineOptions {
  /** By which the line is read as an ID. */
  readonly layout: Layout;
  /** Undefined: it is detected. */
  readonly form: TextForm | undefined;
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** The layout of a number, which itself names none. Absent: always `layout`. */
  readonly layoutOf?: (id: bigint) => Layout;
}

/** Reads a line, with its other forms and the layouts that it could be of. Never throws, whatever the text holds. */
export function readLine(line: string, { layout, form, nowMs, layoutOf }: LineOptions): Reading<ParsedSource> {
  return attempt(line, () => {
    const source = parseSource(codecOf(layout), line, { form, nowMs });
    const { format, parsed } = source;
    if (parsed === undefined || namesLayout(format?.form)) return source;
    const likelier = layoutOf?.(parsed.id) ?? layout;
    if (likelier === layout) return source;
    return { ...parseSource(codecOf(likelier), parsed.id, { nowMs }), ...(format === undefined ? {} : { format }) };
  });
}

/** Reads one line of many: the same, without what the table does not show. */
export function readLineBriefly(line: string, { layout, form, nowMs, layoutOf }: LineOptions): LineReading {
  return attempt(line, () => {
    const read = readText(codecOf(layout), line, { form, nowMs });
    if ("kind" in read) return { foreign: read };
    const uuid = read.uuid === undefined ? {} : { uuid: read.uuid };
    if (read.id === undefined) return uuid;
    const likelier = namesLayout(read.format.form) ? layout : (layoutOf?.(read.id) ?? layout);
    return { ...uuid, parsed: parseId(likelier, read.id) };
  });
}

/** Whether a form is read and written by one layout alone. */
function namesLayout(form: TextForm | undefined): boolean {
  return form === "uuid" || form === "serial";
}

/** Whether a line is in no form, so that it may hold IDs among other text; where a form is chosen, it is strict. */
export function isSearched(reading: LineReading, form: TextForm | undefined): boolean {
  return reading.kind === "refused" && reading.error.reason === "MALFORMED_TEXT" && form === undefined;
}

function attempt<Source>(line: string, read: () => Source): Reading<Source> {
  try {
    return { kind: "read", line, source: read() };
  } catch (error) {
    if (error instanceof IdError) return { kind: "refused", line, error };
    throw error;
  }
}
