import { onOff } from "../config/setting-kinds.ts";
import type { Command } from "./command.ts";
import { exitCodes } from "./exit-code.ts";
import { callSequences, sequencePlaceSettings, sequenceServerOption } from "./sequence-access.ts";
import { nameFrom, namePositional } from "./sequence-options.ts";
import { sequenceToJson, sequenceToLines } from "./sequence-rows.ts";

const options = {
  server: sequenceServerOption,
  json: onOff({ name: "json", doc: "Prints one JSON object, for programs. Values are quoted." }),
};

/** `snowlane sequences get`. */
export const sequencesGet: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences get",
  summary: "Prints a sequence: its definition, and where it stands",
  positional: namePositional,
  settings: sequencePlaceSettings,
  options,
  examples: ["snowlane sequences get orders", "snowlane sequences get orders --json"],
  run: async ({ settings, options: { server, json }, positionals, environment, stdout }) => {
    const name = nameFrom(positionals);
    const { sequence } = await callSequences({ settings, environment, server, whereNew: "refuse" }, (client) =>
      client.getSequence({ name }),
    );
    stdout.write(json ? sequenceToJson(sequence!) : sequenceToLines(sequence!));
    return exitCodes.done;
  },
};
