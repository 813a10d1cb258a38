import { onOff } from "../../config/setting-kinds.ts";
import type { OperatorRaise } from "../../sequence/sequence-catalog.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { operateSequences, sequencePlaceSettings } from "./sequence-access.ts";
import { nameFrom, wholeNumber } from "./sequence-options.ts";
import { reasonOption } from "../reason-option.ts";

const options = {
  all: onOff({
    name: "all",
    doc: "Raises every sequence, and those that are created later. Only while the database is stopped.",
  }),
  to: wholeNumber({ name: "to", placeholder: "VALUE", doc: "The next value of the sequence. It can only be raised." }),
  by: wholeNumber({ name: "by", min: 0n, doc: "By how many values the counter is raised." }),
  reason: reasonOption("The reason, for readers of the log: 1 to 200 printable ASCII characters. Required."),
};

/** `snowlane sequences raise`. */
export const sequencesRaise: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences raise",
  summary: "Raises counters above values that the database may have lost; never downward",
  positional: { placeholder: "[NAME]", doc: "NAME is the sequence to raise, or --all is given." },
  settings: sequencePlaceSettings,
  options,
  examples: [
    "snowlane sequences raise orders --to 50000 --reason 'import'",
    "snowlane sequences raise --all --by 1000000 --reason 'the backup of 03:00 was put back'",
  ],
  check: (_, { all, to, by, reason }) => [
    ...(reason === undefined ? [{ place: "--reason", hint: "Give the reason, such as 'a backup was put back'." }] : []),
    ...((to === undefined) === (by === undefined) ? [{ place: "--by", hint: "Give --to or --by, one of them." }] : []),
    ...(all && to !== undefined ? [{ place: "--to", hint: "Give --by with --all." }] : []),
  ],
  run: async ({ settings, options: { all, to, by = 0n }, positionals, environment, stdout }) => {
    const request: OperatorRaise = all
      ? { kind: "all", count: by }
      : { name: nameFrom(positionals), ...(to === undefined ? { kind: "by", count: by } : { kind: "to", value: to }) };
    if (all && positionals.length > 0) throw new CommandError("Give a name or --all, not both.", exitCodes.usage);
    const raisedCount = await operateSequences({ settings, environment, whereNew: "refuse" }, (catalog) =>
      catalog.raise(request),
    );
    if (raisedCount === undefined) {
      const message = "No counter was raised: stop the database first, with snowlane sequences stop.";
      throw new CommandError(message, exitCodes.refused);
    }
    const raised = `${raisedCount} counter${raisedCount === 1 ? " was" : "s were"} raised`;
    // Sequences that were there may be gone altogether.
    const later = all ? `, and sequences that are created later begin ${by} value${by === 1n ? "" : "s"} higher` : "";
    stdout.write(`${raised}${later}.\n`);
    return exitCodes.done;
  },
};
