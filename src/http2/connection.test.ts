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
import { frameFlag, frameType } from "./frame.ts";
import { encodeFields } from "./hpack/encoder.ts";
import type { StreamHandler } from "./stream.ts";

const silent: StreamHandler = {};

function boom(): never {
  throw new Error("boom");
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

test("streams above the limit are refused, and open again as others end", () => {
  const harness = new Harness({ limits: { concurrentStreamsMax: 2 }, onRequest: () => silent });
  expect(harness.exchange(headers(1, "end"), headers(3, "end"), headers(5, "end"))).toEqual([
    "rstStream 5 refusedStream",
  ]);
  expect(harness.exchange(rstStream(1), headers(7, "end"))).toEqual([]);
  expect(harness.connection.openCount).toBe(2);
});

// Flow control.

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

test("unknown frames and unknown settings are ignored", () => {
  const harness = new Harness();
  expect(harness.exchange(frame(77, 255, 5, "00"), settings([0x99, 1]), ping())).toEqual([
    "settings ack",
    "ping ack 12345678",
  ]);
  expect(harness.exchange(frame(frameType.priority, 0, 9, Buffer.concat([uint32(3), Buffer.of(1)])))).toEqual([]);
});
