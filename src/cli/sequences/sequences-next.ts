import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { integer, onOff, text } from "../../config/setting-kinds.ts";
import { withFallback } from "../../config/setting.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { callSequences, sequencePlaceSettings, sequenceServerOptions } from "./sequence-access.ts";
import { nameFrom, namePositional } from "./sequence-options.ts";
import { problemsOfAccess } from "../server/server-access.ts";

const options = {
  count: withFallback(
    integer({ name: "count", short: "n", min: 1, max: 1_000_000, doc: "How many values are printed." }),
    1,
  ),
  forTime: text({
    name: "for",
    placeholder: "DATE",
    pattern: /^\d{4}-\d{2}-\d{2}$/,
    hint: "a date such as 2026-12-31",
    doc: "Prints values of the period in which this day is, which may have ended at most --late-max ago. Default: that of now.",
  }),
  text: onOff({ name: "text", doc: "Prints each value as the sequence's template writes it." }),
  ...sequenceServerOptions,
};

/** `snowlane sequences next`. */
export const sequencesNext: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences next",
  summary: "Prints new values of a sequence, one a line",
  positional: namePositional,
  settings: sequencePlaceSettings,
  options,
  examples: [
    "snowlane sequences next orders",
    "snowlane sequences next invoices -n 3 --text",
    "snowlane sequences next invoices --for 2026-12-31",
  ],
  check: (_settings, options) => problemsOfAccess(options),
  run: async ({ settings, options, positionals, environment, stdout }) => {
    const { count, text, forTime: day } = options;
    const name = nameFrom(positionals);
    await callSequences({ settings, environment, options, whereNew: "refuse" }, async (client) => {
      if (day !== undefined) {
        const { sequence } = await client.getSequence({ name });
        const forTime = timestampFromMs(msOnDay(day, sequence!.timeZone || "UTC"));
        for (let printed = 0; printed < count; printed += 1) {
          const next = await client.nextValue({ name, forTime });
          stdout.write(`${text ? next.text : next.value}\n`);
        }
        return;
      }
      for await (const { values, texts } of client.batchNextValues({ name, count: BigInt(count) })) {
        const lines = text ? texts : values;
        stdout.write(lines.map((line) => `${line}\n`).join(""));
      }
    });
    return exitCodes.done;
  },
};

/** A moment of a day in a zone, in Unix milliseconds. */
function msOnDay(day: string, timeZone: string): number {
  const format = new Intl.DateTimeFormat("sv", { timeZone, calendar: "gregory", numberingSystem: "latn" });
  const startMs = Date.parse(`${day}T00:00:00Z`);
  // In every zone, from UTC-12 to UTC+14, one of the two moments is on that day.
  const found = [0, 86_399_999].map((ms) => startMs + ms).find((ms) => format.format(ms) === day);
  if (found === undefined) throw new CommandError(`${day} is not a day in ${timeZone}.`, exitCodes.usage);
  return found;
}
