import { createClient } from "@connectrpc/connect";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { systemClock } from "../../clock/clock.ts";
import { AdminService, type ServerStatus, type StatusSample } from "../../gen/snowlane/v1/admin_service_pb.ts";
import { refuseCall } from "./remote-error.ts";
import type { ServerAccess } from "./server-access.ts";
import { transportTo } from "./server-transport.ts";
import type { ShownSample, ShownStatus } from "./status-rows.ts";

const answerTimeoutMs = 5_000;

/** Asks a server how it is, over gRPC. Both reject with a CommandError that has the server's message. */
export interface StatusSource {
  /** With all samples that the server has. */
  readonly look: () => Promise<ShownStatus>;
  /** With the samples that came since the last call of this. */
  readonly lookAgain: () => Promise<ShownStatus>;
}

/** Opens the state of a server; the first call connects. */
export function openStatus(access: ServerAccess): StatusSource {
  const admin = createClient(AdminService, transportTo(access));
  let afterIndex = 0n;
  const ask = async (after: bigint): Promise<ShownStatus> => {
    const answer = await admin
      .getStatus({ afterIndex: after }, { timeoutMs: answerTimeoutMs })
      .catch(refuseCall(access));
    afterIndex = answer.samples.at(-1)?.index ?? afterIndex;
    return {
      server: access.url,
      nowMs: systemClock.nowMs(),
      ...stateOf(answer.status!),
      samples: answer.samples.map(sampleOf),
    };
  };
  return { look: () => ask(0n), lookAgain: () => ask(afterIndex) };
}

function stateOf(status: ServerStatus): Omit<ShownStatus, "server" | "nowMs" | "samples"> {
  const { serving, notServingReason, phase, startTime, grantTime, datacenterId, workerId, generation } = status;
  return {
    serving,
    reason: notServingReason,
    phase,
    startMs: timeMs(startTime) ?? 0,
    grant:
      grantTime === undefined
        ? undefined
        : {
            datacenterId,
            workerId,
            generation: Number(generation),
            sinceMs: timeMs(grantTime) ?? 0,
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
  };
}

function sampleOf(sample: StatusSample): ShownSample {
  const { index, time, idsCount, valuesCount, callCount, errorCount, p50, p99, lead, windowLeft } = sample;
  return {
    index: Number(index),
    timeMs: timeMs(time) ?? 0,
    ids: Number(idsCount),
    values: Number(valuesCount),
    calls: Number(callCount),
    errors: Number(errorCount),
    p50Ms: spanMs(p50),
    p99Ms: spanMs(p99),
    leadMs: spanMs(lead),
    windowLeftMs: spanMs(windowLeft),
  };
}

function timeMs(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1e6);
}

function spanMs(span: Duration | undefined): number | undefined {
  return span === undefined ? undefined : Number(span.seconds) * 1_000 + span.nanos / 1e6;
}
