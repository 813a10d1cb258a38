import { onOff } from "../../config/setting-kinds.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { callSequences, sequencePlaceSettings, sequenceServerOptions } from "./sequence-access.ts";
import { nameFrom, namePositional } from "./sequence-options.ts";
import { sequenceToJson, sequenceToLines } from "./sequence-rows.ts";
import { problemsOfAccess } from "../server/server-access.ts";

const options = {
  ...sequenceServerOptions,
  json: onOff({ name: "json", doc: "Prints one JSON object, for programs. Values are quoted." }),
};

/** `snowlane sequences get`. */
export const sequencesGet: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences get",
  summary: "Prints a sequence: its definition and its next value",
  positional: namePositional,
  settings: sequencePlaceSettings,
  options,
  examples: ["snowlane sequences get orders", "snowlane sequences get orders --json"],
  check: (_settings, options) => problemsOfAccess(options),
  run: async ({ settings, options, positionals, environment, stdout }) => {
    const name = nameFrom(positionals);
    const { sequence } = await callSequences({ settings, environment, options, whereNew: "refuse" }, (client) =>
      client.getSequence({ name }),
    );
    stdout.write(options.json ? sequenceToJson(sequence!) : sequenceToLines(sequence!));
    return exitCodes.done;
  },
};
