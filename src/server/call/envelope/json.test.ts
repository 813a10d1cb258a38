import { create, fromBinary, fromJsonString, toBinary, toJsonString } from "@bufbuild/protobuf";
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

test("a number is none for a field of another type, and a string is none for a number", () => {
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
    expect(createJsonWriter(schema)(toBinary(schema, message), 0)).toBe(toJsonString(schema, message));
  }
});
