import { toJsonString } from "@bufbuild/protobuf";
import { Period, type Sequence, SequenceSchema } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import { tableOf } from "../table.ts";

const periodNames: Readonly<Record<Period, string>> = {
  [Period.UNSPECIFIED]: "-",
  [Period.NONE]: "-",
  [Period.DAY]: "day",
  [Period.MONTH]: "month",
  [Period.YEAR]: "year",
  [Period.WEEK]: "week",
  [Period.QUARTER]: "quarter",
};

/** A table of sequences for people. @param isStopped - Whether nobody may take values of any. */
export function sequencesToTable(sequences: readonly Sequence[], isStopped: boolean): string {
  const rows = sequences.map((sequence) => {
    const { name, nextValue, leftCount, period, disabled } = sequence;
    const isUsedUp = nextValue === 0n;
    const state = disabled ? "disabled" : isStopped ? "stopped" : isUsedUp ? "none left" : "open";
    return [name, isUsedUp ? "-" : String(nextValue), String(leftCount), periodNames[period] ?? "-", state];
  });
  return tableOf(["NAME", "NEXT", "LEFT", "PERIOD", "STATE"], rows);
}

/** A sequence as one line of JSON. */
export function sequenceToJson(sequence: Sequence): string {
  return `${toJsonString(SequenceSchema, sequence)}\n`;
}

/** All fields of a sequence for people, one a line. */
export function sequenceToLines(sequence: Sequence): string {
  const fields = JSON.parse(toJsonString(SequenceSchema, sequence)) as Readonly<Record<string, unknown>>;
  const width = Math.max(...Object.keys(fields).map((key) => key.length));
  return Object.entries(fields)
    .map(([key, value]) => `${key.padEnd(width)}  ${String(value)}\n`)
    .join("");
}
