import { readFileSync } from "node:fs";
import { createServer as createTcpServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { ErrorInfoSchema } from "../../../../src/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../../src/gen/google/rpc/status_pb.ts";
import { frameType, settingId } from "../../../../src/http2/frame.ts";
import { version } from "../../../../src/version.ts";
import { data, headers, ping, settings, windowUpdate } from "../../../../test/support/http2/http2-wire.ts";
import { type RawRequest, responseFields } from "../../../../test/support/http2/raw-http2-server.ts";
import { answerNextId, connect, errorOf, failureOf, serve, trailers } from "../../test/raw-call.ts";

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
      "user-agent": `snowlane-typescript/${version}`,
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
      setImmediate(() => {
        openCount--;
        answerNextId(request);
      });
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
    // What it answers a PING behind, it has sent.
    connection?.send(ping());
    await expect.poll(() => connection?.received(frameType.ping).length).toBe(1);
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
    onTestFinished(() => void silent.close());
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

  test("a message with a broken percent sign, and malformed details, do not hide the status", async () => {
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
