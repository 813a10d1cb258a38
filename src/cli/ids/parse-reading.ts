import { IdError } from "../../errors.ts";
import { type GuessReason, guessLayouts, isPlausibleUnder } from "../../snowflake/layout-guess.ts";
import { layouts, type PresetName, presetNames } from "../../snowflake/presets.ts";
import { findIds } from "../../text/find/find-ids.ts";
import type { Find, FindNote, FoundTime } from "../../text/find/find.ts";
import type { ForeignText } from "../../text/foreign-text.ts";
import { readText } from "../../text/parse-source.ts";
import { idMax } from "../../text/text-form.ts";
import type { ReadOptions, TextCodec, TextReading } from "../../text/text-codec.ts";
import { isoOfMs, isoOfNs } from "../../snowflake/iso-time.ts";

/** What a reader should know of one reading. */
export type ReadingNote = FindNote | "unix-time" | "other-layout" | "two-forms";

/** One ID that a text is, or that was found in it. */
export interface TextPart {
  /** The characters that were read, as they are written. */
  readonly text: string;
  readonly reading: TextReading | ForeignText;
  /** The text that strict reading takes, and the form in which it does where that must be said. */
  readonly strict: string;
  readonly options: ReadOptions;
  /** UTF-16 units before the part and up to its end; absent where the whole text was read strictly. */
  readonly place?: { readonly start: number; readonly end: number };
  /** Each note with its sentence. */
  readonly notes: ReadonlyMap<ReadingNote, string>;
}

const noteTexts: Readonly<Record<FindNote, string>> = {
  rounded:
    "The number looks rounded by a spreadsheet or a JSON parser: the time is right, the worker may be off, and the sequence is lost. Keep IDs as text.",
  negative: "Bit 63 is set, so that it reads as a negative number. No layout here sets it.",
  "above-63-bits": `The number is above 2^63 - 1 (${idMax}), the largest ID.`,
  padded: "Zeros were put before the number.",
};

/**
 * Reads a text strictly; where it is in no form, and neither a form nor a type prefix is named, finds the IDs in it.
 *
 * @returns The text itself, or each ID that was found in it; one at least.
 * @throws IdError MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT, MALFORMED_ID.
 */
export function readParts(codec: TextCodec, text: string, options: ReadOptions): readonly TextPart[] {
  try {
    const reading = readText(codec, text, options);
    return [{ text, reading, strict: text, options, notes: notesOfWhole(codec, text, reading, options) }];
  } catch (error) {
    const isSearched = options.form === undefined && (options.typePrefix ?? "") === "";
    if (!(error instanceof IdError) || error.reason !== "MALFORMED_TEXT" || !isSearched) throw error;
    return searchParts(codec, text, options, error);
  }
}

function searchParts(codec: TextCodec, text: string, options: ReadOptions, error: IdError): readonly TextPart[] {
  const { finds, times } = findIds(text, { nowMs: options.nowMs, codec });
  const parts = finds.flatMap((find) => partOf(codec, text, find, options));
  if (parts.length > 0) return parts;
  throw new IdError("MALFORMED_TEXT", whyNothing(text, finds, times, error), { metadata: error.metadata });
}

/** A find as strict reading has it; none where no ID can be read of it. */
function partOf(codec: TextCodec, text: string, find: Find, options: ReadOptions): readonly TextPart[] {
  const { start, end, strict, kind, forms, notes } = find;
  if (strict === undefined) return [];
  // The first of two readings is the likelier one; strict reading would ask.
  const read = kind === "base58" || kind === "base62" ? { ...options, form: kind } : options;
  try {
    const reading = readText(codec, strict, read);
    const said = new Map<ReadingNote, string>([
      ...notes.map((note) => [note, noteTexts[note]] as const),
      ...layoutNotes(codec, reading, options.nowMs),
    ]);
    const [, other] = forms ?? [];
    if (other !== undefined)
      said.set("two-forms", `It can be read as ${other} as well: give --form ${other} for that.`);
    return [{ text: text.slice(start, end), reading, strict, options: read, place: { start, end }, notes: said }];
  } catch (error) {
    if (error instanceof IdError) return [];
    throw error;
  }
}

/** Why no ID was found, with what to do. */
function whyNothing(text: string, finds: readonly Find[], times: readonly FoundTime[], error: IdError): string {
  const [unsigned] = finds;
  if (unsigned !== undefined) return noteTexts[unsigned.notes[0] ?? "above-63-bits"];
  const [time] = times;
  if (time !== undefined)
    return `${unixTimeText(time)}, and not an ID. To read it as an ID all the same, give --form decimal.`;
  if (/^\s*-\d+\s*$/.test(text)) return "A negative number is not an ID.";
  if (/^\s*\d{20,}\s*$/.test(text) && error.metadata["form"] !== "serial") return noteTexts["above-63-bits"];
  return error.metadata["reason"] === "no_form" || error.metadata["reason"] === "character"
    ? "No ID was found in it. An ID is a number of up to 19 digits, hexadecimal digits behind 0x, a UUID, or a text that `snowlane next --form NAME` prints."
    : error.message;
}

const unitNames = { s: "seconds", ms: "milliseconds", us: "microseconds", ns: "nanoseconds" } as const;

function unixTimeText({ unit, unixNs }: FoundTime): string {
  return `This is a Unix time in ${unitNames[unit]}, ${isoOfNs(unixNs)}`;
}

/** The doubts about a text that was read strictly. */
function notesOfWhole(
  codec: TextCodec,
  text: string,
  reading: TextReading | ForeignText,
  { nowMs, form }: ReadOptions,
): ReadonlyMap<ReadingNote, string> {
  const notes = new Map<ReadingNote, string>();
  if (form === undefined && "format" in reading && reading.format.form === "decimal" && mayBeDoubted(text)) {
    const { finds, times } = findIds(text, { nowMs, codec });
    for (const note of finds[0]?.notes ?? []) notes.set(note, noteTexts[note]);
    const [time] = times;
    if (time !== undefined) notes.set("unix-time", `${unixTimeText(time)}, more likely than an ID.`);
  }
  for (const [note, sentence] of layoutNotes(codec, reading, nowMs)) notes.set(note, sentence);
  return notes;
}

/** A look at the digits that spares the search for all but a few numbers. */
function mayBeDoubted(text: string): boolean {
  return [10, 13, 16].includes(text.length) || text.endsWith("00");
}

/** Numbers below it are examples, not IDs of real times. */
const shortestMin = 10n ** 13n;

/** An ID of the future, or from before its scheme, is more likely another layout's. */
function layoutNotes(
  { layout }: TextCodec,
  reading: TextReading | ForeignText,
  nowMs: number,
): readonly (readonly [ReadingNote, string])[] {
  const id = "kind" in reading ? undefined : reading.id;
  if (id === undefined || id < shortestMin || isPlausibleUnder(layout, id, nowMs)) return [];
  const name = presetNames.find((preset) => layouts[preset] === layout);
  const [guess] = guessLayouts([id], { nowMs });
  if (name === undefined || guess === undefined) return [];
  const likeliest = `Likelier is --layout ${guess.name}.`;
  return [["other-layout", `Under the layout ${name}, no ID can be from this time yet or any more. ${likeliest}`]];
}

const reasonTexts: Readonly<Record<GuessReason, string>> = {
  maker: "named beside it",
  own: "this deployment's layout",
  recent: "it would be from the last 90 days",
  "low-sequence": "the sequence is low",
  known: "the layout is common",
};

/** The other layouts under which an ID may have been made, each with its time and the reasons for it. */
export function otherLayouts(
  id: bigint,
  own: string,
  nowMs: number,
): readonly { readonly name: PresetName; readonly text: string }[] {
  return guessLayouts([id], { nowMs })
    .filter(({ name }) => name !== own)
    .map(({ name, createTimeMs, reasons }) => {
      const why = reasons.map((reason) => reasonTexts[reason]).join(", ");
      return { name, text: why === "" ? isoOfMs(createTimeMs) : `${isoOfMs(createTimeMs)} (${why})` };
    });
}
