import { type DescMessage, fromBinary, fromJsonString, toJsonString } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  BatchNextValuesResponseSchema,
  NextValueResponseSchema,
  ReserveValuesResponseSchema,
} from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { ValueRun } from "../../sequence/segment-buffer.ts";
import type { Sequences } from "../../sequence/sequences.ts";
import type { ReservedValues, ValueSource } from "../../sequence/value-source.ts";
import { createJsonWriter } from "../../server/call/envelope/json-response.ts";
import { createBatchNextValues } from "./batch-next-values.ts";
import { type HotAnswer, type HotContext, type HotMethod, type HotStream, LentMessage } from "./hot-method.ts";
import { createNextValue } from "./next-value.ts";
import { createReserveValues } from "./reserve-values.ts";

const context: HotContext = {
  signal: new AbortController().signal,
  timeoutMs: () => undefined,
  allowance: undefined,
  requestFields: [],
  responseFields: [],
  responseTrailers: [],
};
const last = 2n ** 63n - 1n;
const database = 0x8badf00d;
const numbers = [1n, 127n, 128n, 2n ** 28n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 49n, 2n ** 53n + 1n, 2n ** 56n, last];

/** The hot methods over a sequence `orders` that hands out one run of values; "late" makes every draw a promise. */
function methods(mode: "now" | "late", { firstValue, count, increment }: ValueRun) {
  const runs = [{ firstValue, count, increment }];
  const drawn: ReservedValues = { runs, count, periodKey: "" };
  const source = {
    isClosed: false,
    isPlain: true,
    tryNext: () => (mode === "now" ? firstValue : undefined),
    reserve: () => (mode === "now" ? drawn : Promise.resolve(drawn)),
  } as unknown as ValueSource;
  const sequences = {
    findByBytes: (bytes: Buffer, start: number, end: number) =>
      bytes.toString("latin1", start, end) === "orders" ? source : undefined,
  } as unknown as Sequences;
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const options = { sequences, clock, batchCountMax: 1e9, databaseNow: () => database };
  return {
    next: createNextValue(options),
    reserve: createReserveValues(options),
    batch: createBatchNextValues(options),
  };
}

async function messageOf(answer: HotAnswer | Promise<Uint8Array | undefined> | undefined): Promise<Buffer> {
  const framed = await (answer as LentMessage | Uint8Array | Promise<Uint8Array>);
  const bytes = Buffer.from(framed instanceof LentMessage ? framed.bytes : framed);
  expect([bytes[0], bytes.readUInt32BE(1)]).toEqual([0, bytes.length - 5]);
  return bytes.subarray(5);
}

const name = Buffer.from("\n\u0006orders", "latin1");
const call = ({ read }: HotMethod, ...more: readonly number[]): HotAnswer | undefined =>
  read(Buffer.concat([name, Buffer.from(more)]))?.(context);

/** Reads a message, and checks that its JSON form has the same content. */
function read<Schema extends DescMessage>(schema: Schema, bytes: Buffer) {
  const message = fromBinary(schema, bytes);
  const json = createJsonWriter(schema)(bytes, 0).toString("latin1", 5);
  expect(json).toBe(toJsonString(schema, message));
  expect(fromJsonString(schema, json)).toEqual(message);
  return message;
}

test.each(["now", "late"] as const)("each length of a value is written as protobuf-es reads it (%s)", async (mode) => {
  for (const value of numbers) {
    // Over stripes the distance is a multiple of the increment.
    const increment = 2n ** 31n * 64n;
    const { next, reserve, batch } = methods(mode, { firstValue: value, count: 1, increment });
    expect(read(NextValueResponseSchema, await messageOf(call(next)))).toMatchObject({ value, database });
    const reserved = read(ReserveValuesResponseSchema, await messageOf(call(reserve, 0x10, 1)));
    expect(reserved.database).toBe(database);
    expect(reserved.runs).toMatchObject([{ firstValue: value, count: 1, increment }]);
    const stream = call(batch, 0x10, 1) as HotStream;
    const chunk = read(BatchNextValuesResponseSchema, await messageOf(stream.next()));
    expect(chunk).toMatchObject({ values: [value], database });
    expect(stream.next()).toBeUndefined();
  }
});

test("values of a run that crosses 2^32 and of one that ends at 2^63 - 1 are all written", async () => {
  for (const [firstValue, increment] of [
    [2n ** 32n - 100n, 3n],
    [last - 99n * 2n ** 31n, 2n ** 31n],
  ] as const) {
    const { batch } = methods("now", { firstValue, count: 100, increment });
    const message = await messageOf((call(batch, 0x10, 100) as HotStream).next());
    const { values } = read(BatchNextValuesResponseSchema, message);
    expect(values).toEqual(Array.from({ length: 100 }, (_, index) => firstValue + BigInt(index) * increment));
  }
});

test("a sequence that is not in memory, and any field that is odd, are for the general way", () => {
  const { next, reserve, batch } = methods("now", { firstValue: 1n, count: 1, increment: 1n });
  for (const method of [next, reserve, batch]) {
    for (const text of [
      "",
      "\n",
      "\n\u0000",
      "\n\u0005order",
      "\n\u0007orders",
      "\u0012\u0006orders",
      "\n\u0006Orders",
    ])
      expect(method.read(Buffer.from(text, "latin1"))).toBeUndefined();
    for (const more of [[0x20, 1], [0x10], [0x10, 0x80], [0x10, 1, 0x10, 1], [0x18, 1, 0x10, 1]])
      expect(method.read(Buffer.concat([name, Buffer.from(more)]))).toBeUndefined();
  }
  expect(call(reserve, 0x18, 1)).toBeUndefined();
  expect(call(next, 0x10, 1)).toBeUndefined();
});

test("a reservation of more values than a field has is for the general way, and one of none is refused", () => {
  const { reserve } = methods("now", { firstValue: 1n, count: 1, increment: 1n });
  expect(reserve.read(Buffer.concat([name, Buffer.from([0x10, 0x80, 0x80, 0x80, 0x80, 0x10])]))).toBeUndefined();
  const most = reserve.read(Buffer.concat([name, Buffer.from([0x10, 0xff, 0xff, 0xff, 0xff, 0x0f])]));
  expect(() => most?.(context)).toThrow(/^count is 4294967295; it must be from 1 to/);
  const none = reserve.read(Buffer.concat([name, Buffer.from([0x10, 0x00])]));
  expect(() => none?.(context)).toThrow(/^count is 0; it must be from 1 to/);
});
