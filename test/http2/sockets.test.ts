import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect, type AddressInfo } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { errorCode } from "../../src/http2/error-code.ts";
import type { ServerStream, StreamHandler } from "../../src/http2/stream.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { findTool } from "../support/fetch/tools.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { describingHandler, startHttp2TestServer } from "../support/http2/http2-test-server.ts";
import {
  data,
  echoHandler,
  headers,
  hello,
  okBlock,
  OutputReader,
  parseFrames,
  ping,
  settings,
  windowUpdate,
} from "../support/http2/http2-wire.ts";
import { runCommand } from "../support/processes/run-command.ts";

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

function ask(client: ClientHttp2Session, path: string, body?: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = client.request({ ":path": path, ":method": body === undefined ? "GET" : "POST" });
    let status = 0;
    const chunks: Buffer[] = [];
    request.on("response", (received) => (status = received[":status"] ?? 0));
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => resolve({ status, body: Buffer.concat(chunks) }));
    request.on("error", reject);
    request.end(body);
  });
}

/** Writes without end, and counts. */
function endlessHandler(count: { bytes: number }): StreamHandler {
  const chunk = Buffer.alloc(32_768);
  const more = (stream: ServerStream): void => {
    do count.bytes += chunk.length;
    while (stream.write(chunk));
  };
  return {
    onEnd: (stream) => {
      stream.respond(okBlock, "body");
      more(stream);
    },
    onWritable: more,
  };
}

test("node:http2's client: many requests at once, and bodies far over every window", async () => {
  await using server = await startHttp2TestServer(describingHandler);
  const client = connectHttp2(`http://127.0.0.1:${server.port}`);
  try {
    const small = await Promise.all(Array.from({ length: 3_000 }, (_, index) => ask(client, `/${index}`)));
    expect(small.every(({ status }) => status === 200)).toBe(true);
    expect(small.map(({ body }) => (JSON.parse(body.toString()) as { path: string }).path)).toEqual(
      small.map((_, index) => `/${index}`),
    );
    const large = await Promise.all(Array.from({ length: 10 }, () => ask(client, "/", Buffer.alloc(2_000_000))));
    for (const { body } of large) expect(JSON.parse(body.toString())).toMatchObject({ bodyBytes: 2_000_000 });
  } finally {
    client.destroy();
  }
  expect(server.faults).toEqual([]);
});

test("a large response arrives whole, to a client with small windows too", async () => {
  const sent = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => index % 251));
  await using server = await startHttp2TestServer(() => ({
    onEnd: (stream) => {
      stream.respond(okBlock, "body");
      stream.write(sent);
      stream.end();
    },
  }));
  for (const initialWindowSize of [65_535, 1_000]) {
    const client = connectHttp2(`http://127.0.0.1:${server.port}`, { settings: { initialWindowSize } });
    const answers = await Promise.all([ask(client, "/"), ask(client, "/")]);
    for (const { body } of answers) expect(body.equals(sent)).toBe(true);
    client.destroy();
  }
});

test("curl: a GET, a body over 64 kB, a large response", async () => {
  await using server = await startHttp2TestServer(describingHandler);
  const url = `http://127.0.0.1:${server.port}/a`;
  const got = await runCommand("curl", ["-s", "--http2-prior-knowledge", url]);
  expect(JSON.parse(got)).toMatchObject({ method: "GET", path: "/a" });
  const posted = await runCommand("curl", ["-s", "--http2-prior-knowledge", "--data-binary", "a".repeat(100_000), url]);
  expect(JSON.parse(posted)).toMatchObject({ method: "POST", bodyBytes: 100_000 });
});

test("h2load: every request succeeds, over few and over many connections", async () => {
  await using server = await startHttp2TestServer(() => echoHandler(30));
  const { path, env } = await findTool("h2load");
  for (const shape of ["-c4 -m32", "-c100 -m1", "-c2 -m100 -w1 -W10"]) {
    const args = ["-n", "20000", ...shape.split(" "), `http://127.0.0.1:${server.port}/`];
    const report = await runCommand(path, args, { env });
    expect(report).toContain("20000 succeeded, 0 failed, 0 errored");
  }
  expect(server.faults).toEqual([]);
});

/** Answers after five milliseconds. */
function lateHandler(): StreamHandler {
  return {
    onEnd: (stream) => {
      setTimeout(() => {
        stream.respond(okBlock, "body");
        stream.end();
      }, 5);
    },
  };
}

test("a drain loses no request of a client that goes on asking elsewhere, and every connection ends", async () => {
  await using server = await startHttp2TestServer(lateHandler);
  await using other = await startHttp2TestServer(lateHandler);
  const first = connectHttp2(`http://127.0.0.1:${server.port}`);
  const second = connectHttp2(`http://127.0.0.1:${other.port}`);
  let client = first;
  first.once("goaway", () => (client = second));
  const outcomes = { ok: 0, failed: 0 };
  // A request that nghttp2 still held back when GOAWAY came it refuses itself: never sent, safe to send again.
  const askAgain = async (error: Error): Promise<Answer> => {
    if (!/REFUSED_STREAM|GOAWAY/.test(error.message)) throw error;
    return await ask(second, "/");
  };
  const asked: Promise<void>[] = [];
  let drained: Promise<void> | undefined;
  for (let round = 0; round < 50; round++) {
    for (let index = 0; index < 20; index++) {
      const answered = ask(client, "/").catch(askAgain);
      asked.push(answered.then(() => void outcomes.ok++).catch(() => void outcomes.failed++));
    }
    if (round === 25) drained = server.sockets.drain();
    await sleep(2);
  }
  await Promise.all(asked);
  await drained;
  expect(outcomes).toEqual({ ok: 1_000, failed: 0 });
  expect(client).toBe(second);
  while (!first.destroyed) await sleep(5);
  second.destroy();
});

test("a client that breaks the rules reads why, though it goes on writing", async () => {
  await using server = await startHttp2TestServer(() => echoHandler());
  const client = await RawClient.connect(server.port);
  client.send(hello, data(1, 10), ...Array.from({ length: 50 }, () => data(1, 16_000)));
  const lines = await client.until((lines) => lines.some((line) => line.startsWith("goAway")));
  expect(lines.at(-1)).toBe("goAway 0 protocolError");
  await client.until(() => false);
  expect(client.isClosed).toBe(true);
});

test("a connection that was ended is forgotten, though its socket might have lingered", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let held: WeakRef<ServerStream> | undefined;
  await using server = await startHttp2TestServer((stream) => {
    held = new WeakRef(stream);
    return echoHandler();
  });
  const client = await RawClient.connect(server.port);
  client.send(hello, headers(1, "body"), data(3, 10));
  expect(await client.until(() => false)).toContain("goAway 1 protocolError");
  await expect
    .poll(
      () => {
        collect();
        return held?.deref();
      },
      { timeout: 20_000 },
    )
    .toBeUndefined();
});

test("time limits hold for each of many connections, though some come and go between the looks", async () => {
  await using server = await startHttp2TestServer(() => echoHandler(), { handshakeTimeoutMs: 1_000 });
  const silent = [];
  for (let index = 0; index < 90; index++) {
    silent.push(await RawClient.connect(server.port));
    // Every third leaves by itself, at any time.
    if (index % 3 === 2) silent[index - 1]!.destroy();
  }
  await Promise.all(silent.map((client) => client.until(() => false)));
  await vi.waitFor(() => expect(server.sockets.connectionCount).toBe(0), 30_000);
  expect(server.faults).toEqual([]);
});

test("a client that stops reading stops the producer, and its own requests", async () => {
  const count = { bytes: 0 };
  let requests = 0;
  await using server = await startHttp2TestServer(() => {
    requests++;
    return endlessHandler(count);
  });
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.pause();
  socket.write(Buffer.concat([hello, settings([4, 0x7fffffff]), windowUpdate(0, 0x7fff0000), headers(1, "end")]));
  await sleep(300);
  const stalledBytes = count.bytes;
  // What the kernel holds for the socket, and at most a slab and a chunk of ours.
  expect(stalledBytes).toBeLessThan(20_000_000);
  socket.write(headers(3, "end"));
  for (let index = 0; index < 500; index++) socket.write(Buffer.concat(Array.from({ length: 500 }, () => ping())));
  await sleep(300);
  expect(count.bytes).toBe(stalledBytes);
  expect(requests).toBe(1);
  socket.destroy();
});

test("two readers of endless responses both get on, and a small request between them too", async () => {
  const count = { bytes: 0 };
  await using server = await startHttp2TestServer((stream) =>
    stream.head.path === "/a" ? endlessHandler(count) : echoHandler(),
  );
  const greedy = connectHttp2(`http://127.0.0.1:${server.port}`, { settings: { initialWindowSize: 1 << 20 } });
  const received = [0, 0];
  const streams = [0, 1].map((index) => {
    const request = greedy.request({ ":path": "/a" });
    request.on("data", (chunk: Buffer) => (received[index]! += chunk.length));
    request.on("error", () => undefined);
    return request;
  });
  const polite = connectHttp2(`http://127.0.0.1:${server.port}`);
  for (let index = 0; index < 50; index++) expect((await ask(polite, "/b", Buffer.alloc(10))).status).toBe(200);
  while (received.some((bytes) => bytes < 1_000_000)) await sleep(10);
  expect(Math.max(...received) / Math.min(...received)).toBeLessThan(3);
  for (const stream of streams) stream.close(errorCode.cancel);
  greedy.destroy();
  polite.destroy();
});

test("a client that sends much expensive work at once does not hold up another", async () => {
  const greedyRequests = 1_000;
  const greedyDone = { count: 0 };
  await using server = await startHttp2TestServer((stream) => {
    if (stream.head.path === "/small") return echoHandler();
    const untilMs = performance.now() + 0.5;
    while (performance.now() < untilMs);
    greedyDone.count++;
    return echoHandler();
  });
  const small = connectHttp2(`http://127.0.0.1:${server.port}`);
  await ask(small, "/small", Buffer.alloc(0));
  const greedy = await RawClient.connect(server.port);
  const requests = Array.from({ length: greedyRequests }, (_, index) => headers(2 * index + 1, "end"));
  greedy.send(hello, ...requests);
  while (greedyDone.count === 0) await sleep(1);
  for (let call = 0; call < 3; call++) await ask(small, "/small", Buffer.alloc(0));
  // One chunk has them all: taken whole, it would leave none.
  expect(greedyDone.count).toBeLessThan(greedyRequests / 2);
  const lines = await greedy.until((lines) => lines.filter((line) => line.endsWith("end")).length >= greedyRequests);
  expect(lines.filter((line) => line.endsWith("end"))).toHaveLength(greedyRequests);
  greedy.destroy();
  small.destroy();
});

/** The answers to what `send` sends on a connection whose other half is then closed. */
async function answersAfterEnd(port: number, bytes: Buffer): Promise<number> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.end(bytes);
  await closed;
  const lines = new OutputReader().lines(parseFrames(Buffer.concat(chunks)));
  return lines.filter((line) => line.endsWith("end")).length;
}

test("what a client asked before it closed its half is answered, however much it was", async () => {
  await using server = await startHttp2TestServer(() => echoHandler());
  for (const count of [1, 90, 2_000]) {
    const requests = Array.from({ length: count }, (_, index) => headers(2 * index + 1, "end"));
    const bytes = Buffer.concat([hello, windowUpdate(0, 1_000_000), ...requests]);
    expect(await answersAfterEnd(server.port, bytes)).toBe(count);
  }
  await expect.poll(() => server.sockets.connectionCount, { timeout: 30_000 }).toBe(0);
});

test("bulk in small records of TLS is read in turns, too", async () => {
  const requestsARecord = 10;
  const records = 50;
  const requests = { count: 0 };
  await using server = await startHttp2TestServer(() => {
    requests.count++;
    const untilMs = performance.now() + 0.5;
    while (performance.now() < untilMs);
    return echoHandler();
  });
  const certificates = await makeCertificates();
  const { certFile, keyFile } = certificates.server;
  const secure = createTlsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  const client = connectTls({ port: (secure.address() as AddressInfo).port, rejectUnauthorized: false });
  client.resume();
  const [accepted] = (await once(secure, "secureConnection")) as [TLSSocket];
  client.write(hello);
  for (let record = 0; record < records; record++) {
    const ids = Array.from({ length: requestsARecord }, (_, index) => 2 * (record * requestsARecord + index) + 1);
    const bytes = Buffer.concat(ids.map((id) => headers(id, "end")));
    await new Promise((resolve) => client.write(bytes, resolve));
  }
  // All of it is there before it is read.
  server.sockets.accept(accepted);
  let most = 0;
  let before = 0;
  while (requests.count < requestsARecord * records) {
    await nextTurn();
    most = Math.max(most, requests.count - before);
    before = requests.count;
  }
  // The bytes that are read at once, and one piece.
  expect(most).toBeLessThan(100);
  client.destroy();
  secure.close();
  certificates.remove();
});

test("a client that is killed leaves nothing behind", async () => {
  const aborted: number[] = [];
  await using server = await startHttp2TestServer(() => ({ onAbort: (stream) => void aborted.push(stream.id) }));
  const child = spawn(process.execPath, [
    "-e",
    `const client = require("node:http2").connect("http://127.0.0.1:${server.port}");
     for (let index = 0; index < 10; index++) client.request({ ":path": "/" }).on("error", () => {});
     setTimeout(() => process.kill(process.pid, "SIGKILL"), 200);`,
  ]);
  await new Promise((resolve) => child.once("exit", resolve));
  while (server.sockets.connectionCount > 0) await sleep(5);
  expect(aborted).toHaveLength(10);
});
