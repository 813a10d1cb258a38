import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type BatchNextValuesRequest,
  type GetSequenceRequest,
  type ListSequencesRequest,
  SequenceService,
} from "../gen/snowlane/v1/sequence_service_pb.ts";
import type { SequenceCatalog } from "../sequence/sequence-catalog.ts";
import { periodOfTime } from "../sequence/late-period.ts";
import { callerError } from "../sequence/sequence-error.ts";
import type { ValueSource } from "../sequence/value-source.ts";
import type { ValueWriter } from "../sequence/value-template.ts";
import { liveContext } from "./call-context.ts";
import { createDeploymentNumber } from "./deployment-number.ts";
import { createDirectMethod } from "./hot/direct-method.ts";
import { createBatchNextValues } from "./hot/batch-next-values.ts";
import { type CallContext, checkBatch } from "./hot/issue-ids.ts";
import {
  checkReserveValues,
  drawOneValue,
  drawValueChunk,
  drawValueReservation,
  findSource,
  type ValueOptions,
  valuesOf,
} from "./hot/issue-values.ts";
import { createNextValue } from "./hot/next-value.ts";
import { createReserveValues } from "./hot/reserve-values.ts";
import { sequencesOfMessage, valuesOfMessage } from "./message-bytes.ts";
import { foreignPageToken } from "./message/request-error.ts";
import {
  draftFromMessage,
  withCallerErrors,
  sequenceToMessage,
  updateFromMessage,
} from "./message/sequence-message.ts";
import { defineService, type Service } from "./service.ts";

const pageSizeDefault = 100;
const pageSizeMax = 1_000;

/**
 * Makes SequenceService, which translates and leaves the work to the sequences.
 * proto/snowlane/v1/sequence_service.proto documents each method.
 *
 * It always counts as serving: a stopped database makes calls for its values fail, but must not take the IDs of this
 * server out of service. docs/adr/0227 explains why answers name the database.
 */
export function createSequenceService(parts: Omit<ValueOptions, "databaseNow">): Service {
  const options = { ...parts, databaseNow: createDeploymentNumber(() => parts.sequences.databaseId) };
  const implementation = implementSequenceService(options);
  return defineService({
    descriptor: SequenceService,
    implementation,
    hotMethods: [
      createNextValue(options),
      createReserveValues(options),
      createBatchNextValues(options),
      createDirectMethod(SequenceService.method.getSequence, implementation.getSequence),
      createDirectMethod(SequenceService.method.listSequences, implementation.listSequences),
    ],
  });
}

function implementSequenceService(options: ValueOptions) {
  /** Opens the database if needed. The errors of the database itself are not shown to callers, but reported. */
  const withCatalog = <T>(work: (catalog: SequenceCatalog) => Promise<T>): Promise<T> =>
    withCallerErrors(async () => work(await options.sequences.catalog())).catch((error: unknown) => {
      const shown = callerError(error);
      if (shown !== error) options.sequences.reportFailedCall(error);
      throw shown;
    });
  return {
    createSequence: async ({ sequence }) => {
      const draft = draftFromMessage(sequence);
      return { sequence: sequenceToMessage(await withCatalog((catalog) => catalog.create(draft))) };
    },
    getSequence: async ({ name }: GetSequenceRequest) => ({
      sequence: sequenceToMessage(await withCatalog((catalog) => catalog.get(name))),
    }),
    listSequences: (request: ListSequencesRequest) => withCatalog((catalog) => listSequences(catalog, request)),
    updateSequence: async (request) => {
      const update = updateFromMessage(request);
      return { sequence: sequenceToMessage(await withCatalog((catalog) => catalog.update(update))) };
    },
    nextValue: async ({ name, forTime }, handlerContext) => {
      const context = liveContext(handlerContext);
      const source = await findSource(options, name, context);
      const database = options.databaseNow();
      if (forTime !== undefined)
        return { ...(await valueForTime(options, source, timestampMs(forTime), context)), database };
      const value = source.tryNext();
      if (value !== undefined) return { ...withText(source.writeText, value, source.periodKey), database };
      const { runs, periodKey } = await drawOneValue(options, source, context);
      return { ...withText(source.writeText, runs[0]!.firstValue, periodKey), database };
    },
    batchNextValues: (request, context) => batchNextValues(options, request, liveContext(context)),
    reserveValues: async ({ name, count }, handlerContext) => {
      checkReserveValues(count);
      const context = liveContext(handlerContext);
      const source = await findSource(options, name, context);
      const { runs, periodKey } = await drawValueReservation(options, source, count, context);
      return { runs: [...runs], periodKey, database: options.databaseNow() };
    },
  } satisfies ServiceImpl<typeof SequenceService>;
}

/** A value of the period that contains a time: the present period, or one that ended recently enough. */
async function valueForTime(options: ValueOptions, current: ValueSource, timeMs: number, context: CallContext) {
  const { stored } = current;
  const key = await withCallerErrors(async () => periodOfTime(stored, timeMs, options.clock.nowMs()), "");
  if (key === current.periodKey) {
    const { runs, periodKey } = await drawOneValue(options, current, context);
    if (periodKey === key) return withText(current.writeText, runs[0]!.firstValue, periodKey);
    // Its period ended meanwhile, so that value becomes a gap.
  }
  return options.sequences.withPeriod(stored, key, async (source) => {
    const { runs, periodKey } = await drawOneValue(options, source, context);
    return withText(source.writeText, runs[0]!.firstValue, periodKey);
  });
}

function withText(writeText: ValueWriter | undefined, value: bigint, periodKey: string) {
  return { value, text: writeText?.(value, periodKey) ?? "", periodKey };
}

async function listSequences(catalog: SequenceCatalog, { pageSize, pageToken, namePrefix }: ListSequencesRequest) {
  const count = pageSize === 0 ? pageSizeDefault : Math.min(pageSize, pageSizeMax);
  const afterName = readPageToken(pageToken);
  // One more than the page holds is listed, to learn whether there is another page.
  const { states, stopReason = "" } = await catalog.list({ afterName, prefix: namePrefix, count: count + 1 });
  const page = states.slice(0, Math.min(count, sequencesOfMessage(states)));
  const nextPageToken = states.length > count ? writePageToken(page.at(-1)!.stored.definition.name) : "";
  return { sequences: page.map(sequenceToMessage), nextPageToken, stopReason };
}

async function* batchNextValues(options: ValueOptions, request: BatchNextValuesRequest, context: CallContext) {
  const chunkSize = checkBatch(options, request.count, request.chunkSize);
  const source = await findSource(options, request.name, context);
  // Limited before values are drawn: those of a message that a client refuses would be lost.
  const countMax = valuesOfMessage(source.stored.definition.textTemplate);
  for (let left = Number(request.count); left > 0; ) {
    // A caller that has gone gets no more values.
    if (context.signal.aborted) throw context.signal.reason;
    // The values are drawn only now, because the response is pulled as the reader takes it.
    const wanted = Math.min(left, chunkSize, countMax);
    const { runs, count, periodKey } = await drawValueChunk(options, source, wanted, context);
    left -= count;
    const values = valuesOf(runs);
    const { writeText } = source;
    const texts = writeText === undefined ? [] : values.map((value) => writeText(value, periodKey));
    yield { values, texts, periodKey, database: options.databaseNow() };
  }
}

/** A token names the last sequence of the page that it continues. */
function writePageToken(name: string): string {
  return `sequence-${name}`;
}

function readPageToken(token: string): string {
  if (token === "") return "";
  const name = /^sequence-([a-z0-9._-]{1,63})$/.exec(token)?.[1];
  if (name !== undefined) return name;
  throw foreignPageToken();
}
