/**
 * The engine beside node:http2, the same bytes to both: sound clients get the same answers, broken ones meet the same
 * refusal.
 */
import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frameFlag, frameType } from "../../src/http2/frame.ts";
import { encodeFields } from "../../src/http2/hpack/encoder.ts";
import { brokenScript, soundScript } from "../support/http2/http2-script.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { type Http2TestServer, startHttp2TestServer } from "../support/http2/http2-test-server.ts";
import {
  data,
  echoHandler,
  frame,
  headers,
  hello,
  ping,
  rawBlock,
  requestFields,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../support/http2/http2-wire.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";

let engine: Http2TestServer;
const node = createServer();

beforeAll(async () => {
  engine = await startHttp2TestServer(() => echoHandler(5));
  node.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined);
    stream.resume();
    stream.on("end", () => {
      if (stream.destroyed) return;
      stream.respond({ ":status": 200 });
      stream.end(Buffer.alloc(5, 0x62));
    });
  });
  node.on("sessionError", () => undefined);
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await new Promise((resolve) => node.close(resolve));
});

const ports = (): readonly number[] => [engine.port, (node.address() as AddressInfo).port];

/** The outcome of each stream and of the connection, however it was framed. */
function outcome(lines: readonly string[]): Readonly<Record<string, string>> {
  const streams: Record<string, string> = {};
  for (const line of lines) {
    const [type, id, what] = line.split(" ");
    if (type === "goAway") streams["connection"] ??= what!;
    if (type === "rstStream") streams[id!] = `${streams[id!] ?? ""} reset ${what}`;
    if (type === "headers") streams[id!] = `${streams[id!] ?? ""}status ${/:status=(\d+)/.exec(line)?.[1]} `;
    if (type === "data")
      streams[id!] = `${streams[id!] ?? ""}${what === "0" ? "" : `${what} bytes `}${line.endsWith("end") ? "end" : ""}`;
  }
  return streams;
}

function isOver(line: string, id: number): boolean {
  return (line.startsWith(`data ${id} `) && line.endsWith("end")) || line.startsWith(`rstStream ${id} `);
}

async function outcomeAt(
  port: number,
  bytes: readonly Buffer[],
  waitFor: readonly number[],
): Promise<Readonly<Record<string, string>>> {
  const client = await RawClient.connect(port);
  try {
    client.send(hello, ...bytes);
    const lines = await client.until((lines) => waitFor.every((id) => lines.some((line) => isOver(line, id))));
    return outcome([...lines, ...(await client.exchange())]);
  } finally {
    client.destroy();
  }
}

test("sound clients get the same answers from both, whatever they send and in whatever pieces", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = new SeededRandom(seed);
    // Resets race with the answer, and node:http2 lets a client send more than the stream's window at once: both are
    // left out.
    const script = soundScript(random, 12).filter((bytes) => bytes[3] !== frameType.rstStream);
    const ids = Array.from({ length: 12 }, (_, index) => 2 * index + 1);
    const [ours, theirs] = await Promise.all(ports().map((port) => outcomeAt(port, script, ids)));
    expect(ours, `seed ${seed}`).toEqual(theirs);
    expect(Object.keys(ours!), `seed ${seed}`).toHaveLength(12);
  }
});

function refuses(streams: Readonly<Record<string, string>>): boolean {
  return streams["connection"] !== undefined || Object.values(streams).some((what) => what.includes("reset"));
}

test("where node:http2 refuses something of a broken client, the engine does too", async () => {
  let refusedCount = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const script = brokenScript(new SeededRandom(seed), 10);
    const [ours, theirs] = await Promise.all(ports().map((port) => outcomeAt(port, script, [])));
    if (!refuses(theirs!)) continue;
    refusedCount++;
    expect(refuses(ours!), `seed ${seed}: ${JSON.stringify(theirs)}`).toBe(true);
  }
  expect(refusedCount).toBeGreaterThan(20);
});

interface Violation {
  readonly name: string;
  readonly bytes: readonly Buffer[];
  /** The behaviour of both; where they differ, that of each and why ours is right. */
  readonly expected: string | { readonly engine: string; readonly node: string; readonly why: string };
}

const head = (more: readonly (readonly [string, string])[]): Buffer => headers(1, "end", [...requestFields, ...more]);

/** Everything that a client can do wrong by itself. nghttp2 is the older hand: where it is stricter, we are wrong. */
const violations: readonly Violation[] = [
  { name: "DATA on stream 0", bytes: [data(0, 1)], expected: "connection: protocolError" },
  { name: "DATA on an idle stream", bytes: [data(1, 5)], expected: "connection: protocolError" },
  {
    name: "DATA after the request's end",
    bytes: [headers(1, "end"), data(1, 5)],
    expected: {
      engine: "1: status 200 5 bytes end reset streamClosed",
      node: "connection: streamClosed",
      why: "half-closed (remote): a stream error (RFC 9113 section 5.1)",
    },
  },
  {
    name: "DATA after the stream was reset by the client",
    bytes: [headers(1, "body"), rstStream(1), data(1, 5)],
    expected: { engine: "1: reset streamClosed", node: "", why: "a stream error after RST_STREAM (5.1)" },
  },
  { name: "HEADERS on stream 0", bytes: [headers(0, "end")], expected: "connection: protocolError" },
  { name: "HEADERS on an even stream", bytes: [headers(2, "end")], expected: "connection: protocolError" },
  {
    name: "HEADERS with a skipped number",
    bytes: [headers(5, "end"), headers(3, "end")],
    expected: {
      engine: "5: status 200 5 bytes end, connection: protocolError",
      node: "5: status 200 5 bytes end",
      why: "numbers must rise (5.1.1)",
    },
  },
  {
    name: "HEADERS after the request's end",
    bytes: [headers(1, "end"), headers(1, "end")],
    expected: {
      engine: "1: status 200 5 bytes end, connection: streamClosed",
      node: "connection: streamClosed",
      why: "both end the connection; node drops the answer that was due",
    },
  },
  {
    name: "trailers that do not end the request",
    bytes: [headers(1, "body"), headers(1, "body", [["a", "b"]])],
    expected: "1: reset protocolError",
  },
  {
    name: "trailers with a pseudo field",
    bytes: [headers(1, "body"), headers(1, "end", [[":path", "/"]])],
    expected: "1: reset protocolError",
  },
  { name: "an upper-case name", bytes: [head([["A", "b"]])], expected: "1: reset protocolError" },
  { name: "a connection field", bytes: [head([["connection", "close"]])], expected: "1: reset protocolError" },
  { name: "te that is not trailers", bytes: [head([["te", "gzip"]])], expected: "1: reset protocolError" },
  { name: "an unknown pseudo field", bytes: [head([[":x", "y"]])], expected: "1: reset protocolError" },
  {
    name: "a pseudo field after a regular one",
    bytes: [headers(1, "end", [["a", "b"], ...requestFields])],
    expected: "1: reset protocolError",
  },
  { name: "a pseudo field twice", bytes: [head([[":path", "/b"]])], expected: "1: reset protocolError" },
  { name: "no path", bytes: [headers(1, "end", requestFields.toSpliced(2, 1))], expected: "1: reset protocolError" },
  {
    name: "an empty path",
    bytes: [headers(1, "end", requestFields.with(2, [":path", ""]))],
    expected: "1: reset protocolError",
  },
  { name: "no method", bytes: [headers(1, "end", requestFields.slice(1))], expected: "1: reset protocolError" },
  {
    name: "a blank before a value",
    bytes: [head([["a", " b"]])],
    expected: {
      engine: "1: reset protocolError",
      node: "1: status 200 5 bytes end",
      why: "values have no outer blanks (8.2.1)",
    },
  },
  {
    name: "a line feed in a value",
    bytes: [head([["a", "b\nc"]])],
    expected: {
      engine: "1: reset protocolError",
      node: "1: status 200 5 bytes end",
      why: "NUL, CR and LF make a request malformed (8.2.1)",
    },
  },
  {
    name: "a host that is not the authority",
    bytes: [head([["host", "other.example"]])],
    expected: {
      engine: "1: reset protocolError",
      node: "1: status 200 5 bytes end",
      why: "a server should treat it as malformed (8.3.1)",
    },
  },
  {
    name: "te in capitals",
    bytes: [head([["te", "Trailers"]])],
    expected: {
      engine: "1: reset protocolError",
      node: "1: status 200 5 bytes end",
      why: "te may be nothing but trailers (8.2.2)",
    },
  },
  {
    name: "an empty name",
    bytes: [head([["", "b"]])],
    expected: {
      engine: "1: reset protocolError",
      node: "1: status 200 5 bytes end",
      why: "a name has at least one character (RFC 9110 section 5.1)",
    },
  },
  {
    name: "neither authority nor host",
    bytes: [
      headers(
        1,
        "end",
        requestFields.filter(([name]) => name !== ":authority"),
      ),
    ],
    expected: {
      engine: "1: status 200 5 bytes end",
      node: "1: reset protocolError",
      why: "gRPC needs neither, and RFC 9113 section 8.3.1 asks for none",
    },
  },
  {
    name: "a content-length twice",
    bytes: [
      headers(1, "body", [...requestFields, ["content-length", "3"], ["content-length", "3"]]),
      data(1, 3, "end"),
    ],
    expected: {
      engine: "1: status 200 5 bytes end",
      node: "1: reset protocolError",
      why: "equal values may be taken as one (RFC 9110 section 8.6)",
    },
  },
  {
    name: "acknowledgements that nobody asked for",
    bytes: [settingsAck, settingsAck, settingsAck],
    expected: { engine: "", node: "connection: protocolError", why: "they count as frames without content" },
  },
  {
    name: "130 fields",
    bytes: [head(Array.from({ length: 130 }, () => ["a", "b"] as const))],
    expected: { engine: "1: status 431", node: "1: reset enhanceYourCalm", why: "a proxy passes such requests on" },
  },
  {
    name: "a user in the authority",
    bytes: [headers(1, "end", requestFields.with(3, [":authority", "a@example.com"]))],
    expected: "1: reset protocolError",
  },
  {
    name: "more body than content-length",
    bytes: [headers(1, "body", [...requestFields, ["content-length", "3"]]), data(1, 4, "end")],
    expected: {
      engine: "1: reset protocolError",
      node: "connection: internalError",
      why: "a malformed request is a stream error (8.1.1)",
    },
  },
  {
    name: "less body than content-length",
    bytes: [headers(1, "body", [...requestFields, ["content-length", "3"]]), data(1, 2, "end")],
    expected: "1: reset protocolError",
  },
  {
    name: "a content-length that is not a number",
    bytes: [head([["content-length", "x"]])],
    expected: "1: reset protocolError",
  },
  {
    name: "padding longer than its frame",
    bytes: [headers(1, "body"), frame(frameType.data, frameFlag.padded, 1, "05 00")],
    expected: "connection: protocolError",
  },
  {
    name: "CONTINUATION of nothing",
    bytes: [frame(frameType.continuation, 4, 1, "")],
    expected: "connection: protocolError",
  },
  {
    name: "another frame inside a header block",
    bytes: [frame(frameType.headers, 1, 1, rawBlock(requestFields)), ping()],
    expected: "connection: protocolError",
  },
  {
    name: "a header block that no decoder takes",
    bytes: [frame(frameType.headers, 5, 1, "80")],
    expected: "connection: compressionError",
  },
  {
    name: "PRIORITY on stream 0",
    bytes: [frame(frameType.priority, 0, 0, "0000000001")],
    expected: { engine: "connection: protocolError", node: "", why: "a connection error (6.3)" },
  },
  {
    name: "PRIORITY of a wrong length",
    bytes: [frame(frameType.priority, 0, 1, "00")],
    expected: "connection: frameSizeError",
  },
  {
    name: "a stream that depends on itself",
    bytes: [headers(1, "body"), frame(frameType.priority, 0, 1, "0000000101")],
    expected: { engine: "1: reset protocolError", node: "", why: "a stream error (RFC 7540 section 5.3.1)" },
  },
  { name: "RST_STREAM on an idle stream", bytes: [rstStream(1)], expected: "connection: protocolError" },
  {
    name: "RST_STREAM of a wrong length",
    bytes: [headers(1, "body"), frame(frameType.rstStream, 0, 1, "00")],
    expected: "connection: frameSizeError",
  },
  { name: "SETTINGS on a stream", bytes: [frame(frameType.settings, 0, 1, "")], expected: "connection: protocolError" },
  {
    name: "SETTINGS of a wrong length",
    bytes: [frame(frameType.settings, 0, 0, "00")],
    expected: "connection: frameSizeError",
  },
  { name: "ENABLE_PUSH of 2", bytes: [settings([2, 2])], expected: "connection: protocolError" },
  {
    name: "INITIAL_WINDOW_SIZE too large",
    bytes: [settings([4, 0x80000000])],
    expected: "connection: flowControlError",
  },
  { name: "MAX_FRAME_SIZE too small", bytes: [settings([5, 16_383])], expected: "connection: protocolError" },
  {
    name: "PUSH_PROMISE",
    bytes: [frame(frameType.pushPromise, 4, 1, "00000002")],
    expected: "connection: protocolError",
  },
  {
    name: "PING on a stream",
    bytes: [frame(frameType.ping, 0, 1, "0000000000000000")],
    expected: "connection: protocolError",
  },
  {
    name: "PING of a wrong length",
    bytes: [frame(frameType.ping, 0, 0, "00")],
    expected: "connection: frameSizeError",
  },
  {
    name: "GOAWAY on a stream",
    bytes: [frame(frameType.goAway, 0, 1, "0000000000000000")],
    expected: "connection: protocolError",
  },
  { name: "WINDOW_UPDATE of 0 on the connection", bytes: [windowUpdate(0, 0)], expected: "connection: protocolError" },
  {
    name: "WINDOW_UPDATE of 0 on a stream",
    bytes: [headers(1, "body"), windowUpdate(1, 0)],
    expected: { engine: "1: reset protocolError", node: "connection: protocolError", why: "a stream error (6.9)" },
  },
  { name: "WINDOW_UPDATE on an idle stream", bytes: [windowUpdate(1, 1)], expected: "connection: protocolError" },
  {
    name: "the connection's window above 2^31 - 1",
    bytes: [windowUpdate(0, 0x7fffffff)],
    expected: "connection: flowControlError",
  },
  {
    name: "a stream's window above 2^31 - 1",
    bytes: [headers(1, "body"), windowUpdate(1, 0x7fffffff)],
    expected: {
      engine: "1: reset flowControlError",
      node: "connection: flowControlError",
      why: "a stream error (6.9.1)",
    },
  },
  {
    name: "a frame above the limit",
    bytes: [headers(1, "body"), data(1, 16_385)],
    expected: "connection: frameSizeError",
  },
  {
    name: "an unknown frame",
    bytes: [frame(77, 255, 3, "00"), headers(1, "end")],
    expected: "1: status 200 5 bytes end",
  },
  {
    name: "an unknown setting",
    bytes: [settings([0x99, 1]), headers(1, "end")],
    expected: "1: status 200 5 bytes end",
  },
  {
    name: "a GET of a path with a fragment",
    bytes: [headers(1, "end", requestFields.with(2, [":path", "/a#b"]))],
    expected: {
      engine: "1: reset protocolError",
      node: "1: status 200 5 bytes end",
      why: "a path has no fragment (8.3.1)",
    },
  },
  {
    name: "CONNECT with a path",
    bytes: [headers(1, "end", requestFields.with(0, [":method", "CONNECT"]))],
    expected: "1: reset protocolError",
  },
  {
    name: "HEADERS after a closed stream's end",
    bytes: [headers(1, "end"), headers(3, "end"), headers(1, "end")],
    expected: {
      engine: "1: status 200 5 bytes end, 3: status 200 5 bytes end, connection: streamClosed",
      node: "connection: streamClosed",
      why: "both end the connection; node drops the answers that were due",
    },
  },
];

test.each(violations)("both meet $name alike, or differ for a reason", async ({ bytes, expected }) => {
  const outcomes = ports().map(async (port) => {
    const streams = await outcomeAt(port, bytes, []);
    return Object.entries(streams)
      .map(([id, what]) => `${id}: ${what.trim()}`)
      .join(", ");
  });
  expect(await Promise.all(outcomes)).toEqual(
    typeof expected === "string" ? [expected, expected] : [expected.engine, expected.node],
  );
});

test("a client that ends its body short, for it has the whole response already, keeps that response with the engine alone", async () => {
  // What Go's client does when an upload is refused halfway; node:http2 resets the stream with PROTOCOL_ERROR after the
  // response.
  const early = createServer();
  early.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.respond({ ":status": 413 }, { endStream: true });
    stream.resume();
  });
  await new Promise<void>((resolve) => early.listen(0, "127.0.0.1", resolve));
  await using earlyEngine = await startHttp2TestServer((stream) => {
    stream.respond(encodeFields([[":status", "413"]]), "end");
    return {};
  });
  const results: (readonly string[])[] = [];
  for (const port of [earlyEngine.port, (early.address() as AddressInfo).port]) {
    const client = await RawClient.connect(port);
    client.send(hello, headers(1, "body", [...requestFields, ["content-length", "100"]]), data(1, 10));
    const first = await client.until((lines) => lines.some((line) => line.startsWith("headers 1 ")));
    const rest = await client.exchange(data(1, 1, "end"));
    results.push([...first, ...rest].filter((line) => line.startsWith("rstStream")));
    client.destroy();
  }
  early.close();
  expect(results).toEqual([["rstStream 1 noError"], ["rstStream 1 protocolError"]]);
});
