import { layoutSettings } from "../config/layout-settings.ts";
import { moment, onOff } from "../config/setting-kinds.ts";
import { settleLayout } from "../config/settle-layout.ts";
import { problemsOf, valueOf } from "../config/settled.ts";
import { idRange } from "../snowflake/id-range.ts";
import type { Command } from "./command.ts";
import { exitCodes } from "./exit-code.ts";

const options = {
  from: moment({ name: "from", doc: "The start, inclusive: a date (00:00 UTC), or a time with its offset." }),
  to: moment({ name: "to", doc: "The end, exclusive." }),
  json: onOff({ name: "json", doc: "Prints one JSON object, for programs. IDs are quoted." }),
};

/** `snowlane range`. */
export const range: Command<typeof layoutSettings, typeof options> = {
  name: "range",
  summary: "Prints the lowest and the highest ID that a time interval can hold, for range queries",
  settings: layoutSettings,
  options,
  examples: [
    "snowlane range --from 2026-01-01 --to 2026-02-01",
    "snowlane range --from 2026-01-01T08:00:00+08:00 --to 2026-01-01T09:00:00+08:00 --layout discord --json",
  ],
  check: (settings, { from, to }) => [
    ...problemsOf(settleLayout(settings)),
    ...(from === undefined ? [{ place: "--from", cure: "Give the start, such as 2026-01-01." }] : []),
    ...(to === undefined ? [{ place: "--to", cure: "Give the end, such as 2026-02-01." }] : []),
  ],
  run: async ({ settings, options: { from = 0, to = 0, json }, stdout }) => {
    const layout = valueOf(settleLayout(settings));
    const { firstId, lastId } = idRange(layout, BigInt(from) * 1_000_000n, BigInt(to) * 1_000_000n);
    stdout.write(
      json
        ? `${JSON.stringify({ firstId: String(firstId), lastId: String(lastId), layout: layout.name })}\n`
        : `first  ${firstId}\nlast   ${lastId}\n`,
    );
    return exitCodes.done;
  },
};
