import { storeSettings } from "../../config/store-settings.ts";
import { resolveStoreUrl } from "../../config/resolve-server.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import type { SettingProblem } from "../../config/load-settings.ts";
import type { SettingValues } from "../../config/setting.ts";
import { resolveTextFormat } from "../../config/text-settings.ts";
import { version } from "../../version.ts";
import { PastStore } from "../../worker/open-past.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { backfillFile } from "./backfill-file.ts";
import { backfillOptions } from "./backfill-options.ts";
import { backfillRows } from "./backfill-rows.ts";
import { isZone } from "./zone-offsets.ts";

type Options = SettingValues<typeof backfillOptions>;

/** `snowlane backfill`. */
export const backfill: Command<typeof storeSettings, typeof backfillOptions> = {
  name: "backfill",
  summary: "Gives existing rows IDs with their own times",
  positional: {
    placeholder: "[FILE]",
    doc:
      "A file of rows, sorted by time, or - for standard input. Its rows are printed with their IDs. docs/back-fill.md says what to " +
      "know before, and how to number rows inside a database.",
  },
  settings: storeSettings,
  options: backfillOptions,
  examples: [
    "snowlane backfill orders.csv --time created_at --known-since always --reason 'orders' --dry-run",
    "snowlane backfill orders.csv --time created_at --known-since always --reason 'orders' --out orders-with-ids.csv",
    "snowlane backfill --sql postgresql --table orders --key nr --id id --time created_at --from 2016-01-01 --to 2026-01-01 --known-since 2026-01-01 --datacenter-ids 3 --reason orders > backfill.sql",
  ],
  check: (settings, options, environment) => [
    ...problemsOf(resolveStoreUrl(settings, environment)),
    ...problemsOf(resolveTextFormat(options)),
    ...statementProblems(options),
    ...zoneProblems(options),
    ...(options.sql === undefined ? [] : sqlProblems(options)),
  ],
  run: async (input) => {
    const { settings, environment, options, positionals } = input;
    const [path, second] = positionals;
    if (second !== undefined) throw new CommandError("Give one file.", exitCodes.usage);
    if ((path === undefined) === (options.sql === undefined)) {
      throw new CommandError("Give a file, or --sql with the database that numbers its own rows.", exitCodes.usage);
    }
    const storeUrl = valueOf(resolveStoreUrl(settings, environment));
    const past = await PastStore.open({ storeUrl, namespace: settings.namespace, version });
    try {
      return path === undefined ? await backfillRows(input, past) : await backfillFile(input, past, path);
    } finally {
      await past.close();
    }
  },
};

function statementProblems({ knownSince, reason }: Options): readonly SettingProblem[] {
  return [
    ...(knownSince === undefined
      ? [
          {
            place: "--known-since",
            hint:
              "Say since when every ID of this layout came from this store: always, if no other generator ever made one, or " +
              "the time at which the last other one ended. An ID that another generator made can come again otherwise.",
          },
        ]
      : []),
    ...(reason === undefined ? [{ place: "--reason", hint: "Give the reason, such as 'orders, ticket 42'." }] : []),
  ];
}

function zoneProblems({ timeZone, unit, sql }: Options): readonly SettingProblem[] {
  if (timeZone === undefined) return [];
  if (unit !== "iso") return [{ place: "--time-zone", hint: "Leave it out: numbers count from 1970 in UTC." }];
  if (sql === "sqlite" && timeZone !== "UTC") {
    return [{ place: "--time-zone", value: timeZone, hint: "Leave it out: SQLite knows only UTC and offsets." }];
  }
  if (isZone(timeZone)) return [];
  return [{ place: "--time-zone", value: timeZone, hint: "Give the name of a zone, such as UTC or Europe/Berlin." }];
}

function sqlProblems(options: Options): readonly SettingProblem[] {
  const needed = { table: "orders", key: "nr", id: "id", time: "created_at" } as const;
  const missing = (Object.keys(needed) as (keyof typeof needed)[]).filter((name) => options[name] === undefined);
  const { from, to, form } = options;
  return [
    ...missing.map((name) => ({ place: `--${name}`, hint: `Give it with --sql, such as --${name} ${needed[name]}.` })),
    ...(from === undefined ? [{ place: "--from", hint: "Give the time of the oldest row, or an earlier one." }] : []),
    ...(to === undefined ? [{ place: "--to", hint: "Give a time after that of the newest row." }] : []),
    ...(form === undefined ? [] : [{ place: "--form", hint: "Leave it out: a database stores IDs as numbers." }]),
    ...(options.id !== undefined && options.id === options.key
      ? [{ place: "--id", hint: "Give another column than --key: it takes the IDs." }]
      : []),
  ];
}
