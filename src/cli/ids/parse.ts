import { once } from "node:events";
import { systemClock } from "../../clock/clock.ts";
import { layoutSettings } from "../../config/layout-settings.ts";
import { workerSettings } from "../../config/server-settings.ts";
import { onOff } from "../../config/setting-kinds.ts";
import { resolveLayout } from "../../config/resolve-layout.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { readingOptions } from "../../config/text-settings.ts";
import { IdError } from "../../errors.ts";
import { parseSource, readText } from "../../text/parse-source.ts";
import { idMax } from "../../text/text-form.ts";
import { createTextCodec, type ReadOptions, type TextCodec } from "../../text/text-codec.ts";
import type { Command, CommandContext } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { linesOf } from "./line-splitter.ts";
import { toJsonLine, toLine, toTable } from "./parse-output.ts";
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
      "Without texts, it reads one text a line from standard input and prints one line for each: text, ID, time, datacenter, " +
      "worker, sequence and form, with tabs between. Lines that cannot be read are reported on standard error; all others are " +
      "printed.",
  },
  settings,
  options,
  examples: [
    "snowlane parse 1541815603606036480",
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
    const refused =
      positionals.length > 0
        ? parseTexts(positionals, codec, { ...reading, json }, context)
        : await parseLines(codec, { ...reading, json }, context);
    return refused === 0 ? exitCodes.done : exitCodes.refused;
  },
};

interface Reading extends Omit<ReadOptions, "nowMs"> {
  readonly json: boolean;
}

/** Prints the parts of each text at length. @returns How many texts were refused. */
function parseTexts(
  texts: readonly string[],
  codec: TextCodec,
  { json, ...reading }: Reading,
  { stdout, stderr }: CommandContext,
): number {
  let refused = 0;
  let printed = 0;
  for (const text of texts) {
    const tried = tryRead(() => parseSource(codec, text, { ...reading, nowMs: systemClock.nowMs() }));
    if (tried instanceof IdError) {
      refused++;
      stderr.write(`snowlane: ${shown(text)}: ${messageOf(text, reading, tried)}\n`);
    } else {
      stdout.write(json ? `${toJsonLine(text, tried)}\n` : `${printed > 0 ? "\n" : ""}${toTable(tried)}`);
      printed++;
    }
  }
  return refused;
}

/** Prints a line for each line of standard input. @returns How many lines were refused. */
async function parseLines(
  codec: TextCodec,
  { json, ...reading }: Reading,
  { stdin, stdout, stderr }: CommandContext,
): Promise<number> {
  const progress = startProgress(stderr, systemClock);
  let refused = 0;
  let lineNumber = 0;
  try {
    for await (const lines of linesOf(stdin)) {
      const read: ReadOptions = { ...reading, nowMs: systemClock.nowMs() };
      let good = "";
      let bad = "";
      for (const line of lines) {
        lineNumber++;
        const text = line.trim();
        if (text === "") continue;
        const tried = tryRead(() =>
          json ? toJsonLine(text, parseSource(codec, text, read)) : toLine(text, codec, readText(codec, text, read)),
        );
        if (tried instanceof IdError) {
          refused++;
          bad += `snowlane: line ${lineNumber}: ${shown(text)}: ${messageOf(text, reading, tried)}\n`;
        } else good += `${tried}\n`;
      }
      progress.add(lines.length);
      progress.say(bad);
      // Waits when the reader is slower than this process.
      if (good !== "" && !stdout.write(good)) await once(stdout, "drain");
    }
  } finally {
    progress.end();
  }
  return refused;
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
