import type { MessageInitShape } from "@bufbuild/protobuf";
import { IdError } from "../errors.ts";
import {
  AdminService,
  type GetStatusRequest,
  type ListWorkersRequest,
  type ListWorkersResponseSchema,
  type WorkerSchema,
  WorkerState as StateMessage,
} from "../gen/snowlane/v1/admin_service_pb.ts";
import type { ListedWorker, WorkerList, WorkerState } from "../lease/worker-list.ts";
import { createDirectMethod } from "./hot/direct-method.ts";
import { foreignPageToken } from "./message/request-error.ts";
import { nsToDuration, unixMsToTimestampClamped } from "./message/time-message.ts";
import { createClaimPast, type PastClaims } from "./past-claims.ts";
import { readServerStatus, type ServerStatusParts } from "./server-status.ts";
import { defineService, type Service } from "./service.ts";

/** The list of workers, the numbers and the claim behind AdminService. */
export interface AdminServiceOptions {
  /** Lists all worker IDs as the store has them; the list may be a second old. */
  readonly listWorkers: () => Promise<WorkerList>;
  /** The numbers of GetStatus. */
  readonly status: ServerStatusParts;
  /** undefined: ClaimPast is not offered. */
  readonly pastClaims: PastClaims | undefined;
}

const pageSizeDefault = 100;
const pageSizeMax = 1_000;
/** The delay that RetryInfo names while the store does not answer. */
const retryMs = 1_000;

const stateMessages: Readonly<Record<WorkerState, StateMessage>> = {
  held: StateMessage.HELD,
  released: StateMessage.RELEASED,
  expired: StateMessage.EXPIRED,
  quarantined: StateMessage.QUARANTINED,
  unreadable: StateMessage.UNREADABLE,
};

/**
 * Makes AdminService, which only translates. proto/snowlane/v1/admin_service.proto documents each method.
 *
 * It also serves without a worker ID: when no ID can be issued, operators need the list of workers most.
 */
export function createAdminService({ listWorkers, status, pastClaims }: AdminServiceOptions): Service {
  const methods = {
    listWorkers: async (request: ListWorkersRequest) => {
      const afterIndex = readPageToken(request.pageToken);
      return toPage(request, afterIndex, await listWorkers().catch(refuse));
    },
    getStatus: ({ afterIndex }: GetStatusRequest) => readServerStatus(status, afterIndex),
    claimPast: createClaimPast(pastClaims),
  };
  return defineService({
    descriptor: AdminService,
    implementation: methods,
    // Pages that watch a server call both repeatedly, while callers of IDs are being served.
    hotMethods: [
      createDirectMethod(AdminService.method.listWorkers, methods.listWorkers),
      createDirectMethod(AdminService.method.getStatus, methods.getStatus),
    ],
  });
}

function toPage(
  { pageSize }: ListWorkersRequest,
  afterIndex: number,
  list: WorkerList,
): MessageInitShape<typeof ListWorkersResponseSchema> {
  const size = pageSize === 0 ? pageSizeDefault : Math.min(pageSize, pageSizeMax);
  const left = list.workers.filter(({ workerIndex }) => workerIndex > afterIndex);
  const page = left.slice(0, size);
  const { quarantine } = list;
  return {
    workers: page.map(toMessage),
    nextPageToken: left.length > page.length ? writePageToken(page.at(-1)!.workerIndex) : "",
    workerIdCount: BigInt(list.total),
    freeCount: BigInt(list.free),
    neverHeldCount: BigInt(list.neverHeld),
    ...(quarantine === undefined
      ? {}
      : {
          quarantineEndTime: unixMsToTimestampClamped(quarantine.untilMs),
          quarantineReason: quarantine.reason,
        }),
  };
}

function toMessage(worker: ListedWorker): MessageInitShape<typeof WorkerSchema> {
  const { datacenterId, workerId, state, record, windowLeftMs, freeFromMs } = worker;
  return {
    datacenterId,
    workerId,
    state: stateMessages[state],
    ...(record === undefined ? {} : recordToMessage(record)),
    ...(windowLeftMs === undefined ? {} : { windowLeft: nsToDuration(Math.floor(windowLeftMs) * 1e6) }),
    ...(freeFromMs === undefined ? {} : { freeTime: unixMsToTimestampClamped(freeFromMs) }),
  };
}

function recordToMessage({ holder, generation, markMs }: NonNullable<ListedWorker["record"]>) {
  const { instance, host, processId, sinceMs, version } = holder;
  const startTime = unixMsToTimestampClamped(sinceMs);
  return {
    holder: { instance, host, processId: BigInt(processId), startTime, version },
    generation: BigInt(generation),
    markTime: unixMsToTimestampClamped(markMs),
  };
}

/** A token names the last worker index of the page that it continues. */
function writePageToken(workerIndex: number): string {
  return `after-${workerIndex}`;
}

function readPageToken(token: string): number {
  if (token === "") return -1;
  const digits = /^after-(\d{1,10})$/.exec(token)?.[1];
  if (digits !== undefined) return Number(digits);
  throw foreignPageToken();
}

/** The store's own error is not shown to callers: it may name addresses and users. */
function refuse(cause: unknown): never {
  if (!(cause instanceof IdError)) throw cause;
  const message = "The records in the store cannot be read now.";
  throw new IdError("STORE_UNAVAILABLE", message, { cause, retryAfterMs: retryMs });
}
