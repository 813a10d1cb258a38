import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type BatchNextIdsRequest,
  type GetIdRangeRequest,
  type GetIdRangeResponseSchema,
  type GetInfoResponseSchema,
  IdService,
  type NextIdResponseSchema,
  Ordering,
  type ParseRequest,
  type ParseResponseSchema,
  RollbackPolicy as PolicyMessage,
} from "../gen/snowlane/v1/id_service_pb.ts";
import { idRange } from "../snowflake/id-range.ts";
import type { ParsedId } from "../snowflake/parse.ts";
import { type RollbackPolicy, rollbackRules } from "../snowflake/rollback-policy.ts";
import { idsOf } from "../snowflake/run.ts";
import { type ParsedSource, parseSource } from "../text/parse-source.ts";
import { createTextCodec, type TextCodec } from "../text/text-codec.ts";
import { checkTextFormat, checkUtcOffset, prefixOf } from "../text/text-form.ts";
import { version } from "../version.ts";
import type { IdSource } from "../worker/id-source.ts";
import type { StoreBinding } from "../worker/open-worker.ts";
import { createDirectMethod } from "./hot/direct-method.ts";
import { createBatchNextIds } from "./hot/batch-next-ids.ts";
import {
  type AnswerOptions,
  checkBatch,
  checkNextCount,
  checkReserveCount,
  chunkSizeMax,
  drawChunk,
  drawList,
  drawOne,
  drawReservation,
  type IssueOptions,
  nextCountMax,
} from "./hot/issue-ids.ts";
import { liveContext } from "./call-context.ts";
import { createDeploymentNumber } from "./deployment-number.ts";
import { createNextId } from "./hot/next-id.ts";
import { createNextIds } from "./hot/next-ids.ts";
import { createReserveIds } from "./hot/reserve-ids.ts";
import { idsOfMessage } from "./message-bytes.ts";
import { layoutFromMessage, layoutToMessage } from "./message/layout-message.ts";
import { inField, RequestError } from "./message/request-error.ts";
import {
  foreignToMessage,
  formFromMessage,
  formToMessage,
  textToMessage,
  uuidToMessage,
  writerFromMessage,
} from "./message/text-message.ts";
import {
  timestampToNs,
  unixMsToTimestamp,
  unixMsToTimestampClamped,
  unixNsToTimestamp,
} from "./message/time-message.ts";
import { defineService, type Service } from "./service.ts";

/** The source of IdService's IDs, and the deployment as GetInfo shows it. */
export interface IdServiceOptions extends IssueOptions {
  /** Marks the UUIDs of this deployment. */
  readonly namespace: string;
  /** The reaction to a clock that goes back, as GetInfo shows it. */
  readonly rollbackPolicy: RollbackPolicy;
  /** Equal for servers of one layout record, different otherwise; empty while the record is unknown. */
  readonly fingerprintNow: () => string;
  /** The worker IDs that the store is bound to. */
  readonly bindingNow: () => StoreBinding;
}

type ServiceOptions = IdServiceOptions & AnswerOptions;

type ParseInit = MessageInitShape<typeof ParseResponseSchema>;

const policyMessages: Readonly<Record<RollbackPolicy, PolicyMessage>> = {
  advance: PolicyMessage.ADVANCE,
  reject: PolicyMessage.REJECT,
  wait: PolicyMessage.WAIT,
  logical: PolicyMessage.LOGICAL,
  reuse: PolicyMessage.REUSE,
};

/**
 * Makes IdService, which translates and leaves the work to the source. It serves while the source does.
 * proto/snowlane/v1/id_service.proto documents each method.
 */
export function createIdService(given: IdServiceOptions): Service {
  const { source } = given;
  const options = { ...given, deploymentNow: createDeploymentNumber(given.fingerprintNow) };
  const implementation = implementIdService(options);
  return defineService({
    descriptor: IdService,
    implementation,
    health: {
      isServing: () => source.state.kind === "serving",
      onChange: (listener) => source.onStateChange(listener),
    },
    hotMethods: [
      createNextId(options),
      createNextIds(options),
      createReserveIds(options),
      createBatchNextIds(options),
      createDirectMethod(IdService.method.parse, implementation.parse),
      createDirectMethod(IdService.method.getIdRange, implementation.getIdRange),
      createDirectMethod(IdService.method.getInfo, implementation.getInfo),
    ],
  });
}

function implementIdService(options: ServiceOptions) {
  const { source, namespace, deploymentNow } = options;
  const codec = createTextCodec({ layout: source.layout, namespace });
  return {
    nextId: ({ textFormat }, context) => {
      const write = writerFromMessage(codec, textFormat);
      const id = source.tryNext();
      if (id === undefined) return waitForId(options, write, context);
      return { id, text: write?.(id) ?? "", deployment: deploymentNow() };
    },
    nextIds: async ({ count, textFormat }, context) => {
      const write = writerFromMessage(codec, textFormat);
      checkNextCount(count);
      const { runs } = await drawList(options, count, liveContext(context));
      const ids = [...idsOf(runs)];
      return { ids, texts: write === undefined ? [] : ids.map(write), deployment: deploymentNow() };
    },
    batchNextIds: (request, context) => batchNextIds(options, codec, request, context),
    reserveIds: async ({ count }, context) => {
      checkReserveCount(options, count);
      const { runs } = await drawReservation(options, count, liveContext(context));
      return {
        runs: runs.map(({ firstId, count, stride }) => ({ firstId, count, stride })),
        deployment: deploymentNow(),
      };
    },
    parse: (request: ParseRequest) => parse(options, codec, request),
    getIdRange: (request: GetIdRangeRequest) => getIdRange(source, request),
    getInfo: () => getInfo(options),
  } satisfies ServiceImpl<typeof IdService>;
}

async function waitForId(
  options: ServiceOptions,
  write: ((id: bigint) => string) | undefined,
  context: HandlerContext,
): Promise<MessageInitShape<typeof NextIdResponseSchema>> {
  const { runs } = await drawOne(options, liveContext(context));
  const id = runs[0]!.firstId;
  return { id, text: write?.(id) ?? "", deployment: options.deploymentNow() };
}

async function* batchNextIds(
  options: ServiceOptions,
  codec: TextCodec,
  request: BatchNextIdsRequest,
  context: HandlerContext,
) {
  const write = writerFromMessage(codec, request.textFormat);
  const countMax = idsOfMessage(write === undefined ? "ids" : "ids and texts");
  const chunkSize = Math.min(checkBatch(options, request.count, request.chunkSize), countMax);
  let risingSpan: number | undefined;
  for (let left = Number(request.count); left > 0; ) {
    // The IDs are drawn only now, because the response is pulled as the reader takes it.
    const drawn = await drawChunk(options, { count: Math.min(left, chunkSize), risingSpan }, liveContext(context));
    risingSpan = drawn.risingSpan;
    left -= drawn.count;
    const ids = [...idsOf(drawn.runs)];
    yield { ids, texts: write === undefined ? [] : ids.map(write), deployment: options.deploymentNow() };
  }
}

function parse({ clock }: IdServiceOptions, ofServer: TextCodec, request: ParseRequest): ParseInit {
  const layout = layoutFromMessage(request.layout, ofServer.layout);
  const codec = layout === ofServer.layout ? ofServer : createTextCodec({ layout, namespace: ofServer.namespace });
  const { utcOffsetMinutes, typePrefix } = request;
  inField("utc_offset_minutes", () => checkUtcOffset(utcOffsetMinutes));
  const form = formFromMessage("source_form", request.sourceForm);
  if (typePrefix !== "") inField("type_prefix", () => checkTextFormat({ form: form ?? "typed", typePrefix }));
  const { case: field, value } = request.source;
  if (field === undefined) throw new RequestError("MALFORMED_ID", "id", "Neither an ID nor a text is set.");
  const options = { form, utcOffsetMinutes, typePrefix, nowMs: clock.nowMs() };
  return parseToMessage(inField(field, () => parseSource(codec, value, options)));
}

function parseToMessage({ format, parsed, uuid, foreign, texts, plausibleLayouts }: ParsedSource): ParseInit {
  return {
    ...(foreign === undefined ? {} : { foreign: foreignToMessage(foreign) }),
    ...(format === undefined ? {} : { sourceForm: formToMessage(format.form), sourcePrefix: prefixOf(format) }),
    ...(uuid === undefined ? {} : { uuid: uuidToMessage(uuid, parsed !== undefined) }),
    ...(parsed === undefined ? {} : idToMessage(parsed)),
    texts: texts.map(textToMessage),
    plausibleLayouts: plausibleLayouts.map(({ name, createTimeMs }) => ({
      name,
      createTime: unixMsToTimestamp(createTimeMs),
    })),
  };
}

function idToMessage({ id, layout, ticks, datacenterId, workerId, sequence, createTimeNs, bits }: ParsedId) {
  return {
    id,
    createTime: unixNsToTimestamp(createTimeNs),
    timestampTicks: BigInt(ticks),
    ...(datacenterId === undefined ? {} : { datacenterId }),
    ...(workerId === undefined ? {} : { workerId }),
    ...(sequence === undefined ? {} : { sequence }),
    layout: layoutToMessage(layout),
    bits,
  };
}

function getIdRange(
  { layout }: IdSource,
  request: GetIdRangeRequest,
): MessageInitShape<typeof GetIdRangeResponseSchema> {
  const chosen = layoutFromMessage(request.layout, layout);
  const startNs = readTime("start_time", request.startTime);
  const endNs = readTime("end_time", request.endTime);
  return inField("end_time", () => idRange(chosen, startNs, endNs));
}

function readTime(field: string, time: Timestamp | undefined): bigint {
  const ns = time === undefined ? undefined : timestampToNs(time);
  if (ns === undefined)
    throw new RequestError("INVALID_TIME_RANGE", field, `${field} is not set, or is not a valid Timestamp.`);
  return ns;
}

function bindingToMessage(binding: StoreBinding): Pick<MessageInitShape<typeof GetInfoResponseSchema>, "binding"> {
  const { datacenterIds, workerIds } = binding;
  const ids = datacenterIds === "all" ? [] : [...datacenterIds];
  if (ids.length === 0 && workerIds === "all") return {};
  return { binding: { datacenterIds: ids, ...(workerIds === "all" ? {} : { workerIds }) } };
}

function getInfo(options: IdServiceOptions): MessageInitShape<typeof GetInfoResponseSchema> {
  const { source, rollbackPolicy, batchCountMax } = options;
  const deploymentFingerprint = options.fingerprintNow();
  // A starting server does not know yet whether the store has this layout.
  if (deploymentFingerprint === "" && source.state.kind !== "serving") throw source.state.error;
  const { datacenterId = 0, workerId = 0 } = source.status().grant ?? {};
  return {
    layout: layoutToMessage(source.layout),
    datacenterId,
    workerId,
    rollbackPolicy: policyMessages[rollbackPolicy],
    ordering:
      rollbackRules[rollbackPolicy].order === "rising"
        ? Ordering.RISING_PER_WORKER
        : Ordering.UNORDERED_WITHIN_REUSE_SPAN,
    exhaustionTime: unixMsToTimestampClamped(source.layout.endMs),
    limits: {
      reserveCountMax: source.reserveCountMax,
      batchCountMax: BigInt(batchCountMax),
      chunkSizeMax,
      nextCountMax,
    },
    version,
    deploymentFingerprint,
    ...bindingToMessage(options.bindingNow()),
  };
}
