import { numberRange, numberRanges } from "../../config/number-ranges.ts";
import { withFallback } from "../../config/setting.ts";
import { choice, duration, integer, moment, onOff, text } from "../../config/setting-kinds.ts";
import { momentOr } from "../../config/statement-settings.ts";
import { writingOptions } from "../../config/text-settings.ts";
import { lanesMax } from "../../snowflake/past-numbers.ts";
import type { storeSettings } from "../../config/store-settings.ts";
import type { CommandInput } from "../command.ts";
import { backfillDialectNames } from "./backfill-dialect.ts";
import { rowFormats } from "./row-format.ts";
import { timeUnits } from "./row-time.ts";

/** The options of `snowlane backfill`. */
export const backfillOptions = {
  knownSince: momentOr({
    name: "knownSince",
    word: "always",
    doc:
      "Since when every ID of this layout came from this store: a time, or always, if no other generator ever made one. No " +
      "store can know that. Required.",
  }),
  storeKeptUntil: momentOr({
    name: "storeKeptUntil",
    word: "now",
    doc:
      "Up to when the store lost nothing that it had confirmed: no failover that lost writes, no older copy put back. A time, " +
      "or now. Needed where the store started again, or had a quarantine; the refusal says so.",
  }),
  reason: text({
    name: "reason",
    pattern: /^[ -~]{1,60}$/,
    hint: "1 to 60 printable ASCII characters",
    doc: "The reason, for the list of workers. Required.",
  }),
  time: text({
    name: "time",
    placeholder: "COLUMN",
    doc: "The column with the time of each row. Required, except for lines.",
  }),
  unit: withFallback(
    choice({
      name: "unit",
      words: timeUnits,
      doc: "The unit of times: iso, or a number of Unix seconds, milliseconds, microseconds or nanoseconds.",
    }),
    "iso",
  ),
  timeZone: text({
    name: "timeZone",
    placeholder: "ZONE",
    doc: "The zone of times without an offset, such as UTC or Europe/Berlin. An hour that occurs twice is read as the second one.",
  }),
  inputFormat: choice({
    name: "inputFormat",
    words: rowFormats,
    doc: "The format of the input: lines (each is a time), csv or jsonl. Default: by the file's extension.",
  }),
  idColumn: withFallback(
    text({ name: "idColumn", placeholder: "NAME", doc: "The name of the column that is added." }),
    "id",
  ),
  out: text({
    name: "out",
    placeholder: "FILE",
    doc: "The file for the rows with their IDs. It appears when it is complete. Default: standard output.",
  }),
  bad: text({
    name: "bad",
    placeholder: "FILE",
    doc: "Writes rows that get no ID to this file, and goes on. Default: one such row ends the run before the claim.",
  }),
  lanes: withFallback(
    integer({
      name: "lanes",
      min: 1,
      max: lanesMax,
      doc: "How many worker IDs are claimed: more are needed where more rows fall into one tick than the layout has IDs for it.",
    }),
    1,
  ),
  lagMaxMs: withFallback(
    duration({
      name: "lagMax",
      minMs: 1,
      maxMs: 86_400_000,
      doc: "By how much the time of an ID may be later than that of its row.",
    }),
    1_000,
  ),
  from: moment({ name: "from", doc: "The start of the rows, inclusive. With --sql and for standard input." }),
  to: moment({ name: "to", doc: "The end of the rows, exclusive. With --sql and for standard input." }),
  datacenterIds: numberRanges({
    name: "datacenterIds",
    countMax: 4_096,
    doc: "Claims only worker IDs of these datacenters, such as 3: those that another generator never used.",
  }),
  workerIds: numberRange({
    name: "workerIds",
    doc: "Claims only these worker IDs, such as 512-1023: those that another generator never used.",
  }),
  sql: choice({
    name: "sql",
    words: backfillDialectNames,
    doc: "Claims, and prints the statements with which this database numbers its own rows. With --table, --key, --id, --from, --to.",
  }),
  table: text({ name: "table", doc: "With --sql: the table; with a schema as schema.table." }),
  key: text({
    name: "key",
    placeholder: "COLUMN",
    doc: "With --sql: the column that identifies a row. Rows with NULL in it get no ID.",
  }),
  id: text({
    name: "id",
    placeholder: "COLUMN",
    doc: "With --sql: the column for the IDs: a 64-bit integer, NULL so far.",
  }),
  dryRun: onOff({ name: "dryRun", doc: "Prints what would be done, and writes nothing anywhere." }),
  ...writingOptions,
};

/** The input of `snowlane backfill`. */
export type BackfillInput = CommandInput<typeof storeSettings, typeof backfillOptions>;
