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

/** What a reader should know about one reading. */
export type ReadingNote = FindNote | "unix-time" | "other-layout" | "ended-layout" | "two-forms";

/** Gives the text forms of a preset, where no layout was given, so that the likeliest one may be taken. */
export type CodecOfPreset = (name: PresetName) => TextCodec;

/** One ID that a text is, or that was found in it. */
export interface TextPart {
  /** The characters that were read, as they are written. */
  readonly text: string;
  readonly reading: TextReading | ForeignText;
  /** The text forms of the layout by which the ID is read. */
  readonly codec: TextCodec;
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
  padded: "The number has leading zeros.",
};

/**
 * Reads a text strictly; where it is in no form, and neither a form nor a type prefix is named, finds the IDs in it.
 *
 * @param codecOfPreset - Absent: every ID is read by `codec`.
 * @returns The text itself, or each ID that was found in it; one at least.
 * @throws IdError MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT, MALFORMED_ID.
 */
export function readParts(
  codec: TextCodec,
  text: string,
  options: ReadOptions,
  codecOfPreset?: CodecOfPreset,
): readonly TextPart[] {
  try {
    const reading = readText(codec, text, options);
    const doubts = notesOfWhole(codec, text, reading, options);
    const part = { text, reading, strict: text, options };
    return [withLayout(part, { own: codec, doubts, maker: undefined }, codecOfPreset)];
  } catch (error) {
    const isSearched = options.form === undefined && (options.typePrefix ?? "") === "";
    if (!(error instanceof IdError) || error.reason !== "MALFORMED_TEXT" || !isSearched) throw error;
    return searchParts(codec, text, options, error, codecOfPreset);
  }
}

function searchParts(
  codec: TextCodec,
  text: string,
  options: ReadOptions,
  error: IdError,
  codecOfPreset: CodecOfPreset | undefined,
): readonly TextPart[] {
  const { finds, times } = findIds(text, { nowMs: options.nowMs, codec });
  const parts = finds.flatMap((find) => partOf(codec, text, find, options, codecOfPreset));
  if (parts.length > 0) return parts;
  throw new IdError("MALFORMED_TEXT", whyNothing(text, finds, times, error), { metadata: error.metadata });
}

/** Reads a find strictly; empty where no ID can be read from it. */
function partOf(
  codec: TextCodec,
  text: string,
  find: Find,
  options: ReadOptions,
  codecOfPreset: CodecOfPreset | undefined,
): readonly TextPart[] {
  const { start, end, strict, kind, forms, notes, maker } = find;
  if (strict === undefined) return [];
  // The first of two readings is the likelier one; strict reading would refuse the text as ambiguous.
  const read = kind === "base58" || kind === "base62" ? { ...options, form: kind } : options;
  try {
    const reading = readText(codec, strict, read);
    const said = new Map<ReadingNote, string>(notes.map((note) => [note, noteTexts[note]]));
    const [, other] = forms ?? [];
    if (other !== undefined)
      said.set("two-forms", `It can be read as ${other} as well: give --form ${other} for that.`);
    const part = { text: text.slice(start, end), reading, strict, options: read, place: { start, end } };
    return [withLayout(part, { own: codec, doubts: said, maker }, codecOfPreset)];
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
    return `${unixTimeText(time)}, and not an ID. To read it as an ID anyway, give --form decimal.`;
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
): Map<ReadingNote, string> {
  const notes = new Map<ReadingNote, string>();
  if (form === undefined && "format" in reading && reading.format.form === "decimal" && mayBeDoubted(text)) {
    const { finds, times } = findIds(text, { nowMs, codec });
    for (const note of finds[0]?.notes ?? []) notes.set(note, noteTexts[note]);
    const [time] = times;
    if (time !== undefined) notes.set("unix-time", `${unixTimeText(time)}, more likely than an ID.`);
  }
  return notes;
}

/** A quick look at the digits, so that only a few numbers have to be searched. */
function mayBeDoubted(text: string): boolean {
  return [10, 13, 16].includes(text.length) || text.endsWith("00");
}

/** Numbers below it are examples, not IDs of real times. */
const shortestMin = 10n ** 13n;

const reasonTexts: Readonly<Record<GuessReason, string>> = {
  maker: "named beside it",
  own: "this deployment's layout",
  recent: "it would be from the last 90 days",
  "low-sequence": "the sequence is low",
  known: "the layout is common",
};

/**
 * Chooses the layout of an ID: the one that was given, or else the one that the text names, or the likeliest one where
 * no ID of the own layout can be from that time. Each such choice, and each doubt about the layout, is a note.
 */
function withLayout(
  part: Omit<TextPart, "codec" | "notes">,
  { own, doubts, maker }: { own: TextCodec; doubts: Map<ReadingNote, string>; maker: PresetName | undefined },
  codecOfPreset: CodecOfPreset | undefined,
): TextPart {
  const { nowMs } = part.options;
  const id = idOfNumber(part.reading);
  const likelier = id === undefined || id < shortestMin ? undefined : likelierLayout(own, id, maker, nowMs);
  if (likelier === undefined) return { ...part, codec: own, notes: withEnd(doubts, own, id, nowMs) };
  const { name, why, doubt } = likelier;
  if (codecOfPreset === undefined) {
    doubts.set("other-layout", `${doubt} More likely is --layout ${name}.`);
    return { ...part, codec: own, notes: withEnd(doubts, own, id, nowMs) };
  }
  const codec = codecOfPreset(name);
  const because = why === "" ? "" : ` (${why})`;
  const back = `Give --layout ${own.layout.name} to read it by that.`;
  doubts.set("other-layout", `${doubt} It is read by the layout ${name}${because}. ${back}`);
  return { ...part, codec, notes: withEnd(doubts, codec, id, nowMs) };
}

/** The number that a text means in every layout; undefined for all others. */
function idOfNumber(reading: TextReading | ForeignText): bigint | undefined {
  if ("kind" in reading) return undefined;
  return reading.format.form === "decimal" || reading.format.form === "hex" ? reading.id : undefined;
}

function likelierLayout({ layout }: TextCodec, id: bigint, maker: PresetName | undefined, nowMs: number) {
  const own = presetNames.find((preset) => layouts[preset] === layout);
  if (own === undefined) return undefined;
  if (maker !== undefined && maker !== own && isPlausibleUnder(layouts[maker], id, nowMs))
    return { name: maker, why: reasonTexts.maker, doubt: `The text names ${maker}.` };
  if (isPlausibleUnder(layout, id, nowMs)) return undefined;
  const [guess] = guessLayouts([id], { nowMs });
  if (guess === undefined) return undefined;
  const why = guess.reasons.map((reason) => reasonTexts[reason]).join(", ");
  return {
    name: guess.name,
    why,
    doubt: `Under the layout ${own}, this ID would be from before the layout began, or from the future.`,
  };
}

/** Adds that the layout has ended. */
function withEnd(notes: Map<ReadingNote, string>, { layout }: TextCodec, id: bigint | undefined, nowMs: number) {
  if (id !== undefined && layout.endMs < nowMs)
    notes.set("ended-layout", `The layout ${layout.name} ended on ${isoOfMs(layout.endMs)}: no new ID can have it.`);
  return notes;
}

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
