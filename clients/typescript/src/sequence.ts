import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { SequenceService } from "../../../src/gen/snowlane/v1/sequence_service_pb.ts";
import type { BatchNextValuesResponse } from "../../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { checkChunkSize, checkCount, checkStreamCount, invalidResponse, SnowlaneError } from "./errors.ts";
import { checkOptionKinds, type OptionKinds } from "./known-options.ts";
import type { ChunkReader, RpcCalls } from "./rpc-calls.ts";
import {
  callOptionKinds,
  type CallOptions,
  checkCallOptions,
  countOfAnswer,
  type StreamOptions,
  streamOptionKinds,
} from "./run-source.ts";

/** One value of a sequence. */
export interface SequenceValue {
  /** 1 to 2^63 - 1. It is unique within its sequence and `periodKey`. */
  readonly value: bigint;
  /** The value as the sequence's template writes it; empty if it has none, and of values that were reserved. */
  readonly text: string;
  /** The period of the value: `2026`, `2026-11` or `2026-11-22`; empty if the sequence has none. */
  readonly periodKey: string;
}

/** Values in arithmetic progression: firstValue + i * increment, for i from 0 to count - 1. */
export interface ValueRun {
  readonly firstValue: bigint;
  /** At least 1. */
  readonly count: number;
  /** At least 1. */
  readonly increment: bigint;
}

/** Options of a call for one value. */
export interface ValueOptions extends CallOptions {
  /**
   * Takes a value of the period that this time is in, which may have ended at most the sequence's `late_max` ago; else
   * PERIOD_CLOSED. Only for periodic sequences. Default: now.
   */
  readonly forTime?: Date | undefined;
}

/** What the options of a call for one value must be. */
export const valueOptionKinds: OptionKinds<ValueOptions> = {
  ...callOptionKinds,
  forTime: {
    what: "a valid Date",
    accepts: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  },
};

/** Values that belong to the caller, used or not. */
export interface ReservedValues {
  readonly runs: readonly ValueRun[];
  /** The period of all of them; empty if the sequence has none. */
  readonly periodKey: string;
}

/**
 * One sequence of the deployment. Each call goes to a server: values are kept in stock there, and nowhere in the
 * client. A value that was not received is a gap, and a retry gets another value.
 *
 * Every method may throw SnowlaneError SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED, STORE_WENT_BACK, and
 * the errors of calls for IDs.
 */
export interface Sequence {
  readonly name: string;
  /** Takes one value. */
  nextValue(options?: ValueOptions): Promise<SequenceValue>;
  /**
   * Takes one value and returns its text.
   *
   * @throws SnowlaneError INVALID_SEQUENCE, if the sequence has no template; the value is then a gap.
   */
  nextText(options?: ValueOptions): Promise<string>;
  /** Takes `count` values, 1 to 1,048,576, by a stream. */
  nextValues(count: number, options?: CallOptions): Promise<SequenceValue[]>;
  /**
   * Takes `count` values, 1 to 10^9, in chunks: exactly that many, or an error. A stream that breaks is continued by
   * another, whose values may start lower, unless `ordered` is set. Leaving the loop cancels it.
   */
  stream(count: number, options?: StreamOptions): AsyncGenerator<readonly SequenceValue[], void, undefined>;
  /** Reserves 1 to `count` values, at most 1,048,576, as runs; a server grants what it has without waiting. */
  reserve(count: number, options?: CallOptions): Promise<ReservedValues>;
}

const valueMax = 2n ** 63n - 1n;

/** A sequence whose values a client requests from its servers. */
export class RemoteSequence implements Sequence {
  readonly name: string;
  readonly #calls: RpcCalls;

  constructor(name: string, calls: RpcCalls) {
    this.name = name;
    this.#calls = calls;
  }

  async nextValue(options: ValueOptions = {}): Promise<SequenceValue> {
    checkOptionKinds(options, valueOptionKinds);
    const method = { service: SequenceService, method: "NextValue" };
    const forTime = options.forTime && timestampFromDate(options.forTime);
    return this.#calls.call(method, options, async (service, rpcOptions, admit) => {
      const request = { name: this.name, ...(forTime && { forTime }) };
      const { value, text, periodKey, database } = await service.nextValue(request, rpcOptions);
      await admit(database, "database");
      checkValue(value);
      return { value, text, periodKey };
    });
  }

  async nextText(options?: ValueOptions): Promise<string> {
    return textOf(this.name, await this.nextValue(options));
  }

  async nextValues(count: number, options: CallOptions = {}): Promise<SequenceValue[]> {
    checkCallOptions(options);
    checkCount(count);
    const { signal, timeoutMs = this.#calls.settings.timeoutMs } = options;
    const all: SequenceValue[] = [];
    for await (const values of this.stream(count, { ...(signal && { signal }), timeoutMs })) {
      for (const value of values) all.push(value);
    }
    return all;
  }

  async *stream(count: number, options: StreamOptions = {}): AsyncGenerator<readonly SequenceValue[], void, undefined> {
    checkOptionKinds(options, streamOptionKinds);
    checkStreamCount(count);
    const { chunkSize = 0 } = options;
    checkChunkSize(chunkSize);
    const { name } = this;
    yield* this.#calls.stream({
      service: SequenceService,
      method: "BatchNextValues",
      count,
      options,
      open: (service, leftCount, rpcOptions) =>
        service.batchNextValues({ name, count: BigInt(leftCount), chunkSize }, rpcOptions),
      numbered: "database",
      numberOf: ({ database }) => database,
      read: (leftCount) => new ValueReader(leftCount),
    });
  }

  async reserve(count: number, options?: CallOptions): Promise<ReservedValues> {
    checkCallOptions(options);
    checkCount(count);
    const method = { service: SequenceService, method: "ReserveValues" };
    return this.#calls.call(method, options, async (service, rpcOptions, admit) => {
      const response = await service.reserveValues({ name: this.name, count }, rpcOptions);
      await admit(response.database, "database");
      const runs = response.runs.map(({ firstValue, count, increment }) => ({ firstValue, count, increment }));
      const asIds = runs.map((run) => ({ firstId: run.firstValue, count: run.count, stride: run.increment }));
      countOfAnswer(asIds, count);
      return { runs, periodKey: response.periodKey };
    });
  }
}

/** Returns the text of a value. @throws SnowlaneError INVALID_SEQUENCE, if it has none. */
export function textOf(name: string, { value, text }: SequenceValue): string {
  if (text !== "") return text;
  const message = `The sequence ${name} has no text template, so its values have no text. Call nextValue() instead.`;
  const metadata = { name, value: String(value), field: "text_template" };
  throw new SnowlaneError("INVALID_SEQUENCE", message, { code: "INVALID_ARGUMENT", metadata });
}

/**
 * Checks the chunks of one server's stream: no chunk may be empty, there must be no more values than were asked for,
 * each value must be 1 to 2^63 - 1, and either all values have a text or none has. Values of several databases do not
 * rise, so the order is not checked.
 */
class ValueReader implements ChunkReader<BatchNextValuesResponse, SequenceValue> {
  #leftCount: number;

  constructor(count: number) {
    this.#leftCount = count;
  }

  take({ values, texts, periodKey }: BatchNextValuesResponse): readonly SequenceValue[] {
    const { length } = values;
    const isSound = length > 0 && length <= this.#leftCount && (texts.length === 0 || texts.length === length);
    if (!isSound) {
      const metadata = { count: String(length), text_count: String(texts.length) };
      throw invalidResponse("The server sent an impossible chunk.", metadata);
    }
    this.#leftCount -= length;
    return values.map((value, index) => {
      checkValue(value);
      return { value, text: texts[index] ?? "", periodKey };
    });
  }

  end(): void {
    if (this.#leftCount === 0) return;
    const metadata = { missing_count: String(this.#leftCount) };
    throw invalidResponse(`The server's stream ended ${this.#leftCount} values early.`, metadata);
  }
}

function checkValue(value: bigint): void {
  if (value >= 1n && value <= valueMax) return;
  throw invalidResponse("The server sent a value below 1.", { value: String(value) });
}
