/** A server that is called by a name of another site, as a page does that rebinds its name (DNS rebinding). */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { describe, expect, onTestFinished, test } from "vitest";
import { askHttp1, askHttp2, grpcFrame, sendBytes } from "../support/http2/http-call.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

const nextId = "/snowlane.v1.IdService/NextId";
const getInfo = "/snowlane.v1.IdService/GetInfo";
const json = { "content-type": "application/json" };
const security = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

describe.each(["127.0.0.1:0", "[::1]:0", "localhost:0"])("a server on %s", (listen) => {
  test("answers to its address and to localhost, and gives no ID to any other name", async () => {
    const { url, server, faults } = await runServer({ listen });
    const { port } = server.address;
    const status = async (host: string, path = nextId, more = {}) =>
      (await askHttp1(url, { path, headers: { ...json, ...more, host }, body: "{}" })).status;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "localhost", "LOCALHOST.:1"]) {
      expect([host, await status(host)]).toEqual([host, 200]);
    }
    const { issued } = server.source.status().counters;
    for (const host of [`evil.test:${port}`, "evil.test", "localhost.evil.test", "ids.internal"]) {
      for (const more of [{}, { "x-forwarded-host": "localhost" }, { origin: `http://${host}` }]) {
        expect([host, await status(host, nextId, more)]).toEqual([host, 403]);
      }
      expect(await status(host, getInfo)).toBe(403);
      expect(await status(host, "/none")).toBe(403);
    }
    expect(server.source.status().counters.issued).toBe(issued);
    const metrics = (await askHttp1(url, { path: "/metrics", method: "GET", headers: {} })).body.toString();
    expect(metrics).toContain('snowlane_refused_total{why="host"} 20\n');
    expect(faults).toEqual([]);
  });
});

test("the refusal says what to do, as an error of Connect or as a line, and is not kept", async () => {
  const { url } = await runServer();
  const headers = { ...json, host: "evil.test" };
  const call = await askHttp1(url, { path: nextId, headers, body: "{}" });
  expect(call.headers).toMatchObject({ ...security, "cache-control": "no-store", connection: "close" });
  expect(JSON.parse(call.body.toString())).toMatchObject({
    code: "permission_denied",
    message: expect.stringContaining("--hosts"),
    details: [{ type: "google.rpc.ErrorInfo", debug: { reason: "HOST_NOT_ALLOWED", metadata: { host: "evil.test" } } }],
  });
  for (const path of ["/", "/healthz", "/readyz", `${getInfo}?connect=v1&encoding=json&message=%7B%7D`]) {
    const { status, body } = await askHttp1(url, { path, method: "GET", headers: { host: "evil.test" } });
    expect([path, status, body.toString()]).toEqual([path, 403, expect.stringMatching(/^HOST_NOT_ALLOWED: .+\n$/)]);
    const head = await askHttp1(url, { path, method: "HEAD", headers: { host: "evil.test" } });
    expect([head.status, head.body.length]).toEqual([403, 0]);
  }
});

test("an absolute form counts by its own name, a request of HTTP/1.0 needs none, and a connection goes on", async () => {
  const { address, url } = await runServer();
  const rest = "content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
  const ask = (target: string, host: string) =>
    sendBytes(address, [`POST ${target} HTTP/1.1\r\nhost: ${host}\r\n${rest}`]);
  expect(await ask(`http://evil.test${nextId}`, "localhost")).toMatch(/^HTTP\/1\.1 403 /);
  expect(await ask(`${url}${nextId}`, "evil.test")).toMatch(/^HTTP\/1\.1 200 /);
  expect(await sendBytes(address, [`POST ${nextId} HTTP/1.0\r\n${rest}`])).toMatch(/ 200 OK[^]*"id"/);
  expect(await sendBytes(address, [`POST ${nextId} HTTP/1.0\r\nhost: evil.test\r\n${rest}`])).toMatch(/ 403 /);
  // The name that was allowed on this connection says nothing of the next request.
  const head = (host: string) => `POST ${nextId} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
  const both = `${head("localhost")}content-length: 2\r\n\r\n{}${head("evil.test")}content-length: 2\r\n\r\n{}`;
  expect((await sendBytes(address, [both])).match(/HTTP\/1\.1 \d+|"id"/g)).toEqual([
    "HTTP/1.1 200",
    '"id"',
    "HTTP/1.1 403",
  ]);
});

test("a name is the same whatever stands around it", async () => {
  const { address, server } = await runServer();
  const rest = "content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
  const ask = (fields: string, target = nextId) => sendBytes(address, [`POST ${target} HTTP/1.1\r\n${fields}${rest}`]);
  for (const host of [
    "localhost, evil.test",
    "evil.test, localhost",
    "localhost evil.test",
    "localhost@evil.test",
    "evil.test#localhost",
    "evil.test/localhost",
    "evil.test\\localhost",
    "evil.test?localhost",
    "evil.test:80:localhost",
    "localhost:80@evil.test",
    "localhost:evil.test",
    "localhost..",
    "localhost%00.evil.test",
    "127.0.0.1.evil.test",
    "127.0.0.1@evil.test",
    "[::1].evil.test",
    "[::1]evil.test",
    "[evil.test]",
    "[::1",
    // Other spellings of an address, which a browser never sends: it writes 127.0.0.1 for them.
    "0x7f.0.0.1",
    "2130706433",
    "127.1",
    "0177.0.0.1",
    "xn--localhost-.test",
    "\u006c\u043ecalhost",
  ]) {
    expect([host, (await ask(`host: ${host}\r\n`)).slice(0, 12)]).toEqual([
      host,
      expect.stringMatching(/^HTTP\/1\.1 (?:400|403)$/),
    ]);
  }
  for (const target of ["http://localhost@evil.test/", "http://evil.test/http://localhost/", "HTTP://EVIL.TEST/"]) {
    expect(await ask("host: localhost\r\n", `${target}${nextId.slice(1)}`)).toMatch(/^HTTP\/1\.1 403 /);
  }
  expect(await ask("")).toMatch(/^HTTP\/1\.1 400 /);
  expect(server.source.status().counters.issued).toBe(0);
});

test("names of --hosts are allowed, and any allows all", async () => {
  const status = async (url: string, host: string) =>
    (await askHttp1(url, { path: nextId, headers: { ...json, host }, body: "{}" })).status;
  const { url } = await runServer({ hosts: "ids.internal, IDS2.internal." });
  expect(await status(url, "ids.internal:80")).toBe(200);
  expect(await status(url, "ids2.internal")).toBe(200);
  expect(await status(url, "ids3.internal")).toBe(403);
  const open = await runServer({ hosts: "any" });
  expect(await status(open.url, "evil.test")).toBe(200);
});

test("on an open address a page is known by its origin, and other callers by no name", async () => {
  const store = `sqlite:${temporaryFolder()}/ids.db`;
  const open = { listen: "0.0.0.0:0", auth: "none", store };
  const { server } = await runServer({ ...open, corsOrigin: "https://app.example" });
  const url = `http://127.0.0.1:${server.address.port}`;
  const status = async (headers: Readonly<Record<string, string>>) =>
    (await askHttp1(url, { path: nextId, headers: { ...json, ...headers }, body: "{}" })).status;
  expect(await status({ host: "ids.internal" })).toBe(200);
  expect(await status({ host: "ids.internal", origin: "https://app.example" })).toBe(200);
  expect(await status({ host: "10.1.2.3", origin: "http://10.1.2.3" })).toBe(200);
  expect(await status({ host: "evil.test", origin: "http://evil.test" })).toBe(403);
  expect(await status({ host: "10.1.2.3", origin: "null" })).toBe(403);
});

test("HTTP/2, which browsers speak over TLS alone, and HTTP/1.1 over TLS are not asked for a name", async () => {
  const { url } = await runServer();
  const inHttp2 = await askHttp2(url, { path: nextId, headers: { ...json, ":authority": "evil.test" }, body: "{}" });
  expect(inHttp2.status).toBe(200);
  const { server, caFile, remove } = await makeCertificates();
  onTestFinished(remove);
  const secure = await runServer({ tlsCert: server.certFile, tlsKey: server.keyFile });
  const options = { ca: readFileSync(caFile), method: "POST", path: nextId, headers: { ...json, host: "evil.test" } };
  const call = request(`https://${secure.address}`, { ...options, servername: "localhost", agent: false });
  call.end("{}");
  const [{ statusCode }] = await once(call, "response");
  expect(statusCode).toBe(200);
});

test("every answer that is not gRPC has the headers of security, on both ways and in both versions of HTTP", async () => {
  const { url } = await runServer();
  for (const ask of [askHttp1, askHttp2]) {
    for (const [path, type] of [
      [nextId, "application/json"],
      [getInfo, "application/json"],
      [nextId, "application/grpc-web+proto"],
      [getInfo, "application/grpc-web+proto"],
      [nextId, "text/none"],
      ["/none", "application/json"],
    ] as const) {
      const body = type === "application/json" ? "{}" : grpcFrame(new Uint8Array(0));
      const { headers } = await ask(url, { path, headers: { "content-type": type }, body });
      expect([path, type, headers]).toEqual([path, type, expect.objectContaining(security)]);
    }
  }
  const grpc = { "content-type": "application/grpc", te: "trailers" };
  for (const path of [nextId, getInfo]) {
    const { headers } = await askHttp2(url, { path, headers: grpc, body: grpcFrame(new Uint8Array(0)) });
    expect(Object.keys(headers)).not.toContain("x-content-type-options");
  }
});
