import { readBinding } from "../../lease/sequences-binding.ts";
import { adoptDatabase } from "../../sequence/adopt-database.ts";
import { openSequenceStore } from "../../sequence/open-sequence-store.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { reasonOption } from "../reason-option.ts";
import { callTimeoutMs, placesOf, sequencePlaceSettings } from "./sequence-access.ts";

const options = {
  reason: reasonOption(
    "The reason, for readers of the shell's history: 1 to 200 printable ASCII characters. Required.",
  ),
};
const idPattern = /^[0-9a-f]{32}$/;

/** `snowlane sequences adopt-database`. */
export const sequencesAdoptDatabase: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences adopt-database",
  summary: "Gives a new or stopped database the ID of one that is lost for good; then raise and open it",
  positional: {
    placeholder: "ID",
    doc: "ID is that of the lost database, as snowlane doctor and the refusals of servers show it: 32 hex digits. HAZARD: if the lost database comes back, never name it again, or both give the same values.",
  },
  settings: sequencePlaceSettings,
  options,
  examples: [
    "snowlane sequences adopt-database 3f9a77b0c1d2e3f4a5b6c7d8e9f00112 --sequence-stores postgres://snowlane@b/ids --reason 'the disk of a is lost'",
  ],
  check: (_, { reason }) =>
    reason === undefined ? [{ place: "--reason", hint: "Give the reason, such as 'the disk is lost'." }] : [],
  run: async ({ settings, positionals, environment, stdout }) => {
    const [databaseId = "", ...more] = positionals;
    if (!idPattern.test(databaseId) || more.length > 0) {
      throw new CommandError("Give the ID of the lost database: 32 hex digits.", exitCodes.usage);
    }
    const { storeUrls, withDeployment } = placesOf(settings, environment);
    const [url, ...others] = storeUrls;
    if (url === undefined || others.length > 0) {
      throw new CommandError("Name the one database that takes the ID with --sequence-stores.", exitCodes.usage);
    }
    const store = await openSequenceStore(url, { namespace: settings.namespace, callTimeoutMs, whereNew: "create" });
    try {
      const bound = await withDeployment(readBinding, "operate");
      const members = (await store.look([])).database?.member.members ?? "";
      if (bound !== undefined && bound.databaseId !== databaseId && !members.split(" ").includes(bound.databaseId)) {
        const message = `This deployment keeps its sequences in the database ${bound.databaseId}, not in ${databaseId}.`;
        throw new CommandError(message, exitCodes.usage);
      }
      const outcome = await adoptDatabase(store, databaseId);
      if (outcome.kind === "in-use") {
        const message = "The database has sequences and gives values. Stop it first: snowlane sequences stop.";
        throw new CommandError(message, exitCodes.held);
      }
      stdout.write(
        `The database is ${databaseId} now, with stripe ${outcome.stripe}, and stopped. Next: snowlane sequences raise --all --by N, then open.\n`,
      );
      return exitCodes.done;
    } finally {
      await store.close();
    }
  },
};
