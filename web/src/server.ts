/** Calls to the server that the page came from. A chunk of its own: only what needs a server loads it. */
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { type ErrorReason, errorReasons } from "../../src/errors.ts";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { AdminService, type Worker, WorkerState as StateMessage } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { IdService, RollbackPolicy, TextForm as TextFormMessage } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { layoutFromResponse } from "../../src/service/message/layout-message.ts";
import { formatToMessage } from "../../src/service/message/text-message.ts";
import { durationToNs, timestampToNs } from "../../src/service/message/time-message.ts";
import type { TextFormat } from "../../src/text/text-form.ts";
import type { Failure } from "./failure.ts";
import { pageBase } from "./page-base.ts";
import { sequenceOf, statusOf } from "./server-status.ts";
import {
  type SequenceRow,
  type ServerInfo,
  type ServerStatus,
  type WorkerList,
  type WorkerRow,
  workerStates,
} from "./state.ts";
import { msOf } from "./time-words.ts";
import { authorization } from "./token.ts";

/** A part of a stream of IDs. */
export interface IdChunk {
  readonly ids: readonly bigint[];
  /** The IDs in the form that was asked for, in the same order. */
  readonly texts: readonly string[];
}

/** Sends the token, if there is one. */
const withToken: Interceptor = (next) => (request) => {
  const value = authorization();
  if (value !== undefined) request.header.set("authorization", value);
  return next(request);
};
const transport = createConnectTransport({
  baseUrl: pageBase,
  useBinaryFormat: true,
  interceptors: [withToken],
});
const ids = createClient(IdService, transport);
const admin = createClient(AdminService, transport);
const sequences = createClient(SequenceService, transport);
/** A server gives up its store after a bit more than 5 s; its own words are to come, not those of an impatient page. */
const storeTimeoutMs = 10_000;
/** A page of the list that the server makes no longer. */
const listPageSize = 1_000;

/**
 * Asks whether the server issues IDs now; a proxy that lets no such question through says nothing against it. Without
 * the stubs of the health service, which would make the chunk larger.
 */
export async function isServing(): Promise<boolean> {
  try {
    const headers = { "content-type": "application/json" };
    const call = { method: "POST", headers, body: "{}", signal: AbortSignal.timeout(5_000) };
    const answer = await fetch(`${pageBase}grpc.health.v1.Health/Check`, call);
    return !(await answer.text()).includes("NOT_SERVING");
  } catch {
    return true;
  }
}

/** Asks what the server is. */
export async function getInfo(): Promise<ServerInfo> {
  const { layout, datacenterId, workerId, version, limits, exhaustionTime, rollbackPolicy } = await ids.getInfo(
    {},
    { timeoutMs: 5_000 },
  );
  return {
    layout: layoutFromResponse(layout),
    datacenterId,
    workerId,
    version,
    batchCountMax: Number(limits?.batchCountMax ?? 0n),
    nextCountMax: limits?.nextCountMax ?? 0,
    exhaustionMs: unixMsOf(exhaustionTime) ?? 0,
    rollbackPolicy: nameOf(RollbackPolicy, rollbackPolicy),
  };
}

/**
 * The name of an enum's value in lower-case letters, as the settings of the server have it; `unspecified` for a new
 * one.
 */
function nameOf(values: Readonly<Record<string, number>>, value: number): string {
  return (
    Object.keys(values)
      .find((name) => values[name] === value)
      ?.toLowerCase() ?? "unspecified"
  );
}

/** Gets IDs. The decimal form is written here: it needs nothing of the server. */
export async function* nextIds(count: number, format: TextFormat, signal: AbortSignal): AsyncGenerator<IdChunk> {
  const isDecimal = format.form === "decimal";
  const asked = isDecimal ? {} : { textFormat: formatToMessage(format) };
  if (count === 1) {
    const { id, text } = await ids.nextId(asked, { signal });
    yield { ids: [id], texts: [isDecimal ? String(id) : text] };
    return;
  }
  for await (const chunk of ids.batchNextIds({ count: BigInt(count), ...asked }, { signal })) {
    yield { ids: chunk.ids, texts: isDecimal ? chunk.ids.map(String) : chunk.texts };
  }
}

/** Asks for the UUID of an ID. */
export async function uuidOf(id: bigint): Promise<string> {
  const { texts } = await ids.parse({ source: { case: "id", value: id } }, { timeoutMs: 5_000 });
  return texts.find(({ form }) => form === TextFormMessage.UUID)?.text ?? "";
}

/** Lists all worker IDs that were ever held. */
export async function listWorkers(): Promise<WorkerList> {
  const rows: WorkerRow[] = [];
  let pageToken = "";
  for (;;) {
    const page = await admin.listWorkers({ pageSize: listPageSize, pageToken }, { timeoutMs: storeTimeoutMs });
    rows.push(...page.workers.map(rowOf));
    pageToken = page.nextPageToken;
    if (pageToken !== "") continue;
    return {
      rows,
      idCount: Number(page.workerIdCount),
      freeCount: Number(page.freeCount),
      quarantineEndMs: unixMsOf(page.quarantineEndTime),
      quarantineReason: page.quarantineReason,
    };
  }
}

/** Asks how the server is, with the seconds that came since `before`. */
export async function getStatus(before: ServerStatus | undefined): Promise<ServerStatus | undefined> {
  const afterIndex = BigInt(before?.samples.at(-1)?.index ?? 0);
  return statusOf(await admin.getStatus({ afterIndex }, { timeoutMs: 5_000 }), before);
}

/** Lists the sequences, the first thousand by name; undefined where the server keeps none. */
export async function listSequences(): Promise<readonly SequenceRow[] | undefined> {
  try {
    const { sequences: found } = await sequences.listSequences(
      { pageSize: listPageSize },
      { timeoutMs: storeTimeoutMs },
    );
    return found.map(sequenceOf);
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unimplemented) return undefined;
    throw error;
  }
}

function rowOf({ datacenterId, workerId, state, holder, markTime, freeTime, windowLeft }: Worker): WorkerRow {
  const name = nameOf(StateMessage, state);
  const windowLeftNs = windowLeft === undefined ? undefined : durationToNs(windowLeft);
  return {
    datacenterId,
    workerId,
    state: workerStates.find((known) => known === name) ?? "unreadable",
    host: holder?.host ?? "",
    instance: holder?.instance ?? "",
    version: holder?.version ?? "",
    processId: String(holder?.processId ?? ""),
    startMs: unixMsOf(holder?.startTime),
    markMs: unixMsOf(markTime),
    freeMs: unixMsOf(freeTime),
    windowLeftMs: windowLeftNs === undefined ? undefined : windowLeftNs / 1e6,
  };
}

function unixMsOf(time: Parameters<typeof timestampToNs>[0] | undefined): number | undefined {
  const ns = time === undefined ? undefined : timestampToNs(time);
  return ns === undefined ? undefined : msOf(ns);
}

/** Says why a call failed. */
export function failureOf(error: unknown): Failure {
  const failed = ConnectError.from(error);
  const [info] = failed.findDetails(ErrorInfoSchema);
  const reason: ErrorReason | undefined = errorReasons.find((known) => known === info?.reason);
  const message = failed.rawMessage;
  if (reason !== undefined) return { reason, message, permission: info?.metadata["permission"] };
  const byCode = new Map<Code, Failure["reason"]>([
    [Code.Unavailable, "UNREACHABLE"],
    [Code.DeadlineExceeded, "UNREACHABLE"],
    [Code.Unauthenticated, "UNAUTHENTICATED"],
    [Code.PermissionDenied, "DENIED"],
  ]);
  // A browser reports a server that does not answer as a TypeError, which Connect takes for an unknown one.
  const isNetwork = failed.code === Code.Unknown && failed.cause instanceof TypeError;
  return { reason: isNetwork ? "UNREACHABLE" : (byCode.get(failed.code) ?? "OTHER"), message };
}
