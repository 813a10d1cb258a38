import { lengthOfTime } from "../../clock/length-of-time.ts";
import { toJsonString } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Allocation, Period, type Sequence, SequenceSchema } from "../../gen/snowlane/v1/sequence_service_pb.ts";
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

/** A table of sequences for people. @param isStopped - Whether no values can be taken from any of them. */
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
  const { allocation, period, disabled, nextValue, lateMax, createTime, updateTime } = sequence;
  const isSegments = allocation !== Allocation.STRICT;
  const rows: readonly (readonly [string, string | bigint | undefined])[] = [
    ["name", sequence.name],
    ["next value", nextValue === 0n ? "none left" : nextValue],
    ["values left", sequence.leftCount],
    ["start", sequence.startValue],
    ["increment", sequence.increment],
    ["largest value", sequence.valueMax],
    [
      "allocation",
      isSegments ? `segments of ${sequence.stepMin} to ${sequence.stepMax} values` : "strict: one write for each value",
    ],
    [
      "period",
      period === Period.NONE ? "none: it never starts again" : `${periodNames[period]} of ${sequence.timeZone}`,
    ],
    ["years begin", sequence.yearStart],
    ["late values", lateMax && `until ${lengthOfTime(Number(lateMax.seconds) * 1_000)} after a period`],
    ["template", sequence.textTemplate],
    ["description", sequence.description],
    ["state", disabled ? "disabled" : "open"],
    ["created", createTime && timestampDate(createTime).toISOString()],
    ["changed", updateTime && timestampDate(updateTime).toISOString()],
    ["etag", sequence.etag],
  ];
  return rows
    .map(([name, value]) => (value === undefined || value === "" ? "" : `${name.padEnd(15)}${value}\n`))
    .join("");
}
