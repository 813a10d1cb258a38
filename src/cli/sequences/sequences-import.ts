import { storeUrl } from "../../config/store-url.ts";
import { onOff, text } from "../../config/setting-kinds.ts";
import type { SettingProblem } from "../../config/load-settings.ts";
import {
  type ImportBlocked,
  importCounters,
  type ImportedCounter,
  type ImportOutcome,
  readCounters,
} from "../../sequence/sequence-import.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { canRead, readImportRows } from "./import-rows.ts";
import { operateSequences, sequencePlaceSettings } from "./sequence-access.ts";
import { wholeNumber } from "./sequence-options.ts";
import { deadAfterOption, notSeen } from "./servers-behind.ts";
import { tableOf } from "../table.ts";

const options = {
  from: storeUrl({
    name: "from",
    doc: "The database of the other program: sqlite:PATH, postgres:// or mysql://. It is only read.",
  }),
  sql: text({
    name: "sql",
    placeholder: "QUERY",
    doc:
      "One query whose rows are name and highest value, then perhaps step and description; or one row with a value, with --name. " +
      "docs/sequences.md has queries for other programs.",
  }),
  name: text({ name: "name", doc: "The name of the only sequence, where the query gives none." }),
  value: wholeNumber({
    name: "value",
    min: 0n,
    doc: "The highest value that was handed out, in place of --from and --sql. With --name.",
  }),
  margin: wholeNumber({
    name: "margin",
    min: 0n,
    doc: "How many values are left out above each one, for those that the other program hands out until it stops. Default: 0.",
  }),
  enable: onOff({
    name: "enable",
    doc: "Lets all of them give values at the end: at the cut-over, when the other program has stopped for good.",
  }),
  deadAfterMs: deadAfterOption,
  dryRun: onOff({ name: "dryRun", doc: "Prints what would be done, and writes nothing." }),
};

type Given = Parameters<NonNullable<(typeof sequencesImport)["check"]>>[1];

const words = { made: "made", raised: "raised", above: "is higher already" } as const;

/** `snowlane sequences import`. */
export const sequencesImport: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences import",
  summary: "Takes over counters of another program: sequences begin above their values. Update every server first",
  settings: sequencePlaceSettings,
  options,
  examples: [
    "snowlane sequences import --from mysql://root@127.0.0.1/shop --sql 'SELECT max(id) FROM orders' --name orders",
    "snowlane sequences import --from mysql://root@127.0.0.1/leaf --sql 'SELECT biz_tag, max_id, step, description FROM leaf_alloc'",
    "snowlane sequences import --name orders --value 41237 --dry-run",
  ],
  check: (_, given) => problemsOf(given),
  run: async ({ settings, options: given, environment, stdout }) => {
    const { margin = 0n, dryRun, enable: enables, deadAfterMs = Number.POSITIVE_INFINITY } = given;
    const counters = await countersOf(given);
    const mode = dryRun ? "plan" : "write";
    const whereNew = dryRun ? "refuse" : "create";
    const result = await operateSequences({ settings, environment, whereNew }, (catalog) =>
      importCounters(catalog, counters, { margin, mode, enables, deadAfterMs }),
    );
    if (result.kind === "blocked") throw blocked(result);
    stdout.write(tableOf(["NAME", "NEXT", dryRun ? "WOULD BE" : "DONE"], result.outcomes.map(rowOf)));
    return exitCodes.done;
  },
};

function problemsOf({ from, sql, name, value }: Given): readonly SettingProblem[] {
  if (value !== undefined) {
    return [
      ...(from !== undefined || sql !== undefined
        ? [{ place: "--value", hint: "Give --value, or --from with --sql." }]
        : []),
      ...(name === undefined ? [{ place: "--name", hint: "Give the name of the sequence with --value." }] : []),
    ];
  }
  return [
    ...(from === undefined ? [{ place: "--from", hint: "Give the URL of the other program's database." }] : []),
    ...(from !== undefined && !canRead(from)
      ? [{ place: "--from", hint: "Give sqlite:, postgres: or mysql:; a value of another store with --value." }]
      : []),
    ...(sql === undefined ? [{ place: "--sql", hint: "Give a query, such as 'SELECT max(id) FROM orders'." }] : []),
  ];
}

async function countersOf({ from = "", sql = "", name, value }: Given): Promise<readonly ImportedCounter[]> {
  const rows = value === undefined ? await readImportRows(from, sql) : [[value]];
  return readCounters(rows, name);
}

/** The error of an import that would leave values of the other program in the memory of servers. */
function blocked({ name, why }: ImportBlocked): CommandError {
  if (why !== "enabled") return notSeen(why, 0);
  const message = `The sequence ${name} is in use, and nothing was written. Disable it first: snowlane sequences update ${name} --disabled true --wait 30s.`;
  return new CommandError(message, exitCodes.held);
}

function rowOf({ name, nextValue, done }: ImportOutcome): readonly string[] {
  return [name, String(nextValue), words[done]];
}
