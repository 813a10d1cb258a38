/** The load of README.md by @grpc/grpc-js. */
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type CallOptions, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import {
  BatchNextIdsRequestSchema,
  type BatchNextIdsResponse,
  BatchNextIdsResponseSchema,
  NextIdResponseSchema,
  ParseRequestSchema,
} from "../../../src/gen/snowlane/v1/id_service_pb.ts";

const service = "/snowlane.v1.IdService";
const client = new Client(process.argv[2] ?? "", credentials.createInsecure());
const ids = new Set<bigint>();
const problems: string[] = [];
let count = 0;
let streams = 0;

function take(id: bigint): void {
  count++;
  ids.add(id);
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

/** Calls by bytes; resolves with the answer or the status that it ended with. */
function call(method: string, request: Uint8Array, options: CallOptions, cancelMs?: number): Promise<Buffer | status> {
  return new Promise((resolve) => {
    const answered = (error: ServiceError | null, bytes?: Buffer): void =>
      resolve(error?.code ?? bytes ?? status.UNKNOWN);
    const message = Buffer.from(request);
    const running = client.makeUnaryRequest(
      `${service}/${method}`,
      same,
      same,
      message,
      new Metadata(),
      options,
      answered,
    );
    if (cancelMs !== undefined) setTimeout(() => running.cancel(), cancelMs);
  });
}

async function askOnce(turn: number): Promise<void> {
  const kind = turn % 8;
  const deadline = Date.now() + (kind === 1 ? 1 + (turn % 4) : 90_000 + turn);
  const answer = await call("NextId", new Uint8Array(0), { deadline }, kind === 0 ? turn % 3 : undefined);
  if (typeof answer !== "number") take(fromBinary(NextIdResponseSchema, answer).id);
  else if (answer !== (kind === 0 ? status.CANCELLED : status.DEADLINE_EXCEEDED) || kind > 1)
    problems.push(`unary ${kind}: ${answer}`);
}

async function askAll(caller: number): Promise<void> {
  for (let turn = 0; turn < 150; turn++) await askOnce(caller * 150 + turn);
}

async function stream(index: number): Promise<void> {
  const request = create(BatchNextIdsRequestSchema, { count: 20_000n, chunkSize: 2_000 });
  const running = client.makeServerStreamRequest<Uint8Array, BatchNextIdsResponse>(
    `${service}/BatchNextIds`,
    (bytes) => Buffer.from(bytes),
    (bytes) => fromBinary(BatchNextIdsResponseSchema, bytes),
    toBinary(BatchNextIdsRequestSchema, request),
  );
  let received = 0;
  try {
    for await (const { ids: chunk } of running as AsyncIterable<BatchNextIdsResponse>) {
      for (const id of chunk) take(id);
      received += chunk.length;
      if (index % 4 === 0) break;
      if (index % 4 === 1) await sleep(5);
    }
    if (index % 4 === 0) running.cancel();
    else if (received !== 20_000) problems.push(`stream ${index}: ${received} IDs`);
    else streams++;
  } catch (error) {
    if (index % 4 !== 0) problems.push(`stream ${index}: ${String(error)}`);
  }
}

async function upload(): Promise<void> {
  const text = "x".repeat(200_000);
  const request = toBinary(ParseRequestSchema, create(ParseRequestSchema, { source: { case: "text", value: text } }));
  const answer = await call("Parse", request, { deadline: Date.now() + 120_000 });
  if (answer !== status.RESOURCE_EXHAUSTED) problems.push(`upload: ${String(answer)}`);
}

await Promise.all([
  ...Array.from({ length: 64 }, (_, caller) => askAll(caller)),
  ...Array.from({ length: 40 }, (_, index) => stream(index)),
  ...Array.from({ length: 20 }, upload),
]);
client.close();
process.stdout.write(`${JSON.stringify({ count, distinct: ids.size, streams, problems })}\n`);
