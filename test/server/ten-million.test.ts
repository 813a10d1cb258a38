import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import {
  type BatchNextIdsRequest,
  BatchNextIdsRequestSchema,
  type BatchNextIdsResponse,
  BatchNextIdsResponseSchema,
} from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { residentMb } from "../support/processes/resident-memory.ts";

const count = 10_000_000;

test("ten million IDs over one stream to grpc-js: complete, rising, and the server's memory stays flat", async () => {
  const server = await startSnowlane({ args: ["--store", `sqlite:${temporaryFolder()}/snowlane.db`] });
  onTestFinished(async () => void (await server.stop("SIGTERM")));
  const client = new Client(server.address, credentials.createInsecure());
  onTestFinished(() => client.close());
  const stream = client.makeServerStreamRequest<BatchNextIdsRequest, BatchNextIdsResponse>(
    "/snowlane.v1.IdService/BatchNextIds",
    (request) => Buffer.from(toBinary(BatchNextIdsRequestSchema, request)),
    (bytes) => fromBinary(BatchNextIdsResponseSchema, bytes),
    create(BatchNextIdsRequestSchema, { count: BigInt(count) }),
  );
  let received = 0;
  let last = -1n;
  let falls = 0;
  const resident: number[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    stream.on("end", resolve);
    stream.on("error", (error: ServiceError) => reject(error));
  });
  stream.on("data", ({ ids }: BatchNextIdsResponse) => {
    for (const id of ids) {
      if (id <= last) falls += 1;
      last = id;
    }
    const before = Math.floor(received / 1_000_000);
    received += ids.length;
    if (Math.floor(received / 1_000_000) > before) resident.push(residentMb(server.child.pid));
  });
  await ended;
  expect(received).toBe(count);
  expect(falls).toBe(0);
  // After the first two million the heap has its size; a stream that piled up would need 8 bytes an ID: 64 MB more.
  expect(Math.max(...resident.slice(2)) - (resident[1] ?? 0)).toBeLessThan(62);
});
