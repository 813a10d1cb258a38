/** What AdminService and SequenceService say, as the page shows it: part of the chunk that calls the server. */
import type { MessageShape } from "@bufbuild/protobuf";
import type { GetStatusResponseSchema } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import type { SequenceSchema } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { sampleOf, stateOf } from "../../src/service/message/status-message.ts";
import type { SequenceRow, ServerStatus } from "./state.ts";

/** Samples that are kept: five minutes. */
const samplesMax = 300;

/** Takes an answer over: its samples come after those that are there, unless it is another server's. */
export function statusOf(
  { status, samples }: MessageShape<typeof GetStatusResponseSchema>,
  before: ServerStatus | undefined,
): ServerStatus | undefined {
  if (status === undefined) return undefined;
  const state = stateOf(status);
  const kept = before?.startMs === state.startMs ? before.samples : [];
  const last = kept.at(-1)?.index ?? 0;
  const fresh = samples.map(sampleOf).filter(({ index }) => index > last);
  return { ...state, samples: [...kept, ...fresh].slice(-samplesMax) };
}

/** Takes a sequence over. */
export function sequenceOf(sequence: MessageShape<typeof SequenceSchema>): SequenceRow {
  const { name, description, nextValue, leftCount, textTemplate, disabled } = sequence;
  return { name, description, nextValue, leftCount, textTemplate, disabled };
}
