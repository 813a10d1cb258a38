/** Calls of the gRPC transport to a server whose answers are bytes. */
import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import { expect, onTestFinished } from "vitest";
import { IdService } from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { errorCode } from "../../../src/http2/error-code.ts";
import { frameType } from "../../../src/http2/frame.ts";
import { type FieldPairs, frame, headers, uint32 } from "../../../test/support/http2/http2-wire.ts";
import {
  nextIdAnswer,
  type RawRequest,
  RawHttp2Server,
  type RawServerOptions,
  responseFields,
} from "../../../test/support/http2/raw-http2-server.ts";
import { GrpcTransport } from "../src/grpc/grpc-transport.ts";
import type { TlsOptions } from "../src/grpc/tls-options.ts";

/** A server whose answers are bytes. */
export async function serve(
  onRequest: (request: RawRequest) => void,
  options?: RawServerOptions,
): Promise<RawHttp2Server> {
  const server = await RawHttp2Server.start(onRequest, options);
  onTestFinished(() => server.stop());
  return server;
}

/** A client that is closed with the test. */
export function connect(endpoint: string, tls?: TlsOptions): Client<typeof IdService> {
  const transport = new GrpcTransport(endpoint, tls);
  onTestFinished(() => transport.close());
  return createClient(IdService, transport);
}

/** The error that a call ends with. */
export async function errorOf(work: Promise<unknown>): Promise<ConnectError> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(ConnectError);
  return outcome as ConnectError;
}

/** What the one call of a client to such a server fails with. */
export async function failureOf(answer: (request: RawRequest) => Buffer): Promise<ConnectError> {
  const server = await serve((request) => request.connection.send(answer(request)));
  return errorOf(connect(server.url).nextId({}, { timeoutMs: 5_000 }));
}

/** Answers NextId with the number of its stream. */
export const answerNextId = ({ streamId, connection }: RawRequest): void =>
  connection.send(nextIdAnswer(streamId, BigInt(streamId)));
/** A frame GOAWAY. */
export const goAway = (lastStreamId: number, code: number = errorCode.noError, debug = ""): Buffer =>
  frame(frameType.goAway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(code), Buffer.from(debug)]));
/** The trailers that end an answer. */
export const trailers = (streamId: number, fields: FieldPairs): Buffer => headers(streamId, "end", fields);
/** The head of an answer with a body. */
export const head = (streamId: number): Buffer => headers(streamId, "body", responseFields);
