import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { operateSequences, sequencePlaceSettings } from "./sequence-access.ts";
import { reasonOption } from "../reason-option.ts";

const options = {
  reason: reasonOption("The reason, for callers and for logs: 1 to 200 printable ASCII characters. Required."),
};

/** `snowlane sequences stop`. */
export const sequencesStop: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences stop",
  summary: "Stops a database of sequences for every server: the first step before a backup is put back",
  settings: sequencePlaceSettings,
  options,
  examples: ["snowlane sequences stop --reason 'the backup of 03:00 is put back'"],
  check: (_, { reason }) =>
    reason === undefined ? [{ place: "--reason", hint: "Give the reason, such as 'a backup is put back'." }] : [],
  run: async ({ settings, options: { reason = "" }, environment, stdout }) => {
    const isStopped = await operateSequences({ settings, environment, whereNew: "refuse" }, (catalog) =>
      catalog.stop(reason),
    );
    stdout.write(
      isStopped
        ? "The database is stopped. Servers hand out the values that they have in memory, and take no more.\n"
        : "The database was stopped already. It has a new revision, and has to be raised before it opens.\n",
    );
    return exitCodes.done;
  },
};
