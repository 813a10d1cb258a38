import { create, fromBinary, fromJsonString, toBinary, toJsonString } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { HealthCheckRequestSchema, HealthCheckResponseSchema } from "../../../gen/grpc/health/v1/health_pb.ts";
import {
  BatchNextIdsRequestSchema,
  BatchNextIdsResponseSchema,
  NextIdResponseSchema,
  ReserveIdsRequestSchema,
  ReserveIdsResponseSchema,
} from "../../../gen/snowlane/v1/id_service_pb.ts";
import { createJsonReader } from "./json-request.ts";
import { createJsonWriter } from "./json-response.ts";

const readBatch = createJsonReader(BatchNextIdsRequestSchema);

test.each([
  "{}",
  '{"count":0}',
  '{"count":999999999999999}',
  '{"count":"12","chunkSize":4294967295}',
  '{"chunk_size": "7", "count": 1}',
])("%s is read as protobuf-es reads it", (text) => {
  const bytes = Buffer.from(`##${text}#`);
  const message = readBatch(bytes, 2, bytes.length - 1);
  expect(fromBinary(BatchNextIdsRequestSchema, message!)).toEqual(fromJsonString(BatchNextIdsRequestSchema, text));
});

test.each([
  "",
  " ",
  "{",
  "}",
  "[]",
  "{ }",
  " {}",
  "{}\n",
  "{{}}",
  "null",
  '"{}"',
  '{"count":1,}',
  '{,"count":1}',
  '{"count"}',
  '{"count":}',
  '{"count":1"chunkSize":1}',
  '{"count" :1}',
  '{"count":01}',
  '{"count":-1}',
  '{"count":1.0}',
  '{"count":1e0}',
  '{"count":1000000000000000}',
  '{"count":true}',
  '{"count":"x"}',
  '{"count":""}',
  '{"count":null}',
  '{"count":[1]}',
  '{"chunkSize":4294967296}',
  '{"count":1,"count":1}',
  '{"chunkSize":1,"chunk_size":1}',
  '{"other":1}',
  '{"textFormat":{}}',
  '{"__proto__":1}',
  '{"c\\u006funt":1}',
  '{"count":1,\t"chunkSize":1}',
  '{"count":  1}',
])("%j is left to protobuf-es", (text) => {
  const bytes = Buffer.from(text);
  expect(readBatch(bytes, 0, bytes.length)).toBeUndefined();
});

test("a number in a field of another type is not read, nor a string in a field of numbers", () => {
  const read = (schema: Parameters<typeof createJsonReader>[0], text: string) =>
    createJsonReader(schema)(Buffer.from(text), 0, text.length);
  expect(read(HealthCheckRequestSchema, '{"service":1}')).toBeUndefined();
  expect(read(ReserveIdsRequestSchema, '{"count":"a.B"}')).toBeUndefined();
  const service = read(HealthCheckRequestSchema, `{"service":"${"a.B".repeat(60)}"}`);
  expect(fromBinary(HealthCheckRequestSchema, service!).service).toBe("a.B".repeat(60));
});

test("a message longer than 4,096 bytes is left to protobuf-es", () => {
  const read = (length: number) => {
    const text = `{"service":"${"a".repeat(length - 14)}"}`;
    expect(text.length).toBe(length);
    return createJsonReader(HealthCheckRequestSchema)(Buffer.from(text), 0, length);
  };
  expect(fromBinary(HealthCheckRequestSchema, read(4_096)!).service).toBe("a".repeat(4_082));
  expect(read(4_097)).toBeUndefined();
});

test("every length of an ID is written in all its digits", () => {
  const edges = Array.from({ length: 19 }, (_, power) => 10n ** BigInt(power)).flatMap((one) => [one - 1n, one]);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (id) => {
      for (const each of [id, id % 10n ** 9n, id % 10n ** 18n, id - (id % 10n ** 9n)]) expectWritten(each);
    }),
  );
  for (const id of [...edges, 2n ** 64n - 1n, 2n ** 53n]) expectWritten(id);
});

function expectWritten(id: bigint): void {
  const bytes = Buffer.alloc(9, 9);
  bytes.writeBigUInt64LE(id, 1);
  expect(createJsonWriter(NextIdResponseSchema)(bytes, 0).toString("latin1", 5)).toBe(`{"id":"${id}"}`);
}

test("a message of many IDs is written whole, and leaves nothing in the next", () => {
  const write = createJsonWriter(BatchNextIdsResponseSchema);
  for (const count of [65_536, 1, 4_000]) {
    const ids = Array.from({ length: count }, (_, index) => 2n ** 62n + BigInt(index));
    const message = create(BatchNextIdsResponseSchema, { ids });
    const text = write(toBinary(BatchNextIdsResponseSchema, message), 0).toString("latin1", 5);
    expect(text === toJsonString(BatchNextIdsResponseSchema, message)).toBe(true);
  }
});

test("a response is written as protobuf-es writes it", () => {
  const ids = [9_007_199_254_740_993n, 1n, 2n ** 63n - 1n];
  const runs = ids.map((firstId, index) => ({ firstId, count: 300 * index + 1, stride: 4_096n }));
  for (const [schema, message] of [
    [NextIdResponseSchema, create(NextIdResponseSchema, { id: ids[0]! })],
    [NextIdResponseSchema, create(NextIdResponseSchema)],
    [ReserveIdsResponseSchema, create(ReserveIdsResponseSchema, { runs })],
    [ReserveIdsResponseSchema, create(ReserveIdsResponseSchema, { runs: runs.slice(0, 1) })],
    [BatchNextIdsResponseSchema, create(BatchNextIdsResponseSchema, { ids })],
    [HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status: 1 })],
  ] as const) {
    const framed = createJsonWriter(schema)(toBinary(schema, message), 0);
    expect([framed[0], framed.readUInt32BE(1)]).toEqual([0, framed.length - 5]);
    expect(framed.toString("latin1", 5)).toBe(toJsonString(schema, message));
  }
});
