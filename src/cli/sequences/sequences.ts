import { onOff } from "../../config/setting-kinds.ts";
import type { Sequence } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { callSequences, sequencePlaceSettings, sequenceServerOptions } from "./sequence-access.ts";
import { sequencesToTable, sequenceToJson } from "./sequence-rows.ts";
import { problemsOfAccess } from "../server/server-access.ts";

const options = {
  ...sequenceServerOptions,
  json: onOff({ name: "json", doc: "Prints one JSON object a line, for programs. Values are quoted." }),
};
const pageSize = 1_000;

/** `snowlane sequences`. */
export const sequences: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences",
  summary: "Lists the sequences with their next value and how many values are left",
  settings: sequencePlaceSettings,
  options,
  examples: [
    "snowlane sequences",
    "snowlane sequences --server http://127.0.0.1:7609 --json",
    "snowlane sequences create orders",
    "snowlane sequences next orders -n 3",
  ],
  check: (_settings, options) => problemsOfAccess(options),
  run: async ({ settings, options, environment, stdout }) => {
    const all: Sequence[] = [];
    let stopReason = "";
    await callSequences({ settings, environment, options, whereNew: "refuse" }, async (client) => {
      let pageToken = "";
      do {
        const page = await client.listSequences({ pageSize, pageToken });
        all.push(...page.sequences);
        ({ stopReason, nextPageToken: pageToken } = page);
      } while (pageToken !== "");
    });
    if (options.json) stdout.write(all.map(sequenceToJson).join(""));
    else {
      const isStopped = stopReason !== "";
      stdout.write(sequencesToTable(all, isStopped));
      if (isStopped) stdout.write(`The database is stopped: ${stopReason}. Raise and open it, if it was not moved.\n`);
    }
    return exitCodes.done;
  },
};
