import { redactUrl } from "../../config/store-url.ts";
import { sequenceStoreKindOf } from "../../sequence/open-sequence-store.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { operateSequences, sequencePlaceSettings } from "./sequence-access.ts";

/** `snowlane sequences add-database`. */
export const sequencesAddDatabase: Command<typeof sequencePlaceSettings> = {
  name: "sequences add-database",
  summary: "Gives one more database an unassigned share of the values; may be repeated",
  positional: {
    placeholder: "URL",
    doc: "URL is the new database. --sequence-stores names all the others, separated by spaces.",
  },
  settings: sequencePlaceSettings,
  options: {},
  examples: [
    "snowlane sequences add-database postgres://snowlane@c/ids --sequence-stores 'postgres://snowlane@a/ids postgres://snowlane@b/ids'",
  ],
  run: async ({ settings, positionals, environment, stdout }) => {
    const [url, ...more] = positionals;
    if (url === undefined || more.length > 0 || sequenceStoreKindOf(url) === undefined) {
      throw new CommandError("Give the URL of one database: sqlite:, postgres: or mysql:.", exitCodes.usage);
    }
    const { sequenceCount, stripe } = await operateSequences(
      { settings, environment, whereNew: "refuse" },
      (_, sequences) => sequences.addDatabase(url),
    );
    const sequences = sequenceCount === 1 ? "1 sequence" : `${sequenceCount} sequences`;
    stdout.write(
      `${redactUrl(url)} has stripe ${stripe.index} of ${stripe.count}, with ${sequences}. Name it in --sequence-stores of every server.\n`,
    );
    return exitCodes.done;
  },
};
