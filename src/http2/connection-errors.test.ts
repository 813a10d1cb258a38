import { expect, test } from "vitest";
import {
  data,
  frame,
  Harness,
  headers,
  ping,
  rawBlock,
  requestFields,
  rstStream,
  settings,
  windowUpdate,
} from "../../test/support/http2/http2-wire.ts";
import type { errorCode } from "./error-code.ts";
import { frameFlag, frameType, preface } from "./frame.ts";
import type { StreamHandler } from "./stream.ts";

const silent: StreamHandler = {};

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
