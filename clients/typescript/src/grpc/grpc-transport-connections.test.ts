import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Code, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { IdService } from "../../../../src/gen/snowlane/v1/id_service_pb.ts";
import { errorCode } from "../../../../src/http2/error-code.ts";
import { frameFlag, frameType } from "../../../../src/http2/frame.ts";
import { data, frame, rstStream, uint32, windowUpdate } from "../../../../test/support/http2/http2-wire.ts";
import type { RawRequest } from "../../../../test/support/http2/raw-http2-server.ts";
import { type Certificates, makeCertificates } from "../../../../test/support/processes/certificates.ts";
import { findFreePort } from "../../../../test/support/processes/free-port.ts";
import { answerNextId, connect, errorOf, failureOf, goAway, serve } from "../../test/raw-call.ts";
import { GrpcTransport } from "./grpc-transport.ts";

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
      ["a malformed header block", (id) => frame(frameType.headers, frameFlag.endHeaders, id, "ff"), /integer/],
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
    onTestFinished(() => void server.close());
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
    onTestFinished(() => void server.close());
    const error = await errorOf(connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).nextId({}));
    expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringMatching(/frame/) });
  });
});

describe("TLS", () => {
  let certificates: Certificates;
  const text = (path: string): string => readFileSync(path, "utf8");
  beforeAll(async () => {
    certificates = await makeCertificates();
  });
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

  test("a malformed certificate is an error of the call", async () => {
    const error = await errorOf(connect(await serveTls(["h2"]), { cert: "no PEM", key: "no PEM" }).nextId({}));
    expect(error.code).toBe(Code.Unavailable);
  });
});
