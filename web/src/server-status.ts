/** What AdminService and SequenceService say, as the page shows it: part of the chunk that calls the server. */
import type { MessageShape } from "@bufbuild/protobuf";
import type { GetStatusResponseSchema } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import type { SequenceSchema } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { timestampToNs } from "../../src/service/message/time-message.ts";
import type { StatusSample } from "./chart-data.ts";
import type { SequenceRow, ServerStatus } from "./state.ts";
import { msOf } from "./time-words.ts";

/** Samples that are kept: five minutes. */
const samplesMax = 300;

/** Takes an answer over: its samples come after those that are there, unless it is another server's. */
export function statusOf(
  { status, samples }: MessageShape<typeof GetStatusResponseSchema>,
  before: ServerStatus | undefined,
): ServerStatus | undefined {
  if (status === undefined) return undefined;
  const startMs = unixMsOf(status.startTime) ?? 0;
  const kept = before?.startMs === startMs ? before.samples : [];
  const last = kept.at(-1)?.index ?? 0;
  const fresh = samples.map(sampleOf).filter(({ index }) => index > last);
  return {
    isServing: status.serving,
    reason: status.notServingReason,
    startMs,
    grant:
      status.grantTime === undefined
        ? undefined
        : {
            datacenterId: status.datacenterId,
            workerId: status.workerId,
            generation: Number(status.generation),
            sinceMs: unixMsOf(status.grantTime) ?? 0,
            windowLeftMs: spanMs(status.windowLeft) ?? 0,
            leadMs: spanMs(status.lead) ?? 0,
          },
    store: {
      kind: status.store,
      isReachable: status.storeReachable,
      answerAgeMs: spanMs(status.storeAnswerAge),
      clockAheadMs: spanMs(status.storeClockAhead),
    },
    waitingCount: Number(status.waitingCount),
    connectionCount: Number(status.connectionCount),
    samples: [...kept, ...fresh].slice(-samplesMax),
  };
}

function sampleOf(sample: MessageShape<typeof GetStatusResponseSchema>["samples"][number]): StatusSample {
  return {
    index: Number(sample.index),
    timeMs: unixMsOf(sample.time) ?? 0,
    ids: Number(sample.idsCount),
    values: Number(sample.valuesCount),
    calls: Number(sample.callCount),
    errors: Number(sample.errorCount),
    p50Ms: spanMs(sample.p50),
    p99Ms: spanMs(sample.p99),
    leadMs: spanMs(sample.lead),
    windowLeftMs: spanMs(sample.windowLeft),
  };
}

/** Takes a sequence over. */
export function sequenceOf(sequence: MessageShape<typeof SequenceSchema>): SequenceRow {
  const { name, description, nextValue, leftCount, textTemplate, disabled } = sequence;
  return { name, description, nextValue, leftCount, textTemplate, disabled };
}

function unixMsOf(time: Parameters<typeof timestampToNs>[0] | undefined): number | undefined {
  const ns = time === undefined ? undefined : timestampToNs(time);
  return ns === undefined ? undefined : msOf(ns);
}

/** A span of either sign: durationToNs takes none that is negative. */
function spanMs(span: { readonly seconds: bigint; readonly nanos: number } | undefined): number | undefined {
  return span === undefined ? undefined : Number(span.seconds) * 1_000 + span.nanos / 1e6;
}
