/** Traces of calls, sent by a real server to a receiver that decodes OTLP, and to receivers that are of no use. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { credentials, makeGenericClientConstructor, Metadata } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { askHttp1, askHttp2 } from "../support/http2/http-call.ts";
import { checkScrape } from "../support/metrics/check-scrape.ts";
import { scrape, scrapeText } from "../support/metrics/scrape.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { attributesOf, type OtlpReceiver, startOtlpReceiver } from "../support/processes/otlp-receiver.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const service = "/snowlane.v1.IdService";
const json = { "content-type": "application/json" };
/** Spans that wait for the receiver, as docs/operations.md says; and calls that are far more. */
const [queueMax, heldCalls] = [2_048, 6_000];
/** How long the exporter itself waits for an answer. */
const exportTimeoutMs = 10_000;

async function start(
  environment: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<SnowlaneProcess> {
  const store = `sqlite:${join(temporaryFolder(), "snowlane.db")}`;
  const server = await startSnowlane({ args: ["--store", store, ...more], environment });
  onTestFinished(() => void server.stop("SIGKILL"));
  return server;
}

/** A `traceparent` with a trace of its own. */
function parent(index: number, flags = "01"): { readonly traceparent: string } {
  return { traceparent: `00-${traceIdOf(index)}-${spanIdOf(index)}-${flags}` };
}

/** Calls NextId by grpc-js. */
async function callByGrpcJs(address: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const grpc = new (makeGenericClientConstructor({}, "none"))(address, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
  const same = (bytes: Buffer): Buffer => bytes;
  await new Promise<void>((resolve, reject) =>
    grpc.makeUnaryRequest(`${service}/NextId`, same, same, Buffer.alloc(0), metadata, (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  grpc.close();
}

/** Calls NextId by curl. */
async function callByCurl(url: string, version: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const head = Object.entries({ ...json, ...fields }).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const args = ["-sS", "--fail", "--max-time", "60", version, ...head, "--data", "{}", `${url}${service}/NextId`];
  expect(await runCommand("curl", args)).toMatch(/^\{"id":"\d+","deployment":\d+\}$/);
}

const traceIdOf = (index: number): string => index.toString(16).padStart(32, "a");
const spanIdOf = (index: number): string => index.toString(16).padStart(16, "b");
const base64Of = (hex: string): string => Buffer.from(hex, "hex").toString("base64");
const spansOf = ({ received }: OtlpReceiver) => received.flatMap(({ spans }) => spans);

test("a sampled call has a span under its caller's, in every protocol, also where it is refused", async () => {
  const receiver = await startOtlpReceiver();
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/base`,
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=hunter2",
    OTEL_SERVICE_NAME: "ids",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=a%20test,broken",
  };
  const server = await start(environment, ["--principals", principals]);
  const app = bearer("app");
  const call = (ask: typeof askHttp1, method: string, headers: Readonly<Record<string, string>>) =>
    ask(server.url, { path: `${service}/${method}`, headers: { ...json, ...headers }, body: "{}" });
  const untraced = [{}, parent(90, "00"), { traceparent: "00-nonsense" }];
  for (const headers of untraced) await call(askHttp2, "NextId", { ...app, ...headers });
  // The hot way and the general one, over both versions of HTTP.
  await call(askHttp2, "NextId", { ...app, ...parent(1) });
  await call(askHttp1, "NextId", { ...app, ...parent(2) });
  await call(askHttp2, "GetInfo", { ...app, ...parent(3) });
  await call(askHttp1, "GetInfo", { ...app, ...parent(4) });
  await call(askHttp2, "NextId", parent(5));
  await call(askHttp2, "ReserveIds", { ...app, ...parent(6) });
  await callByGrpcJs(server.address, { ...app, ...parent(7) });
  await expect.poll(() => spansOf(receiver).length).toBe(7);
  const found = spansOf(receiver).map(({ traceId, parentSpanId, name, kind, attributes, status }) => {
    const own = { ids: [traceId, parentSpanId], kind, status: status?.code, name };
    return Object.assign(own, attributesOf(attributes));
  });
  const span = (index: number, method: string, more = {}) => ({
    ids: [base64Of(traceIdOf(index)), base64Of(spanIdOf(index))],
    kind: "SPAN_KIND_SERVER",
    status: undefined,
    name: `${service.slice(1)}/${method}`,
    "rpc.system": "connect_rpc",
    "rpc.service": service.slice(1),
    "rpc.method": method,
    "rpc.grpc.status_code": "0",
    ...more,
  });
  const inOrder = found.toSorted((a, b) => (a.ids[0]! < b.ids[0]! ? -1 : 1));
  expect(inOrder).toEqual(
    [
      span(1, "NextId"),
      span(2, "NextId"),
      span(3, "GetInfo"),
      span(4, "GetInfo"),
      span(5, "NextId", { "rpc.grpc.status_code": "16", "snowlane.reason": "MISSING_CREDENTIALS" }),
      span(6, "ReserveIds", { "rpc.grpc.status_code": "3", "snowlane.reason": "COUNT_OUT_OF_RANGE" }),
      span(7, "NextId", { "rpc.system": "grpc" }),
    ].toSorted((a, b) => (a.ids[0]! < b.ids[0]! ? -1 : 1)),
  );
  for (const { startTimeUnixNano, endTimeUnixNano } of spansOf(receiver)) {
    const [startNs, endNs] = [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)];
    expect(startNs).toBeLessThanOrEqual(endNs);
    expect(startNs / 1_000_000_000n).toBeGreaterThan(1_700_000_000n);
  }
  for (const { path, headers, resource } of receiver.received) {
    expect(path).toBe("/base/v1/traces");
    expect(headers["api-key"]).toBe("hunter2");
    expect(resource).toMatchObject({ "service.name": "ids", "deployment.environment": "a test" });
  }
  expect(await server.stop("SIGTERM")).toBe(0);
  expect(JSON.stringify(server.log)).not.toContain("hunter2");
});

test("a span of a call by curl or grpc-js is in its caller's trace, below its caller's span", async () => {
  const receiver = await startOtlpReceiver();
  const server = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  await callByCurl(server.url, "--http1.1", parent(1));
  await callByCurl(server.url, "--http2-prior-knowledge", parent(2));
  await callByGrpcJs(server.address, parent(3));
  await callByCurl(server.url, "--http1.1", {});
  expect(await server.stop("SIGTERM")).toBe(0);
  await expect.poll(() => spansOf(receiver).length).toBe(3);
  const parents = Object.fromEntries(spansOf(receiver).map(({ traceId, parentSpanId }) => [traceId, parentSpanId]));
  const sent = [1, 2, 3].map((index) => [base64Of(traceIdOf(index)), base64Of(spanIdOf(index))] as const);
  expect(parents).toEqual(Object.fromEntries(sent));
});

test("calls beyond the limit are served, counted and not traced, and the last spans come with the end", async () => {
  const receiver = await startOtlpReceiver();
  const environment = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own/path` };
  const server = await start(environment, ["--trace-calls-per-second", "5"]);
  const calls = Array.from({ length: 60 }, (_, index) =>
    askHttp2(server.url, { path: `${service}/NextId`, headers: { ...json, ...parent(index + 1) }, body: "{}" }),
  );
  // No caller sampled these: they are in neither count, and take nothing of the limit.
  const unsampled = Array.from({ length: 20 }, (_, index) =>
    askHttp2(server.url, { path: `${service}/NextId`, headers: { ...json, ...parent(index + 1, "00") }, body: "{}" }),
  );
  const answers = await Promise.all([...calls, ...unsampled]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const lines = await scrape(server.url);
  const [traced = 0, untraced = 0] = ["traced", "untraced"].map((outcome) =>
    lines.get(`snowlane_sampled_calls_total{outcome="${outcome}"}`),
  );
  expect(traced).toBeGreaterThanOrEqual(5);
  expect(untraced).toBeGreaterThan(0);
  expect(traced + untraced).toBe(calls.length);
  await checkScrape(await scrapeText(server.url));
  expect(await server.stop("SIGTERM")).toBe(0);
  await expect.poll(() => spansOf(receiver).length).toBe(traced);
  expect(receiver.received[0]?.path).toBe("/own/path");
});

test("no call waits for a receiver that holds every request open, and spans beyond the queue are dropped and counted", async () => {
  const receiver = await startOtlpReceiver();
  const link = await TcpProxy.start(Number(new URL(receiver.url).port));
  onTestFinished(() => link.stop());
  link.mode = "black-hole";
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${link.port}` };
  const server = await start(environment, ["--trace-calls-per-second", "10000"]);
  const dropped = (): number =>
    server.log
      .map(({ cause }) => Number(/^Dropped (\d+) spans/.exec(String(cause))?.[1] ?? 0))
      .reduce((sum, count) => sum + count, 0);
  const call = async (index: number): Promise<number> => {
    const question = { path: `${service}/NextId`, headers: { ...json, ...parent(index) }, body: "{}" };
    return (await askHttp1(server.url, question)).status;
  };
  const statuses: number[] = [];
  while (statuses.length < heldCalls) {
    const indexes = Array.from({ length: 50 }, (_, index) => statuses.length + index + 1);
    statuses.push(...(await Promise.all(indexes.map(call))));
  }
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  // All of them were answered before the receiver has answered anything.
  expect([link.acceptedCount > 0, receiver.received]).toEqual([true, []]);
  const counted = await scrape(server.url);
  expect(counted.get('snowlane_sampled_calls_total{outcome="traced"}')).toBe(heldCalls);
  link.reopen();
  // The first span that finds room again brings the line.
  await expect.poll(async () => (await call(statuses.push(200)), dropped())).toBeGreaterThan(0);
  expect(dropped()).toBeLessThanOrEqual(heldCalls - queueMax);
  expect(await server.stop("SIGTERM")).toBe(0);
  await expect.poll(() => spansOf(receiver).length).toBeGreaterThan(0);
  expect(spansOf(receiver).length + dropped()).toBeLessThanOrEqual(statuses.length);
});

test("what a receiver says of a request is not logged (it was, and with it the key that it was sent)", async () => {
  const repeating = createServer((request, response) => {
    request.resume();
    response.writeHead(400, JSON.stringify(request.headers)).end(JSON.stringify(request.headers));
  }).listen(0, "127.0.0.1");
  await once(repeating, "listening");
  onTestFinished(() => void repeating.close());
  const server = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(repeating.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=hunter2",
  });
  const question = { path: `${service}/NextId`, headers: { ...json, ...parent(1) }, body: "{}" };
  expect((await askHttp2(server.url, question)).status).toBe(200);
  const told = () => server.log.filter(({ message }) => message === "Traces are not sent").map(({ cause }) => cause);
  await expect.poll(told).toEqual(["The receiver answered with the HTTP status 400."]);
  expect(await server.stop("SIGTERM")).toBe(0);
  expect(JSON.stringify(server.log)).not.toContain("hunter2");
});

test("a receiver that is dead, silent or unwilling costs callers nothing, and does not hold up the end", async () => {
  const silent = createTcpServer((socket) => void socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  const unwilling = createServer((request, response) => {
    request.resume();
    response.writeHead(503, { "retry-after": "600" }).end();
  }).listen(0, "127.0.0.1");
  await Promise.all([once(silent, "listening"), once(unwilling, "listening")]);
  onTestFinished(() => void (silent.close(), unwilling.close()));
  const portOf = (listening: { address(): unknown }): number => (listening.address() as AddressInfo).port;
  const dead = createTcpServer().listen(0, "127.0.0.1");
  await once(dead, "listening");
  const ports = { dead: portOf(dead), silent: portOf(silent), unwilling: portOf(unwilling) };
  dead.close();
  const trials = Object.entries(ports).map(async ([name, port]) => {
    const server = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    const calls = Array.from({ length: 100 }, (_, index) =>
      askHttp2(server.url, { path: `${service}/NextId`, headers: { ...json, ...parent(index + 1) }, body: "{}" }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect({ name, statuses }).toEqual({ name, statuses: calls.map(() => 200) });
    const waits = sleep(exportTimeoutMs - 1_000, "waits for its receiver", { ref: false });
    expect([name, await Promise.race([server.stop("SIGTERM"), waits])]).toEqual([name, 0]);
  });
  await Promise.all(trials);
});
