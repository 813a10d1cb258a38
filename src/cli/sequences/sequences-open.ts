import { placeOf } from "../../sequence/copy-database.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { operateSequences, sequencePlaceSettings } from "./sequence-access.ts";

/** `snowlane sequences open`. */
export const sequencesOpen: Command<typeof sequencePlaceSettings> = {
  name: "sequences open",
  summary: "Opens a database of sequences that was stopped, after its counters were raised",
  settings: sequencePlaceSettings,
  options: {},
  examples: ["snowlane sequences open"],
  run: async ({ settings, environment, stdout }) => {
    const outcome = await operateSequences({ settings, environment, whereNew: "refuse" }, (catalog) => catalog.open());
    if (outcome.kind === "missing") {
      const names = outcome.names.join(", ");
      const message = `These sequences have no counter: ${names}. Give each one with snowlane sequences raise NAME --to VALUE, above every value that was handed out.`;
      throw new CommandError(message, exitCodes.refused);
    }
    if (outcome.kind === "moved") {
      const problem = outcome.move.startsWith("to ")
        ? "Its sequences were moved"
        : "The copy of sequences has not ended";
      const message = `${problem} ${placeOf(outcome.move)}. Only snowlane sequences copy opens this database.`;
      throw new CommandError(message, exitCodes.refused);
    }
    if (outcome.kind === "not-raised") {
      const message =
        "Raise first: snowlane sequences raise --all --by N. N is 0 only if nothing was lost and every server that took values still runs.";
      throw new CommandError(message, exitCodes.held);
    }
    stdout.write(
      outcome.kind === "was-open"
        ? "The database is not stopped: nothing was changed.\n"
        : "The database is open: values can be taken from it in 30 seconds.\n",
    );
    return exitCodes.done;
  },
};
