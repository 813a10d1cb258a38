import { integer, onOff } from "../../config/setting-kinds.ts";
import { withFallback } from "../../config/setting.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { callSequences, sequencePlaceSettings, sequenceServerOptions } from "./sequence-access.ts";
import { nameFrom, namePositional } from "./sequence-options.ts";
import { problemsOfAccess } from "../server/server-access.ts";

const options = {
  count: withFallback(
    integer({ name: "count", short: "n", min: 1, max: 1_000_000, doc: "How many values are printed." }),
    1,
  ),
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
  examples: ["snowlane sequences next orders", "snowlane sequences next invoices -n 3 --text"],
  check: (_settings, options) => problemsOfAccess(options),
  run: async ({ settings, options, positionals, environment, stdout }) => {
    const { count, text } = options;
    const name = nameFrom(positionals);
    await callSequences({ settings, environment, options, whereNew: "refuse" }, async (client) => {
      for await (const { values, texts } of client.batchNextValues({ name, count: BigInt(count) })) {
        const lines = text ? texts : values;
        stdout.write(lines.map((line) => `${line}\n`).join(""));
      }
    });
    return exitCodes.done;
  },
};
