import { expect, test } from "vitest";
import {
  data,
  echoHandler,
  frame,
  goAway,
  Harness,
  headers,
  hello,
  okBlock,
  ping,
  rawBlock,
  requestFields,
  rstStream,
  settings,
  settingsAck,
  uint32,
  windowUpdate,
} from "../../test/support/http2/http2-wire.ts";
import { errorCode } from "./error-code.ts";
import { frameFlag, frameType, preface } from "./frame.ts";
import { encodeFields } from "./hpack/encoder.ts";
import type { StreamHandler } from "./stream.ts";

const silent: StreamHandler = {};

function boom(): never {
  throw new Error("boom");
}

/** One byte more than a stream's window. */
function chunks(streamId: number): readonly Buffer[] {
  return Array.from({ length: 4 }, () => data(streamId, 16_384));
}

test("a connection greets with its limits and acknowledges the client's", () => {
  const harness = new Harness({ greeted: false });
  expect(harness.output()).toEqual(["settings", "windowUpdate 0 983041"]);
  expect(harness.exchange(hello)).toEqual(["settings ack"]);
  expect(harness.exchange(settingsAck)).toEqual([]);
});

test("a request is answered, with an empty table announced in the first block alone", () => {
  const harness = new Harness();
  expect(harness.exchange(headers(1, "body"), data(1, 3, "end"))).toEqual([
    "headers 1 :status=200",
    "data 1 5",
    "data 1 0 end",
  ]);
  expect(harness.events).toEqual(["request 1 POST /a", "data 1 616161 last", "end 1"]);
  const second = new Harness();
  second.exchange(headers(1, "end"));
  second.connection.receive(headers(3, "end"), second.nowMs);
  expect(second.rawOutput().subarray(9, 10)).toEqual(okBlock);
});

test("the first header block of a connection begins with a size update", () => {
  const harness = new Harness();
  harness.connection.receive(headers(1, "end"), harness.nowMs);
  expect(harness.rawOutput().subarray(9, 11)).toEqual(Buffer.concat([Buffer.of(0x20), okBlock]));
});

test("trailers in, informational heads and trailers out", () => {
  const harness = new Harness({
    onRequest: (stream) => {
      stream.inform(encodeFields([[":status", "103"]]));
      return {
        onEnd: (stream) => {
          stream.respond(okBlock, "body");
          stream.end(encodeFields([["grpc-status", "0"]]));
        },
      };
    },
  });
  const trailers = frame(frameType.headers, frameFlag.endHeaders | frameFlag.endStream, 1, rawBlock([["x", "y"]]));
  expect(harness.exchange(headers(1, "body"), data(1, 1), trailers)).toEqual([
    "headers 1 :status=103",
    "headers 1 :status=200",
    "headers 1 grpc-status=0 end",
  ]);
  expect(harness.events.at(-1)).toBe("end 1 x=y");
});

test("a response of headers alone ends the stream", () => {
  const harness = new Harness({ onRequest: (stream) => (stream.respond(okBlock, "end"), silent) });
  expect(harness.exchange(headers(1, "end"))).toEqual(["headers 1 :status=200 end"]);
  expect(harness.connection.openCount).toBe(0);
});

test("a long header block leaves in CONTINUATION frames", () => {
  const block = encodeFields([
    [":status", "200"],
    ["x", "y".repeat(40_000)],
  ]);
  const harness = new Harness({ onRequest: (stream) => (stream.respond(block, "end"), silent) });
  harness.connection.receive(headers(1, "end"), harness.nowMs);
  const raw = harness.rawOutput();
  expect(raw.readUIntBE(0, 3)).toBe(16_384);
  expect([raw[3], raw[4]]).toEqual([frameType.headers, frameFlag.endStream]);
  const last = raw.subarray(2 * (9 + 16_384));
  expect([last[3], last[4]]).toEqual([frameType.continuation, frameFlag.endHeaders]);
});

test("a header block in CONTINUATION frames is one block", () => {
  const harness = new Harness();
  const block = rawBlock(requestFields);
  const output = harness.exchange(
    frame(frameType.headers, frameFlag.endStream, 1, block.subarray(0, 10)),
    frame(frameType.continuation, 0, 1, block.subarray(10, 10)),
    frame(frameType.continuation, frameFlag.endHeaders, 1, block.subarray(10)),
  );
  expect(output[0]).toBe("headers 1 :status=200");
});

test("padding and priority are taken off, and padding counts on the windows", () => {
  const harness = new Harness();
  const block = rawBlock(requestFields);
  const flags = frameFlag.endHeaders | frameFlag.padded | frameFlag.priority;
  const padded = Buffer.concat([Buffer.of(4), Buffer.alloc(5), block, Buffer.alloc(4)]);
  harness.exchange(frame(frameType.headers, flags, 1, padded));
  harness.exchange(frame(frameType.data, frameFlag.padded, 1, "02 6161 0000"));
  expect(harness.events.at(-1)).toBe("data 1 6161");
});

// Errors of the client. Each ends the connection with the code that RFC 9113 names.
const connectionErrors: readonly (readonly [what: string, bytes: Buffer, code: keyof typeof errorCode])[] = [
  ["DATA on stream 0", data(0, 1), "protocolError"],
  ["DATA on an idle stream", data(1, 1), "protocolError"],
  ["HEADERS on stream 0", headers(0, "end"), "protocolError"],
  ["HEADERS on an even stream", headers(2, "end"), "protocolError"],
  ["padding longer than its frame", frame(frameType.data, frameFlag.padded, 1, "05 00"), "protocolError"],
  ["padding without a length", frame(frameType.headers, frameFlag.padded | 4, 1, ""), "protocolError"],
  ["HEADERS too short for its priority", frame(frameType.headers, frameFlag.priority | 4, 1, "00"), "frameSizeError"],
  ["a block that no decoder takes", frame(frameType.headers, 4, 1, "80"), "compressionError"],
  ["CONTINUATION of nothing", frame(frameType.continuation, 4, 1, ""), "protocolError"],
  ["PRIORITY on stream 0", frame(frameType.priority, 0, 0, "0000000000"), "protocolError"],
  ["RST_STREAM on an idle stream", rstStream(1), "protocolError"],
  ["RST_STREAM of another length", frame(frameType.rstStream, 0, 1, "00"), "frameSizeError"],
  ["SETTINGS on a stream", frame(frameType.settings, 0, 1, ""), "protocolError"],
  ["SETTINGS of a broken length", frame(frameType.settings, 0, 0, "00"), "frameSizeError"],
  ["an acknowledgement with settings in it", frame(frameType.settings, 1, 0, "000100000000"), "frameSizeError"],
  ["ENABLE_PUSH of 2", settings([2, 2]), "protocolError"],
  ["INITIAL_WINDOW_SIZE above 2^31 - 1", settings([4, 0x80000000]), "flowControlError"],
  ["MAX_FRAME_SIZE below 2^14", settings([5, 16_383]), "protocolError"],
  ["MAX_FRAME_SIZE above 2^24 - 1", settings([5, 16_777_216]), "protocolError"],
  ["PUSH_PROMISE", frame(frameType.pushPromise, 4, 1, "00000002"), "protocolError"],
  ["PING on a stream", frame(frameType.ping, 0, 1, "0000000000000000"), "protocolError"],
  ["PING of another length", frame(frameType.ping, 0, 0, "00"), "frameSizeError"],
  ["GOAWAY on a stream", frame(frameType.goAway, 0, 1, "0000000000000000"), "protocolError"],
  ["GOAWAY too short", frame(frameType.goAway, 0, 0, "00"), "frameSizeError"],
  ["WINDOW_UPDATE of 0 on the connection", windowUpdate(0, 0), "protocolError"],
  ["WINDOW_UPDATE on an idle stream", windowUpdate(1, 1), "protocolError"],
  ["WINDOW_UPDATE of another length", frame(frameType.windowUpdate, 0, 0, "00"), "frameSizeError"],
  ["a window of the connection above 2^31 - 1", windowUpdate(0, 0x7fffffff), "flowControlError"],
  ["a frame above the limit", data(1, 16_385), "frameSizeError"],
];

test.each(connectionErrors)("%s ends the connection", (_, bytes, code) => {
  const harness = new Harness();
  expect(harness.exchange(bytes)).toEqual([`goAway 0 ${code}`]);
  expect(harness.connection.state).toBe("ended");
  expect(harness.exchange(headers(1, "end"))).toEqual([]);
});

test.each([
  ["another frame", ping()],
  ["HEADERS", headers(3, "end")],
  ["CONTINUATION of another stream", frame(frameType.continuation, 4, 3, "")],
])("%s inside a header block ends the connection", (_, bytes) => {
  const harness = new Harness();
  const begun = frame(frameType.headers, 0, 1, rawBlock(requestFields));
  expect(harness.exchange(begun, bytes)).toEqual(["goAway 0 protocolError"]);
});

test("a wrong preface ends the connection at its first wrong byte", () => {
  const harness = new Harness({ greeted: false });
  harness.output();
  expect(harness.exchange(Buffer.from("PRI * HTTP/2.1"))).toEqual(["goAway 0 protocolError"]);
});

test("a first frame that is not SETTINGS ends the connection", () => {
  const harness = new Harness({ greeted: false });
  harness.output();
  expect(harness.exchange(preface, ping())).toEqual(["goAway 0 protocolError"]);
});

// Errors that concern one stream.
const field = (name: string, value: string): readonly (readonly [string, string])[] => [
  ...requestFields,
  [name, value],
];
const malformedRequests: readonly (readonly [what: string, fields: readonly (readonly [string, string])[]])[] = [
  ["an unknown pseudo field", field(":x", "y")],
  ["a response's pseudo field", field(":status", "200")],
  ["a pseudo field twice", [...requestFields, [":path", "/b"]]],
  ["a pseudo field after a regular one", [["a", "b"], ...requestFields]],
  ["no method", requestFields.slice(1)],
  ["no scheme", requestFields.toSpliced(1, 1)],
  ["no path", requestFields.toSpliced(2, 1)],
  ["CONNECT", [[":method", "CONNECT"], ...requestFields.slice(1)]],
  ["an upper-case name", field("A", "b")],
  ["a connection field", field("connection", "close")],
  ["te that is not trailers", field("te", "gzip")],
  ["a host that is not the authority", field("host", "other.example")],
  ["two hosts", [...field("host", "example.com"), ["host", "example.com"]]],
  ["content-length twice and different", [...field("content-length", "1"), ["content-length", "2"]]],
  ["a path of an asterisk", requestFields.with(2, [":path", "*"])],
];

test.each(malformedRequests)("a request with %s is reset, and the connection goes on", (_, fields) => {
  const harness = new Harness();
  expect(harness.exchange(headers(1, "end", fields))).toEqual(["rstStream 1 protocolError"]);
  expect(harness.exchange(headers(3, "end"))[0]).toBe("headers 3 :status=200");
  expect(harness.events).not.toContain("request 1 POST /a");
});

test("a body shorter or longer than its content-length is reset", () => {
  const fields = field("content-length", "3");
  const harness = new Harness();
  expect(harness.exchange(headers(1, "end", fields))).toEqual(["rstStream 1 protocolError"]);
  expect(harness.exchange(headers(3, "body", fields), data(3, 2, "end"))).toEqual(["rstStream 3 protocolError"]);
  expect(harness.exchange(headers(5, "body", fields), data(5, 4))).toEqual(["rstStream 5 protocolError"]);
  expect(harness.exchange(headers(7, "body", fields), data(7, 2), data(7, 1, "end"))).toHaveLength(3);
  const trailers = frame(frameType.headers, 5, 9, rawBlock([["a", "b"]]));
  expect(harness.exchange(headers(9, "body", fields), trailers)).toEqual(["rstStream 9 protocolError"]);
});

test("trailers with pseudo fields, or that do not end the request, are reset", () => {
  const harness = new Harness();
  const pseudo = frame(frameType.headers, 5, 1, rawBlock([[":path", "/"]]));
  expect(harness.exchange(headers(1, "body"), pseudo)).toEqual(["rstStream 1 protocolError"]);
  expect(harness.exchange(headers(3, "body"), headers(3, "body"))).toEqual(["rstStream 3 protocolError"]);
});

test("frames after the end of a request are reset", () => {
  const harness = new Harness({ onRequest: () => silent });
  expect(harness.exchange(headers(1, "end"), data(1, 1))).toEqual(["rstStream 1 streamClosed"]);
  expect(harness.exchange(headers(3, "end"), headers(3, "end"))).toEqual(["rstStream 3 streamClosed"]);
  expect(harness.events.filter((event) => event.startsWith("abort"))).toEqual([
    "abort 1 streamClosed",
    "abort 3 streamClosed",
  ]);
});

test("a list of fields over the limit is refused, a block over the limit ends the connection", () => {
  const limits = { headerListBytesMax: 1_024, headerBlockBytesMax: 2_000 };
  const harness = new Harness({ limits });
  expect(harness.exchange(headers(1, "end", field("a", "b".repeat(1_100))))).toEqual(["headers 1 :status=431 end"]);
  expect(harness.exchange(headers(3, "end", field("a", "b".repeat(2_100))))).toEqual(["goAway 1 enhanceYourCalm"]);
});

test("more fields than the limit are refused", () => {
  const harness = new Harness();
  const crowd = (count: number): readonly (readonly [string, string])[] =>
    Array.from({ length: count }, () => ["a", "b"]);
  const spoken = requestFields.length;
  expect(harness.exchange(headers(1, "end", [...requestFields, ...crowd(128 - spoken)]))).toContain("data 1 0 end");
  expect(harness.exchange(headers(3, "end", [...requestFields, ...crowd(129 - spoken)]))).toEqual([
    "headers 3 :status=431 end",
  ]);
});

test("streams above the limit are refused, and open again as others end", () => {
  const harness = new Harness({ limits: { concurrentStreamsMax: 2 }, onRequest: () => silent });
  expect(harness.exchange(headers(1, "end"), headers(3, "end"), headers(5, "end"))).toEqual([
    "rstStream 5 refusedStream",
  ]);
  expect(harness.exchange(rstStream(1), headers(7, "end"))).toEqual([]);
  expect(harness.connection.openCount).toBe(2);
});

// Flow control.

test("the client gets credit as its bytes are consumed, on the stream and on the connection", () => {
  const harness = new Harness({ onRequest: () => silent, limits: { connectionWindowBytes: 65_535 } });
  expect(harness.exchange(headers(1, "body"), data(1, 16_384), data(1, 16_384))).toEqual([]);
  const [stream] = harness.streams;
  stream!.consume(20_000);
  expect(harness.output()).toEqual([]);
  stream!.consume(12_768);
  expect(harness.output()).toEqual(["windowUpdate 0 32768", "windowUpdate 1 32768"]);
  expect(() => stream!.consume(1)).toThrow("consumed");
});

test("bytes that nobody read are given back when their stream ends", () => {
  const harness = new Harness({ onRequest: () => silent, limits: { connectionWindowBytes: 65_535 } });
  harness.exchange(headers(1, "body"), ...Array.from({ length: 3 }, () => data(1, 16_000)));
  expect(harness.exchange(rstStream(1))).toEqual(["windowUpdate 0 48000"]);
});

test("a stream's window overrun is reset, the connection's ends the connection", () => {
  const harness = new Harness({ onRequest: () => silent, limits: { connectionWindowBytes: 70_000 } });
  expect(harness.exchange(headers(1, "body"), ...chunks(1))).toContain("rstStream 1 flowControlError");
  const other = new Harness({ onRequest: () => silent, limits: { connectionWindowBytes: 70_000 } });
  expect(other.exchange(headers(1, "body"), headers(3, "body"), ...chunks(1).slice(1), ...chunks(3).slice(1))).toEqual([
    "goAway 3 flowControlError",
  ]);
});

test("a response waits for the client's window, and its producer is told when it may go on", () => {
  const harness = new Harness({ onRequest: () => echoHandler(70_000) });
  const first = harness.exchange(headers(1, "end"));
  expect(first).toEqual(["headers 1 :status=200", "data 1 16384", "data 1 16384", "data 1 16384", "data 1 16383"]);
  expect(harness.exchange(windowUpdate(1, 10_000))).toEqual([]);
  expect(harness.exchange(windowUpdate(0, 10_000))).toEqual(["data 1 4465", "data 1 0 end"]);
});

test("an end waits behind the bytes that were written, with its trailers, and nothing follows it", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(settings([4, 10]), headers(1, "body"));
  const [stream] = harness.streams;
  stream!.respond(okBlock, "body");
  stream!.write(Buffer.alloc(15));
  stream!.end(encodeFields([["grpc-status", "0"]]));
  expect(() => stream!.write(Buffer.alloc(1))).toThrow("outside");
  expect(() => stream!.end()).toThrow("outside");
  expect(harness.output()).toEqual(["headers 1 :status=200", "data 1 10"]);
  expect([stream!.hasEnded, stream!.isClosed]).toEqual([false, false]);
  expect(harness.exchange(data(1, 1, "end"), windowUpdate(1, 5))).toEqual(["data 1 5", "headers 1 grpc-status=0 end"]);
  expect(harness.events).not.toContain("writable 1");
  expect(stream!.isClosed).toBe(true);
});

test("onWritable comes when the queue is empty, not before", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(settings([4, 10]), headers(1, "end"));
  const [stream] = harness.streams;
  stream!.respond(okBlock, "body");
  expect(stream!.write(Buffer.alloc(15))).toBe(false);
  expect(stream!.write(Buffer.alloc(3))).toBe(false);
  expect(harness.output()).toEqual(["headers 1 :status=200", "data 1 10"]);
  harness.exchange(windowUpdate(1, 5));
  expect(harness.events).not.toContain("writable 1");
  harness.exchange(windowUpdate(1, 3));
  expect(harness.events).toContain("writable 1");
  expect(stream!.queuedBytes).toBe(0);
});

test("a stream's window above 2^31 - 1 is reset; by SETTINGS it ends the connection", () => {
  const harness = new Harness({ onRequest: () => silent });
  expect(harness.exchange(headers(1, "end"), windowUpdate(1, 0x7fffffff))).toEqual(["rstStream 1 flowControlError"]);
  expect(harness.exchange(headers(3, "end"), windowUpdate(3, 0x7fff0000), settings([4, 0x7fffffff]))).toEqual([
    "goAway 3 flowControlError",
  ]);
});

test("WINDOW_UPDATE of 0 resets its stream", () => {
  const harness = new Harness({ onRequest: () => silent });
  expect(harness.exchange(headers(1, "end"), windowUpdate(1, 0))).toEqual(["rstStream 1 protocolError"]);
});

test("nothing is framed while the socket takes nothing, but control frames", () => {
  const harness = new Harness({ onRequest: () => echoHandler(100) });
  harness.connection.setWritable(false);
  expect(harness.exchange(headers(1, "end"), ping())).toEqual(["headers 1 :status=200", "ping ack 12345678"]);
  expect(harness.connection.hasOutput).toBe(false);
  harness.connection.setWritable(true);
  expect(harness.output()).toEqual(["data 1 100", "data 1 0 end"]);
});

test("a producer that never ends is asked for no more than the output may hold", () => {
  let written = 0;
  const endless = (stream: Parameters<NonNullable<StreamHandler["onWritable"]>>[0]): void => {
    while (stream.write(Buffer.alloc(10_000))) written += 10_000;
  };
  const harness = new Harness({
    onRequest: () => ({
      onEnd: (stream) => {
        stream.respond(okBlock, "body");
        endless(stream);
      },
      onWritable: endless,
    }),
  });
  const open = [settings([4, 0x7fffffff]), windowUpdate(0, 0x7fff0000)];
  harness.connection.receive(Buffer.concat([...open, headers(1, "end")]), harness.nowMs);
  expect(written).toBeLessThan(100_000);
  for (let turn = 1; turn <= 10; turn++) {
    expect(harness.connection.output()!.length).toBeLessThanOrEqual(65_536);
    harness.connection.onWritten("flushed");
    expect(written).toBeLessThan(100_000 + turn * 100_000);
  }
});

test("streams that wait take turns, a frame each", () => {
  const harness = new Harness({ onRequest: () => echoHandler(40_000) });
  harness.exchange(settings([4, 0]), headers(1, "end"), headers(3, "end"));
  const lines = harness.exchange(settings([4, 65_535]), windowUpdate(0, 100_000));
  expect(lines.filter((line) => line.startsWith("data"))).toEqual([
    "data 1 16384",
    "data 3 16384",
    "data 1 16384",
    "data 3 16384",
    "data 1 7232",
    "data 1 0 end",
    "data 3 7232",
    "data 3 0 end",
  ]);
});

// Handlers.

test("a handler that throws ends its stream with INTERNAL_ERROR and nothing else", () => {
  const handlers: readonly (() => StreamHandler)[] = [
    boom,
    () => ({ onData: boom }),
    () => ({ onEnd: boom }),
    () => ({ onEnd: (stream) => stream.write(Buffer.alloc(1)) }),
  ];
  for (const onRequest of handlers) {
    const harness = new Harness({ onRequest });
    expect(harness.exchange(headers(1, "body"), data(1, 1, "end"))).toEqual(["rstStream 1 internalError"]);
    expect(harness.faults).toHaveLength(1);
    expect(harness.connection.state).toBe("open");
    expect(harness.exchange(ping())).toEqual(["ping ack 12345678"]);
  }
});

test("a handler that throws as it writes on, stalls or is aborted harms no other stream", () => {
  const broken: StreamHandler = {
    onEnd: (stream) => {
      stream.respond(okBlock, "body");
      stream.write(Buffer.alloc(20));
    },
    onWritable: boom,
    onStall: boom,
    onAbort: boom,
  };
  const harness = new Harness({ onRequest: (stream) => (stream.id === 1 ? broken : echoHandler()) });
  harness.exchange(settings([4, 10]), headers(1, "end"), headers(3, "end"));
  expect(harness.exchange(windowUpdate(1, 10))).toEqual(["data 1 10", "rstStream 1 internalError"]);
  expect(harness.faults).toHaveLength(2); // onWritable, then onAbort
  expect(harness.connection.state).toBe("open");
});

test("output that a handler makes later is announced once, until it is taken", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "end"));
  expect(harness.outputAsked).toBe(0);
  harness.streams[0]!.respond(okBlock, "body");
  harness.streams[0]!.end();
  expect(harness.outputAsked).toBe(1);
  expect(harness.output()).toHaveLength(2);
  expect(harness.outputAsked).toBe(1);
});

test("calls on a stream that the client has closed do nothing, calls in a wrong order throw", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "end"), headers(3, "end"));
  const [first, second] = harness.streams;
  second!.respond(okBlock, "body");
  expect(() => second!.respond(okBlock, "body")).toThrow("second response");
  expect(() => second!.inform(okBlock)).toThrow("informational");
  expect(() => first!.write(okBlock)).toThrow("outside");
  expect(() => first!.end()).toThrow("outside");
  harness.exchange(rstStream(1));
  first!.respond(okBlock, "body");
  expect(first!.write(okBlock)).toBe(false);
  first!.end();
  first!.reset(errorCode.cancel);
  expect(harness.output()).toEqual([]);
});

test("a client's reset aborts the handler with its code", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "body"), rstStream(1, errorCode.cancel));
  expect(harness.events.at(-1)).toBe("abort 1 cancel");
  expect(harness.connection.openCount).toBe(0);
});

// The end of a connection.

test("a drain announces itself, serves what was on its way, then refuses, and ends with the last request", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "end"));
  harness.connection.drain(harness.nowMs);
  expect(harness.output()).toEqual(["goAway 2147483647 noError", "ping draining"]);
  harness.exchange(headers(3, "end"));
  expect(harness.exchange(ping("draining", frameFlag.ack))).toEqual(["goAway 3 noError"]);
  expect(harness.exchange(headers(5, "body"), data(5, 3, "end"))).toEqual([]);
  expect(harness.events.at(-1)).toBe("end 3");
  for (const stream of harness.streams) stream.respond(okBlock, "end");
  expect(harness.output()).toHaveLength(2);
  expect(harness.connection.state).toBe("ended");
});

test("a drain whose PING is not answered goes on after five seconds, and is cut at its limit", () => {
  const harness = new Harness({ onRequest: () => silent, limits: { drainTimeoutMs: 10_000 } });
  harness.exchange(headers(1, "end"));
  harness.connection.drain(harness.nowMs);
  harness.output();
  expect(harness.wait(5_000)).toEqual(["goAway 1 noError"]);
  expect(harness.wait(4_500)).toEqual([]);
  expect(harness.connection.state).toBe("refusing");
  expect(harness.wait(2_000)).toEqual(["goAway 1 noError"]);
  expect(harness.connection.state).toBe("ended");
  expect(harness.events.at(-1)).toBe("abort 1 noError");
});

test("the last stream of a GOAWAY does not grow after the last call", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "end"));
  harness.connection.drain(harness.nowMs);
  harness.exchange(ping("draining", frameFlag.ack));
  expect(harness.exchange(headers(3, "end"), ping("x"))).toEqual(["goAway 1 frameSizeError"]);
});

test("a client's GOAWAY lets open requests finish", () => {
  const harness = new Harness({ onRequest: () => silent });
  expect(harness.exchange(headers(1, "end"), goAway())).toEqual(["goAway 1 noError"]);
  expect(harness.connection.state).toBe("refusing");
  harness.streams[0]!.respond(okBlock, "end");
  expect(harness.connection.state).toBe("ended");
});

test("a socket that is gone aborts every stream, once", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "end"), headers(3, "end"));
  harness.connection.abort();
  harness.connection.abort();
  expect(harness.events.filter((event) => event.startsWith("abort"))).toEqual(["abort 1 cancel", "abort 3 cancel"]);
  expect(harness.connection.state).toBe("dead");
  expect(harness.output()).toEqual([]);
});

// Time.

test("a client that never says hello is cut", () => {
  const harness = new Harness({ greeted: false });
  harness.output();
  expect(harness.exchange(preface)).toEqual([]);
  expect(harness.wait(9_500)).toEqual([]);
  expect(harness.wait(500)).toEqual(["goAway 0 settingsTimeout"]);
});

test("a frame that does not end is cut, a client that is busy with many is not", () => {
  const harness = new Harness({ onRequest: () => silent });
  const half = data(1, 1_000);
  harness.exchange(headers(1, "body"), half.subarray(0, 100));
  for (let second = 0; second < 20; second++) {
    harness.exchange(half.subarray(100), half.subarray(0, 100));
    expect(harness.wait(1_000)).toEqual([]);
  }
  harness.exchange(half.subarray(100, 101));
  expect(harness.wait(10_500)).toEqual(["goAway 1 enhanceYourCalm"]);
});

test("a header block that drips frame by frame is cut", () => {
  const harness = new Harness();
  harness.exchange(frame(frameType.headers, 0, 1, rawBlock(requestFields)));
  harness.wait(5_000);
  harness.exchange(frame(frameType.continuation, 0, 1));
  expect(harness.wait(5_500)).toEqual(["goAway 0 enhanceYourCalm"]);
});

test("a body that does not come is cut, unless the response has begun", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "body"), headers(3, "body"), headers(5, "end"));
  harness.streams[1]!.respond(okBlock, "body");
  harness.output();
  harness.wait(50_000);
  harness.exchange(data(1, 1));
  expect(harness.wait(10_500).filter((line) => !line.startsWith("ping"))).toEqual(["rstStream 1 cancel"]);
  expect(harness.events.at(-1)).toBe("abort 1 cancel");
  expect(harness.connection.openCount).toBe(2);
});

test("a reader that takes nothing is told to go, in its own way if the handler has one", () => {
  const polite: StreamHandler = { ...echoHandler(100), onStall: (stream) => stream.dropQueued() };
  const deaf: StreamHandler = { ...echoHandler(100), onStall: () => undefined };
  const rude = echoHandler(100);
  const harness = new Harness({ onRequest: (stream) => [polite, rude, deaf][(stream.id - 1) / 2]! });
  harness.exchange(settings([4, 50]), headers(1, "end"), headers(3, "end"), headers(5, "end"));
  expect(harness.wait(29_000)).toEqual([]);
  expect(harness.wait(1_500)).toEqual(["data 1 0 end", "rstStream 3 refusedStream"]);
  expect(harness.events.slice(-3)).toEqual(["stall 1", "abort 3 refusedStream", "stall 5"]);
  expect(harness.wait(4_000)).toEqual([]);
  expect(harness.wait(1_000)).toEqual(["rstStream 5 refusedStream"]);
});

test("a reader that stalls is told so first, though the looks are further apart than the timeout is long", () => {
  const stalls: number[] = [];
  const deaf: StreamHandler = { ...echoHandler(100), onStall: (stream) => stalls.push(stream.id) };
  const limits = { stallTimeoutMs: 100, stallGraceMs: 5_000 };
  const harness = new Harness({ onRequest: () => deaf, limits });
  harness.exchange(settings([4, 50]), headers(1, "end"));
  expect(harness.wait(4_000)).toEqual([]);
  expect(stalls).toEqual([1]);
  expect(harness.wait(2_500)).toEqual(["rstStream 1 refusedStream"]);
});

test("bytes that were lent may be used again at once, though they have to wait", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(settings([4, 3]), headers(1, "end"));
  const [stream] = harness.streams;
  const bytes = Buffer.from("hello");
  stream!.respond(okBlock, "body");
  expect(stream!.writeLent(bytes)).toBe(false);
  bytes.fill(0);
  harness.output();
  harness.connection.receive(windowUpdate(1, 10), harness.nowMs);
  expect(harness.rawOutput().subarray(9).toString()).toBe("lo");
});

test("a reader that took a byte now and then held its response for ever", () => {
  const harness = new Harness({ onRequest: () => echoHandler(100_000) });
  harness.exchange(settings([4, 1]), headers(1, "end"));
  const taken: string[] = [];
  for (let round = 0; round < 3; round++) {
    taken.push(...harness.wait(20_000), ...harness.exchange(windowUpdate(1, 1)));
  }
  expect(taken.filter((line) => line !== "ping are you?")).toEqual(["data 1 1", "rstStream 1 refusedStream"]);
});

test("a reader that takes a frame in each stall timeout, or all that waits, is not stalled", () => {
  const harness = new Harness({ onRequest: (stream) => echoHandler(stream.id === 1 ? 100_000 : 4) });
  harness.exchange(settings([4, 1]), windowUpdate(0, 100_000), headers(1, "end"), headers(3, "end"));
  for (let round = 0; round < 5; round++) {
    harness.wait(15_000);
    expect(harness.exchange(windowUpdate(1, 8_192))).toContain("data 1 8192");
    harness.wait(14_000);
    expect(harness.exchange(windowUpdate(1, 8_192))).toContain("data 1 8192");
    if (round === 0) expect(harness.exchange(windowUpdate(3, 3)).join()).toContain("data 3 3");
  }
});

test("a socket that takes nothing is given up, one that takes a little now and then is not", () => {
  const harness = new Harness();
  harness.connection.setWritable(false);
  for (let round = 0; round < 5; round++) {
    harness.wait(20_000);
    harness.connection.setWritable(true);
    harness.connection.setWritable(false);
  }
  expect(harness.connection.state).toBe("open");
  harness.wait(31_000);
  expect(harness.connection.state).toBe("dead");
});

test("an idle connection is drained, a busy one that is idle at every look is not", () => {
  const harness = new Harness({ limits: { keepAliveIntervalMs: Infinity } });
  for (let round = 0; round < 10; round++) {
    harness.exchange(headers(1 + 2 * round, "end"));
    expect(harness.wait(300_000)).toEqual([]);
  }
  expect(harness.wait(307_000)).toEqual(["goAway 2147483647 noError", "ping draining", "goAway 19 noError"]);
  expect(harness.connection.state).toBe("ended");
});

test("a silent client is asked whether it is there, and given up if it is not", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "end"));
  expect(harness.wait(60_000)).toEqual(["ping are you?"]);
  harness.exchange(ping("are you?", frameFlag.ack));
  expect(harness.wait(59_000)).toEqual([]);
  expect(harness.wait(1_000)).toEqual(["ping are you?"]);
  harness.wait(20_000);
  expect(harness.connection.state).toBe("dead");
  expect(harness.events.at(-1)).toBe("abort 1 cancel");
});

test("an old connection is drained at its age", () => {
  const harness = new Harness({ onRequest: () => silent, limits: { ageMaxMs: 20_000 } });
  harness.exchange(headers(1, "end"));
  expect(harness.wait(19_500)).toEqual([]);
  expect(harness.wait(500)).toEqual(["goAway 2147483647 noError", "ping draining"]);
});

test("unknown frames and unknown settings are ignored", () => {
  const harness = new Harness();
  expect(harness.exchange(frame(77, 255, 5, "00"), settings([0x99, 1]), ping())).toEqual([
    "settings ack",
    "ping ack 12345678",
  ]);
  expect(harness.exchange(frame(frameType.priority, 0, 9, Buffer.concat([uint32(3), Buffer.of(1)])))).toEqual([]);
});
