import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../../../src/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../../src/gen/google/rpc/status_pb.ts";
import { BatchNextIdsResponseSchema, IdService } from "../../../../src/gen/snowlane/v1/id_service_pb.ts";
import { errorCode } from "../../../../src/http2/error-code.ts";
import { frameFlag, frameType, settingId } from "../../../../src/http2/frame.ts";
import { version } from "../../../../src/version.ts";
import {
  data,
  type FieldPairs,
  frame,
  headers,
  rstStream,
  settings,
  uint32,
  windowUpdate,
} from "../../../../test/support/http2/http2-wire.ts";
import {
  nextIdAnswer,
  type RawRequest,
  RawHttp2Server,
  type RawServerOptions,
  responseFields,
} from "../../../../test/support/http2/raw-http2-server.ts";
import { type Certificates, makeCertificates } from "../../../../test/support/processes/certificates.ts";
import { findFreePort } from "../../../../test/support/processes/free-port.ts";
import { GrpcTransport } from "./grpc-transport.ts";
import type { TlsOptions } from "./tls-options.ts";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A server whose answers are bytes. */
async function serve(onRequest: (request: RawRequest) => void, options?: RawServerOptions): Promise<RawHttp2Server> {
  const server = await RawHttp2Server.start(onRequest, options);
  closers.push(() => server.stop());
  return server;
}

function connect(endpoint: string, tls?: TlsOptions): Client<typeof IdService> {
  const transport = new GrpcTransport(endpoint, tls);
  closers.push(() => transport.close());
  return createClient(IdService, transport);
}

async function errorOf(work: Promise<unknown>): Promise<ConnectError> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(ConnectError);
  return outcome as ConnectError;
}

/** What the one call of a client to such a server fails with. */
async function failureOf(answer: (request: RawRequest) => Buffer): Promise<ConnectError> {
  const server = await serve((request) => request.connection.send(answer(request)));
  return errorOf(connect(server.url).nextId({}, { timeoutMs: 5_000 }));
}

const answerNextId = ({ streamId, connection }: RawRequest): void =>
  connection.send(nextIdAnswer(streamId, BigInt(streamId)));
const goAway = (lastStreamId: number, code: number = errorCode.noError, debug = ""): Buffer =>
  frame(frameType.goAway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(code), Buffer.from(debug)]));
const trailers = (streamId: number, fields: FieldPairs): Buffer => headers(streamId, "end", fields);
const head = (streamId: number): Buffer => headers(streamId, "body", responseFields);

describe("a call", () => {
  test("sends what gRPC asks for, and headers, deadline and path of the caller", async () => {
    const server = await serve(answerNextId);
    const client = connect(`${server.url}/base`);
    const { id } = await client.nextId({}, { timeoutMs: 1_500, headers: { authorization: "Bearer a" } });
    expect(id).toBe(1n);
    expect(server.requests[0]?.fields).toEqual({
      ":method": "POST",
      ":scheme": "http",
      ":path": "/base/snowlane.v1.IdService/NextId",
      ":authority": `127.0.0.1:${server.port}`,
      te: "trailers",
      "content-type": "application/grpc+proto",
      "user-agent": `grpc-node-snowlane/${version}`,
      "grpc-timeout": "1500m",
      authorization: "Bearer a",
    });
    expect(server.requests[0]?.body.toString("hex")).toBe("0000000000");
    await client.nextId({});
    expect(server.requests[1]?.fields).not.toHaveProperty("grpc-timeout");
    expect(JSON.parse(readFileSync("clients/typescript/package.json", "utf8"))).toMatchObject({ version });
  });

  test("gives headers and trailers to those who ask", async () => {
    const server = await serve(({ streamId, connection }) =>
      connection.send(
        headers(streamId, "body", [...responseFields, ["x-a", "1"], ["x-a", "2"]]),
        data(streamId, Buffer.from("000000000909ffffffffffffff7f", "hex")),
        trailers(streamId, [
          ["grpc-status", "0"],
          ["x-b", "3"],
        ]),
      ),
    );
    const seen: (string | null)[] = [];
    const onHeader = (fields: Headers): void => void seen.push([...fields.keys()].join(), fields.get("x-a"));
    const onTrailer = (fields: Headers): void => void seen.push(fields.get("x-b"));
    const { id } = await connect(server.url).nextId({}, { onHeader, onTrailer });
    expect([id, ...seen]).toEqual([2n ** 63n - 1n, "content-type,x-a", "1, 2", "3"]);
  });

  test("calls of one turn share a connection and a write, and their answers may come in any order", async () => {
    const held: RawRequest[] = [];
    const server = await serve((request) => {
      held.push(request);
      if (held.length === 50) for (const each of held.toReversed()) answerNextId(each);
    });
    const client = connect(server.url);
    const ids = await Promise.all(Array.from({ length: 50 }, () => client.nextId({})));
    expect(ids.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, index) => BigInt(2 * index + 1)));
    expect(server.connections).toHaveLength(1);
  });

  test("no more are open than the server allows; the others wait", async () => {
    let openCount = 0;
    let openCountMax = 0;
    const greeting = settings([settingId.maxConcurrentStreams, 3]);
    const onRequest = (request: RawRequest): void => {
      openCountMax = Math.max(openCountMax, ++openCount);
      setTimeout(() => {
        openCount--;
        answerNextId(request);
      }, 1);
    };
    const server = await serve(onRequest, { greeting });
    const client = connect(server.url);
    await client.nextId({});
    await Promise.all(Array.from({ length: 20 }, () => client.nextId({})));
    expect(openCountMax).toBe(3);
  });

  test("a request waits for a window that is closed", async () => {
    const server = await serve(answerNextId, { greeting: settings([settingId.initialWindowSize, 0]) });
    const client = connect(server.url);
    // The first one may leave before the server's SETTINGS.
    await client.nextId({});
    const second = errorOf(client.reserveIds({ count: 100 }));
    const [connection] = server.connections;
    await expect.poll(() => connection?.received(frameType.headers).length).toBe(2);
    await sleep(20);
    expect(server.requests).toHaveLength(1);
    connection?.send(windowUpdate(3, 6));
    await expect.poll(() => connection?.received(frameType.data).length).toBe(2);
    connection?.send(windowUpdate(3, 100));
    await expect.poll(() => server.requests.length).toBe(2);
    expect(server.requests[1]?.body.toString("hex")).toBe("00000000020864");
    expect((await second).rawMessage).toMatch(/^parse binary: /);
  });
});

describe("what ends a call", () => {
  test("a deadline that passes before any header ends the call on both sides", async () => {
    const server = await serve(() => undefined);
    const error = await errorOf(connect(server.url).nextId({}, { timeoutMs: 30 }));
    expect(error).toMatchObject({ code: Code.DeadlineExceeded, rawMessage: "the operation timed out" });
    await expect.poll(() => server.connections[0]?.received(frameType.rstStream)).toEqual(["00000008"]);
  });

  test("a signal ends the call on both sides", async () => {
    const server = await serve(() => undefined);
    const client = connect(server.url);
    const controller = new AbortController();
    const failure = errorOf(client.nextId({}, { signal: controller.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(new Error("enough"));
    expect(await failure).toMatchObject({ code: Code.Canceled, cause: new Error("enough") });
    await expect.poll(() => server.connections[0]?.received(frameType.rstStream)).toEqual(["00000008"]);
    expect((await errorOf(client.nextId({}, { signal: controller.signal }))).code).toBe(Code.Canceled);
    expect(server.requests).toHaveLength(1);
  });

  test("a call that waits for the connection keeps its deadline", async () => {
    const silent = createTcpServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    closers.push(() => void silent.close());
    const client = connect(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    expect((await errorOf(client.nextId({}, { timeoutMs: 30 }))).code).toBe(Code.DeadlineExceeded);
  });

  test("trailers alone are an error, with reason and details", async () => {
    const detail = create(ErrorInfoSchema, { reason: "QUOTA_EXCEEDED", domain: "snowlane.dev" });
    const value = toBinary(ErrorInfoSchema, detail);
    const details = [{ typeUrl: "type.googleapis.com/google.rpc.ErrorInfo", value }];
    const status = toBinary(StatusSchema, create(StatusSchema, { code: 8, message: "slow \u2603", details }));
    const error = await failureOf(({ streamId }) =>
      trailers(streamId, [
        ...responseFields,
        ["grpc-status", "8"],
        ["grpc-message", "slow %E2%98%83"],
        ["grpc-status-details-bin", Buffer.from(status).toString("base64").replace(/=+$/, "")],
      ]),
    );
    expect(error).toMatchObject({ code: Code.ResourceExhausted, rawMessage: "slow \u2603" });
    expect(error.findDetails(ErrorInfoSchema)[0]?.reason).toBe("QUOTA_EXCEEDED");
    expect(error.metadata.get("grpc-status")).toBe("8");
  });

  test("a message with a broken percent sign, and details that are none, do not hide the status", async () => {
    const error = await failureOf(({ streamId }) =>
      trailers(streamId, [
        ...responseFields,
        ["grpc-status", "9"],
        ["grpc-message", "100%"],
        ["grpc-status-details-bin", "/w"],
      ]),
    );
    expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "100%" });
  });

  test.each([
    ["17", "internal"],
    ["-1", "internal"],
    ["x", "internal"],
    ["14", "unavailable"],
  ])("the status %s is %s", async (status, name) => {
    const error = await failureOf(({ streamId }) => trailers(streamId, [...responseFields, ["grpc-status", status]]));
    expect(error.message).toMatch(new RegExp(`^\\[${name}\\]`));
  });
});

describe("answers that are not gRPC's", () => {
  test.each([
    [400, Code.Internal],
    [401, Code.Unauthenticated],
    [403, Code.PermissionDenied],
    [404, Code.Unimplemented],
    [429, Code.Unavailable],
    [502, Code.Unavailable],
    [503, Code.Unavailable],
    [504, Code.Unavailable],
    [500, Code.Unknown],
    [302, Code.Unknown],
  ])("HTTP %i", async (status, code) => {
    const html: FieldPairs = [
      [":status", String(status)],
      ["content-type", "text/html"],
    ];
    const error = await failureOf(({ streamId }) =>
      Buffer.concat([headers(streamId, "body", html), data(streamId, Buffer.from("<html>Bad Gateway</html>"), "end")]),
    );
    expect(error).toMatchObject({ code, rawMessage: `HTTP ${status}` });
    expect(error.metadata.get("content-type")).toBe("text/html");
  });

  test("a page with status 200 is no answer", async () => {
    const html: FieldPairs = [
      [":status", "200"],
      ["content-type", "text/html"],
    ];
    const error = await failureOf(({ streamId }) => headers(streamId, "end", html));
    expect(error).toMatchObject({ code: Code.Unknown, rawMessage: "unsupported content type text/html" });
  });

  test("an informational head is passed over", async () => {
    const server = await serve(({ streamId, connection }) =>
      connection.send(headers(streamId, "body", [[":status", "103"]]), nextIdAnswer(streamId, 7n)),
    );
    expect((await connect(server.url).nextId({})).id).toBe(7n);
  });

  const message = (hex: string): Buffer => Buffer.from(hex, "hex");
  const okTrailers: FieldPairs = [["grpc-status", "0"]];
  const brokenBodies: readonly (readonly [what: string, body: string, code: Code, text: RegExp])[] = [
    ["a compressed message", "01000000021f8b", Code.Internal, /compressed/],
    ["a message above the limit", "0000400001", Code.ResourceExhausted, /4194305 bytes/],
    ["a message that is none", "000000000109", Code.Internal, /./],
    ["a message cut short", "00000000050900", Code.Internal, /cut short/],
    ["a prefix cut short", "0000", Code.Internal, /cut short/],
    [
      "two messages",
      "000000000909010000000000000000000000090901000000000000 00".replace(" ", ""),
      Code.Unimplemented,
      /extra/,
    ],
    ["no message", "", Code.Unimplemented, /missing/],
  ];
  test.each(brokenBodies)("%s", async (_what, body, code, text) => {
    const error = await failureOf(({ streamId }) =>
      Buffer.concat([head(streamId), data(streamId, message(body)), trailers(streamId, okTrailers)]),
    );
    expect(error.code).toBe(code);
    expect(error.rawMessage).toMatch(text);
  });

  test("an answer without a status", async () => {
    const error = await failureOf(({ streamId }) =>
      Buffer.concat([head(streamId), data(streamId, message("000000000909 0100000000000000".replace(" ", "")), "end")]),
    );
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "protocol error: missing status" });
  });

  test("an error after a whole message counts", async () => {
    const error = await failureOf(({ streamId }) =>
      Buffer.concat([
        head(streamId),
        data(streamId, message("0000000009090100000000000000")),
        trailers(streamId, [["grpc-status", "10"]]),
      ]),
    );
    expect(error.code).toBe(Code.Aborted);
  });
});

describe("resets", () => {
  // https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, section Errors.
  test.each([
    ["NO_ERROR", errorCode.noError, Code.Internal],
    ["PROTOCOL_ERROR", errorCode.protocolError, Code.Internal],
    ["INTERNAL_ERROR", errorCode.internalError, Code.Internal],
    ["FLOW_CONTROL_ERROR", errorCode.flowControlError, Code.Internal],
    ["SETTINGS_TIMEOUT", errorCode.settingsTimeout, Code.Internal],
    ["STREAM_CLOSED", errorCode.streamClosed, Code.Unknown],
    ["FRAME_SIZE_ERROR", errorCode.frameSizeError, Code.Internal],
    ["CANCEL", errorCode.cancel, Code.Canceled],
    ["COMPRESSION_ERROR", errorCode.compressionError, Code.Internal],
    ["CONNECT_ERROR", errorCode.connectError, Code.Internal],
    ["ENHANCE_YOUR_CALM", errorCode.enhanceYourCalm, Code.ResourceExhausted],
    ["INADEQUATE_SECURITY", errorCode.inadequateSecurity, Code.PermissionDenied],
    ["13", 13, Code.Internal],
  ])("%s", async (name, code, expected) => {
    const error = await failureOf(({ streamId }) => rstStream(streamId, code));
    expect(error).toMatchObject({
      code: expected,
      rawMessage: `http/2 stream closed with error code ${name}`,
    });
  });

  test("REFUSED_STREAM: the call is sent once more, and then fails as UNAVAILABLE", async () => {
    let refusals = 1;
    const server = await serve((request) => {
      if (refusals-- > 0) request.connection.send(rstStream(request.streamId, errorCode.refusedStream));
      else answerNextId(request);
    });
    const client = connect(server.url);
    expect((await client.nextId({})).id).toBe(3n);
    refusals = 2;
    const error = await errorOf(client.nextId({}));
    expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: "The server refused the request." });
    expect((await client.nextId({})).id).toBe(9n);
    expect(server.connections).toHaveLength(1);
  });
});

describe("connections that end", () => {
  test("GOAWAY in the middle of calls: none is lost, those that were not begun are sent again", async () => {
    const held: RawRequest[] = [];
    const server = await serve((request) => {
      if (request.connection.number > 0) {
        answerNextId(request);
        return;
      }
      held.push(request);
      if (held.length < 4) return;
      request.connection.send(goAway(3));
      for (const each of held.slice(0, 2)) answerNextId(each);
      request.connection.socket.end();
    });
    const client = connect(server.url);
    const ids = await Promise.all(Array.from({ length: 4 }, () => client.nextId({})));
    expect(ids.map(({ id }) => id)).toEqual([1n, 3n, 1n, 3n]);
    expect(server.connections).toHaveLength(2);
  });

  test("after the first GOAWAY of a drain new calls go elsewhere, and open ones go on", async () => {
    const held: RawRequest[] = [];
    const server = await serve((request) => {
      if (request.connection.number > 0) answerNextId(request);
      else held.push(request);
    });
    const client = connect(server.url);
    const first = client.nextId({});
    await expect.poll(() => held.length).toBe(1);
    const old = held[0]!;
    old.connection.send(goAway(0x7fffffff));
    await expect.poll(async () => (await client.nextId({}, { timeoutMs: 50 }).catch(() => ({ id: 0n }))).id).toBe(1n);
    answerNextId(old);
    expect((await first).id).toBe(1n);
    // The client closes it when its last call is over.
    await once(old.connection.socket, "close");
  });

  test("a server that ends the connection says why", async () => {
    const server = await serve(({ connection, streamId }) => {
      connection.send(goAway(streamId, errorCode.enhanceYourCalm, "too_many_pings"));
      connection.socket.end();
    });
    const error = await errorOf(connect(server.url).nextId({}));
    expect(error).toMatchObject({
      code: Code.Unavailable,
      rawMessage: "The server ended the connection: ENHANCE_YOUR_CALM, too_many_pings.",
    });
  });

  test("a connection that is reset or closed is UNAVAILABLE, and the next call opens another", async () => {
    const server = await serve((request) => {
      const { number, socket } = request.connection;
      if (number === 0) socket.resetAndDestroy();
      else if (number === 1) socket.end();
      else answerNextId(request);
    });
    const client = connect(server.url);
    expect(await errorOf(client.nextId({}))).toMatchObject({ code: Code.Unavailable, cause: { code: "ECONNRESET" } });
    expect(await errorOf(client.nextId({}))).toMatchObject({
      code: Code.Unavailable,
      rawMessage: "The server closed the connection.",
    });
    expect((await client.nextId({})).id).toBe(1n);
  });

  test("what breaks HTTP/2 ends the connection with GOAWAY", async () => {
    const broken: readonly (readonly [what: string, bytes: (streamId: number) => Buffer, text: RegExp])[] = [
      ["a push", () => frame(frameType.pushPromise, frameFlag.endHeaders, 1, uint32(2)), /push/],
      ["an idle stream", () => data(99, 1), /not sent/],
      ["a header block that is none", (id) => frame(frameType.headers, frameFlag.endHeaders, id, "ff"), /integer/],
      ["a frame that is too large", () => frame(frameType.data, 0, 1, Buffer.alloc(16_385)), /16385/],
      ["a window beyond its end", () => windowUpdate(0, 0x7fffffff), /window/],
    ];
    for (const [what, bytes, text] of broken) {
      const server = await serve(({ streamId, connection }) => connection.send(bytes(streamId)));
      const error = await errorOf(connect(server.url).nextId({}));
      expect(error.code, what).toBe(Code.Unavailable);
      expect(error.rawMessage, what).toMatch(text);
      await expect.poll(() => server.connections[0]?.received(frameType.goAway).length).toBe(1);
    }
  });

  test("nobody listens", async () => {
    const error = await errorOf(connect(`http://127.0.0.1:${await findFreePort()}`).nextId({}));
    expect(error).toMatchObject({ code: Code.Unavailable, cause: { code: "ECONNREFUSED" } });
  });

  test("closing ends the calls that are open, and refuses new ones", async () => {
    const server = await serve(() => undefined);
    const transport = new GrpcTransport(server.url, undefined);
    const client = createClient(IdService, transport);
    const open = errorOf(client.nextId({}));
    await expect.poll(() => server.requests.length).toBe(1);
    transport.close();
    expect((await open).code).toBe(Code.Unavailable);
    expect((await errorOf(client.nextId({}))).code).toBe(Code.Canceled);
  });
});

describe("servers of another kind", () => {
  test("one that answers by HTTP/1.1", async () => {
    const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => void server.close());
    const error = await errorOf(connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).nextId({}));
    expect(error).toMatchObject({
      code: Code.Unavailable,
      rawMessage: "The server answers by HTTP/1.1, and gRPC needs HTTP/2.",
    });
  });

  test("one that speaks first, and another language", async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.end("220 mail.example.com ESMTP ready for all comers\r\n");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => void server.close());
    const error = await errorOf(connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).nextId({}));
    expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringMatching(/frame/) });
  });
});

describe("TLS", () => {
  let certificates: Certificates;
  const text = (path: string): string => readFileSync(path, "utf8");
  beforeAll(async () => {
    certificates = await makeCertificates();
  }, 300_000);
  afterAll(() => certificates.remove());

  const serveTls = async (ALPNProtocols?: readonly string[]): Promise<string> => {
    const { certFile, keyFile } = certificates.server;
    const tls = {
      cert: text(certFile),
      key: text(keyFile),
      ...(ALPNProtocols && { ALPNProtocols: [...ALPNProtocols] }),
    };
    const server = await serve(answerNextId, { tls });
    return `https://localhost:${server.port}`;
  };

  test("a server with the right certificate is called, by name and by address", async () => {
    const url = await serveTls(["h2"]);
    const tls = { ca: text(certificates.caFile) };
    for (const each of [url, url.replace("localhost", "127.0.0.1")])
      expect((await connect(each, tls).nextId({})).id).toBe(1n);
  });

  test("a server with another certificate gets no request", async () => {
    const url = await serveTls(["h2"]);
    const error = await errorOf(connect(url).nextId({}, { headers: { authorization: "Bearer secret" } }));
    expect(error).toMatchObject({
      code: Code.Unavailable,
      cause: { code: expect.stringMatching(/SELF_SIGNED|UNABLE/) },
    });
  });

  test("a server that does not offer HTTP/2", async () => {
    const tls = { ca: text(certificates.caFile) };
    const without = await errorOf(connect(await serveTls(), tls).nextId({}));
    expect(without).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("ALPN") });
    const other = await errorOf(connect(await serveTls(["http/1.1"]), tls).nextId({}));
    expect(other).toMatchObject({
      code: Code.Unavailable,
      cause: { code: expect.stringContaining("NO_APPLICATION_PROTOCOL") },
    });
  });

  test("a certificate that is none is an error of the call", async () => {
    const error = await errorOf(connect(await serveTls(["h2"]), { cert: "no PEM", key: "no PEM" }).nextId({}));
    expect(error.code).toBe(Code.Unavailable);
  });
});

describe("streams", () => {
  const chunk = (first: bigint, count: number): Buffer => {
    const ids = Array.from({ length: count }, (_, index) => first + BigInt(index));
    const message = toBinary(BatchNextIdsResponseSchema, create(BatchNextIdsResponseSchema, { ids }));
    const prefix = Buffer.concat([Buffer.of(0), uint32(message.length)]);
    return Buffer.concat([prefix, message]);
  };
  const frames = (streamId: number, bytes: Buffer, sizeBytes: number): Buffer => {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += sizeBytes) parts.push(data(streamId, bytes.subarray(at, at + sizeBytes)));
    return Buffer.concat(parts);
  };

  test("messages come whole, however they are cut", async () => {
    const body = Buffer.concat([chunk(1n, 300), chunk(301n, 1), chunk(302n, 500)]);
    const server = await serve(({ streamId, connection }) => {
      const size = [1, 7, 1_000, 16_384][connection.number] ?? 1;
      connection.send(head(streamId), frames(streamId, body, size), trailers(streamId, [["grpc-status", "0"]]));
    });
    for (let round = 0; round < 4; round++) {
      const counts: number[] = [];
      let last = 0n;
      for await (const { ids } of connect(server.url).batchNextIds({ count: 801n })) {
        counts.push(ids.length);
        expect(ids[0]).toBe(last + 1n);
        last = ids.at(-1) ?? 0n;
      }
      expect(counts).toEqual([300, 1, 500]);
    }
  });

  test("a reader that stops holds the server up after one window, and a reader that goes on lets it go on", async () => {
    let sentBytes = 0;
    let windowBytes = 65_535;
    const piece = chunk(1n, 1_000);
    const pump = ({ streamId, connection }: RawRequest): void => {
      for (; windowBytes >= piece.length; windowBytes -= piece.length, sentBytes += piece.length)
        connection.send(data(streamId, piece));
    };
    const server = await serve((request) => {
      request.connection.send(head(request.streamId));
      pump(request);
    });
    const reader = connect(server.url).batchNextIds({ count: 1_000_000n })[Symbol.asyncIterator]();
    await reader.next();
    const [connection] = server.connections;
    const updates = (): number => {
      const ofStream = connection!.frames.filter(
        ({ type, streamId }) => type === frameType.windowUpdate && streamId === 1,
      );
      return ofStream.reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
    };
    await sleep(50);
    expect(updates()).toBe(0);
    for (let count = 1; count < Math.floor(sentBytes / piece.length); count++) await reader.next();
    void reader.next().catch(() => undefined);
    await expect.poll(updates).toBe(sentBytes);
  });

  test("leaving a stream in the middle resets it, and the connection goes on", async () => {
    const server = await serve((request) => {
      if (request.fields[":path"]?.endsWith("NextId") === true) answerNextId(request);
      else request.connection.send(head(request.streamId), data(request.streamId, chunk(1n, 2)));
    });
    const client = connect(server.url);
    const controller = new AbortController();
    const reader = client.batchNextIds({ count: 10n }, { signal: controller.signal })[Symbol.asyncIterator]();
    expect((await reader.next()).value?.ids).toEqual([1n, 2n]);
    controller.abort();
    expect((await errorOf(reader.next())).code).toBe(Code.Canceled);
    await expect.poll(() => server.connections[0]?.received(frameType.rstStream)).toEqual(["00000008"]);
    // Frames of the stream that are still on their way are passed over.
    server.connections[0]?.send(data(1, chunk(3n, 2)), trailers(1, [["grpc-status", "0"]]));
    expect((await client.nextId({})).id).toBe(3n);
    expect(server.connections).toHaveLength(1);
  });

  test("messages that came before an error are given first", async () => {
    const server = await serve(({ streamId, connection }) =>
      connection.send(
        head(streamId),
        data(streamId, Buffer.concat([chunk(1n, 1), chunk(2n, 1)])),
        trailers(streamId, [["grpc-status", "14"]]),
      ),
    );
    const reader = connect(server.url).batchNextIds({ count: 10n })[Symbol.asyncIterator]();
    expect((await reader.next()).value?.ids).toEqual([1n]);
    expect((await reader.next()).value?.ids).toEqual([2n]);
    expect((await errorOf(reader.next())).code).toBe(Code.Unavailable);
  });

  test("a reader that pauses holds up no other call", async () => {
    const big = chunk(1n, 8_000);
    const server = await serve((request) => {
      if (request.fields[":path"]?.endsWith("/NextId") === true) answerNextId(request);
      else request.connection.send(head(request.streamId), frames(request.streamId, big, 16_384));
    });
    const client = connect(server.url);
    const readers = Array.from({ length: 40 }, () =>
      client.batchNextIds({ count: 1_000_000n })[Symbol.asyncIterator](),
    );
    await Promise.all(readers.map((reader) => reader.next()));
    expect((await client.nextId({}, { timeoutMs: 5_000 })).id).toBe(81n);
  });
});
