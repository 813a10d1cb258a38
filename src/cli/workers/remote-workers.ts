import { createClient } from "@connectrpc/connect";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { systemClock } from "../../clock/clock.ts";
import { AdminService, type Worker, WorkerState as StateMessage } from "../../gen/snowlane/v1/admin_service_pb.ts";
import type { WorkerState } from "../../lease/worker-list.ts";
import { refuseCall } from "../server/remote-error.ts";
import type { ServerAccess } from "../server/server-access.ts";
import { transportTo } from "../server/server-transport.ts";
import type { ShownWorker, ShownWorkers } from "./worker-rows.ts";

const answerTimeoutMs = 5_000;
const pageSize = 1_000;

const states: Readonly<Record<StateMessage, WorkerState>> = {
  [StateMessage.UNSPECIFIED]: "unreadable",
  [StateMessage.HELD]: "held",
  [StateMessage.RELEASED]: "released",
  [StateMessage.EXPIRED]: "expired",
  [StateMessage.QUARANTINED]: "quarantined",
  [StateMessage.UNREADABLE]: "unreadable",
};

/** Asks a server for all worker IDs, over gRPC. @throws CommandError with the server's message. */
export async function askForWorkers(access: ServerAccess): Promise<ShownWorkers> {
  const admin = createClient(AdminService, transportTo(access));
  const workers: ShownWorker[] = [];
  for (let pageToken = ""; ; ) {
    const page = await admin
      .listWorkers({ pageSize, pageToken }, { timeoutMs: answerTimeoutMs })
      .catch(refuseCall(access));
    workers.push(...page.workers.map(fromMessage));
    const { quarantineEndTime, quarantineReason: reason } = page;
    pageToken = page.nextPageToken;
    if (pageToken !== "") continue;
    return {
      from: { server: access.url },
      workers,
      total: Number(page.workerIdCount),
      free: Number(page.freeCount),
      neverHeld: Number(page.neverHeldCount),
      quarantine: quarantineEndTime && { untilMs: msOf(quarantineEndTime), reason },
      nowMs: systemClock.nowMs(),
    };
  }
}

function fromMessage(worker: Worker): ShownWorker {
  const { datacenterId, workerId, state, holder, generation, markTime, windowLeft, freeTime } = worker;
  return {
    datacenterId,
    workerId,
    state: states[state] ?? "unreadable",
    windowLeftMs: windowLeft && msOf(windowLeft),
    freeFromMs: freeTime && msOf(freeTime),
    record: holder && {
      generation: Number(generation),
      markMs: markTime === undefined ? 0 : msOf(markTime),
      holder: {
        instance: holder.instance,
        host: holder.host,
        processId: Number(holder.processId),
        sinceMs: holder.startTime === undefined ? 0 : msOf(holder.startTime),
        version: holder.version,
      },
    },
  };
}

function msOf({ seconds, nanos }: Timestamp | Duration): number {
  return Number(seconds) * 1_000 + Math.floor(nanos / 1e6);
}
