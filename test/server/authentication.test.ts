/** Authentication: every method, in every protocol, with every kind of credentials. */
import { readFileSync } from "node:fs";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection as V1 } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as V1Alpha } from "../../src/gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { AdminService } from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { permissions, traitsOf } from "../../src/server/call/method-table.ts";
import { type CallWay, callWays, codeOf } from "../support/http2/call-ways.ts";
import { askHttp1, askHttp2, grpcFrame, type HttpAnswer, sendBytes } from "../support/http2/http-call.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { data, type FieldPairs, headers, hello } from "../support/http2/http2-wire.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { bearer, principalsFile, tokenOf } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";

const services: readonly DescService[] = [Health, V1, V1Alpha, AdminService, IdService, SequenceService];
/** Watch goes on until its caller has gone; it has a test of its own. */
const methods = services.flatMap((service) => service.methods).filter((method) => method !== Health.method.watch);
const everyone = permissions.map((permission) => ({ name: permission, permissions: [permission] }));
/** Why a call is refused: undefined where it is let in, whatever its method then says. */
function refusal(answer: HttpAnswer): "unauthenticated" | "denied" | undefined {
  const code: Code = codeOf(answer);
  if (code === Code.Unauthenticated) return "unauthenticated";
  return code === Code.PermissionDenied ? "denied" : undefined;
}

function expected(method: DescMethod, holds: string | undefined) {
  const { access } = traitsOf(`/${method.parent.typeName}/${method.name}`);
  if (access === "open") return undefined;
  if (holds === undefined) return "unauthenticated";
  return holds === access || holds === "all" ? undefined : "denied";
}

/** GET of Connect: without a body and a content type, for methods that change nothing. */
function getWay(ask: typeof askHttp1): CallWay {
  const query = "?connect=v1&encoding=json&message=%7B%7D";
  return {
    ask: (url, { path, headers: { authorization = "" } = {}, ca }) =>
      ask(url, {
        path: `${path}${query}`,
        method: "GET",
        headers: authorization === "" ? {} : { authorization },
        ...(ca && { ca }),
      }),
    contentType: () => "",
    body: () => "",
    carries: ({ methodKind, idempotency }) =>
      methodKind === "unary" && idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
  };
}

const allWays: Readonly<Record<string, CallWay>> = {
  ...callWays,
  "GET of Connect over HTTP/2": getWay(askHttp2),
  "GET of Connect over HTTP/1.1": getWay(askHttp1),
};

/** Calls every method with every kind of credentials, over cleartext or TLS, and compares with the table. */
async function expectTable({ ask, contentType, body, carries }: CallWay, tls?: Certificates): Promise<void> {
  const { path: principals, write } = principalsFile([...everyone, { name: "removed", permissions: ["all"] }]);
  const flags = tls === undefined ? {} : { tlsCert: tls.server.certFile, tlsKey: tls.server.keyFile };
  const { address, reload, faults } = await runServer({ principals, ...flags });
  const url = `${tls === undefined ? "http" : "https"}://${address}`;
  const secure = tls === undefined ? {} : { ca: readFileSync(tls.caFile) };
  const outcomeOf = async (method: DescMethod, fields: object) => {
    const path = `/${method.parent.typeName}/${method.name}`;
    const headers = { "content-type": contentType(method), te: "trailers", ...fields };
    return refusal(await ask(url, { path, headers, body: body(method), ...secure }));
  };
  const carried = methods.filter(carries);
  // Before they are taken out, they may call everything.
  for (const method of carried) expect(await outcomeOf(method, bearer("removed"))).toBeUndefined();
  write(everyone);
  reload();
  const callers = [
    { holds: undefined, fields: {} },
    { holds: undefined, fields: bearer("wrong") },
    { holds: undefined, fields: bearer("removed") },
    ...permissions.map((holds) => ({ holds, fields: bearer(holds) })),
  ];
  for (const method of carried) {
    const outcomes = callers.map(async ({ holds, fields }) => {
      const call = { method: method.toString(), fields, outcome: await outcomeOf(method, fields) };
      expect(call).toEqual({ ...call, outcome: expected(method, holds) });
    });
    await Promise.all(outcomes);
  }
  expect(carried.length).toBeGreaterThan(5);
  expect(faults).toEqual([]);
}

test.each(Object.entries(allWays))("every method lets in the callers of its permission alone: %s", (_name, way) =>
  expectTable(way),
);

test.each(["gRPC", "Connect over HTTP/1.1"])("over TLS, too: %s", async (name) => {
  const certificates = await makeCertificates();
  onTestFinished(certificates.remove);
  await expectTable(allWays[name]!, certificates);
});

describe.each(Object.entries(callWays))("%s", (_name, { ask, contentType, body }) => {
  test("a refused call says why, and issues nothing", async () => {
    const { url, server } = await runServer({ principals: principalsFile(everyone).path });
    const method = IdService.method.nextId;
    const call = async (fields: Readonly<Record<string, string>>) => {
      const headers = { "content-type": contentType(method), te: "trailers", ...fields };
      const {
        status,
        headers: head,
        trailers,
        body: answer,
      } = await ask(url, {
        path: "/snowlane.v1.IdService/NextId",
        headers,
        body: body(method),
      });
      const text = `${JSON.stringify([head, trailers])} ${answer.toString("latin1")}`;
      return { status, text: text.replaceAll("%20", " ") };
    };
    for (const fields of [{}, bearer("nobody")]) {
      const { status, text } = await call(fields);
      expect([200, 401]).toContain(status);
      expect(text).toContain("Bearer realm=");
      expect(text).not.toContain(tokenOf("nobody"));
    }
    const { status, text } = await call(bearer("observe"));
    expect([200, 403]).toContain(status);
    expect(text).toContain("permission ids");
    expect(server.source.status().counters.issued).toBe(0);
  });
});

const nextId = "/snowlane.v1.IdService/NextId";
const json = { "content-type": "application/json" };

describe.each([
  ["HTTP/1.1", askHttp1, "application/grpc-web+proto"],
  ["HTTP/2", askHttp2, "application/grpc"],
])("over %s", (_name, ask, grpcType) => {
  const setUp = () => runServer({ principals: principalsFile(everyone).path });

  test.each([
    ["NextId", "application/json", 401],
    ["GetInfo", "application/json", 401],
    ["NextId", grpcType, 200],
    ["GetInfo", grpcType, 200],
  ])("a token in any odd form gets the answer of a wrong one: %s as %s", async (method, contentType, status) => {
    const { url } = await setUp();
    const methodPath = `/snowlane.v1.IdService/${method}`;
    const answerTo = async (authorization: string | undefined, path = methodPath) => {
      const fields = { "content-type": contentType, te: "trailers" };
      const head = { ...fields, ...(authorization === undefined ? {} : { authorization }) };
      const message = contentType === "application/json" ? "{}" : grpcFrame(new Uint8Array(0));
      const answer = await ask(url, { path, headers: head, body: message });
      return [
        answer.status,
        codeOf(answer),
        answer.body.toString("latin1"),
        answer.trailers["grpc-message"] ?? answer.headers["grpc-message"],
      ];
    };
    const refused = await answerTo("Bearer wrong");
    expect(refused.slice(0, 2)).toEqual([status, Code.Unauthenticated]);
    const token = tokenOf("ids");
    for (const odd of [
      undefined,
      "",
      "Bearer",
      token,
      `Basic ${token}`,
      `Bearer ${token} ${token}`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer "${token}"`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${"x".repeat(10_000)}`,
      `Bearer t\u00f6ken`,
    ]) {
      expect([odd, ...(await answerTo(odd))]).toEqual([odd, ...refused]);
    }
    for (const query of [`access_token=${token}`, `authorization=Bearer%20${token}`]) {
      expect(await answerTo(undefined, `${methodPath}?${query}`)).toEqual(refused);
    }
    for (const good of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`]) {
      expect((await answerTo(good)).slice(0, 2)).toEqual([200, 0]);
      expect((await answerTo(good)).slice(0, 2)).toEqual([200, 0]);
    }
  });

  test("probes and health need no credentials, and a preflight is answered without them", async () => {
    const { url } = await runServer({
      principals: principalsFile(everyone).path,
      corsOrigin: "https://app.example",
    });
    for (const path of ["/healthz", "/readyz"]) {
      expect((await ask(url, { path, method: "GET", headers: {} })).status).toBe(200);
    }
    expect((await ask(url, { path: "/grpc.health.v1.Health/Check", headers: json, body: "{}" })).status).toBe(200);
    const headers = { origin: "https://app.example", "access-control-request-method": "POST" };
    const preflight = await ask(url, { path: nextId, method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-headers"]).toContain("Authorization");
  });
});

test.each(["NextId", "GetInfo"])("of two tokens in one request neither is taken: %s", async (name) => {
  const { address, server } = await runServer({ principals: principalsFile(everyone).path });
  const { port } = server.address;
  const path = `/snowlane.v1.IdService/${name}`;
  const [good, other] = [tokenOf("ids"), tokenOf("observe")];
  const answerTo = async (tokens: readonly string[]): Promise<string> => {
    const names = ["authorization", "Authorization"];
    const fields = tokens.map((token, index) => `${names[index]}: Bearer ${token}\r\n`).join("");
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${fields}content-type: application/json\r\n`;
    return sendBytes(address, [`${head}connection: close\r\ncontent-length: 2\r\n\r\n{}`]);
  };
  const wrong = await answerTo(["wrong"]);
  expect(wrong).toMatch(/^HTTP\/1.1 401 /);
  for (const tokens of [
    [good, "wrong"],
    ["wrong", good],
    [good, other],
    [good, good],
  ]) {
    expect([tokens, withoutDate(await answerTo(tokens))]).toEqual([tokens, withoutDate(wrong)]);
    expect([tokens, await grpcStatus(port, path, tokens)]).toEqual([tokens, "16"]);
  }
  expect(await grpcStatus(port, path, [good])).toBe("0");
});

function withoutDate(answer: string): string {
  return answer.replace(/^date: .*\r\n/im, "");
}

/** Calls by gRPC, with a field `authorization` for each token: Node's own client sends it once at most. */
async function grpcStatus(port: number, path: string, tokens: readonly string[]): Promise<string | undefined> {
  const client = await RawClient.connect(port);
  onTestFinished(() => client.destroy());
  const fields: FieldPairs = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "localhost"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
    ...tokens.map((token) => ["authorization", `Bearer ${token}`] as const),
  ];
  client.send(hello, headers(1, "body", fields), data(1, grpcFrame(new Uint8Array(0)), "end"));
  const lines = await client.until((received) =>
    received.some((line) => line.startsWith("headers 1 ") && line.endsWith(" end")),
  );
  return /grpc-status=(\d+)/.exec(lines.join("\n"))?.[1];
}

test("a token of 64 KiB gets no ID, with a good one in it neither, and the server goes on", async () => {
  const { address, url, server } = await runServer({ principals: principalsFile(everyone).path });
  const good = tokenOf("ids");
  const long = "x".repeat(65_536);
  // The head is over its limit, so there may be no answer but a closed connection.
  for (const token of [long, `${good}, Bearer ${long}`, `${long} ${good}`]) {
    const head = `POST ${nextId} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
    const rest = `authorization: Bearer ${token}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`;
    expect(await sendBytes(address, [head + rest])).toMatch(/^(HTTP\/1\.1 (401|431) |$)/);
    const headers = { ...json, authorization: `Bearer ${token}` };
    const answer = await askHttp2(url, { path: nextId, headers, body: "{}" }).catch(() => undefined);
    expect([undefined, 401, 431]).toContain(answer?.status);
  }
  expect(server.source.status().counters.issued).toBe(0);
  expect((await askHttp2(url, { path: nextId, headers: { ...json, ...bearer("ids") }, body: "{}" })).status).toBe(200);
});

test("a watcher of health needs no credentials, also while principals change", async () => {
  const { path, write } = principalsFile(everyone);
  const { url, reload, server, log } = await runServer({ principals: path });
  const health = createClient(Health, createGrpcTransport({ baseUrl: url }));
  const statuses: number[] = [];
  for await (const { status } of health.watch({})) {
    statuses.push(status);
    if (status !== HealthCheckResponse_ServingStatus.SERVING) break;
    write([]);
    reload();
    expect(log.join("")).toContain("The principals were read again");
    // Its next message.
    void server.stop();
  }
  expect(statuses).toEqual([HealthCheckResponse_ServingStatus.SERVING, HealthCheckResponse_ServingStatus.NOT_SERVING]);
});

test("a removed token ends with the next message of its stream, a new one works, others notice nothing", async () => {
  const ids = ["ids"];
  const before = ["stays", "goes"].map((name) => ({ name, permissions: ids }));
  const { path, write } = principalsFile(before);
  const { url, reload, log } = await runServer({ principals: path });
  const client = createClient(IdService, createGrpcTransport({ baseUrl: url }));
  const abort = new AbortController();
  const stream = (name: string, textFormat = {}) =>
    client.batchNextIds(
      { count: 1_000_000_000n, chunkSize: 1_024, ...textFormat },
      { headers: bearer(name), signal: abort.signal },
    );
  const streams = [stream("goes"), stream("goes", { textFormat: { form: 1 } })].map((one) =>
    one[Symbol.asyncIterator](),
  );
  for (const one of streams) expect((await one.next()).done).toBe(false);
  const staying = stream("stays")[Symbol.asyncIterator]();
  expect((await staying.next()).done).toBe(false);
  write(["stays", "comes"].map((name) => ({ name, permissions: ids })));
  reload();
  expect(log.join("")).toContain("The principals were read again");
  for (const one of streams) {
    const end = async (): Promise<void> => {
      while ((await one.next()).done !== true);
    };
    await expect(end()).rejects.toMatchObject({ code: Code.Unauthenticated });
  }
  expect((await staying.next()).done).toBe(false);
  abort.abort();
  await expect(client.nextId({}, { headers: bearer("goes") })).rejects.toMatchObject({ code: Code.Unauthenticated });
  for (const name of ["stays", "comes"]) await client.nextId({}, { headers: bearer(name) });
});

test("a permission that is taken away holds for the next call on the same connection", async () => {
  const { path, write } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  const { url, reload } = await runServer({ principals: path });
  const client = createClient(IdService, createGrpcTransport({ baseUrl: url }));
  const call = () => client.nextId({}, { headers: bearer("app") });
  // From the third on they have one header block, so the server looks at their head once.
  for (let count = 0; count < 5; count++) await call();
  write([{ name: "app", permissions: ["observe"] }]);
  reload();
  await expect(call()).rejects.toMatchObject({ code: Code.PermissionDenied });
  write([{ name: "app", permissions: ["all"] }]);
  reload();
  await call();
});
