/** Translates between the messages of sequences and ours. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { IdError } from "../../errors.ts";
import {
  Allocation as AllocationMessage,
  Period as PeriodMessage,
  type Sequence as SequenceMessage,
  type SequenceSchema,
  type UpdateSequenceRequest,
} from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { Period } from "../../sequence/period.ts";
import type { SequenceUpdate } from "../../sequence/sequence-catalog.ts";
import type { SequenceState } from "../../sequence/sequence-state.ts";
import type { Allocation, SequenceChange, SequenceDraft } from "../../sequence/sequence.ts";
import { RequestError } from "./request-error.ts";
import { unixMsToTimestampClamped } from "./time-message.ts";

const allocations: Readonly<Record<AllocationMessage, Allocation>> = {
  [AllocationMessage.UNSPECIFIED]: "segments",
  [AllocationMessage.SEGMENTS]: "segments",
  [AllocationMessage.STRICT]: "strict",
};
const allocationMessages = { segments: AllocationMessage.SEGMENTS, strict: AllocationMessage.STRICT } as const;

const periods: Readonly<Partial<Record<PeriodMessage, Period>>> = {
  [PeriodMessage.UNSPECIFIED]: "none",
  [PeriodMessage.NONE]: "none",
  [PeriodMessage.DAY]: "day",
  [PeriodMessage.MONTH]: "month",
  [PeriodMessage.YEAR]: "year",
  [PeriodMessage.WEEK]: "week",
  [PeriodMessage.QUARTER]: "quarter",
};
const periodMessages: Readonly<Record<Period, PeriodMessage>> = {
  none: PeriodMessage.NONE,
  day: PeriodMessage.DAY,
  month: PeriodMessage.MONTH,
  year: PeriodMessage.YEAR,
  week: PeriodMessage.WEEK,
  quarter: PeriodMessage.QUARTER,
  "fiscal-month": PeriodMessage.MONTH,
  "fiscal-year": PeriodMessage.YEAR,
};

/** Reads the sequence of a CreateSequenceRequest. @throws RequestError INVALID_SEQUENCE. */
export function draftFromMessage(message: SequenceMessage | undefined): SequenceDraft {
  if (message === undefined) throw new RequestError("INVALID_SEQUENCE", "sequence", "No sequence is set.");
  const { allocation, stepMin, stepMax } = message;
  const period = periods[message.period];
  for (const [field, isSet] of [
    ["create_time", message.createTime !== undefined],
    ["update_time", message.updateTime !== undefined],
    ["etag", message.etag !== ""],
    ["next_value", message.nextValue !== 0n],
    ["left_count", message.leftCount !== 0n],
    ["closed_before", message.closedBefore !== ""],
    ["epoch", message.epoch !== 0n],
  ] as const) {
    if (isSet) throw refusal(field, "This field is for output only.");
  }
  if (allocations[allocation] === undefined) throw refusal("allocation", `There is no allocation ${allocation}.`);
  if (period === undefined) throw refusal("period", `This server has no period ${message.period}.`);
  const { name, description, startValue, increment, valueMax, timeZone, yearStart, textTemplate, disabled } = message;
  return {
    yearStart,
    lateMaxMs: lateMaxOf(message),
    name,
    description,
    startValue,
    increment,
    valueMax,
    allocation: allocations[allocation],
    stepMin: Number(stepMin),
    stepMax: Number(stepMax),
    period,
    timeZone,
    textTemplate,
    disabled,
  };
}

/** Reads an UpdateSequenceRequest. @throws RequestError INVALID_SEQUENCE. */
export function updateFromMessage({ sequence, updateMask }: UpdateSequenceRequest): SequenceUpdate {
  if (sequence === undefined) throw new RequestError("INVALID_SEQUENCE", "sequence", "No sequence is set.");
  const { name, etag, description, valueMax, stepMin, stepMax, disabled, nextValue } = sequence;
  const lateMaxMs = lateMaxOf(sequence);
  const fields: Readonly<Record<string, SequenceChange>> = {
    description: { description },
    value_max: { valueMax },
    step_min: { stepMin: Number(stepMin) },
    step_max: { stepMax: Number(stepMax) },
    disabled: { disabled },
    late_max: { lateMaxMs },
    next_value: {},
  };
  const paths = new Set(updateMask?.paths ?? []);
  if (paths.size === 0) {
    const message = `Name at least one field in update_mask: ${Object.keys(fields).join(", ")}.`;
    throw new RequestError("INVALID_SEQUENCE", "update_mask", message);
  }
  for (const path of paths) {
    if (Object.hasOwn(fields, path)) continue;
    const message = `${path} cannot be changed; these can be: ${Object.keys(fields).join(", ")}.`;
    throw new RequestError("INVALID_SEQUENCE", "update_mask", message, { path });
  }
  const change = Object.assign({}, ...[...paths].map((path) => fields[path])) as SequenceChange;
  return {
    name,
    change,
    nextValue: paths.has("next_value") ? nextValue : undefined,
    etag: etag === "" ? undefined : etag,
  };
}

/** Writes a sequence. */
export function sequenceToMessage(state: SequenceState): MessageInitShape<typeof SequenceSchema> {
  const { stored, etag, nextValue = 0n, leftCount } = state;
  const { allocation, period, stepMin, stepMax, lateMaxMs, ...rest } = stored.definition;
  return {
    ...rest,
    allocation: allocationMessages[allocation],
    period: periodMessages[period],
    stepMin: BigInt(stepMin),
    stepMax: BigInt(stepMax),
    createTime: unixMsToTimestampClamped(stored.createdMs),
    updateTime: unixMsToTimestampClamped(stored.updatedMs),
    etag,
    nextValue,
    leftCount,
    closedBefore: stored.closedBefore,
    epoch: BigInt(stored.epoch),
    ...(lateMaxMs === 0 ? {} : { lateMax: durationFromMs(lateMaxMs) }),
  };
}

/** @throws RequestError INVALID_SEQUENCE. */
function lateMaxOf({ lateMax }: SequenceMessage): number {
  if (lateMax === undefined) return 0;
  const ms = Number(lateMax.seconds) * 1_000 + Math.floor(lateMax.nanos / 1e6);
  if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw refusal("late_max", "It is a time from 0 to 400 days.");
}

/**
 * Converts an error that names a field of a sequence into one that names the field of the request.
 *
 * @param place - The path of the sequence's fields in the request.
 */
export async function withCallerErrors<T>(work: () => Promise<T>, place = "sequence."): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOurs = error instanceof IdError && error.reason === "INVALID_SEQUENCE" && !(error instanceof RequestError);
    if (!isOurs) throw error;
    const { field = "name", ...metadata } = error.metadata;
    throw new RequestError("INVALID_SEQUENCE", `${place}${field}`, error.message, metadata);
  }
}

function refusal(field: string, message: string): RequestError {
  return new RequestError("INVALID_SEQUENCE", `sequence.${field}`, message);
}
