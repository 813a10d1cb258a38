/**
 * The bytes of an answer of NextId are lent: the next call writes over them. An answer that has to wait, for the
 * answers before it or for the reader, must have bytes of its own, or two callers get one ID.
 */
import { fromBinary, fromJsonString } from "@bufbuild/protobuf";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { NextIdResponseSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { grpcFrame } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";

const path = "/snowlane.v1.IdService/NextId";
const callCount = 50;
const empty = Buffer.alloc(0);

/** A protocol with the body of an empty request, and how an ID is read from the body of its answer. */
interface Way {
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

test.each([...ways, { contentType: "application/grpc", request: grpcFrame(empty), idOf: idOfFrame }])(
  "answers that wait for the reader's window have an ID each: $contentType",
  async ({ contentType, request, idOf }) => {
    const { url } = await runServer();
    const session = connectHttp2(url, { settings: { initialWindowSize: 0 } });
    onTestFinished(() => session.destroy());
    await once(session, "localSettings");
    const streams = Array.from({ length: callCount }, () => {
      const stream = session.request({ ":path": path, ":method": "POST", "content-type": contentType, te: "trailers" });
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
