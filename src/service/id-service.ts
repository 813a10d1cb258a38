import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type BatchNextIdsRequest,
  type GetIdRangeRequest,
  type GetIdRangeResponseSchema,
  type GetInfoResponseSchema,
  type IdService,
  type NextIdResponseSchema,
  Ordering,
  type ParseRequest,
  type ParseResponseSchema,
  RollbackPolicy as PolicyMessage,
} from "../gen/snowlane/v1/id_service_pb.ts";
import { idRange } from "../snowflake/id-range.ts";
import type { ParsedId } from "../snowflake/parse.ts";
import type { RollbackPolicy } from "../snowflake/rollback-policy.ts";
import { idsOf } from "../snowflake/run.ts";
import { type ParsedSource, parseSource } from "../text/parse-source.ts";
import { createTextCodec, type TextCodec } from "../text/text-codec.ts";
import { checkUtcOffset } from "../text/text-form.ts";
import { version } from "../version.ts";
import type { IdSource, ReservedIds } from "../worker/id-source.ts";
import { type CallContext, checkBatch, checkReserveCount, chunkSizeMax, draw, type IssueOptions } from "./issue-ids.ts";
import { layoutFromMessage, layoutToMessage } from "./layout-message.ts";
import { inField, RequestError } from "./status.ts";
import { formFromMessage, formToMessage, textToMessage, uuidToMessage, writerFromMessage } from "./text-message.ts";
import { timestampToNs, unixMsToTimestamp, unixNsToTimestamp } from "./time-message.ts";

/** What the service is made from. */
export interface IdServiceOptions extends IssueOptions {
  /** Marks the UUIDs of this deployment. */
  readonly namespace: string;
  readonly rollbackPolicy: RollbackPolicy;
  /** Equal for servers of one layout record, different otherwise. */
  readonly deploymentFingerprint: string;
}

type ParseInit = MessageInitShape<typeof ParseResponseSchema>;

const policyMessages: Readonly<Record<RollbackPolicy, PolicyMessage>> = {
  advance: PolicyMessage.ADVANCE,
  reject: PolicyMessage.REJECT,
  wait: PolicyMessage.WAIT,
  logical: PolicyMessage.LOGICAL,
  reuse: PolicyMessage.REUSE,
};

/**
 * IdService: translates, and leaves the work to the source. docs of each method: proto/snowlane/v1/id_service.proto.
 */
export function createIdService(options: IdServiceOptions): ServiceImpl<typeof IdService> {
  const { source, namespace } = options;
  const codec = createTextCodec({ layout: source.layout, namespace });
  return {
    nextId: ({ textFormat }, context) => {
      const write = writerFromMessage(codec, textFormat);
      const id = source.tryNext();
      if (id === undefined) return waitForId(options, write, context);
      return write === undefined ? { id } : { id, text: write(id) };
    },
    batchNextIds: (request, context) => batchNextIds(options, codec, request, context),
    reserveIds: async ({ count }, context) => {
      checkReserveCount(options, count);
      const { runs } = await drawUnlessAborted(options, { count, priority: "bulk" }, context);
      return { runs: runs.map(({ firstId, count, stride }) => ({ firstId, count, stride })) };
    },
    parse: (request) => parse(options, codec, request),
    getIdRange: (request) => getIdRange(source, request),
    getInfo: () => getInfo(options),
  };
}

async function waitForId(
  options: IdServiceOptions,
  write: ((id: bigint) => string) | undefined,
  context: HandlerContext,
): Promise<MessageInitShape<typeof NextIdResponseSchema>> {
  const { runs } = await drawUnlessAborted(options, { count: 1, priority: "unary" }, context);
  const id = runs[0]!.firstId;
  return write === undefined ? { id } : { id, text: write(id) };
}

/** As {@link draw}, but a caller that has gone costs no IDs. */
function drawUnlessAborted(
  options: IssueOptions,
  request: Parameters<typeof draw>[1],
  context: CallContext,
): ReservedIds | Promise<ReservedIds> {
  if (context.signal.aborted) throw context.signal.reason;
  return draw(options, request, context);
}

async function* batchNextIds(
  options: IdServiceOptions,
  codec: TextCodec,
  request: BatchNextIdsRequest,
  context: HandlerContext,
) {
  const write = writerFromMessage(codec, request.textFormat);
  const chunkSize = checkBatch(options, request.count, request.chunkSize);
  let epoch: number | undefined;
  for (let left = Number(request.count); left > 0; ) {
    // Drawn only now: the response is pulled as the reader takes it.
    const drawn = await drawUnlessAborted(
      options,
      { count: Math.min(left, chunkSize), priority: "bulk", epoch },
      context,
    );
    epoch = drawn.epoch;
    left -= drawn.count;
    const ids = [...idsOf(drawn.runs)];
    yield write === undefined ? { ids } : { ids, texts: ids.map(write) };
  }
}

function parse({ clock }: IdServiceOptions, ofServer: TextCodec, request: ParseRequest): ParseInit {
  const layout = layoutFromMessage(request.layout, ofServer.layout);
  const codec = layout === ofServer.layout ? ofServer : createTextCodec({ layout, namespace: ofServer.namespace });
  const { utcOffsetMinutes } = request;
  inField("utc_offset_minutes", () => checkUtcOffset(utcOffsetMinutes));
  const form = formFromMessage("source_form", request.sourceForm);
  const { case: field, value } = request.source;
  if (field === undefined) throw new RequestError("MALFORMED_ID", "id", "Neither an ID nor a text is set.");
  const options = { form, utcOffsetMinutes, nowMs: clock.nowMs() };
  return parseToMessage(inField(field, () => parseSource(codec, value, options)));
}

function parseToMessage({ format, parsed, uuid, texts, plausibleLayouts }: ParsedSource): ParseInit {
  return {
    ...(format === undefined ? {} : { sourceForm: formToMessage(format.form) }),
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
  if (ns === undefined) throw new RequestError("INVALID_TIME_RANGE", field, `${field} is not set, or is no Timestamp.`);
  return ns;
}

function getInfo(options: IdServiceOptions): MessageInitShape<typeof GetInfoResponseSchema> {
  const { source, rollbackPolicy, batchCountMax, deploymentFingerprint } = options;
  const { datacenterId = 0, workerId = 0 } = source.status().grant ?? {};
  return {
    layout: layoutToMessage(source.layout),
    datacenterId,
    workerId,
    rollbackPolicy: policyMessages[rollbackPolicy],
    ordering: rollbackPolicy === "reuse" ? Ordering.UNORDERED_WITHIN_REUSE_SPAN : Ordering.RISING_PER_WORKER,
    exhaustionTime: unixMsToTimestamp(source.layout.endMs),
    limits: { reserveCountMax: source.reserveCountMax, batchCountMax: BigInt(batchCountMax), chunkSizeMax },
    version,
    deploymentFingerprint,
  };
}
