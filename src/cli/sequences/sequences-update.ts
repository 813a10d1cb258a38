import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { choice, duration, integer, text } from "../../config/setting-kinds.ts";
import { stepMaxMax } from "../../sequence/sequence.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { callSequences, operateSequences, sequencePlaceSettings, sequenceServerOptions } from "./sequence-access.ts";
import { nameFrom, namePositional, wholeNumber } from "./sequence-options.ts";
import { deadAfterOption, untilSeen } from "./servers-behind.ts";
import { sequenceToLines } from "./sequence-rows.ts";
import { problemsOfAccess } from "../server/server-access.ts";

const options = {
  max: wholeNumber({ name: "max", doc: "The largest value. It can only be raised." }),
  stepMin: integer({ name: "stepMin", min: 1, max: stepMaxMax, doc: "The smallest segment that a server takes." }),
  stepMax: integer({ name: "stepMax", min: 1, max: stepMaxMax, doc: "The largest segment that a server takes." }),
  description: text({ name: "description", doc: "What the sequence is for: at most 200 characters." }),
  disabled: choice({ name: "disabled", words: ["true", "false"], doc: "Whether calls for its values are refused." }),
  lateMaxMs: duration({
    name: "lateMax",
    minMs: 0,
    maxMs: 400 * 86_400_000,
    doc: "For how long after the end of a period callers may still ask for its values, by naming a time. Every server must run this release.",
  }),
  next: wholeNumber({ name: "next", doc: "The next value that is taken from the database. It can only be raised." }),
  waitMs: duration({
    name: "wait",
    minMs: 0,
    maxMs: 3_600_000,
    doc: "Waits up to this long until every server has seen the change. Exits with 6 if one has not. Not with --server.",
  }),
  deadAfterMs: deadAfterOption,
  ...sequenceServerOptions,
};

/** `snowlane sequences update`. */
export const sequencesUpdate: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences update",
  summary: "Changes the fields of a sequence that are given; servers notice within ten seconds",
  positional: namePositional,
  settings: sequencePlaceSettings,
  options,
  examples: [
    "snowlane sequences update orders --disabled true --wait 30s",
    "snowlane sequences update orders --max 999999",
  ],
  check: (_settings, options) => [
    ...problemsOfAccess(options),
    ...(options.server !== undefined && options.waitMs !== undefined
      ? [{ place: "--wait", hint: "Leave --server out: the database says which servers have seen a change." }]
      : []),
  ],
  run: async ({ settings, options: given, positionals, environment, stdout }) => {
    const { max, stepMin, stepMax, description, disabled, lateMaxMs, next } = given;
    const changes = {
      value_max: max === undefined ? undefined : { valueMax: max },
      step_min: stepMin === undefined ? undefined : { stepMin: BigInt(stepMin) },
      step_max: stepMax === undefined ? undefined : { stepMax: BigInt(stepMax) },
      description: description === undefined ? undefined : { description },
      disabled: disabled === undefined ? undefined : { disabled: disabled === "true" },
      late_max: lateMaxMs === undefined ? undefined : { lateMax: durationFromMs(lateMaxMs) },
      next_value: next === undefined ? undefined : { nextValue: next },
    };
    const paths = Object.entries(changes).flatMap(([path, change]) => (change === undefined ? [] : [path]));
    const sequenceGiven = Object.assign({ name: nameFrom(positionals) }, ...Object.values(changes)) as { name: string };
    const { sequence } = await callSequences({ settings, environment, options: given, whereNew: "refuse" }, (client) =>
      client.updateSequence({ sequence: sequenceGiven, updateMask: { paths } }),
    );
    stdout.write(sequenceToLines(sequence!));
    if (given.waitMs !== undefined) {
      const { waitMs, deadAfterMs } = given;
      await operateSequences({ settings, environment, whereNew: "refuse" }, (catalog) =>
        untilSeen(catalog, sequenceGiven.name, waitMs, deadAfterMs),
      );
    }
    return exitCodes.done;
  },
};
