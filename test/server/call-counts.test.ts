/** The counters of calls equal what their callers counted: in every protocol, with every end. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { BatchNextIdsRequestSchema, IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { codeNames } from "../../src/service/message/code-names.ts";
import { type CallWay, callWays, codeOf } from "../support/http2/call-ways.ts";
import { grpcFrame, type HttpQuestion } from "../support/http2/http-call.ts";
import { callsLine, type Scrape, scrape } from "../support/metrics/scrape.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";
import { scale } from "../support/worlds/scale.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";

const http2 = process.env["SNOWLANE_TEST_HTTP2"] ?? "engine";
const { nextId, reserveIds, batchNextIds, getInfo } = IdService.method;
const service = "snowlane.v1.IdService";
const longStream = grpcFrame(
  toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count: 1_000_000_000n })),
);

/** The calls as their callers saw them: how many by the line that counts them. */
class Tally {
  readonly lines = new Map<string, number>();

  add(method: string, code: Code | 0): void {
    const line = callsLine(method, codeNames[code]!);
    this.lines.set(line, (this.lines.get(line) ?? 0) + 1);
  }

  /** The sum over all lines that hold this text. */
  sum(text: string): number {
    return [...this.lines].reduce((sum, [line, count]) => sum + (line.includes(text) ? count : 0), 0);
  }
}

/** Of a scrape: the lines of calls that ended. */
function countedCalls(lines: Scrape): ReadonlyMap<string, number> {
  return new Map([...lines].filter(([line, count]) => line.startsWith("snowlane_calls_total") && count > 0));
}

/** The calls of one way, and the code that each should end with. */
function callsOf({ contentType, body, carries }: CallWay): readonly (readonly [string, HttpQuestion, Code | 0])[] {
  const ask = (method: typeof nextId, more: Partial<HttpQuestion> = {}): HttpQuestion => ({
    path: `/${service}/${method.name}`,
    body: body(method),
    ...more,
    headers: { "content-type": contentType(method), te: "trailers", ...bearer("shop"), ...more.headers },
  });
  const stream = batchNextIds as unknown as typeof nextId;
  return [
    ["NextId", ask(nextId), 0],
    ["NextId", ask(nextId), 0],
    ["GetInfo", ask(getInfo as never), 0],
    ["NextId", ask(nextId, { headers: { authorization: "Bearer wrong" } }), Code.Unauthenticated],
    ["ReserveIds", ask(reserveIds as never, { headers: bearer("scraper") }), Code.PermissionDenied],
    ["ReserveIds", ask(reserveIds as never), Code.InvalidArgument],
    ...(carries(batchNextIds) ? ([["BatchNextIds", ask(stream), Code.InvalidArgument]] as const) : []),
    ["other", ask(nextId, { path: `/${service}/NoSuchMethod` }), Code.Unimplemented],
  ];
}

/** Calls as a principal that may call once a second, until it is refused. */
async function useUpQuota({ ask, contentType, body }: CallWay, url: string, tally: Tally): Promise<void> {
  const method = getInfo as unknown as typeof nextId;
  const headers = { "content-type": contentType(method), te: "trailers", ...bearer("poor") };
  let code: Code | 0 = 0;
  while (code === 0) {
    code = codeOf(await ask(url, { path: `/${service}/GetInfo`, headers, body: body(method) }));
    tally.add(`${service}/GetInfo`, code);
  }
  expect(code).toBe(Code.ResourceExhausted);
}

/** Ends a long stream after its first bytes, or a call of NextId before its request came whole. */
async function cancelInHttp2(url: string, kind: "stream" | "half a request"): Promise<void> {
  const session = connectHttp2(url);
  session.on("error", () => undefined);
  const headers = { "content-type": "application/grpc", te: "trailers", ":method": "POST", ...bearer("shop") };
  const path = `/${service}/${kind === "stream" ? "BatchNextIds" : "NextId"}`;
  const call = session.request({ ...headers, ":path": path });
  call.on("error", () => undefined);
  if (kind === "stream") {
    call.end(longStream);
    await once(call, "data");
  } else {
    call.write(Buffer.alloc(3));
    // An answer to a ping shows that the server has seen what was sent before.
    await new Promise<void>((resolve) => session.ping(() => resolve()));
  }
  call.close(8);
  await once(call, "close");
  session.destroy();
}

async function cancelInHttp1(address: string): Promise<void> {
  const [host, port] = address.split(":");
  const socket = connectTcp(Number(port), host);
  const { authorization } = bearer("shop");
  const body = Buffer.concat([longStream]);
  const fields = `host: ${address}\r\nauthorization: ${authorization}\r\ncontent-type: application/grpc-web\r\n`;
  socket.write(`POST /${service}/BatchNextIds HTTP/1.1\r\n${fields}content-length: ${body.length}\r\n\r\n`);
  socket.write(body);
  await once(socket, "data");
  socket.destroy();
}

test("OPERATIONS 22: counters equal what callers saw, by principal where one was refused: OK, refused, failed, unknown, undecodable and cancelled", async () => {
  const principals = principalsFile([
    { name: "shop", permissions: ["ids"] },
    { name: "poor", permissions: ["ids"], callsPerSecond: 1 },
    { name: "scraper", permissions: ["observe"] },
  ]).path;
  const { url, address, server, faults } = await runServer({ principals });
  const tally = new Tally();
  let undecodable = 0;
  for (const [name, way] of Object.entries(callWays)) {
    for (const [method, question, expected] of callsOf(way)) {
      const answer = await way.ask(url, question);
      // https://connectrpc.com/docs/protocol/#http-to-error-code
      const code = answer.status === 404 ? Code.Unimplemented : codeOf(answer);
      expect([name, method, code]).toEqual([name, method, expected]);
      tally.add(method === "other" ? method : `${service}/${method}`, code);
      if (method === "other") undecodable += 1;
    }
    await useUpQuota(way, url, tally);
    // No message of any codec.
    const garbage = name.includes("general") || name.startsWith("Connect") ? Buffer.from("{") : Buffer.of(0xff, 0xff);
    const path = `/${service}/NextId`;
    const headers = { "content-type": way.contentType(nextId), te: "trailers" };
    const framed = name.startsWith("Connect") ? garbage : grpcFrame(garbage);
    tally.add(`${service}/NextId`, codeOf(await way.ask(url, { path, headers, body: framed })));
    undecodable += 1;
  }
  const { ask } = callWays["gRPC"]!;
  const late = { "content-type": "application/grpc", te: "trailers", "grpc-timeout": "1n", ...bearer("shop") };
  const code = codeOf(
    await ask(url, { path: `/${service}/NextId`, headers: late, body: grpcFrame(new Uint8Array(0)) }),
  );
  // Connect's handlers look at their timer once in a while; the engine looks at once.
  expect([0, Code.DeadlineExceeded]).toContain(code);
  tally.add(`${service}/NextId`, code);
  await cancelInHttp2(url, "stream");
  await cancelInHttp1(address);
  // To node:http2 half a request looks whole when it is cut.
  if (http2 === "engine") {
    await cancelInHttp2(url, "half a request");
    tally.add(`${service}/NextId`, Code.Canceled);
  }
  tally.add(`${service}/BatchNextIds`, Code.Canceled);
  tally.add(`${service}/BatchNextIds`, Code.Canceled);

  const headers = bearer("scraper");
  // The server learns of a cancelled call a little later than its caller.
  await expect.poll(async () => countedCalls(await scrape(url, { headers }))).toEqual(tally.lines);
  const lines = await scrape(url, { headers });
  const refused = (why: string): number | undefined => lines.get(`snowlane_refused_total{why="${why}"}`);
  expect(refused("credentials")).toBe(tally.sum('code="UNAUTHENTICATED"'));
  expect(refused("permission")).toBe(tally.sum('code="PERMISSION_DENIED"'));
  expect(refused("quota")).toBe(tally.sum('code="RESOURCE_EXHAUSTED"'));
  expect(refused("undecodable")).toBe(undecodable);
  expect(lines.get("snowlane_ids_issued_total")).toBe(server.source.status().counters.issued);
  // All of them went to the one caller that may have IDs; a chunk of a cancelled stream counts.
  expect(lines.get('snowlane_principal_ids_total{principal="shop"}')).toBe(server.source.status().counters.issued);
  expect(lines.get('snowlane_principal_ids_total{principal="scraper"}')).toBe(0);
  const refusedTo = ["shop", "poor", "scraper"].map(
    // No metric said whose calls were refused.
    (name) => lines.get(`snowlane_principal_refused_total{principal="${name}"}`)!,
  );
  expect(refusedTo.reduce((sum, count) => sum + count)).toBe(refused("permission")! + refused("quota")!);
  expect(lines.get("snowlane_streams")).toBe(0);
  const timed = lines.get(`snowlane_call_seconds_count{method="${service}/GetInfo"}`);
  // A call is timed once its request was read, which the last of a quota may not be.
  const all = tally.sum(`${service}/GetInfo`);
  expect(timed).toBeLessThanOrEqual(all);
  expect(timed).toBeGreaterThanOrEqual(all - tally.sum('code="RESOURCE_EXHAUSTED"'));
  expect(faults).toEqual([]);
});

test("counters equal what callers saw of sequences, also by GET of Connect", async () => {
  const { url, faults } = await runServer();
  const tally = new Tally();
  const typeName = SequenceService.typeName;
  const call = async <T>(method: string, expected: Code | 0, asked: Promise<T>): Promise<T | undefined> => {
    const { code, answer } = await asked.then(
      (answer) => ({ code: 0 as const, answer }),
      (error: unknown) => ({ code: ConnectError.from(error).code, answer: undefined }),
    );
    expect([method, code]).toEqual([method, expected]);
    tally.add(`${typeName}/${method}`, code);
    return answer;
  };
  const transports = {
    grpc: createGrpcTransport({ baseUrl: url }),
    "grpc-web": createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" }),
    connect: createConnectTransport({ baseUrl: url, httpVersion: "2" }),
    get: createConnectTransport({ baseUrl: url, httpVersion: "1.1", useHttpGet: true }),
  };
  for (const [name, transport] of Object.entries(transports)) {
    const client = createClient(SequenceService, transport);
    await call("GetSequence", Code.NotFound, client.getSequence({ name }));
    await call("NextValue", Code.NotFound, client.nextValue({ name }));
    await call("CreateSequence", 0, client.createSequence({ sequence: { name } }));
    const other = client.createSequence({ sequence: { name, textTemplate: "N-{value}" } });
    await call("CreateSequence", Code.AlreadyExists, other);
    const { sequence } = (await call("GetSequence", 0, client.getSequence({ name })))!;
    const update = (values: { disabled: boolean } | { description: string }) =>
      client.updateSequence({
        sequence: { name, etag: sequence!.etag, ...values },
        updateMask: { paths: Object.keys(values) },
      });
    await call("UpdateSequence", 0, update({ disabled: true }));
    // The etag is that of before.
    await call("UpdateSequence", Code.Aborted, update({ description: "of the shop" }));
    await call("NextValue", Code.FailedPrecondition, client.nextValue({ name }));
  }
  await expect.poll(async () => countedCalls(await scrape(url))).toEqual(tally.lines);
  expect(tally.lines.size).toBe(8);
  expect(faults).toEqual([]);
});

/** How many hostile requests a run sends: docs/security.md has the command for a million. */
const hostileCount = 2_000 * scale;

const hostileTest = `no label has more values after ${hostileCount} hostile requests than after one of each kind`;

test(hostileTest, { timeout: 180_000 * scale }, async () => {
  const { path: principals } = principalsFile([
    { name: "attacker", permissions: ["all"] },
    { name: "scraper", permissions: ["observe"] },
  ]);
  const { url } = await runServer({ principals });
  const random = new SeededRandom(1);
  const text = (): string => random.below(2 ** 31).toString(36);
  const session = connectHttp2(url);
  session.on("error", () => undefined);
  let answered = 0;
  const send = async (headers: Readonly<Record<string, string>>, body: Buffer): Promise<void> => {
    const call = session.request({ ":method": "POST", ...bearer("attacker"), ...headers });
    call.on("error", () => undefined);
    call.on("response", () => (answered += 1));
    call.resume();
    call.end(body);
    await once(call, "close");
  };
  const kinds: readonly (() => Promise<void>)[] = [
    () => send({ ":path": `/${text()}.v1.${text()}/${text()}`, "content-type": "application/grpc" }, Buffer.alloc(0)),
    () => send({ ":path": `/${service}/${text()}`, "content-type": "application/json" }, Buffer.from("{}")),
    () => send({ ":path": `/${service}/NextId`, "content-type": `application/${text()}` }, Buffer.from(text())),
    () => send({ ":path": `/${service}/GetInfo`, "content-type": "application/json" }, Buffer.from(text())),
    () =>
      send(
        { ":path": `/${service}/NextId`, "content-type": "application/grpc", [text()]: text() },
        Buffer.from(text()),
      ),
    () => send({ ":path": `/metrics/${text()}`, ":method": `X${text()}` }, Buffer.alloc(0)),
    () =>
      send(
        { ":path": "/snowlane.v1.SequenceService/NextValue", "content-type": "application/json" },
        Buffer.from(JSON.stringify({ name: text() })),
      ),
    () =>
      send(
        { ":path": `/${service}/NextId`, "content-type": "application/json", authorization: `Bearer ${text()}` },
        Buffer.from("{}"),
      ),
  ];
  // The codes are those of gRPC; which of them garbage gets depends on the garbage.
  const anyCode = new RegExp(`code="(${codeNames.join("|")})"`);
  const linesNow = async (): Promise<readonly string[]> => {
    const names = [...(await scrape(url, { headers: bearer("scraper") })).keys()].map((name) =>
      name.replace(anyCode, "any code"),
    );
    return [...new Set(names)].toSorted();
  };
  // The second scrape has the worker IDs.
  await expect.poll(linesNow).toContain('snowlane_worker_ids{state="held"}');
  for (const kind of kinds) await kind();
  const before = await linesNow();
  answered = 0;
  for (let sent = 0; sent < hostileCount; sent += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => kinds[(sent + index) % kinds.length]!()));
  }
  expect(await linesNow()).toEqual(before);
  expect(answered).toBe(hostileCount);
  session.destroy();
});
