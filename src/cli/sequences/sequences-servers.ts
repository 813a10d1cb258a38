import { lengthOfTime } from "../../clock/length-of-time.ts";
import { onOff } from "../../config/setting-kinds.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { tableOf } from "../table.ts";
import { operateSequences, sequencePlaceSettings } from "./sequence-access.ts";

const options = {
  json: onOff({ name: "json", doc: "Prints one JSON object a line, for programs." }),
};

/** `snowlane sequences servers`. */
export const sequencesServers: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences servers",
  summary: "Lists the servers that took values: when each one looked last, and whether it has seen every change",
  settings: sequencePlaceSettings,
  options,
  examples: ["snowlane sequences servers"],
  run: async ({ settings, options: { json }, environment, stdout }) => {
    const servers = await operateSequences({ settings, environment, whereNew: "refuse" }, (catalog) =>
      catalog.servers(),
    );
    if (json) {
      const lines = servers.map(({ server, agoMs, isCurrent, stripe }) =>
        JSON.stringify({ server, stripe, seenAgoMs: agoMs, hasSeenAll: isCurrent }),
      );
      stdout.write(lines.map((line) => `${line}\n`).join(""));
      return exitCodes.done;
    }
    const rows = servers.map(({ server, agoMs, isCurrent, stripe }) => [
      server,
      String(stripe),
      `${lengthOfTime(agoMs)} ago`,
      isCurrent ? "yes" : "no",
    ]);
    stdout.write(
      rows.length === 0
        ? "No server has taken values.\n"
        : tableOf(["server", "stripe", "last seen", "has seen every change"], rows),
    );
    return exitCodes.done;
  },
};
