/** Reads what AdminService reports about a server, for the command line and the page, which show it. */
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import type { ServerStatus, StatusSample } from "../../gen/snowlane/v1/admin_service_pb.ts";
import { codeNames } from "./code-names.ts";
import type { CodeCount } from "./error-codes.ts";
import { timestampToNs } from "./time-message.ts";

/** The figures of a server in one second. */
export interface SecondSample {
  /** Seconds since the start of the server. */
  readonly index: number;
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly ids: number;
  readonly values: number;
  readonly calls: number;
  readonly errors: number;
  /** The same by their codes. */
  readonly errorCodes: readonly CodeCount[];
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly leadMs: number | undefined;
  readonly windowLeftMs: number | undefined;
}

/** The state of a server at one time. Times are Unix milliseconds. */
export interface ReportedStatus {
  readonly serving: boolean;
  /** Why it does not serve; empty if it does. */
  readonly reason: string;
  readonly phase: string;
  readonly startMs: number;
  readonly grant:
    | {
        readonly datacenterId: number;
        readonly workerId: number;
        readonly generation: number;
        readonly sinceMs: number;
        readonly windowLeftMs: number;
        readonly leadMs: number;
      }
    | undefined;
  readonly store: {
    readonly kind: string;
    readonly reachable: boolean;
    readonly answerAgeMs: number | undefined;
    readonly clockAheadMs: number | undefined;
  };
  /** Calls that wait for IDs. */
  readonly waiting: number;
  readonly connections: number;
  /** Worker IDs that no live holder ever had; undefined before the server has looked. */
  readonly neverHeld: number | undefined;
}

/** Reads the state of a server. */
export function stateOf(status: ServerStatus): ReportedStatus {
  const { serving, notServingReason, phase, startTime, grantTime, datacenterId, workerId, generation } = status;
  return {
    serving,
    reason: notServingReason,
    phase,
    startMs: unixMsOf(startTime) ?? 0,
    grant:
      grantTime === undefined
        ? undefined
        : {
            datacenterId,
            workerId,
            generation: Number(generation),
            sinceMs: unixMsOf(grantTime) ?? 0,
            windowLeftMs: spanMs(status.windowLeft) ?? 0,
            leadMs: spanMs(status.lead) ?? 0,
          },
    store: {
      kind: status.store,
      reachable: status.storeReachable,
      answerAgeMs: spanMs(status.storeAnswerAge),
      clockAheadMs: spanMs(status.storeClockAhead),
    },
    waiting: Number(status.waitingCount),
    connections: Number(status.connectionCount),
    neverHeld: status.neverHeldCount === undefined ? undefined : Number(status.neverHeldCount),
  };
}

/** Reads the figures of one second. */
export function sampleOf(sample: StatusSample): SecondSample {
  const { index, time, idsCount, valuesCount, callCount, errorCount, errorCodes, p50, p99, lead, windowLeft } = sample;
  return {
    index: Number(index),
    timeMs: unixMsOf(time) ?? 0,
    ids: Number(idsCount),
    values: Number(valuesCount),
    calls: Number(callCount),
    errors: Number(errorCount),
    errorCodes: errorCodes.map(({ code, count }) => ({ code: codeNames[code] ?? String(code), count: Number(count) })),
    p50Ms: spanMs(p50),
    p99Ms: spanMs(p99),
    leadMs: spanMs(lead),
    windowLeftMs: spanMs(windowLeft),
  };
}

function unixMsOf(time: Timestamp | undefined): number | undefined {
  const ns = time === undefined ? undefined : timestampToNs(time);
  return ns === undefined ? undefined : Number(ns / 1_000_000n);
}

/** A span of either sign; durationToNs does not accept negative ones. */
function spanMs(span: Duration | undefined): number | undefined {
  // Rounded to microseconds.
  return span === undefined ? undefined : Number(span.seconds) * 1_000 + Math.round(span.nanos / 1e3) / 1e3;
}
