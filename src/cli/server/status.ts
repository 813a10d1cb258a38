import { onOff } from "../../config/setting-kinds.ts";
import { type Settings, withFallback } from "../../config/setting.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { paintFor } from "../paint.ts";
import { problemsOfAccess, readAccess, serverOptions } from "./server-access.ts";
import { watch } from "./watch.ts";

const asked = serverOptions("The server that is asked.");
const options = {
  ...asked,
  server: withFallback(asked.server, "http://127.0.0.1:7609"),
  json: onOff({
    name: "json",
    doc: "Prints one JSON object a line, for programs, with the samples of each second. With --watch only new ones.",
  }),
  watch: onOff({ name: "watch", doc: "Prints the state again every two seconds, until Ctrl-C." }),
};

const watchPeriodMs = 2_000;

/** `snowlane status`. */
export const status: Command<Settings, typeof options> = {
  name: "status",
  summary: "Shows the state of a server: worker ID, window, lead, store, and what it did in the last five minutes",
  settings: {},
  options,
  examples: [
    "snowlane status",
    "snowlane status --watch --server https://ids.example.com --token-file token",
    "snowlane status --json",
  ],
  check: (_settings, given) => problemsOfAccess(given),
  run: async (input) => {
    const { stdout, environment, options: given } = input;
    const [{ openStatus }, { statusToJson, statusToTable }] = await Promise.all([
      import("./remote-status.ts"),
      import("./status-rows.ts"),
    ]);
    const source = openStatus(await readAccess(given));
    const { json } = given;
    const show = (found: Awaited<ReturnType<typeof source.lookAgain>>): void =>
      void stdout.write(json ? statusToJson(found) : statusToTable(found, paintFor(stdout, environment)));
    const look = json ? source.lookAgain : source.look;
    if (given.watch) await watch(input, { json, periodMs: watchPeriodMs, look, show });
    else show(await source.look());
    return exitCodes.done;
  },
};
