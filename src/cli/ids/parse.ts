import { once } from "node:events";
import { systemClock } from "../../clock/clock.ts";
import { layoutSettings } from "../../config/layout-settings.ts";
import { workerSettings } from "../../config/server-settings.ts";
import { onOff } from "../../config/setting-kinds.ts";
import { resolveLayout } from "../../config/resolve-layout.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { readingOptions } from "../../config/text-settings.ts";
import { IdError } from "../../errors.ts";
import { layouts, type PresetName } from "../../snowflake/presets.ts";
import { groupDigits } from "../../text/group-digits.ts";
import { idMax } from "../../text/text-form.ts";
import { createTextCodec, type ReadOptions, type TextCodec } from "../../text/text-codec.ts";
import type { Command, CommandContext } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { linesOf } from "./line-splitter.ts";
import { toJsonLine, toLine, toTable } from "./parse-output.ts";
import { type CodecOfPreset, readParts, type ReadingNote, type TextPart } from "./parse-reading.ts";
import { startProgress } from "./progress.ts";

const settings = { ...layoutSettings, namespace: workerSettings.namespace };
const options = {
  ...readingOptions,
  json: onOff({ name: "json", doc: "Prints one JSON object a line with all parts, for programs. IDs are quoted." }),
};

/** How many characters of a refused text are shown. */
const shownLengthMax = 80;

/** `snowlane parse`. */
export const parse: Command<typeof settings, typeof options> = {
  name: "parse",
  summary: "Prints when and by which worker each ID was made, from any text form, and the parts of UUIDs",
  positional: {
    placeholder: "[TEXT...]",
    doc:
      "A text in no known form, such as a line of a log or a cell of a spreadsheet, is searched for IDs; --form refuses it. " +
      "Without texts, the command reads lines from standard input and prints one line for each ID: text, ID, time, " +
      "datacenter, worker, sequence and form, separated by tabs. Lines without an ID are reported on standard error.",
  },
  settings,
  options,
  examples: [
    "snowlane parse 1541815603606036480",
    'snowlane parse \'{"id": "1541815603606036480"}\'',
    "snowlane parse --layout discord 175928847299117063",
    "snowlane parse --form base62 2GM1FU6deuj",
    "snowlane parse --offset +08:00 PAY2025031309443494909920005",
    "snowlane next -n 3 | snowlane parse --json",
  ],
  check: (values, { form = "typed", typePrefix }) => [
    ...problemsOf(resolveLayout(values)),
    ...(typePrefix !== undefined && form !== "typed"
      ? [{ place: "--type-prefix", hint: "Give --form typed with it, or leave one of the two out." }]
      : []),
  ],
  run: async ({ settings: { namespace, ...described }, options: { json, ...reading }, positionals, ...context }) => {
    const codec = createTextCodec({ layout: valueOf(resolveLayout(described)), namespace });
    const isGiven = Object.values(described).some((value) => value !== undefined);
    const presets = isGiven ? undefined : presetCodecs(namespace);
    const read = (text: string) => readParts(codec, text, { ...reading, nowMs: systemClock.nowMs() }, presets);
    const refused =
      positionals.length > 0
        ? parseTexts(positionals, read, { ...reading, json }, context)
        : await parseLines(read, { ...reading, json }, context);
    return refused === 0 ? exitCodes.done : exitCodes.refused;
  },
};

interface Reading extends Omit<ReadOptions, "nowMs"> {
  readonly json: boolean;
}

type Read = (text: string) => readonly TextPart[];

/** The text forms of each preset, made when they are first wanted. */
function presetCodecs(namespace: string): CodecOfPreset {
  const codecs = new Map<PresetName, TextCodec>();
  return (name) => {
    const codec = codecs.get(name) ?? createTextCodec({ layout: layouts[name], namespace });
    codecs.set(name, codec);
    return codec;
  };
}

/** Prints the parts of each text at length. @returns How many texts were refused. */
function parseTexts(
  texts: readonly string[],
  read: Read,
  { json, ...reading }: Reading,
  { stdout, stderr }: CommandContext,
): number {
  const notes = new NoteCounts();
  let refused = 0;
  let printed = 0;
  for (const text of texts) {
    const parts = tryRead(() => read(text.trim()));
    if (parts instanceof IdError) {
      refused++;
      stderr.write(`snowlane: ${shown(text)}: ${messageOf(text, reading, parts)}\n`);
      continue;
    }
    for (const part of parts) {
      stdout.write(json ? `${toJsonLine(part)}\n` : `${printed > 0 ? "\n" : ""}${toTable(part)}`);
      notes.add(part);
      printed++;
    }
  }
  stderr.write(notes.text());
  return refused;
}

/** Prints a line for each ID in the lines of standard input. @returns How many lines were refused. */
async function parseLines(
  read: Read,
  { json, ...reading }: Reading,
  { stdin, stdout, stderr }: CommandContext,
): Promise<number> {
  if (stdin.isTTY === true)
    stderr.write("snowlane: reads one text a line from this terminal; Ctrl-D ends the input.\n");
  const progress = startProgress(stderr, systemClock);
  const notes = new NoteCounts();
  let refused = 0;
  let lineNumber = 0;
  try {
    for await (const lines of linesOf(stdin)) {
      let good = "";
      let bad = "";
      for (const line of lines) {
        lineNumber++;
        const text = line.trim();
        if (text === "") continue;
        const parts = tryRead(() => read(text));
        if (parts instanceof IdError) {
          refused++;
          bad += `snowlane: line ${lineNumber}: ${shown(text)}: ${messageOf(text, reading, parts)}\n`;
          continue;
        }
        for (const part of parts) {
          good += `${json ? toJsonLine(part, lineNumber) : toLine(part)}\n`;
          notes.add(part);
        }
      }
      progress.add(lines.length);
      progress.say(bad);
      // Waits when the reader is slower than this process.
      if (good !== "" && !stdout.write(good)) await once(stdout, "drain");
    }
    progress.say(notes.text());
  } finally {
    progress.end();
  }
  return refused;
}

/** How often each doubt arose: a file of rounded numbers gets one line of it. */
class NoteCounts {
  readonly #sentences = new Map<ReadingNote, { readonly sentence: string; count: number }>();
  #total = 0;

  add({ notes }: TextPart): void {
    this.#total++;
    for (const [note, sentence] of notes) {
      const noted = this.#sentences.get(note) ?? { sentence, count: 0 };
      noted.count++;
      this.#sentences.set(note, noted);
    }
  }

  /** Four of a thousand true IDs look rounded by chance: in a list, that doubt counts from one in twenty on. */
  text(): string {
    return Array.from(this.#sentences)
      .filter(([note, { count }]) => note !== "rounded" || count * 20 >= this.#total)
      .map(([, { sentence, count }]) => {
        const times = count === 1 ? "" : ` (${groupDigits(count)} times)`;
        return `snowlane: note: ${sentence}${times}\n`;
      })
      .join("");
  }
}

/** The result of `read`, or its error. */
function tryRead<T>(read: () => T): T | IdError {
  try {
    return read();
  } catch (error) {
    if (error instanceof IdError) return error;
    throw error;
  }
}

/** The message for a text that cannot be read; the same for every number that is too large, however long it is. */
function messageOf(text: string, { form }: Pick<Reading, "form">, { message, metadata }: IdError): string {
  const isDecimal = (form === undefined || form === "decimal") && /^[1-9]\d{18,}$/.test(text);
  if (!isDecimal || (text.length === String(idMax).length && BigInt(text) <= idMax)) return message;
  const isMeantAsSerial = metadata["form"] === "serial";
  return isMeantAsSerial
    ? `${message} As a number it is above 2^63 - 1.`
    : `The number is above 2^63 - 1 (${idMax}), the largest ID.`;
}

/** A text in quotes, short, and without characters that a terminal would obey. */
function shown(text: string): string {
  const short = text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}...` : text;
  return JSON.stringify(short).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
