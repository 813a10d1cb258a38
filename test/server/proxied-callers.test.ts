/** Callers behind a proxy have their own addresses, where the operator named the proxy, and only there. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { askHttp1, askHttp2, grpcFrame, sendBytes } from "../support/http2/http-call.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { type RunningServer, runServer } from "../support/processes/running-server.ts";

const here = "127.0.0.1/32";
const elsewhere = "192.0.2.0/24";
const nextId = "/snowlane.v1.IdService/NextId";
const json = { "content-type": "application/json" };
let certificates: Certificates;

beforeAll(async () => {
  certificates = await makeCertificates();
});
afterAll(() => certificates.remove());

/** The header of version 1. */
const header1 = (address: string): string => `PROXY TCP4 ${address} 10.0.0.1 4711 443\r\n`;
/** That of version 2. */
const header2 = (address: string): Buffer =>
  Buffer.from([
    ...Buffer.from("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", "latin1"),
    ...address.split(".").map(Number),
    10,
    0,
    0,
    1,
    18,
    103,
    1,
    187,
  ]);

function startRefusing(flags: Readonly<Record<string, string>>): Promise<RunningServer> {
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  return runServer({ principals, logCalls: "refused", ...flags });
}

/** The addresses in the lines of refused calls. */
function refusedAddresses({ log }: RunningServer): readonly string[] {
  const lines = log.map((line) => JSON.parse(line) as { message: string; address: string });
  return lines.filter(({ message }) => message === "A call was refused").map(({ address }) => address);
}

function openTcp(address: string, header: string | Buffer): Socket {
  const [host, port] = address.split(":");
  const socket = connectTcp(Number(port), host);
  socket.on("error", () => undefined);
  socket.write(header);
  return socket;
}

/** A connection of HTTP/2 that a proxy passes on, with the header before everything else. */
function openSession(url: string, header: string | Buffer): ClientHttp2Session {
  const { host, protocol } = new URL(url);
  const socket = openTcp(host, header);
  const tls: ConnectionOptions = { socket, ca: readFileSync(certificates.caFile), ALPNProtocols: ["h2"] };
  const session = connect(url, {
    createConnection: () => (protocol === "https:" ? connectTls({ ...tls, servername: "localhost" }) : socket),
  });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

/** Opens a stream of IDs, and resolves with its first bytes. */
async function openStream(session: ClientHttp2Session, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const headers = { "content-type": "application/connect+json", ...more };
  const path = "/snowlane.v1.IdService/BatchNextIds";
  const stream = session.request({ ":path": path, ":method": "POST", ...headers });
  stream.on("error", () => undefined);
  stream.end(grpcFrame(Buffer.from(JSON.stringify({ count: "1000000000" }))));
  const [chunk] = (await once(stream, "data")) as [Buffer];
  return chunk.toString("latin1");
}

async function callStatus(session: ClientHttp2Session, path = nextId): Promise<number> {
  const stream = session.request({ ":path": path, ":method": "POST", ...json });
  stream.end("{}");
  stream.resume();
  const [{ ":status": status }] = (await once(stream, "response")) as [{ ":status": number }];
  return status;
}

describe("OPERATIONS 14: the PROXY protocol", () => {
  test.each(["plaintext", "TLS"])("names the caller in refusals, over HTTP/2 and HTTP/1.1: %s", async (kind) => {
    const { certFile: tlsCert, keyFile: tlsKey } = certificates.server;
    const running = await startRefusing({ proxyProtocol: here, ...(kind === "TLS" && { tlsCert, tlsKey }) });
    const url = kind === "TLS" ? `https://${running.address}` : running.url;
    expect(await callStatus(openSession(url, header1("203.0.113.1")))).toBe(401);
    expect(await callStatus(openSession(url, header2("203.0.113.2")))).toBe(401);
    if (kind === "plaintext") {
      const request = `POST ${nextId} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;
      const answer = await sendBytes(running.address, [header2("203.0.113.3"), request], "MISSING");
      expect(answer).toContain("403");
      const other = await sendBytes(
        running.address,
        [header1("203.0.113.4") + request.replace("host: a", "host: localhost")],
        "MISSING",
      );
      expect(other).toContain("401");
    }
    const named = ["203.0.113.1", "203.0.113.2", ...(kind === "plaintext" ? ["203.0.113.3", "203.0.113.4"] : [])];
    expect(refusedAddresses(running)).toEqual(named);
  });

  test("a connection of a named network without the header is closed, and so is one with half of it at its end", async () => {
    const { address, url } = await runServer({ proxyProtocol: here });
    await expect(askHttp1(url, { path: "/healthz", method: "GET" })).rejects.toThrow();
    await expect(askHttp2(url, { path: nextId, body: "{}" })).rejects.toThrow();
    expect(
      await sendBytes(address, ["PROXY TCP4 203.0.113.9 10.0.0.1 47x1 443\r\n", "GET /healthz HTTP/1.1\r\n\r\n"]),
    ).toBe("");
    const half = openTcp(address, "PROXY TCP4 203.0.");
    half.end();
    half.resume();
    await once(half, "close");
    expect(
      await sendBytes(address, [header1("203.0.113.9"), "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"], "ok"),
    ).toContain("200");
  });

  test("a proxy that speaks for itself is served under its own address", async () => {
    const running = await startRefusing({ proxyProtocol: here });
    expect(await callStatus(openSession(running.url, "PROXY UNKNOWN\r\n"))).toBe(401);
    expect(refusedAddresses(running)).toEqual(["127.0.0.1"]);
  });

  test("from other networks no header is read, so a caller cannot name an address", async () => {
    const running = await startRefusing({ proxyProtocol: elsewhere });
    expect(
      await sendBytes(running.address, [header1("203.0.113.9"), "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"]),
    ).toContain("400");
    expect((await askHttp2(running.url, { path: nextId, body: "{}" })).status).toBe(401);
    expect(refusedAddresses(running)).toEqual(["127.0.0.1"]);
  });

  test("bounds of a network count for each caller, and not for the proxy", async () => {
    const { url } = await runServer({ proxyProtocol: here, networkStreamsMax: "1" });
    expect(await openStream(openSession(url, header1("203.0.113.1")))).not.toContain("QUOTA_EXCEEDED");
    expect(await openStream(openSession(url, header2("203.0.113.2")))).not.toContain("QUOTA_EXCEEDED");
    expect(await openStream(openSession(url, header1("203.0.113.1")))).toContain("QUOTA_EXCEEDED");
  });

  // One address keeps the others out no more, behind a proxy as without one.
  test("near the limit of connections a caller with many makes room for another of the same proxy", async () => {
    const { address, server } = await runServer({ proxyProtocol: here, connectionsMax: "20" });
    const crowd = Array.from({ length: 18 }, () => openTcp(address, `${header1("203.0.113.1")}GET /hea`));
    onTestFinished(() => crowd.forEach((socket) => socket.destroy()));
    let closed = 0;
    for (const socket of crowd) socket.resume().once("close", () => closed++);
    await Promise.all(crowd.map((socket) => once(socket, "connect")));
    expect(server.address.port).toBeGreaterThan(0);
    const others = ["203.0.113.2", "203.0.113.3", "203.0.113.4"];
    const request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for (const other of others) expect(await sendBytes(address, [header1(other), request], "ok")).toContain("200");
    // Sooner than any limit of time would close it.
    await expect.poll(() => closed, { timeout: 5_000 }).toBeGreaterThan(0);
  });
});

describe("OPERATIONS 14: X-Forwarded-For", () => {
  test("of a trusted proxy names the caller of each call, over HTTP/2 and HTTP/1.1, hot or not", async () => {
    const running = await startRefusing({ trustedProxies: here });
    const paths = [nextId, "/snowlane.v1.IdService/Parse"];
    const wanted: string[] = [];
    for (const ask of [askHttp1, askHttp2]) {
      for (const path of paths) {
        const caller = `203.0.113.${wanted.length + 1}`;
        wanted.push(caller);
        const headers = { ...json, "x-forwarded-for": `6.6.6.6, ${caller}, 127.0.0.1`, forwarded: "for=6.6.6.6" };
        expect((await ask(running.url, { path, headers, body: "{}" })).status).toBe(401);
      }
    }
    const headers = { ...json, host: "evil.example", "x-forwarded-for": "203.0.113.9" };
    expect((await askHttp1(running.url, { path: nextId, headers, body: "{}" })).status).toBe(403);
    expect(refusedAddresses(running)).toEqual([...wanted, "203.0.113.9"]);
  });

  test("of any other address names nobody", async () => {
    const running = await startRefusing({ trustedProxies: elsewhere });
    for (const ask of [askHttp1, askHttp2]) {
      const headers = { ...json, "x-forwarded-for": "203.0.113.9" };
      expect((await ask(running.url, { path: nextId, headers, body: "{}" })).status).toBe(401);
    }
    expect(refusedAddresses(running)).toEqual(["127.0.0.1", "127.0.0.1"]);
  });

  test("callers on one connection of a proxy have a bound each, and share none of ten Watch streams", async () => {
    const { url } = await runServer({ trustedProxies: here, networkStreamsMax: "12" });
    const session = openSession(url, "");
    const from = (address: string) => ({ "x-forwarded-for": address });
    for (let count = 0; count < 12; count++) {
      expect(await openStream(session, from("203.0.113.1"))).not.toContain("QUOTA_EXCEEDED");
    }
    expect(await openStream(session, from("203.0.113.1"))).toContain("QUOTA_EXCEEDED");
    expect(await openStream(session, from("203.0.113.2"))).not.toContain("QUOTA_EXCEEDED");
    const watch = { ":path": "/grpc.health.v1.Health/Watch", ":method": "POST", "content-type": "application/grpc" };
    for (let count = 0; count < 11; count++) {
      const stream = session.request({ ...watch, ...from("203.0.113.3") });
      stream.on("error", () => undefined);
      stream.end(grpcFrame(new Uint8Array(0)));
      const [headers] = (await once(stream, "response")) as [Record<string, string>];
      stream.resume();
      expect(headers["grpc-status"]).toBeUndefined();
    }
  });

  test("comes behind the header of the PROXY protocol, where both proxies were named", async () => {
    const running = await startRefusing({ proxyProtocol: here, trustedProxies: "198.51.100.0/24" });
    const session = openSession(running.url, header1("198.51.100.7"));
    const stream = session.request({ ":path": nextId, ":method": "POST", ...json, "x-forwarded-for": "203.0.113.9" });
    stream.end("{}");
    stream.resume();
    await once(stream, "response");
    expect(refusedAddresses(running)).toEqual(["203.0.113.9"]);
  });
});
