import { onOff, text } from "../../config/setting-kinds.ts";
import type { Pruned } from "../../sequence/prune-periods.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { tableOf } from "../table.ts";
import { operateSequences, sequencePlaceSettings } from "./sequence-access.ts";
import { nameFrom } from "./sequence-options.ts";

const options = {
  all: onOff({ name: "all", doc: "Prunes every sequence that has periods." }),
  before: text({
    name: "before",
    placeholder: "DATE",
    pattern: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/,
    hint: "a date such as 2026-01-01",
    doc: "Counters of periods that ended before this day are deleted. The newest two of a sequence always stay. Required.",
  }),
  dryRun: onOff({ name: "dryRun", doc: "Prints what would be done, and writes nothing." }),
};

/** `snowlane sequences prune`. */
export const sequencesPrune: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences prune",
  summary: "Deletes the counters of periods that are over; such a period never begins again. Update every server first",
  positional: { placeholder: "[NAME]", doc: "NAME is the sequence to prune, or --all is given." },
  settings: sequencePlaceSettings,
  options,
  examples: [
    "snowlane sequences prune orders --before 2026-01-01 --dry-run",
    "snowlane sequences prune --all --before 2026-01-01",
  ],
  check: (_, { before }) =>
    before === undefined ? [{ place: "--before", hint: "Give a date, such as 2026-01-01." }] : [],
  run: async ({ settings, options: { all, before = "", dryRun }, positionals, environment, stdout }) => {
    if (all && positionals.length > 0) throw new CommandError("Give a name or --all, not both.", exitCodes.usage);
    const names = all ? undefined : [nameFrom(positionals)];
    const pruned = await operateSequences({ settings, environment, whereNew: "refuse" }, (catalog) =>
      catalog.prune(names, before, dryRun ? "plan" : "write"),
    );
    if (pruned.length === 0) stdout.write("No sequence has periods.\n");
    else stdout.write(tableOf(["NAME", "FIRST PERIOD KEPT", dryRun ? "WOULD GO" : "GONE"], pruned.map(rowOf)));
    const isRefused = pruned.some(({ outcome }) => outcome.kind === "newest");
    return isRefused ? exitCodes.refused : exitCodes.done;
  },
};

function rowOf({ name, before, outcome }: Pruned): readonly string[] {
  if (outcome.kind === "pruned") return [name, before, String(outcome.count)];
  return [name, before, `none: ${outcome.key} is one of the newest two`];
}
