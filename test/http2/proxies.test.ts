/**
 * nginx, Envoy and HAProxy in front of both kinds of HTTP/2: what a caller sees through a proxy is what it sees without
 * one, and servers that end or proxies that read their configuration again cost no call.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  BatchNextIdsRequestSchema,
  GetIdRangeRequestSchema,
  ParseRequestSchema,
  ReserveIdsRequestSchema,
} from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import { askHttp1, askHttp2, grpcFrame, type HttpAnswer, type HttpQuestion } from "../support/http2/http-call.ts";
import { IdLoad } from "../support/processes/id-load.ts";
import { IssuedRuns } from "../support/worlds/issued-runs.ts";
import { proxyKinds } from "../support/servers/proxies.ts";
import type { Proxy, ProxyOptions } from "../support/servers/proxy.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const service = "/snowlane.v1.IdService";
const grpc = { "content-type": "application/grpc", te: "trailers" };
const callTimeoutMs = 120_000;
const timeout = 600_000;
const folder = mkdtempSync(join(tmpdir(), "snowlane-proxies-"));
const store = `sqlite:${folder}/snowlane.db`;
let certificates: Certificates;

beforeAll(async () => {
  certificates = await makeCertificates();
});
afterAll(() => {
  certificates.remove();
  rmSync(folder, { recursive: true, force: true });
});

const batch = (init: MessageInitShape<typeof BatchNextIdsRequestSchema>): Uint8Array =>
  toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, init));
const parse = (init: MessageInitShape<typeof ParseRequestSchema>): Uint8Array =>
  toBinary(ParseRequestSchema, create(ParseRequestSchema, init));
const call = (method: string, message: Uint8Array): HttpQuestion => ({
  path: `${service}/${method}`,
  headers: grpc,
  body: grpcFrame(message),
});

/** Calls that are answered with one and the same each time, most of them with an error and its details. */
const overGrpc: readonly HttpQuestion[] = [
  call("NextId", Buffer.of(0x0a, 2, 8, 99)),
  call("NextId", Buffer.of(0xff)),
  call("BatchNextIds", batch({ count: 0n })),
  call("BatchNextIds", batch({ count: 1n << 60n })),
  call("ReserveIds", toBinary(ReserveIdsRequestSchema, create(ReserveIdsRequestSchema, { count: 0 }))),
  call("Parse", parse({ source: { case: "text", value: "no ID" } })),
  call("Parse", parse({ source: { case: "id", value: 1n << 40n } })),
  call("GetIdRange", toBinary(GetIdRangeRequestSchema, create(GetIdRangeRequestSchema))),
  call("Nothing", new Uint8Array(0)),
  { ...call("NextId", new Uint8Array(0)), headers: { ...grpc, "grpc-timeout": "soon" } },
  { ...call("NextId", new Uint8Array(0)), headers: { ...grpc, "grpc-encoding": "lzma" } },
];
const overHttp1: readonly HttpQuestion[] = [
  { path: `${service}/Parse`, body: '{"id":"1099511627776"}' },
  { path: `${service}/Parse`, body: '{"text":"no ID"}' },
  { path: `${service}/ReserveIds`, body: '{"count":0}' },
  { path: `${service}/NextId`, body: "{" },
  { path: `${service}/Nothing`, body: "{}" },
];

/** What a caller goes by. The gRPC status may come in the head or in trailers. */
function essence({ status: code, headers, trailers, body }: HttpAnswer): unknown {
  const fields = { ...headers, ...trailers };
  const names = ["content-type", "grpc-status", "grpc-message", "grpc-status-details-bin"];
  return { code, body: body.toString("hex"), fields: names.map((name) => fields[name]) };
}

async function startBehind(start: (options: ProxyOptions) => Promise<Proxy>, options: ProxyOptions): Promise<Proxy> {
  const proxy = await start(options);
  onTestFinished(() => proxy.server.stop());
  return proxy;
}

/** Four connections with eight callers each, and streams, one of them read slowly; no ID twice, none missing. */
async function load(address: string): Promise<void> {
  const received = new IssuedRuns();
  const clients = Array.from({ length: 4 }, () => new GrpcIdClient(address, "own"));
  const calls = clients.flatMap((client) =>
    Array.from({ length: 8 }, async () => {
      for (let turn = 0; turn < 10; turn++) received.addIds([await client.nextId(callTimeoutMs)], 0);
    }),
  );
  const streams = clients.map(async (client, index) => {
    for await (const ids of client.batchNextIds({ count: 50_000n, chunkSize: 2_000 }, callTimeoutMs)) {
      received.addIds(ids, 0);
      if (index === 0) await sleep(10);
    }
  });
  await Promise.all([...calls, ...streams]);
  for (const client of clients) client.close();
  expect(received.idCount).toBe(320 + 4 * 50_000);
  expect(received.countRepeated()).toBe(0);
}

const same = (bytes: Buffer): Buffer => bytes;

/** The status that a call ends with; OK if it is answered. */
function statusOf(client: Client, method: string, message: Uint8Array, timeoutMs: number): Promise<status> {
  return new Promise((resolve) => {
    const options = { deadline: Date.now() + timeoutMs };
    const answered = (error: ServiceError | null): void => resolve(error?.code ?? status.OK);
    client.makeUnaryRequest(`${service}/${method}`, same, same, Buffer.from(message), options, answered);
  });
}

/** Deadlines that are over at once or never, and an upload that is refused while it is being sent. */
async function endCallsEarly(address: string): Promise<void> {
  const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  await statusOf(client, "NextId", new Uint8Array(0), callTimeoutMs);
  const short = Array.from({ length: 20 }, (_, index) => statusOf(client, "NextId", new Uint8Array(0), index % 4));
  for (const end of await Promise.all(short)) expect([status.OK, status.DEADLINE_EXCEEDED]).toContain(end);
  const large = parse({ source: { case: "text", value: "x".repeat(200_000) } });
  expect(await statusOf(client, "Parse", large, callTimeoutMs)).toBe(status.RESOURCE_EXHAUSTED);
  client.close();
}

/** Leaves a stream of a billion IDs; resolves when the server issues none any more. */
async function leaveStream(address: string, issueLog: string): Promise<void> {
  const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const request = Buffer.from(batch({ count: 1_000_000_000n }));
  const stream = client.makeServerStreamRequest(`${service}/BatchNextIds`, same, same, request);
  const ended = new Promise<status>((resolve) => stream.on("error", (error: ServiceError) => resolve(error.code)));
  await new Promise((resolve) => stream.once("data", resolve));
  stream.cancel();
  expect(await ended).toBe(status.CANCELLED);
  client.close();
  for (let size = -1; size !== statSync(issueLog).size; await sleep(500)) size = statSync(issueLog).size;
}

describe.each(["engine", "node"])("in front of --http2 %s", (http2) => {
  const issueLog = join(folder, `${http2}.log`);
  let plain: SnowlaneProcess;
  let secure: SnowlaneProcess;
  const start = (...args: readonly string[]): Promise<SnowlaneProcess> =>
    // A machine that stands still for a second is not a reason to refuse a call.
    startSnowlane({ args: ["--http2", http2, "--store", store, "--wait-max", "60s", ...args] });

  beforeAll(async () => {
    const { certFile, keyFile } = certificates.server;
    [plain, secure] = await Promise.all([
      start("--issue-log", issueLog),
      start("--tls-cert", certFile, "--tls-key", keyFile),
    ]);
  });
  afterAll(async () => {
    for (const { log } of [plain, secure]) expect(log.filter(({ level }) => level === "error")).toEqual([]);
    expect(await Promise.all([plain.stop("SIGTERM"), secure.stop("SIGTERM")])).toEqual([0, 0]);
  });

  /** The other kind of HTTP/2 is the yardstick, and not tried in every way. */
  const kinds = http2 === "engine" ? (["kept", "one a request"] as const) : (["kept"] as const);

  describe.each(proxyKinds)("$name", ({ start: startProxy }) => {
    test.each(kinds)("calls, streams, deadlines, cancels; connections: %s", { timeout }, async (kind) => {
      const proxy = await startBehind(startProxy, { upstreams: [plain.address], upstreamConnections: kind });
      await load(proxy.address);
      await endCallsEarly(proxy.address);
      await leaveStream(proxy.address, issueLog);
    });

    test("statuses, details and answers are those of the server, over gRPC and HTTP/1.1", { timeout }, async () => {
      const proxy = await startBehind(startProxy, { upstreams: [plain.address], upstreamConnections: "kept" });
      for (const question of overGrpc) {
        const direct = essence(await askHttp2(plain.url, question));
        expect(essence(await askHttp2(`http://${proxy.address}`, question))).toEqual(direct);
      }
      for (const question of overHttp1) {
        const direct = essence(await askHttp1(plain.url, question));
        expect(essence(await askHttp1(proxy.http1Url, question))).toEqual(direct);
      }
    });

    test("tokens of several callers pass, each for its own call, also over one kept connection", {
      timeout,
    }, async () => {
      const { path } = principalsFile([
        { name: "app", permissions: ["ids"] },
        { name: "operator", permissions: ["observe"] },
      ]);
      const server = await start("--principals", path);
      onTestFinished(async () => void (await server.stop("SIGTERM")));
      const proxy = await startBehind(startProxy, { upstreams: [server.address], upstreamConnections: "kept" });
      const callers = [
        [bearer("app"), 200, "0"],
        [bearer("operator"), 403, "7"],
        [bearer("nobody"), 401, "16"],
        [{}, 401, "16"],
      ] as const;
      for (let turn = 0; turn < 10; turn++) {
        for (const [fields, httpStatus, grpcStatus] of callers) {
          const json = { path: `${service}/NextId`, headers: { "content-type": "application/json", ...fields } };
          expect((await askHttp1(proxy.http1Url, { ...json, body: "{}" })).status).toBe(httpStatus);
          const nextId = call("NextId", new Uint8Array(0));
          const question = { ...nextId, headers: { ...grpc, ...fields } };
          const { headers, trailers } = await askHttp2(`http://${proxy.address}`, question);
          expect({ ...headers, ...trailers }["grpc-status"]).toBe(grpcStatus);
        }
      }
    });

    test("over TLS to the server", { timeout }, async () => {
      const { caFile } = certificates;
      const options = { upstreams: [secure.address], upstreamCaFile: caFile, upstreamConnections: "kept" } as const;
      const proxy = await startBehind(startProxy, options);
      await load(proxy.address);
      const answer = await askHttp1(proxy.http1Url, { path: `${service}/NextId`, body: "{}" });
      expect(answer.status).toBe(200);
    });

    test("a server that ends, and a proxy that is told to read its configuration again", { timeout }, async () => {
      const [first, second] = await Promise.all([start(), start()]);
      const upstreams = [first.address, second.address];
      const proxy = await startBehind(startProxy, { upstreams, upstreamConnections: "kept" });
      const clients = Array.from({ length: 4 }, () => new GrpcIdClient(proxy.address, "own"));
      // Asks again, as every client does that is told UNAVAILABLE: nginx passes on what it sent to a server that ends.
      const running = new IdLoad({
        targets: () => clients,
        callerCount: 16,
        streamCount: 0,
        pauseMs: 1,
        callTimeoutMs,
        requestTimeoutMs: 60_000,
      });
      await running.untilAnswered(200);
      proxy.reload?.();
      await running.untilAnswered(200);
      expect(await first.stop("SIGTERM")).toBe(0);
      await running.untilAnswered(200);
      await running.stop();
      for (const client of clients) client.close();
      expect(await second.stop("SIGTERM")).toBe(0);
      expect(running.failures, proxy.server.process.output).toEqual([]);
      expect(running.received.countRepeated()).toBe(0);
    });
  });
});
