/**
 * What the gRPC-over-HTTP/2 document asks of a server, for methods that the engine answers on bytes as for all others:
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md. Runs over both kinds of HTTP/2, with one outcome.
 */
import { once } from "node:events";
import { connect } from "node:http2";
import { gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../src/gen/google/rpc/status_pb.ts";
import { ParseRequestSchema, ReserveIdsRequestSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { askHttp2, grpcFrame, type HttpAnswer } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";

const service = "/snowlane.v1.IdService";
const grpc = { "content-type": "application/grpc", te: "trailers" };
const empty = grpcFrame(new Uint8Array(0));
const reserve = (count: number): Uint8Array =>
  toBinary(ReserveIdsRequestSchema, create(ReserveIdsRequestSchema, { count }));

function compressed(message: Uint8Array): Buffer {
  const frame = grpcFrame(gzipSync(message));
  frame[0] = 1;
  return frame;
}

const statusOf = ({ headers, trailers }: HttpAnswer): unknown => trailers["grpc-status"] ?? headers["grpc-status"];

interface Rule {
  readonly name: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly status: string;
}

const rules: readonly Rule[] = [
  { name: "a plain call", body: empty, status: "0" },
  { name: "the codec by its name", headers: { "content-type": "application/grpc+proto" }, body: empty, status: "0" },
  { name: "a field that nobody knows", body: grpcFrame(Buffer.of(0xf8, 0x07, 1)), status: "0" },
  {
    name: "compressed, as announced",
    headers: { "grpc-encoding": "gzip" },
    body: compressed(Buffer.alloc(0)),
    status: "0",
  },
  { name: "not compressed, though it might be", headers: { "grpc-encoding": "gzip" }, body: empty, status: "0" },
  { name: "compressed without a word about it", body: compressed(Buffer.alloc(0)), status: "13" },
  { name: "an encoding that nobody knows", headers: { "grpc-encoding": "lzma" }, body: empty, status: "12" },
  { name: "no message", body: Buffer.alloc(0), status: "12" },
  { name: "two messages", body: Buffer.concat([empty, empty]), status: "12" },
  { name: "a message cut short", body: Buffer.of(0, 0, 0, 0, 9, 1), status: "3" },
  { name: "a prefix cut short", body: Buffer.of(0, 0, 0), status: "3" },
  { name: "no protobuf", body: grpcFrame(Buffer.of(0xff)), status: "13" },
  { name: "a message that is too large", body: grpcFrame(Buffer.alloc(4_097)), status: "8" },
  { name: "a message that claims 4 GiB", body: Buffer.of(0, 0xff, 0xff, 0xff, 0xff), status: "8" },
  { name: "a malformed timeout", headers: { "grpc-timeout": "soon" }, body: empty, status: "3" },
  { name: "a timeout of nine digits", headers: { "grpc-timeout": "100000000n" }, body: empty, status: "3" },
  { name: "a count out of range", path: `${service}/ReserveIds`, body: grpcFrame(reserve(0)), status: "3" },
  { name: "a stream's count out of range", path: `${service}/BatchNextIds`, body: empty, status: "3" },
  { name: "an unknown method", path: `${service}/Nothing`, body: empty, status: "12" },
];

test.each(rules)("$name has status $status", async ({ path = `${service}/NextId`, headers, body, status }) => {
  const { url, faults } = await runServer();
  const answer = await askHttp2(url, { path, headers: { ...grpc, ...headers }, body });
  expect([answer.status, statusOf(answer)]).toEqual([200, status]);
  expect(faults).toEqual([]);
});

test("a call by an IPv6 address without brackets, as node:http2 writes it, is served like any other", async () => {
  const { url } = await runServer();
  const headers = { ...grpc, ":authority": "::1:7609" };
  const answer = await askHttp2(url, { path: `${service}/GetInfo`, headers, body: empty });
  expect([answer.status, statusOf(answer)]).toEqual([200, "0"]);
});

test("an unknown encoding is answered with those that are known", async () => {
  const { url } = await runServer();
  const headers = { ...grpc, "grpc-encoding": "lzma" };
  const answer = await askHttp2(url, { path: `${service}/NextId`, headers, body: empty });
  expect(decodeURIComponent(String(answer.headers["grpc-message"] ?? answer.trailers["grpc-message"]))).toContain(
    "gzip",
  );
});

test("grpc-js shows an error's message as it was written, a colon and a slash, too", async () => {
  const { url } = await runServer();
  const client = new Client(new URL(url).host, credentials.createInsecure());
  onTestFinished(() => client.close());
  const parse = create(ParseRequestSchema, { source: { case: "text", value: "a: b/c?" } });
  const request = Buffer.from(toBinary(ParseRequestSchema, parse));
  const { promise, resolve } = Promise.withResolvers<ServiceError | null>();
  const same = (bytes: Buffer): Buffer => bytes;
  client.makeUnaryRequest(`${service}/Parse`, same, same, request, (error) => resolve(error));
  const error = await promise;
  const [details] = error?.metadata.get("grpc-status-details-bin") ?? [];
  const { message } = fromBinary(StatusSchema, details as Buffer);
  expect(message).toMatch(/[:/,]/);
  expect(error?.details).toBe(message);
});

test("an error has its message percent-encoded and its details in binary, both saying the same", async () => {
  const { url } = await runServer();
  const answer = await askHttp2(url, { path: `${service}/ReserveIds`, headers: grpc, body: grpcFrame(reserve(0)) });
  const fields = { ...answer.headers, ...answer.trailers };
  const details = Buffer.from(String(fields["grpc-status-details-bin"]), "base64");
  const status = fromBinary(StatusSchema, details);
  expect(status.code).toBe(3);
  expect(decodeURIComponent(String(fields["grpc-message"]))).toBe(status.message);
  expect(status.details.map((any) => any.typeUrl.split("/").at(-1))).toEqual([
    "google.rpc.ErrorInfo",
    "google.rpc.BadRequest",
  ]);
  expect(anyUnpack(status.details[0]!, ErrorInfoSchema)).toMatchObject({ reason: "COUNT_OUT_OF_RANGE" });
  expect(anyUnpack(status.details[1]!, BadRequestSchema)?.fieldViolations[0]).toMatchObject({ field: "count" });
});

test.each(["NextId", "ReserveIds", "GetInfo"])(
  "%s: a deadline that passes before the body has come",
  async (method) => {
    const running = await runServer();
    const session = connect(running.url);
    onTestFinished(() => session.destroy());
    const issued = running.server.source.status().counters.issued;
    const stream = session.request({
      ":path": `${service}/${method}`,
      ":method": "POST",
      ...grpc,
      "grpc-timeout": "100m",
    });
    const sent: Record<string, unknown> = {};
    stream.on("response", (head) => Object.assign(sent, head));
    stream.on("trailers", (trailers) => Object.assign(sent, trailers));
    stream.on("error", () => undefined);
    const closed = once(stream, "close");
    stream.write(empty.subarray(0, 3));
    // Its answer says that the server has the head: from then on the deadline runs.
    await new Promise<void>((resolve) => session.ping(() => resolve()));
    setTimeout(() => void (stream.writable && stream.end(empty.subarray(3))), 400);
    stream.resume();
    await closed;
    expect(sent["grpc-status"]).toBe("4");
    expect(running.server.source.status().counters.issued).toBe(issued);
  },
);
