import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Clock } from "../clock/clock.ts";
import type { IdError } from "../errors.ts";
import type {
  GetStatusResponseSchema,
  ServerStatusSchema,
  StatusSampleSchema,
} from "../gen/snowlane/v1/admin_service_pb.ts";
import type { IdSource } from "../worker/id-source.ts";
import { msToDuration, unixMsToTimestampClamped } from "./message/time-message.ts";
import type { StatusSample, StatusSamples } from "./status-samples.ts";

/** The numbers that GetStatus answers with. */
export interface ServerStatusParts {
  /** The worker ID: its state, its grant and its counters. */
  readonly source: Pick<IdSource, "status">;
  /** One sample for each of the last 300 seconds. */
  readonly samples: Pick<StatusSamples, "after">;
  readonly clock: Clock;
  /** When the server was started: Unix milliseconds. */
  readonly startMs: number;
  /** Returns the error that a call for an ID would get now; undefined if IDs are issued. */
  readonly findUnready: () => Pick<IdError, "reason"> | undefined;
  /** Connections that are open. */
  readonly connectionCount: () => number;
  /** How many worker IDs no live holder ever had; undefined before the store was looked at. */
  readonly neverHeldCount: () => number | undefined;
}

/** Answers GetStatus, by only reading numbers that exist already. */
export function readServerStatus(
  parts: ServerStatusParts,
  afterIndex: bigint,
): MessageInitShape<typeof GetStatusResponseSchema> {
  // The conversion is exact, because no server runs for 2^53 seconds.
  const samples = parts.samples.after(Number(afterIndex));
  return { status: statusToMessage(parts), samples: samples.map(sampleToMessage) };
}

function statusToMessage({
  source,
  clock,
  startMs,
  findUnready,
  connectionCount,
  neverHeldCount,
}: ServerStatusParts): MessageInitShape<typeof ServerStatusSchema> {
  const { phase, grant, store, waiting } = source.status();
  const reason = findUnready()?.reason;
  const { lastAnswerMs, clockAheadMs } = store;
  const neverHeld = neverHeldCount();
  return {
    serving: reason === undefined,
    notServingReason: reason ?? "",
    phase,
    startTime: unixMsToTimestampClamped(startMs),
    ...(grant === undefined
      ? {}
      : {
          datacenterId: grant.datacenterId,
          workerId: grant.workerId,
          generation: BigInt(grant.generation),
          grantTime: unixMsToTimestampClamped(grant.sinceMs),
          windowLeft: msToDuration(grant.windowLeftMs),
          lead: msToDuration(grant.leadMs),
        }),
    store: store.kind,
    storeReachable: store.reachable,
    ...(lastAnswerMs === undefined
      ? {}
      : { storeAnswerAge: msToDuration(Math.max(0, clock.monotonicMs() - lastAnswerMs)) }),
    ...(clockAheadMs === undefined ? {} : { storeClockAhead: msToDuration(clockAheadMs) }),
    waitingCount: BigInt(waiting),
    connectionCount: BigInt(connectionCount()),
    ...(neverHeld === undefined ? {} : { neverHeldCount: BigInt(neverHeld) }),
  };
}

function sampleToMessage(sample: StatusSample): MessageInitShape<typeof StatusSampleSchema> {
  const {
    index,
    timeMs,
    idsCount,
    valuesCount,
    callCount,
    errorCount,
    errorCodes,
    p50Ms,
    p99Ms,
    leadMs,
    windowLeftMs,
  } = sample;
  return {
    index: BigInt(index),
    time: unixMsToTimestampClamped(timeMs),
    idsCount: BigInt(idsCount),
    valuesCount: BigInt(valuesCount),
    callCount: BigInt(callCount),
    errorCount: BigInt(errorCount),
    errorCodes: errorCodes.map(({ code, count }) => ({ code, count: BigInt(count) })),
    ...(p50Ms === undefined ? {} : { p50: msToDuration(p50Ms) }),
    ...(p99Ms === undefined ? {} : { p99: msToDuration(p99Ms) }),
    ...(leadMs === undefined ? {} : { lead: msToDuration(leadMs) }),
    ...(windowLeftMs === undefined ? {} : { windowLeft: msToDuration(windowLeftMs) }),
  };
}
