import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { IdError } from "../errors.ts";
import {
  type AdminService,
  type ListWorkersRequest,
  type ListWorkersResponseSchema,
  type WorkerSchema,
  WorkerState as StateMessage,
} from "../gen/snowlane/v1/admin_service_pb.ts";
import type { ListedWorker, WorkerList, WorkerState } from "../worker/worker-list.ts";
import { RequestError } from "./status.ts";
import { nsToDuration, unixMsToTimestampClamped } from "./time-message.ts";

/** What the service is made from. */
export interface AdminServiceOptions {
  /** All worker IDs, as the store has them; may be a second old. */
  readonly listWorkers: () => Promise<WorkerList>;
}

const pageSizeDefault = 100;
const pageSizeMax = 1_000;
/** What RetryInfo says of a store that does not answer. */
const retryMs = 1_000;

const stateMessages: Readonly<Record<WorkerState, StateMessage>> = {
  held: StateMessage.HELD,
  released: StateMessage.RELEASED,
  expired: StateMessage.EXPIRED,
  quarantined: StateMessage.QUARANTINED,
  unreadable: StateMessage.UNREADABLE,
};

/** AdminService: translates alone. docs of each method: proto/snowlane/v1/admin_service.proto. */
export function createAdminService({ listWorkers }: AdminServiceOptions): ServiceImpl<typeof AdminService> {
  return {
    listWorkers: async (request) => {
      const afterIndex = readPageToken(request.pageToken);
      return toPage(request, afterIndex, await listWorkers().catch(refuse));
    },
  };
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

/** A token names the last worker index of the page before. */
function writePageToken(workerIndex: number): string {
  return `after-${workerIndex}`;
}

function readPageToken(token: string): number {
  if (token === "") return -1;
  const digits = /^after-(\d{1,10})$/.exec(token)?.[1];
  if (digits !== undefined) return Number(digits);
  const message = "The page token is none of this method's: give next_page_token of the response before.";
  throw new RequestError("MALFORMED_TEXT", "page_token", message);
}

/** What the store says of itself (addresses, users) is not for callers. */
function refuse(cause: unknown): never {
  if (!(cause instanceof IdError)) throw cause;
  const message = "The records in the store cannot be read now.";
  throw new IdError("STORE_UNAVAILABLE", message, { cause, retryAfterMs: retryMs });
}
