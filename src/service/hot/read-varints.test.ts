import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BatchNextIdsRequestSchema, ReserveIdsRequestSchema } from "../../gen/snowlane/v1/id_service_pb.ts";
import { readBatchRequest } from "./batch-next-ids.ts";
import { readReserveRequest } from "./reserve-ids.ts";

/** Bytes that look like these messages more often than random ones do. */
const nearlyMessage = fc
  .array(
    fc.oneof(
      fc.constantFrom(0x08, 0x10, 0x18, 0x1a, 0x00, 0x80, 0xff, 0x7f),
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(0x01, 0x20),
    ),
    { maxLength: 24 },
  )
  .map((bytes) => Buffer.from(bytes));

test("a ReserveIdsRequest that is read is what protobuf-es reads, and bytes that it refuses are not read", () => {
  let readCount = 0;
  fc.assert(
    fc.property(nearlyMessage, (bytes) => {
      const count = readReserveRequest(bytes);
      if (count === undefined) return;
      readCount++;
      expect(fromBinary(ReserveIdsRequestSchema, bytes).count).toBe(count);
    }),
    { numRuns: 30_000 },
  );
  expect(readCount).toBeGreaterThan(500);
});

test("a BatchNextIdsRequest that is read is what protobuf-es reads, and bytes that it refuses are not read", () => {
  let readCount = 0;
  fc.assert(
    fc.property(nearlyMessage, (bytes) => {
      const request = readBatchRequest(bytes);
      if (request === undefined) return;
      readCount++;
      const { count, chunkSize, textFormat } = fromBinary(BatchNextIdsRequestSchema, bytes);
      expect({ count, chunkSize, textFormat }).toEqual({
        count: BigInt(request.count),
        chunkSize: request.chunkSize,
        textFormat: undefined,
      });
    }),
    { numRuns: 30_000 },
  );
  expect(readCount).toBeGreaterThan(500);
});

test("what a client of protobuf writes is read, up to 2^32 - 1 and 2^53 - 1", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (count, chunkSize) => {
        const batch = toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count, chunkSize }));
        expect(readBatchRequest(Buffer.from(batch))).toEqual({ count: Number(count), chunkSize });
        const reserve = toBinary(ReserveIdsRequestSchema, create(ReserveIdsRequestSchema, { count: chunkSize }));
        expect(readReserveRequest(Buffer.from(reserve))).toBe(chunkSize);
      },
    ),
  );
  const odd = toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count: 2n ** 53n }));
  expect(readBatchRequest(Buffer.from(odd))).toBeUndefined();
});

test("texts, unknown fields and numbers cut short are left to protobuf-es", () => {
  const withText = create(BatchNextIdsRequestSchema, { count: 1n, textFormat: { form: 2 } });
  expect(readBatchRequest(Buffer.from(toBinary(BatchNextIdsRequestSchema, withText)))).toBeUndefined();
  for (const hex of ["08", "0880", "0a00", "1801", "0901", "08ffffffffffffffffff01"]) {
    expect(readReserveRequest(Buffer.from(hex, "hex"))).toBeUndefined();
    expect(readBatchRequest(Buffer.from(hex, "hex"))).toBeUndefined();
  }
  expect(readReserveRequest(Buffer.from("1001", "hex"))).toBeUndefined();
});
