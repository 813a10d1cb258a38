import { once } from "node:events";
import { systemClock } from "../clock.ts";
import { layoutSettings } from "../config/layout-settings.ts";
import { workerSettings } from "../config/server-settings.ts";
import { onOff } from "../config/setting-kinds.ts";
import { settleLayout } from "../config/settle-layout.ts";
import { problemsOf, valueOf } from "../config/settled.ts";
import { readingOptions } from "../config/text-settings.ts";
import { IdError } from "../errors.ts";
import { parseSource } from "../text/parse-source.ts";
import { createTextCodec, type ReadOptions, type TextCodec } from "../text/text-codec.ts";
import type { Command, Surroundings } from "./command.ts";
import { exitCodes } from "./exit-code.ts";
import { linesOf } from "./line-splitter.ts";
import { toJsonLine, toLine, toTable } from "./parse-output.ts";
import { startProgress } from "./progress.ts";

const settings = { ...layoutSettings, namespace: workerSettings.namespace };
const options = {
  ...readingOptions,
  json: onOff({ name: "json", doc: "Prints one JSON object a line, for programs: everything. IDs are quoted." }),
};

/** How much of a text that was refused is shown. */
const shownLengthMax = 80;

/** `snowlane parse`. */
export const parse: Command<typeof settings, typeof options> = {
  name: "parse",
  summary: "Tells when and by which worker IDs were made, from any of their text forms, and what UUIDs say",
  positional: {
    placeholder: "[TEXT...]",
    doc:
      "Without texts, one a line is read from standard input, and one line a text is printed: text, ID, time, datacenter, worker, " +
      "sequence and form, with tabs between. Lines that cannot be read are told on standard error; the others come out all the same.",
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
  check: (values) => problemsOf(settleLayout(values)),
  run: async ({ settings: { namespace, ...described }, options: { json, ...reading }, positionals, ...around }) => {
    const codec = createTextCodec({ layout: valueOf(settleLayout(described)), namespace });
    const refused =
      positionals.length > 0
        ? parseTexts(positionals, codec, { ...reading, json }, around)
        : await parseLines(codec, { ...reading, json }, around);
    return refused === 0 ? exitCodes.done : exitCodes.refused;
  },
};

interface Reading extends Omit<ReadOptions, "nowMs"> {
  readonly json: boolean;
}

/** Prints what each text says, at length. @returns How many were refused. */
function parseTexts(
  texts: readonly string[],
  codec: TextCodec,
  { json, ...reading }: Reading,
  { stdout, stderr }: Surroundings,
): number {
  let refused = 0;
  let printed = 0;
  for (const text of texts) {
    const tried = tryRead(() => parseSource(codec, text, { ...reading, nowMs: systemClock.nowMs() }));
    if (tried instanceof IdError) {
      refused++;
      stderr.write(`snowlane: ${shown(text)}: ${tried.message}\n`);
    } else {
      stdout.write(json ? `${toJsonLine(text, tried)}\n` : `${printed > 0 ? "\n" : ""}${toTable(tried)}`);
      printed++;
    }
  }
  return refused;
}

/** Prints a line for each line of standard input. @returns How many were refused. */
async function parseLines(
  codec: TextCodec,
  { json, ...reading }: Reading,
  { stdin, stdout, stderr }: Surroundings,
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
          json ? toJsonLine(text, parseSource(codec, text, read)) : toLine(text, codec, codec.read(text, read)),
        );
        if (tried instanceof IdError) {
          refused++;
          bad += `snowlane: line ${lineNumber}: ${shown(text)}: ${tried.message}\n`;
        } else good += `${tried}\n`;
      }
      progress.add(lines.length);
      progress.say(bad);
      // Waits when the reader is slower than we are.
      if (good !== "" && !stdout.write(good)) await once(stdout, "drain");
    }
  } finally {
    progress.end();
  }
  return refused;
}

/** What `read` gives, or why it cannot. */
function tryRead<T>(read: () => T): T | IdError {
  try {
    return read();
  } catch (error) {
    if (error instanceof IdError) return error;
    throw error;
  }
}

/** A text in quotes, short, and without characters that a terminal would obey. */
function shown(text: string): string {
  const short = text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}...` : text;
  return JSON.stringify(short).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
