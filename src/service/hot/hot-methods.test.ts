import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  BatchNextIdsRequestSchema,
  BatchNextIdsResponseSchema,
  NextIdRequestSchema,
  NextIdResponseSchema,
  NextIdsRequestSchema,
  NextIdsResponseSchema,
  ReserveIdsRequestSchema,
  ReserveIdsResponseSchema,
} from "../../gen/snowlane/v1/id_service_pb.ts";
import { createBatchNextIds } from "./batch-next-ids.ts";
import { type HotAnswer, type HotContext, type HotStream, LentMessage } from "./hot-method.ts";
import { createNextId } from "./next-id.ts";
import { createNextIds } from "./next-ids.ts";
import { createReserveIds } from "./reserve-ids.ts";
import { idsOf, type IdRun } from "../../snowflake/run.ts";
import type { IdSource, ReservedIds } from "../../worker/id-source.ts";

const context: HotContext = {
  signal: new AbortController().signal,
  timeoutMs: () => undefined,
  allowance: undefined,
  requestFields: [],
  responseFields: [],
  responseTrailers: [],
};
const clock = { nowMs: (): number => 0, monotonicMs: (): number => 0 };

/** Reads a request and answers it; undefined if it is not for a hot method. */
type Call = (message: Buffer, context: HotContext) => HotAnswer | undefined;

/** Hands out runs of at most `runMax` IDs; "late" makes every draw a promise. */
function methods(mode: "now" | "late", runMax = 1_000): { readonly [name: string]: Call } {
  let next = 9_007_199_254_740_993n;
  const reserve = ({ count }: { readonly count: number }): ReservedIds | Promise<ReservedIds> => {
    const runs: IdRun[] = [];
    for (let left = Math.min(count, 2.5 * runMax); left > 0; left -= runMax) {
      const taken = Math.min(left, runMax);
      runs.push({ firstId: next, count: taken, stride: 4n });
      next += BigInt(taken) * 4n + 1_000_000n;
    }
    const drawn = { runs, count: runs.reduce((sum, run) => sum + run.count, 0), risingSpan: 1 };
    return mode === "now" ? drawn : Promise.resolve(drawn);
  };
  const source = {
    reserveCountMax: 1_048_576,
    risingSpan: 1,
    tryNext: () => (mode === "now" ? next++ : undefined),
    reserve,
  } as unknown as IdSource;
  const options = { source, clock, batchCountMax: 1e9, deploymentNow: () => 0xf000_0001 };
  const made = [createNextId(options), createNextIds(options), createReserveIds(options), createBatchNextIds(options)];
  return Object.fromEntries(
    made.map(({ descriptor, read }): [string, Call] => [
      descriptor.name,
      (message, context) => read(message)?.(context),
    ]),
  );
}

function unframe(framed: Uint8Array | LentMessage): Buffer {
  const bytes = Buffer.from(framed instanceof LentMessage ? framed.bytes : framed);
  expect([bytes[0], bytes.readUInt32BE(1)]).toEqual([0, bytes.length - 5]);
  return bytes.subarray(5);
}

async function all(stream: HotStream): Promise<readonly bigint[]> {
  const ids: bigint[] = [];
  for (let chunk = stream.next(); chunk !== undefined; chunk = stream.next()) {
    const { ids: some, deployment } = fromBinary(BatchNextIdsResponseSchema, unframe((await chunk)!));
    expect(deployment).toBe(0xf000_0001);
    ids.push(...some);
  }
  return ids;
}

const batchRequest = (count: bigint, chunkSize = 0): Buffer =>
  Buffer.from(toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count, chunkSize })));

test.each(["now", "late"] as const)("NextId answers what protobuf-es reads (%s)", async (mode) => {
  const { NextId } = methods(mode);
  const answers = [NextId!(Buffer.alloc(0), context), NextId!(Buffer.alloc(0), context)] as (
    | LentMessage
    | Promise<Uint8Array>
  )[];
  const ids: bigint[] = [];
  // Read only now: waiting calls must not share their answer. One that did not wait is valid until the next call.
  for (const answer of mode === "late" ? answers : answers.slice(1)) {
    const { id, deployment } = fromBinary(NextIdResponseSchema, unframe(await answer));
    expect(deployment).toBe(0xf000_0001);
    ids.push(id);
  }
  expect(ids[0]!).toBeGreaterThan(9_007_199_254_740_000n);
  expect(new Set(ids).size).toBe(ids.length);
});

test("NextId with anything in its request is not for it", () => {
  const { NextId } = methods("now");
  const request = toBinary(NextIdRequestSchema, create(NextIdRequestSchema, { textFormat: { form: 1 } }));
  expect(NextId!(Buffer.from(request), context)).toBeUndefined();
});

test.each(["now", "late"] as const)("ReserveIds answers runs that protobuf-es reads (%s)", async (mode) => {
  const { ReserveIds } = methods(mode);
  for (const count of [1, 999, 1_000, 2_100]) {
    const request = toBinary(ReserveIdsRequestSchema, create(ReserveIdsRequestSchema, { count }));
    const answer = await (ReserveIds!(Buffer.from(request), context) as Promise<Uint8Array>);
    const { runs, deployment } = fromBinary(ReserveIdsResponseSchema, unframe(answer));
    expect(deployment).toBe(0xf000_0001);
    expect(runs.reduce((sum, run) => sum + run.count, 0)).toBe(count);
    expect(runs.every(({ stride }) => stride === 4n)).toBe(true);
    const ids = [...idsOf(runs)];
    expect(new Set(ids).size).toBe(count);
  }
});

test.each(["now", "late"] as const)("NextIds answers all of its IDs in one message, rising (%s)", async (mode) => {
  const { NextIds } = methods(mode);
  // The source gives at most 2,500 IDs at a time.
  for (const count of [1, 999, 2_500, 2_501, 10_000]) {
    const request = toBinary(NextIdsRequestSchema, create(NextIdsRequestSchema, { count }));
    const answer = await (NextIds!(Buffer.from(request), context) as Promise<Uint8Array>);
    const { ids, texts, deployment } = fromBinary(NextIdsResponseSchema, unframe(answer));
    expect([deployment, texts]).toEqual([0xf000_0001, []]);
    expect(ids).toHaveLength(count);
    expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true);
  }
});

test("NextIds with a form in its request is not for it", () => {
  const request = toBinary(NextIdsRequestSchema, create(NextIdsRequestSchema, { count: 1, textFormat: { form: 1 } }));
  expect(methods("now")["NextIds"]!(Buffer.from(request), context)).toBeUndefined();
});

test.each(["now", "late"] as const)("BatchNextIds streams exactly its count, in chunks (%s)", async (mode) => {
  const { BatchNextIds } = methods(mode);
  for (const [count, chunkSize] of [
    [1n, 0],
    [4_096n, 0],
    [10_000n, 0],
    [20n, 3],
    [100_000n, 65_536],
  ] as const) {
    const stream = BatchNextIds!(batchRequest(count, chunkSize), context) as HotStream;
    const ids = await all(stream);
    expect(BigInt(ids.length)).toBe(count);
    expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true);
    expect(stream.next()).toBeUndefined();
  }
});

test("counts out of range are the service's error", () => {
  const { BatchNextIds, NextIds, ReserveIds } = methods("now");
  const tooMany = toBinary(NextIdsRequestSchema, create(NextIdsRequestSchema, { count: 10_001 }));
  for (const request of [Buffer.alloc(0), Buffer.from(tooMany)]) {
    expect(() => NextIds!(request, context)).toThrow(expect.objectContaining({ reason: "COUNT_OUT_OF_RANGE" }));
  }
  expect(() => ReserveIds!(Buffer.alloc(0), context)).toThrow(
    expect.objectContaining({ reason: "COUNT_OUT_OF_RANGE" }),
  );
  expect(() => BatchNextIds!(batchRequest(0n), context)).toThrow(expect.objectContaining({ field: "count" }));
  expect(() => BatchNextIds!(batchRequest(1n, 65_537), context)).toThrow(
    expect.objectContaining({ field: "chunk_size" }),
  );
  expect(() => BatchNextIds!(batchRequest(1_000_000_001n), context)).toThrow(
    expect.objectContaining({ field: "count" }),
  );
});
