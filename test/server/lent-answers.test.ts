/**
 * The bytes of an answer of NextId are lent: the next call writes over them. An answer that has to wait, for the
 * answers before it or for the reader, must have bytes of its own, or two callers get one ID.
 */
import { create, fromBinary, fromJsonString, toBinary } from "@bufbuild/protobuf";
import { once } from "node:events";
import { type IncomingMessage, request as requestHttp1 } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import {
  BatchNextIdsRequestSchema,
  BatchNextIdsResponseSchema,
  NextIdResponseSchema,
  ReserveIdsResponseSchema,
} from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { grpcFrame } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";

const service = "/snowlane.v1.IdService";
const path = `${service}/NextId`;
const callCount = 50;
const empty = Buffer.alloc(0);

/** A protocol with the body of an empty request, and how an ID is read from the body of its answer. */
interface Way {
  /** Default: NextId. */
  readonly method?: "ReserveIds";
  readonly contentType: string;
  readonly request: Buffer;
  readonly idOf: (body: Buffer) => bigint;
}

const idOfBinary = (message: Buffer): bigint => fromBinary(NextIdResponseSchema, message).id;
const idOfFrame = (body: Buffer): bigint => idOfBinary(body.subarray(5, 5 + body.readUInt32BE(1)));
const idOfJson = (body: Buffer): bigint => fromJsonString(NextIdResponseSchema, body.toString()).id;

const ways: readonly Way[] = [
  { contentType: "application/proto", request: empty, idOf: idOfBinary },
  { contentType: "application/grpc-web+proto", request: grpcFrame(empty), idOf: idOfFrame },
  { contentType: "application/grpc-web", request: grpcFrame(empty), idOf: idOfFrame },
  { contentType: "application/json", request: Buffer.from("{}"), idOf: idOfJson },
];

test.each(ways)(
  "calls in one piece over HTTP/1.1 get an ID each: $contentType",
  async ({ contentType, request, idOf }) => {
    const { address } = await runServer();
    const [host, port] = address.split(":");
    const socket = connectTcp(Number(port), host);
    const call = (connection: string): Buffer => {
      const fields = `host: ${address}\r\nconnection: ${connection}\r\ncontent-type: ${contentType}`;
      return Buffer.concat([
        Buffer.from(`POST ${path} HTTP/1.1\r\n${fields}\r\ncontent-length: ${request.length}\r\n\r\n`),
        request,
      ]);
    };
    socket.write(Buffer.concat([...Array.from({ length: callCount - 1 }, () => call("keep-alive")), call("close")]));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    const [before, ...answers] = Buffer.concat(chunks).toString("latin1").split("HTTP/1.1 200 OK\r\n");
    expect(before).toBe("");
    expect(answers).toHaveLength(callCount);
    expect(new Set(answers.map((answer) => idOf(bodyOf(answer)))).size).toBe(callCount);
  },
);

/** The body of an answer over HTTP/1.1, or of one that comes in chunks the first chunk. */
function bodyOf(answer: string): Buffer {
  const from = answer.indexOf("\r\n\r\n") + 4;
  const body = answer.slice(from);
  const isChunked = /^transfer-encoding: chunked\r$/im.test(answer.slice(0, from));
  return Buffer.from(isChunked ? body.slice(body.indexOf("\r\n") + 2) : body, "latin1");
}

const more: readonly Way[] = [
  { contentType: "application/grpc", request: grpcFrame(empty), idOf: idOfFrame },
  {
    method: "ReserveIds",
    contentType: "application/json",
    request: Buffer.from('{"count":1}'),
    idOf: (body) => fromJsonString(ReserveIdsResponseSchema, body.toString()).runs[0]!.firstId,
  },
];

test.each([...ways, ...more])(
  "answers that wait for the reader's window have an ID each: $contentType",
  async ({ method = "NextId", contentType, request, idOf }) => {
    const { url } = await runServer();
    const session = connectHttp2(url, { settings: { initialWindowSize: 0 } });
    onTestFinished(() => session.destroy());
    await once(session, "localSettings");
    const streams = Array.from({ length: callCount }, () => {
      const stream = session.request({
        ":path": `${service}/${method}`,
        ":method": "POST",
        "content-type": contentType,
        te: "trailers",
      });
      stream.end(request);
      return stream;
    });
    const bodies = streams.map(async (stream) => {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      return Buffer.concat(chunks);
    });
    await Promise.all(streams.map((stream) => once(stream, "response")));
    session.settings({ initialWindowSize: 65_535 });
    expect(new Set((await Promise.all(bodies)).map(idOf)).size).toBe(callCount);
  },
);

/** A protocol in which a stream of IDs comes on bytes. */
interface StreamWay {
  readonly contentType: string;
  readonly request: Buffer;
  /** The IDs of a message; none of the frame that ends the stream. */
  readonly idsOf: (flags: number, message: Buffer) => readonly bigint[];
}

const batchPath = "/snowlane.v1.IdService/BatchNextIds";
const batch = { count: 60_000n, chunkSize: 1_000 };
const batchOfBinary = grpcFrame(toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, batch)));
const batchOfJson = grpcFrame(Buffer.from(`{"count":"${batch.count}","chunkSize":${batch.chunkSize}}`));
const idsOfBinary: StreamWay["idsOf"] = (flags, message) =>
  flags === 0 ? fromBinary(BatchNextIdsResponseSchema, message).ids : [];
const idsOfJson: StreamWay["idsOf"] = (flags, message) =>
  flags === 0 ? fromJsonString(BatchNextIdsResponseSchema, message.toString()).ids : [];

const streamWays: readonly StreamWay[] = [
  { contentType: "application/grpc-web+proto", request: batchOfBinary, idsOf: idsOfBinary },
  { contentType: "application/grpc-web+json", request: batchOfJson, idsOf: idsOfJson },
  { contentType: "application/connect+proto", request: batchOfBinary, idsOf: idsOfBinary },
  { contentType: "application/connect+json", request: batchOfJson, idsOf: idsOfJson },
];

function* idsIn(body: Buffer, { idsOf }: StreamWay): Generator<bigint> {
  for (let at = 0; at < body.length; ) {
    const start = at + 5;
    const end = start + body.readUInt32BE(at + 1);
    yield* idsOf(body[at]!, body.subarray(start, end));
    at = end;
  }
}

/** Expects that streams which were read at the same time have all of their IDs, in order, and none twice. */
function expectWhole(bodies: readonly Buffer[], way: StreamWay): void {
  const lists = bodies.map((body) => [...idsIn(body, way)]);
  for (const ids of lists) {
    expect(ids).toHaveLength(Number(batch.count));
    expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true);
  }
  expect(new Set(lists.flat()).size).toBe(bodies.length * Number(batch.count));
}

test.each(streamWays)("two streams over HTTP/1.1 that wait for their readers: $contentType", async (way) => {
  const { url, faults } = await runServer();
  const { contentType, request } = way;
  const responses = await Promise.all(
    [1, 2].map(async () => {
      const call = requestHttp1(url + batchPath, {
        method: "POST",
        agent: false,
        headers: { "content-type": contentType, "content-length": request.length },
      });
      call.end(request);
      const [response] = await once(call, "response");
      return response as IncomingMessage;
    }),
  );
  // In turn, a little of each.
  const bodies = await Promise.all(responses.map((response) => readSlowly(response)));
  expectWhole(bodies, way);
  expect(faults).toEqual([]);
});

async function readSlowly(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return Buffer.concat(chunks);
}

test.each([...streamWays, { contentType: "application/grpc", request: batchOfBinary, idsOf: idsOfBinary }])(
  "two streams behind closed windows, beside calls of NextId and Health/Check: $contentType",
  async (way) => {
    const { url, faults } = await runServer();
    const session = connectHttp2(url, { settings: { initialWindowSize: 0 } });
    onTestFinished(() => session.destroy());
    await once(session, "localSettings");
    const ask = (path: string, contentType: string, request: Buffer) => {
      const stream = session.request({ ":path": path, ":method": "POST", "content-type": contentType, te: "trailers" });
      stream.end(request);
      return stream;
    };
    const streams = [1, 2].map(() => ask(batchPath, way.contentType, way.request));
    const pairs = 40;
    const calls = Array.from({ length: pairs }, () => [
      ask(path, "application/grpc", grpcFrame(empty)),
      ask("/grpc.health.v1.Health/Check", "application/json", Buffer.from("{}")),
    ]).flat();
    const all = [...streams, ...calls];
    const bodies = all.map(async (stream) => {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      return Buffer.concat(chunks);
    });
    await Promise.all(all.map((stream) => once(stream, "response")));
    // Little by little, so that a message leaves in many pieces.
    for (const initialWindowSize of [1, 7, 100, 10_000, 65_535]) {
      session.settings({ initialWindowSize });
      await once(session, "localSettings");
    }
    const [first, second, ...rest] = await Promise.all(bodies);
    expectWhole([first!, second!], way);
    const ids = rest.filter((_, index) => index % 2 === 0).map(idOfFrame);
    const batches = [first!, second!].flatMap((body) => Array.from(idsIn(body, way)));
    expect(new Set([...ids, ...batches]).size).toBe(pairs + batches.length);
    const health = rest.filter((_, index) => index % 2 === 1).map(String);
    expect(new Set(health)).toEqual(new Set(['{"status":"SERVING"}']));
    expect(faults).toEqual([]);
  },
);
