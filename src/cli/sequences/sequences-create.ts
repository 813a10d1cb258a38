import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { choice, duration, integer, onOff, text } from "../../config/setting-kinds.ts";
import { Allocation, Period } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import { stepMaxMax } from "../../sequence/sequence.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { callSequences, sequencePlaceSettings, sequenceServerOptions } from "./sequence-access.ts";
import { nameFrom, namePositional, wholeNumber } from "./sequence-options.ts";
import { sequenceToLines } from "./sequence-rows.ts";
import { problemsOfAccess } from "../server/server-access.ts";

const options = {
  start: wholeNumber({ name: "start", doc: "The first value. Default: 1." }),
  increment: wholeNumber({ name: "increment", doc: "The distance between neighbours, at most 2^31. Default: 1." }),
  max: wholeNumber({ name: "max", doc: "The largest value. Default: 2^63 - 1." }),
  strict: onOff({
    name: "strict",
    doc: "Takes a value from the database only when a caller waits for it: slower, and gaps are rare.",
  }),
  stepMin: integer({
    name: "stepMin",
    min: 1,
    max: stepMaxMax,
    doc: "The smallest segment that a server takes. Not with --strict. Default: 100.",
  }),
  stepMax: integer({
    name: "stepMax",
    min: 1,
    max: stepMaxMax,
    doc: "The largest segment that a server takes. Not with --strict. Default: 1,000,000.",
  }),
  period: choice({
    name: "period",
    words: ["day", "week", "month", "quarter", "year"],
    doc: "The sequence starts again at --start each day, week (of ISO 8601), month, quarter or year of --time-zone. Every server must run this release before a week or quarter. Default: never.",
  }),
  timeZone: text({
    name: "timeZone",
    placeholder: "ZONE",
    doc: "The IANA time zone of --period, such as Europe/Berlin. Default: UTC.",
  }),
  yearStarts: text({
    name: "yearStarts",
    placeholder: "MM-DD",
    doc: "The day on which years begin, such as 04-01, for --period year, quarter or month. Every server must run this release. Default: 01-01.",
  }),
  lateMaxMs: duration({
    name: "lateMax",
    minMs: 0,
    maxMs: 400 * 86_400_000,
    doc: "For how long after the end of a period callers may still ask for its values, by naming a time. Every server must run this release. Default: 0.",
  }),
  template: text({
    name: "template",
    doc: "Also writes each value as text, such as INV-{yyyy}-{value:06}. docs/sequences.md has the fields. Default: none.",
  }),
  description: text({ name: "description", doc: "What the sequence is for: at most 200 characters." }),
  ...sequenceServerOptions,
};
const periods = {
  day: Period.DAY,
  week: Period.WEEK,
  month: Period.MONTH,
  quarter: Period.QUARTER,
  year: Period.YEAR,
} as const;

/** `snowlane sequences create`. */
export const sequencesCreate: Command<typeof sequencePlaceSettings, typeof options> = {
  name: "sequences create",
  summary: "Creates a sequence; one that exists with the same definition is left as it is",
  positional: namePositional,
  settings: sequencePlaceSettings,
  options,
  examples: [
    "snowlane sequences create orders",
    "snowlane sequences create invoices --strict --period year --time-zone Europe/Berlin --template 'INV-{yyyy}-{value:06}'",
    "snowlane sequences create bills --strict --period year --year-starts 04-01 --template '{yyyy}-{yy+1}/{value:05}'",
    "snowlane sequences create tickets --start 1000 --server http://127.0.0.1:7609",
  ],
  check: (_settings, options) => problemsOfAccess(options),
  run: async ({ settings, options: given, positionals, environment, stdout }) => {
    const { start = 0n, increment = 0n, max = 0n, stepMin = 0, stepMax = 0, period } = given;
    const definition = {
      name: nameFrom(positionals),
      startValue: start,
      increment,
      valueMax: max,
      allocation: given.strict ? Allocation.STRICT : Allocation.SEGMENTS,
      stepMin: BigInt(stepMin),
      stepMax: BigInt(stepMax),
      period: period === undefined ? Period.NONE : periods[period],
      timeZone: given.timeZone ?? "",
      yearStart: given.yearStarts ?? "",
      ...(given.lateMaxMs === undefined ? {} : { lateMax: durationFromMs(given.lateMaxMs) }),
      textTemplate: given.template ?? "",
      description: given.description ?? "",
    };
    const { sequence } = await callSequences({ settings, environment, options: given, whereNew: "create" }, (client) =>
      client.createSequence({ sequence: definition }),
    );
    stdout.write(sequenceToLines(sequence!));
    return exitCodes.done;
  },
};
