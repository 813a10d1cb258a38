import { describe, expect, test } from "vitest";
import { frameFlag, frameType, preface, settingId } from "../../../../src/http2/frame.ts";
import { encodeFields } from "../../../../src/http2/hpack/encoder.ts";
import type { Field } from "../../../../src/http2/hpack/field.ts";
import {
  data,
  type FieldPairs,
  frame,
  headers,
  indexedBlock,
  OutputReader,
  parseFrames,
  ping,
  rawBlock,
  rstStream,
  settings,
  uint32,
  windowUpdate,
} from "../../../../test/support/http2/http2-wire.ts";
import { responseFields } from "../../../../test/support/http2/raw-http2-server.ts";
import { SeededRandom } from "../../../../test/support/worlds/seeded-random.ts";
import { Http2Client } from "./http2-client.ts";
import type { ClientStream, Http2Request } from "./http2-request.ts";

const requestHead = encodeFields([[":method", "POST"]], "request");

/** A connection without a socket: frames go in; its output and the events of its requests come out as lines. */
class Harness {
  readonly events: string[] = [];
  readonly client = new Http2Client(() => undefined);
  readonly #reader = new OutputReader();

  constructor(greeting: Buffer = settings()) {
    this.exchange(greeting);
  }

  request(name: string, bodyBytes = 5): ClientStream {
    const tell = (event: string): void => void this.events.push(`${name} ${event}`);
    const request: Http2Request = {
      head: requestHead,
      body: Buffer.alloc(bodyBytes),
      onFields: (fields: readonly Field[], isLast) =>
        tell(`${fields.map(({ name, value }) => `${name}=${value}`).join(" ")}${isLast ? " end" : ""}`),
      onData: (bytes, start, end, isLast) => tell(`data ${bytes.toString("hex", start, end)}${isLast ? " end" : ""}`),
      onReset: (code) => tell(`reset ${code}`),
      onUnprocessed: (cause) => tell(`unprocessed ${cause.message}`),
      onLost: (cause) => tell(`lost ${cause.message}`),
    };
    return this.client.request(request);
  }

  /** Gives bytes to the client and returns what it sends, one line a frame. */
  exchange(...parts: readonly Buffer[]): readonly string[] {
    this.client.receive(Buffer.concat(parts));
    return this.output();
  }

  output(): readonly string[] {
    const parts: Buffer[] = [];
    for (let bytes = this.client.output(); bytes !== undefined; bytes = this.client.output()) {
      parts.push(Buffer.from(bytes));
      this.client.onWritten("flushed");
    }
    return this.#reader.lines(parseFrames(Buffer.concat(parts)));
  }
}

const okTrailers: FieldPairs = [["grpc-status", "0"]];
const goAway = (lastStreamId: number): Buffer =>
  frame(frameType.goAway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(0)]));

test("a connection begins with SETTINGS that allow no push, and a wide window", () => {
  const client = new Http2Client(() => undefined);
  const bytes = client.output() ?? Buffer.alloc(0);
  expect(bytes.toString("hex")).toBe(
    "00000c0400000000000002000000000006000100000000040800000000000 00f0001".replace(" ", ""),
  );
  expect(preface.length).toBe(24);
});

test("a request and its answer", () => {
  const harness = new Harness();
  harness.output();
  harness.request("a");
  expect(harness.output()).toEqual(["headers 1 :method=POST", "data 1 5 end"]);
  harness.exchange(headers(1, "body", responseFields), data(1, 3), headers(1, "end", okTrailers));
  expect(harness.events).toEqual([
    "a :status=200 content-type=application/grpc+proto",
    "a data 616161",
    "a grpc-status=0 end",
  ]);
  expect(harness.client.openCount).toBe(0);
});

test("the first header block of a connection says that no table is used", () => {
  const harness = new Harness();
  const blocks: string[] = [];
  for (const name of ["a", "b"]) {
    harness.request(name);
    const bytes = harness.client.output() ?? Buffer.alloc(0);
    blocks.push(bytes.toString("hex", 9, 9 + bytes.readUIntBE(0, 3)));
    harness.client.onWritten("flushed");
  }
  expect(blocks).toEqual(["2083", "83"]);
});

test("padding is dropped, and given back to the window", () => {
  const harness = new Harness();
  const stream = harness.request("a");
  harness.exchange(headers(1, "body", responseFields));
  const padded = frame(frameType.data, frameFlag.padded, 1, Buffer.concat([Buffer.of(255), Buffer.alloc(256, 1)]));
  for (let count = 0; count < 200; count++) harness.exchange(padded);
  expect(harness.events.slice(1, 3)).toEqual(["a data 01", "a data 01"]);
  expect(stream.receiveWindow.heldBytes).toBe(200);
});

test("bytes that nobody has read close the window of their stream, and not that of the connection", () => {
  const harness = new Harness();
  const stream = harness.request("a");
  harness.exchange(headers(1, "body", responseFields));
  let lines: string[] = [];
  for (let count = 0; count < 4; count++) lines.push(...harness.exchange(data(1, count < 3 ? 16_384 : 16_383)));
  expect(lines.filter((line) => line.startsWith("windowUpdate 1"))).toEqual([]);
  harness.client.consume(stream, 65_535);
  expect(harness.output()).toEqual(["windowUpdate 1 65535"]);
  lines = [];
  for (let count = 0; count < 5; count++) lines.push(...harness.exchange(data(1, 16_384)));
  expect(lines).toContain("rstStream 1 flowControlError");
  expect(harness.events.at(-1)).toBe("a reset 3");
});

test("the connection's window is given back at once", () => {
  const harness = new Harness();
  const lines: string[] = [];
  for (let count = 0; count < 20; count++) {
    const stream = harness.request("a");
    lines.push(...harness.exchange(headers(2 * count + 1, "body", responseFields), data(2 * count + 1, 16_384)));
    lines.push(...harness.exchange(data(2 * count + 1, 16_384), data(2 * count + 1, 16_384)));
    harness.client.cancel(stream);
    // Frames that are still on their way for a cancelled request count as well.
    lines.push(...harness.exchange(data(2 * count + 1, 16_384)));
  }
  expect(lines.filter((line) => line.startsWith("windowUpdate 0"))).toEqual([
    "windowUpdate 0 524288",
    "windowUpdate 0 524288",
  ]);
});

test("SETTINGS move the windows of open requests, below zero too", () => {
  const harness = new Harness(settings([settingId.initialWindowSize, 10]));
  harness.request("a", 15);
  expect(harness.output()).toEqual(["headers 1 :method=POST", "data 1 10"]);
  expect(harness.exchange(settings([settingId.initialWindowSize, 5]), windowUpdate(1, 5))).toEqual(["settings ack"]);
  expect(harness.exchange(windowUpdate(1, 2))).toEqual(["data 1 2"]);
  expect(harness.exchange(settings([settingId.initialWindowSize, 65_535]))).toEqual(["settings ack", "data 1 3 end"]);
});

test("an answer that ends before the request has left ends the request", () => {
  const harness = new Harness(settings([settingId.initialWindowSize, 1]));
  harness.request("a");
  expect(harness.exchange(headers(1, "end", [...responseFields, ...okTrailers]))).toEqual([
    "headers 1 :method=POST",
    "data 1 1",
    "rstStream 1 cancel",
  ]);
  expect(harness.exchange(windowUpdate(1, 100))).toEqual([]);
});

test("cancelling a request that waits tells the server nothing, and makes room", () => {
  const harness = new Harness(settings([settingId.maxConcurrentStreams, 1]));
  const [first, second] = [harness.request("a"), harness.request("b"), harness.request("c")];
  harness.output();
  expect(harness.client.openCount).toBe(3);
  harness.client.cancel(second);
  expect(harness.output()).toEqual([]);
  harness.client.cancel(first);
  expect(harness.output()).toEqual(["rstStream 1 cancel", "headers 3 :method=POST", "data 3 5 end"]);
  harness.client.cancel(first);
  expect(harness.output()).toEqual([]);
  expect(harness.events).toEqual([]);
});

test("PINGs are answered", () => {
  expect(new Harness().exchange(ping("abcdefgh"))).toEqual(["ping ack abcdefgh"]);
});

describe("GOAWAY", () => {
  test("gives back what was not begun, what waits too, and lets the rest go on", () => {
    const harness = new Harness(settings([settingId.maxConcurrentStreams, 2]));
    for (const name of ["a", "b", "c"]) harness.request(name);
    harness.exchange(goAway(1));
    const text = "unprocessed The server ended the connection: NO_ERROR.";
    expect(harness.events).toEqual([`b ${text}`, `c ${text}`]);
    expect(harness.client.takesRequests).toBe(false);
    harness.exchange(headers(1, "end", [...responseFields, ...okTrailers]));
    expect(harness.client.openCount).toBe(0);
  });

  test("a second one may name an earlier request", () => {
    const harness = new Harness();
    for (const name of ["a", "b"]) harness.request(name);
    harness.exchange(goAway(0x7fffffff));
    expect(harness.events).toEqual([]);
    harness.exchange(goAway(1));
    expect(harness.events).toEqual(["b unprocessed The server ended the connection: NO_ERROR."]);
    harness.client.end(new Error("reset"));
    expect(harness.events.at(-1)).toBe("a lost The server ended the connection: NO_ERROR.");
  });
});

describe("malformed answers", () => {
  const malformed: readonly (readonly [what: string, frames: readonly Buffer[]])[] = [
    ["no status", [headers(1, "body", [["content-type", "a"]])]],
    ["a malformed status", [headers(1, "body", [[":status", "20"]])]],
    ["a second pseudo field", [headers(1, "body", [...responseFields, [":status", "200"]])]],
    ["a pseudo field of requests", [headers(1, "body", [...responseFields, [":path", "/"]])]],
    ["upper case", [headers(1, "body", [...responseFields, ["Name", "a"]])]],
    ["a field of HTTP/1.1", [headers(1, "body", [...responseFields, ["connection", "close"]])]],
    ["a line break", [headers(1, "body", [...responseFields, ["name", "a\nb"]])]],
    ["an informational end", [headers(1, "end", [[":status", "100"]])]],
    ["DATA before HEADERS", [data(1, 1)]],
    ["trailers that do not end", [headers(1, "body", responseFields), headers(1, "body", okTrailers)]],
    ["a pseudo field in trailers", [headers(1, "body", responseFields), headers(1, "end", [[":status", "200"]])]],
  ];
  test.each(malformed)("%s", (_what, frames) => {
    const harness = new Harness();
    harness.request("a");
    harness.output();
    expect(harness.exchange(...frames)).toEqual(["rstStream 1 protocolError"]);
    expect(harness.events.at(-1)).toBe("a reset 1");
    harness.request("b");
    expect(harness.output()).toEqual(["headers 3 :method=POST", "data 3 5 end"]);
  });

  test("too many fields end the request, and the table stays right", () => {
    const harness = new Harness();
    for (const name of ["a", "b"]) harness.request(name);
    harness.output();
    const many = Array.from({ length: 200 }, (_, index) => [`name${index}`, "a"] as const);
    const block = indexedBlock([...responseFields, ...many]);
    expect(harness.exchange(frame(frameType.headers, frameFlag.endHeaders, 1, block))).toEqual([
      "rstStream 1 enhanceYourCalm",
    ]);
    // The last field is the newest of the table.
    const indexed = Buffer.concat([rawBlock([[":status", "200"]]), Buffer.of(0x80 | 62)]);
    harness.exchange(frame(frameType.headers, frameFlag.endHeaders, 3, indexed));
    expect(harness.events.at(-1)).toBe("b :status=200 name199=a");
  });
});

const breaches: readonly (readonly [what: string, line: string, frames: readonly Buffer[]])[] = [
  ["something other than SETTINGS first", "goAway 0 protocolError", [ping()]],
  ["a push", "goAway 0 protocolError", [settings(), frame(frameType.pushPromise, 4, 1, uint32(2))]],
  ["DATA on stream 0", "goAway 0 protocolError", [settings(), data(0, 1)]],
  ["HEADERS on an even stream", "goAway 0 protocolError", [settings(), headers(2, "end", responseFields)]],
  ["HEADERS on an idle stream", "goAway 0 protocolError", [settings(), headers(3, "end", responseFields)]],
  ["RST_STREAM on an idle stream", "goAway 0 protocolError", [settings(), rstStream(3)]],
  ["PING of 7 bytes", "goAway 0 frameSizeError", [settings(), frame(frameType.ping, 0, 0, Buffer.alloc(7))]],
  ["RST_STREAM of 3 bytes", "goAway 0 frameSizeError", [settings(), frame(frameType.rstStream, 0, 1, Buffer.alloc(3))]],
  ["GOAWAY of 7 bytes", "goAway 0 frameSizeError", [settings(), frame(frameType.goAway, 0, 0, Buffer.alloc(7))]],
  ["WINDOW_UPDATE of 0", "goAway 0 flowControlError", [settings(), windowUpdate(0, 0)]],
  ["an interrupted header block", "goAway 0 protocolError", [settings(), frame(frameType.headers, 0, 1), ping()]],
  ["a malformed block", "goAway 0 compressionError", [settings(), frame(frameType.headers, 4, 1, "ff")]],
  [
    "padding beyond its frame",
    "goAway 0 protocolError",
    [settings(), frame(frameType.data, frameFlag.padded, 1, "05")],
  ],
];
test.each(breaches)("%s ends the connection and loses its requests", (_what, line, frames) => {
  const harness = new Harness(Buffer.alloc(0));
  harness.request("a");
  harness.output();
  expect(harness.exchange(...frames)).toContain(line);
  expect(harness.events.at(-1)).toMatch(/^a lost The connection is broken: /);
  expect([harness.client.isOver, harness.client.takesRequests, harness.client.openCount]).toEqual([true, false, 0]);
  harness.exchange(headers(1, "body", responseFields));
  expect(harness.events).toHaveLength(1);
});

/** What a server may send to three requests. */
const session: Buffer = Buffer.concat([
  settings([settingId.maxConcurrentStreams, 2]),
  headers(1, "body", responseFields),
  frame(frameType.headers, 0, 3, indexedBlock(responseFields)),
  frame(frameType.continuation, frameFlag.endHeaders, 3, indexedBlock([["x", "y"]])),
  data(1, 30),
  frame(frameType.data, frameFlag.padded, 3, Buffer.concat([Buffer.of(3), Buffer.alloc(13, 2)])),
  headers(1, "end", okTrailers),
  windowUpdate(0, 10),
  ping(),
  data(3, 7, "end"),
  frame(99, 0, 0, "00"),
  headers(5, "end", [...responseFields, ...okTrailers]),
  goAway(5),
]);

/** The events of a session whose bytes come in pieces. */
function eventsOf(bytes: Buffer, sizes: () => number): readonly string[] {
  const harness = new Harness(Buffer.alloc(0));
  const streams = ["a", "b", "c"].map((name) => harness.request(name));
  for (let at = 0; at < bytes.length; ) {
    const end = at + sizes();
    harness.exchange(bytes.subarray(at, end));
    at = end;
  }
  harness.client.end(new Error("over"));
  expect(streams).toHaveLength(3);
  return harness.events;
}

test("any split of the bytes gives the same events", () => {
  const whole = eventsOf(session, () => session.length);
  expect(whole.filter((event) => event.endsWith(" end"))).toHaveLength(3);
  for (let size = 1; size < 40; size++)
    expect(
      eventsOf(session, () => size),
      `${size}`,
    ).toEqual(whole);
});

test("whatever a server sends, each request ends once, and the same way for any split", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = new SeededRandom(seed);
  for (let round = 0; round < 3_000; round++) {
    const bytes = Buffer.from(session);
    const changeCount = 1 + random.below(4);
    for (let change = 0; change < changeCount; change++) bytes[random.below(bytes.length)] = random.below(256);
    const whole = eventsOf(bytes, () => bytes.length);
    const about = `seed ${seed}, round ${round}`;
    expect(
      eventsOf(bytes, () => 1 + random.below(50)),
      about,
    ).toEqual(whole);
    for (const name of ["a", "b", "c"]) {
      const ends = whole.filter(
        (event) => event.startsWith(`${name} `) && /( end$)|(^. (reset|lost|unprocessed) )/.test(event),
      );
      expect(ends, about).toHaveLength(1);
    }
  }
});
