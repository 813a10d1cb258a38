import { layoutSettings } from "../../config/layout-settings.ts";
import { systemClock } from "../../clock/clock.ts";
import { onOff } from "../../config/setting-kinds.ts";
import { resolveLayout } from "../../config/resolve-layout.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { utcOffset } from "../../config/text-settings.ts";
import { idRange } from "../../snowflake/id-range.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { day, resolveInterval, spanBack, timePoint } from "./interval.ts";
import { isoOfMs } from "../../snowflake/iso-time.ts";
import { nsPerMsBig } from "../../snowflake/nanoseconds.ts";

const options = {
  last: spanBack({ name: "last", doc: "The time before now: a number with s, m, h or d, such as 24h." }),
  on: day({ name: "on", doc: "One day: a date, yesterday, today or tomorrow." }),
  from: timePoint({
    name: "from",
    doc: "The start, inclusive: a day as with --on (its 00:00), now, or a time with its offset.",
  }),
  to: timePoint({ name: "to", doc: "The end, exclusive; as --from. Default: now." }),
  utcOffsetMinutes: utcOffset({
    name: "offset",
    doc: "The offset from UTC of days without one of their own, such as +08:00; -18:00 to +18:00. Default: UTC.",
  }),
  json: onOff({ name: "json", doc: "Prints one JSON object, for programs. IDs are quoted." }),
};

/** `snowlane range`. */
export const range: Command<typeof layoutSettings, typeof options> = {
  name: "range",
  summary: "Prints the lowest and the highest ID that a time interval can hold, for range queries",
  settings: layoutSettings,
  options,
  examples: [
    "snowlane range --last 24h",
    "snowlane range --on yesterday --offset +08:00",
    "snowlane range --from 2026-01-01 --to 2026-02-01",
    "snowlane range --from 2026-01-01T08:00:00+08:00 --to 2026-01-01T09:00:00+08:00 --layout discord --json",
  ],
  check: (settings, options) => [
    ...problemsOf(resolveLayout(settings)),
    ...problemsOf(resolveInterval(options, systemClock.nowMs())),
  ],
  run: async ({ settings, options, stdout }) => {
    const layout = valueOf(resolveLayout(settings));
    const { startMs, endMs } = valueOf(resolveInterval(options, systemClock.nowMs()));
    const { firstId, lastId } = idRange(layout, BigInt(startMs) * nsPerMsBig, BigInt(endMs) * nsPerMsBig);
    const times = { from: isoOfMs(startMs), to: isoOfMs(endMs) };
    stdout.write(
      options.json
        ? `${JSON.stringify({ firstId: String(firstId), lastId: String(lastId), ...times, layout: layout.name })}\n`
        : `first  ${firstId}\nlast   ${lastId}\n`,
    );
    return exitCodes.done;
  },
};
