/**
 * Mistakes that HTTP/2 servers make, this engine's forerunner among them: each has a test, whose name says in brackets
 * what happened.
 */
import { expect, test } from "vitest";
import {
  data,
  echoHandler,
  frame,
  Harness,
  headers,
  indexedBlock,
  okBlock,
  parseFrames,
  rawBlock,
  requestFields,
  rstStream,
  settings,
  uint32,
  windowUpdate,
} from "../../test/support/http2/http2-wire.ts";
import { Field } from "./hpack/field.ts";
import { frameFlag, frameType } from "./frame.ts";
import { DynamicTable } from "./hpack/tables.ts";
import type { StreamHandler } from "./stream.ts";

const silent: StreamHandler = {};

function value(id: number): string {
  return `v${id}`.padEnd(200, "-");
}

test("a response that crosses into a new slab is whole (it was written into the old one)", () => {
  const harness = new Harness({ onRequest: () => echoHandler(1_000) });
  harness.exchange(settings([4, 0x7fffffff]), windowUpdate(0, 0x7fff0000));
  for (let round = 0; round < 20; round++) {
    const requests = Array.from({ length: 90 }, (_, index) => headers(1 + 2 * (round * 90 + index), "end"));
    const lines = harness.exchange(...requests);
    expect(lines.filter((line) => line.startsWith("headers"))).toHaveLength(90);
    expect(lines.filter((line) => /^data \d+ 1000$/.test(line))).toHaveLength(90);
  }
});

test("a request over 64 kB gets credit, and is answered (it hung for ever)", () => {
  const harness = new Harness();
  harness.exchange(headers(1, "body"));
  let windowBytes = 65_535;
  for (let sent = 0; sent < 1_000_000; sent += 16_000) {
    windowBytes -= 16_000;
    expect(windowBytes).toBeGreaterThanOrEqual(0);
    for (const line of harness.exchange(data(1, 16_000))) {
      const [, bytes] = /^windowUpdate 1 (\d+)$/.exec(line) ?? [];
      windowBytes += Number(bytes ?? 0);
    }
  }
  expect(harness.exchange(data(1, 1, "end"))).toContain("headers 1 :status=200");
});

test("a request that is refused halfway gives its bytes back to the connection's window (it kept them)", () => {
  const refuse: StreamHandler = { onData: (stream) => stream.respond(okBlock, "end") };
  const harness = new Harness({ onRequest: () => refuse, limits: { connectionWindowBytes: 65_535 } });
  let windowBytes = 65_535;
  for (let id = 1; id < 200; id += 2) {
    windowBytes -= 16_000;
    expect(windowBytes).toBeGreaterThanOrEqual(0);
    for (const line of harness.exchange(headers(id, "body"), data(id, 16_000))) {
      const [, bytes] = /^windowUpdate 0 (\d+)$/.exec(line) ?? [];
      windowBytes += Number(bytes ?? 0);
    }
  }
});

test("no stamp of a table repeats (two packed counters did after 8,192 evictions, and one request's head was served for another's)", () => {
  const table = new DynamicTable();
  const stamps = new Set<number>();
  for (let index = 0; index < 20_000; index++) {
    table.insert(new Field("name", "v".repeat(100 + (index % 900))));
    stamps.add(table.changeCount);
  }
  expect(stamps.size).toBe(20_000);
});

test("the same bytes under another table are another head (that of another request was served)", () => {
  const harness = new Harness({ onRequest: () => silent });
  const block = rawBlock(requestFields);
  const newest = Buffer.concat([block, Buffer.of(0xbe)]);
  for (let id = 1; id < 24_000; id += 4) {
    const first = frame(frameType.headers, 5, id, Buffer.concat([block, indexedBlock([["x", value(id)]])]));
    const second = frame(frameType.headers, 5, id + 2, newest);
    harness.exchange(first, second, rstStream(id), rstStream(id + 2));
    harness.nowMs += 1_000;
    expect(harness.streams.at(-1)!.head.get("x")).toBe(value(id));
    harness.events.length = 0;
  }
  expect(harness.streams).toHaveLength(12_000);
});

test("a stream of megabytes needs two slabs at most (a fresh one for each 64 kB doubled the memory)", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(settings([4, 0x7fffffff]), windowUpdate(0, 0x7fff0000), headers(1, "end"));
  const [stream] = harness.streams;
  stream!.respond(okBlock, "body");
  const buffers = new Set<ArrayBufferLike>();
  for (let chunk = 0; chunk < 200; chunk++) {
    stream!.write(Buffer.alloc(30_000));
    for (let bytes = harness.connection.output(); bytes !== undefined; bytes = harness.connection.output()) {
      buffers.add(bytes.buffer);
      harness.connection.onWritten("flushed");
    }
  }
  expect(buffers.size).toBeLessThanOrEqual(2);
});

test("the header block of a refused stream is decoded (it was not, and the next request's was garbage)", () => {
  const harness = new Harness({ onRequest: () => silent, limits: { concurrentStreamsMax: 1 } });
  const refused = frame(frameType.headers, 5, 3, Buffer.concat([rawBlock(requestFields), indexedBlock([["a", "b"]])]));
  expect(harness.exchange(headers(1, "end"), refused)).toEqual(["rstStream 3 refusedStream"]);
  harness.exchange(
    rstStream(1),
    frame(frameType.headers, 5, 5, Buffer.concat([rawBlock(requestFields), Buffer.of(0xbe)])),
  );
  expect(harness.streams.at(-1)!.head.get("a")).toBe("b");
});

test("the header block after a drain's last call is decoded (it was not)", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "body"));
  harness.connection.drain(harness.nowMs);
  harness.wait(1_500);
  harness.exchange(
    frame(frameType.headers, 5, 3, Buffer.concat([rawBlock(requestFields), indexedBlock([["a", "b"]])])),
  );
  harness.exchange(frame(frameType.headers, 5, 1, Buffer.of(0xbe)));
  expect(harness.events.at(-1)).toBe("end 1 a=b");
});

test("DATA for a closed stream is given back to the connection's window (it was not counted)", () => {
  const harness = new Harness({ onRequest: () => silent, limits: { connectionWindowBytes: 65_535 } });
  harness.exchange(headers(1, "body"));
  harness.streams[0]!.reset(8);
  harness.output();
  expect(harness.exchange(data(1, 16_384), data(1, 16_384))).toEqual(["windowUpdate 0 32768"]);
});

test("INITIAL_WINDOW_SIZE moves the windows of open streams, and not the connection's", () => {
  const harness = new Harness({ onRequest: () => echoHandler(100) });
  expect(harness.exchange(settings([4, 30]), headers(1, "end"))).toContain("data 1 30");
  // 30 bytes are used: a window of 10 is now at -20, and 25 more make it 5.
  expect(harness.exchange(settings([4, 10]))).toEqual(["settings ack"]);
  expect(harness.exchange(windowUpdate(1, 20))).toEqual([]);
  expect(harness.exchange(windowUpdate(1, 5))).toEqual(["data 1 5"]);
  expect(harness.exchange(settings([4, 75]))).toEqual(["settings ack", "data 1 65", "data 1 0 end"]);
});

test("a lowered SETTINGS_HEADER_TABLE_SIZE needs no answer, because the first block sets the table to 0", () => {
  // The first block of each connection sets the table to 0 bytes, before the client asks: no later change can need an
  // answer.
  for (const size of [0, 100, 4_096, 65_536]) {
    const harness = new Harness();
    harness.exchange(settings([1, size]));
    harness.connection.receive(headers(1, "end"), harness.nowMs);
    const [first] = parseFrames(harness.rawOutput());
    expect(first!.payload[0]).toBe(0x20);
    harness.exchange(settings([1, 0], [1, 4_096]));
    harness.connection.receive(headers(3, "end"), harness.nowMs);
    expect(parseFrames(harness.rawOutput())[0]!.payload.equals(okBlock)).toBe(true);
  }
});

test("a late DATA for a stream that the server reset leaves the connection open (it ended it)", () => {
  const harness = new Harness({ onRequest: () => silent });
  harness.exchange(headers(1, "body"), headers(3, "body"));
  for (const stream of harness.streams) stream.reset(8);
  harness.output();
  const trailers = frame(frameType.headers, 5, 3, rawBlock([["a", "b"]]));
  expect(harness.exchange(data(1, 10, "end"), trailers, windowUpdate(1, 5), rstStream(1))).toEqual([]);
  expect(harness.connection.state).toBe("open");
});

test("a late DATA without bytes counts as one frame without content (it counted as two)", () => {
  const harness = new Harness({
    onRequest: () => silent,
    limits: { concurrentStreamsMax: 1, emptyFramesPerSecond: 5 },
  });
  harness.exchange(headers(1, "body"), headers(3, "body"));
  for (let index = 0; index < 10; index++) expect(harness.exchange(data(3, 0))).toEqual([]);
  expect(harness.exchange(data(3, 0))).toEqual(["goAway 3 enhanceYourCalm"]);
});

test("an answer before the end of the request tells the client to stop sending (it went on)", () => {
  const harness = new Harness({ onRequest: () => echoHandler() });
  harness.exchange(headers(1, "body"));
  const [stream] = harness.streams;
  stream!.respond(okBlock, "body");
  stream!.end();
  expect(harness.output()).toEqual(["headers 1 :status=200", "data 1 0 end", "rstStream 1 noError"]);
  expect(harness.connection.openCount).toBe(0);
});

test("HEADERS with a number that was skipped and with one that was used are different errors", () => {
  const skipped = new Harness();
  expect(skipped.exchange(headers(5, "end"), headers(3, "end"))).toContain("goAway 5 protocolError");
  const used = new Harness();
  expect(used.exchange(headers(3, "end"), headers(5, "end"), headers(3, "end"))).toContain("goAway 5 streamClosed");
});

test("a stream error on an idle stream ends the connection (it was answered by RST_STREAM)", () => {
  const selfDependent = frame(frameType.priority, 0, 9, Buffer.concat([uint32(9), Buffer.of(1)]));
  const short = frame(frameType.priority, 0, 9, "00");
  expect(new Harness().exchange(selfDependent)).toEqual(["goAway 0 protocolError"]);
  expect(new Harness().exchange(short)).toEqual(["goAway 0 frameSizeError"]);
  const open = new Harness({ onRequest: () => silent });
  expect(open.exchange(headers(9, "end"), selfDependent)).toEqual(["rstStream 9 protocolError"]);
});

test("a stream with much to send lets the others pass (it kept them waiting)", () => {
  const harness = new Harness({ onRequest: (stream) => echoHandler(stream.id === 1 ? 1_000_000 : 10) });
  const open = [settings([4, 0x7fffffff]), windowUpdate(0, 0x7fff0000)];
  const lines = harness.exchange(...open, headers(1, "end"), headers(3, "end"));
  const end = lines.indexOf("data 3 10");
  expect(end).toBeGreaterThan(0);
  expect(lines.slice(0, end).filter((line) => line.startsWith("data 1"))).toHaveLength(5);
});

test("a million bytes that come one by one are read without copying what came before (it cost the square of their number)", () => {
  const harness = new Harness();
  const bytes = Buffer.concat([
    headers(1, "body"),
    ...Array.from({ length: 60 }, () => data(1, 16_000)),
    data(1, 1, "end"),
  ]);
  // A million calls: with a copy of all that came before at each, this would take minutes.
  for (let at = 0; at < bytes.length; at++) harness.connection.receive(bytes.subarray(at, at + 1), harness.nowMs);
  expect(harness.output()).toContain("headers 1 :status=200");
});

test("the engine keeps nothing of a chunk that it was lent (the next read wrote over it)", () => {
  // The bytes that onData gets are a view of the socket's buffer: its comment says so, and the engine itself keeps none
  // of them.
  const harness = new Harness({ onRequest: () => silent });
  const chunk = Buffer.concat([headers(1, "body"), frame(frameType.headers, frameFlag.endStream, 1, "00")]);
  const copy = Buffer.from(chunk);
  harness.connection.receive(copy, harness.nowMs);
  copy.fill(0xff);
  harness.exchange(frame(frameType.continuation, frameFlag.endHeaders, 1, Buffer.from("\u0001a\u0001b", "latin1")));
  expect(harness.events.at(-1)).toBe("end 1 a=b");
});
