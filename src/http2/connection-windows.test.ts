import { expect, test } from "vitest";
import {
  data,
  echoHandler,
  Harness,
  headers,
  okBlock,
  ping,
  rstStream,
  settings,
  windowUpdate,
} from "../../test/support/http2/http2-wire.ts";
import { encodeFields } from "./hpack/encoder.ts";
import type { StreamHandler } from "./stream.ts";

const silent: StreamHandler = {};

/** One byte more than a stream's window. */
function chunks(streamId: number): readonly Buffer[] {
  return Array.from({ length: 4 }, () => data(streamId, 16_384));
}

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
