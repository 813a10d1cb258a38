import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { BatchNextIdsRequestSchema, IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { grpcFrame } from "../support/http2/http-call.ts";
import { nextIdFields } from "../support/http2/http2-floods.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { data, headers, hello, settings, windowUpdate } from "../support/http2/http2-wire.ts";
import { type RunningServer, runServer } from "../support/processes/running-server.ts";

const path = "/snowlane.v1.IdService/BatchNextIds";
const endless = 1_000_000_000n;
/** HTTP/2's window before anybody changes it (RFC 9113, 6.9.2). */
const windowBytes = 65_535;

/** Opens a stream over gRPC that nobody reads yet. */
function openHttp2(
  url: string,
  chunkSize: number,
): { readonly session: ClientHttp2Session; readonly stream: ClientHttp2Stream } {
  const session = connect(url);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":path": path,
    ":method": "POST",
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => undefined);
  const message = create(BatchNextIdsRequestSchema, { count: endless, chunkSize });
  stream.end(grpcFrame(toBinary(BatchNextIdsRequestSchema, message)));
  return { session, stream };
}

/** The fields of a stream over Connect that is answered on bytes, and of one that takes Connect's handlers. */
const http1Ways = {
  hot: { "content-type": "application/connect+json" },
  general: { "content-type": "application/connect+json", "connect-accept-encoding": "gzip" },
} as const;

/** Opens a stream over Connect and HTTP/1.1 that nobody reads yet. */
async function openHttp1(url: string, way: keyof typeof http1Ways): Promise<IncomingMessage> {
  const call = request(url + path, { method: "POST", agent: false, headers: http1Ways[way] });
  const message = create(BatchNextIdsRequestSchema, { count: endless });
  call.end(grpcFrame(Buffer.from(toJsonString(BatchNextIdsRequestSchema, message))));
  const [response] = await once(call, "response");
  onTestFinished(() => void call.destroy());
  return response;
}

function issued({ server }: RunningServer): number {
  return server.source.status().counters.issued;
}

/** Waits until no more IDs are issued, and gives how many were. */
async function settled(running: RunningServer): Promise<number> {
  for (let before = -1; ; await sleep(200)) {
    const now = issued(running);
    if (now === before && now > 0) return now;
    before = now;
  }
}

test.each([1, 100, 4096])(
  "over HTTP/2 a reader that takes nothing costs its window and two chunks of %i IDs",
  async (chunkSize) => {
    const running = await runServer();
    openHttp2(running.url, chunkSize);
    const listBytes = 8 * chunkSize;
    // gRPC's five, the field's number and its length, the IDs.
    const messageBytes = 5 + 1 + (listBytes < 128 ? 1 : listBytes < 16_384 ? 2 : 3) + listBytes;
    const inWindow = Math.ceil(windowBytes / messageBytes) * chunkSize;
    expect(await settled(running)).toBeLessThanOrEqual(inWindow + 2 * chunkSize);
  },
);

test.each(["hot", "general"] as const)(
  "over HTTP/1.1 a reader that takes nothing costs what the system buffers, and no more with time (%s)",
  async (way) => {
    const running = await runServer();
    await openHttp1(running.url, way);
    const first = await settled(running);
    await sleep(500);
    expect(issued(running)).toBe(first);
  },
);

test.each(["hot", "general"] as const)(
  "over HTTP/1.1 a reader that stalls and comes back learns why its stream ended (%s)",
  async (way) => {
    const running = await runServer({ stallTimeout: "300ms" });
    const response = await openHttp1(running.url, way);
    const first = await settled(running);
    await sleep(1_000);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    expect(response.complete).toBe(true);
    expect(Buffer.concat(chunks).toString("latin1")).toMatch(/"code":"unavailable".*STREAM_STALLED/);
    expect(issued(running)).toBe(first);
    expect(running.faults).toEqual([]);
  },
);

test("a reader that leaves ends its stream, and the server can stop at once", async () => {
  const running = await runServer({ drainTimeout: "60s" });
  const { stream } = openHttp2(running.url, 0);
  const responses = [await openHttp1(running.url, "hot"), await openHttp1(running.url, "general")];
  await settled(running);
  stream.close();
  for (const response of responses) response.destroy();
  const after = await settled(running);
  await running.server.stop();
  expect(issued(running)).toBeLessThanOrEqual(after + 2 * 4096);
  expect(running.faults).toEqual([]);
});

test("a reader that stalls and comes back learns why its stream ended", async () => {
  const running = await runServer({ stallTimeout: "300ms" });
  const { stream } = openHttp2(running.url, 0);
  let trailers: Record<string, unknown> = {};
  stream.on("trailers", (received) => (trailers = received));
  // Noted before the stall: what was not sent through the reader's window may come at any time.
  const closed = new Promise((resolve) => stream.once("close", resolve));
  await settled(running);
  // The engine looks once a second; the reader has 5 s from then.
  await sleep(2_500);
  stream.resume();
  await closed;
  expect(trailers["grpc-status"]).toBe("14");
  const details = Buffer.from(String(trailers["grpc-status-details-bin"]), "base64").toString("latin1");
  expect(details).toContain("STREAM_STALLED");
});

test("a reader that stalls and never comes back is cut off", async () => {
  const running = await runServer({ stallTimeout: "300ms" });
  const { stream } = openHttp2(running.url, 0);
  const responses = [await openHttp1(running.url, "hot"), await openHttp1(running.url, "general")];
  const closed = [stream, ...responses].map((side) => new Promise((resolve) => side.once("close", resolve)));
  await settled(running);
  // A paused socket of node:http does not see the end before it is read.
  setTimeout(() => {
    for (const response of responses) response.on("error", () => undefined).resume();
  }, 7_000);
  await Promise.all(closed);
  expect(stream.rstCode).not.toBe(0);
  expect(responses.map(({ complete }) => complete)).toEqual([false, false]);
});

test("a reader that takes a byte now and then is cut off (it held its stream for ever)", async () => {
  const running = await runServer({ stallTimeout: "1s" });
  const client = await RawClient.connect(running.server.address.port);
  onTestFinished(() => client.destroy());
  const message = toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count: endless }));
  const fields = nextIdFields.map(([name, value]) => [name, name === ":path" ? path : value] as const);
  client.send(hello, settings([4, 1]), headers(1, "body", fields), data(1, grpcFrame(message), "end"));
  const widening = setInterval(() => client.send(windowUpdate(1, 1)), 300);
  onTestFinished(() => clearInterval(widening));
  const lines = await client.until((lines) => lines.some((line) => line.startsWith("rstStream 1 ")));
  expect(lines.at(-1)).toBe("rstStream 1 refusedStream");
});

test("a slow reader is not one that stalls", async () => {
  const running = await runServer({ stallTimeout: "4s" });
  const { stream } = openHttp2(running.url, 65_536);
  let bytes = 0;
  // 16 KiB each 200 ms: one message takes six seconds.
  for (let step = 0; step < 30; step++) {
    await sleep(200);
    bytes += (stream.read(16_384) ?? stream.read() ?? Buffer.alloc(0)).length;
  }
  expect(stream.closed).toBe(false);
  expect(bytes).toBeGreaterThan(100_000);
});

test("a stop that cannot wait longer ends a stream with SHUTTING_DOWN", async () => {
  const running = await runServer({ drainTimeout: "200ms" });
  const { stream } = openHttp2(running.url, 0);
  let trailers: Record<string, unknown> = {};
  stream.on("trailers", (received) => (trailers = received));
  stream.resume();
  await once(stream, "response");
  await Promise.all([running.server.stop(), once(stream, "close")]);
  expect(trailers["grpc-status"]).toBe("14");
  expect(Buffer.from(String(trailers["grpc-status-details-bin"]), "base64").toString("latin1")).toContain(
    "SHUTTING_DOWN",
  );
});

test("a stop waits as long as its setting says, beyond the ten seconds of the default", async () => {
  const running = await runServer({ drainTimeout: "60s" });
  const { stream } = openHttp2(running.url, 0);
  await settled(running);
  const stopped = running.server.stop();
  // As slow as lets the stream live, and the server wait for it.
  for (let step = 0; step < 26; step++) {
    stream.read();
    await sleep(500);
    expect(stream.closed).toBe(false);
  }
  stream.close();
  await stopped;
  expect(running.faults).toEqual([]);
});

test("a stop waits for a stream that will end", async () => {
  const running = await runServer();
  const client = createClient(IdService, createGrpcTransport({ baseUrl: running.url }));
  let count = 0;
  let stopped: Promise<void> | undefined;
  for await (const { ids } of client.batchNextIds({ count: 300_000n })) {
    count += ids.length;
    stopped ??= running.server.stop();
  }
  await stopped;
  expect(count).toBe(300_000);
  await expect(client.nextId({})).rejects.toThrow(ConnectError);
});
