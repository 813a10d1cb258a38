import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseFrames, requestFields, uint32 } from "../../test/support/http2/http2-wire.ts";
import { ConnectionError, StreamError } from "./error-code.ts";
import { Field } from "./hpack/field.ts";
import { windowBytesInitial, windowBytesMax } from "./frame.ts";
import { OutputBuffer, SlabPool } from "./output-buffer.ts";
import { createRequestHead } from "./request-head.ts";
import { SendScheduler } from "./send-scheduler.ts";
import { Stream, type StreamOwner } from "./stream.ts";

const nobody = {} as StreamOwner;
const head = createRequestHead(requestFields.map(([name, value]) => new Field(name, value)))!;

/** A scheduler whose frames are `stream:bytes`; events are recorded. */
function setUp(outputBytesMax = 1 << 20) {
  const output = new OutputBuffer(new SlabPool(), () => undefined);
  const events: string[] = [];
  const scheduler = new SendScheduler(output, outputBytesMax, (stream) => void events.push(`empty ${stream.id}`));
  const stream = (id: number, sendBytes = windowBytesInitial): Stream =>
    new Stream(nobody, id, head, { sendBytes, receiveBytes: 0 }, 0);
  const taken = (): readonly string[] => {
    const frames: string[] = [];
    for (let bytes = output.take(); bytes !== undefined; bytes = output.take()) {
      frames.push(...parseFrames(Buffer.from(bytes)).map(({ streamId, payload }) => `${streamId}:${payload.length}`));
      output.onWritten("flushed");
    }
    return frames;
  };
  const send = (to: Stream, length: number): boolean => scheduler.send(to, new Uint8Array(length), "same", 0);
  return { output, scheduler, events, stream, taken, send };
}

test("what fits into both windows leaves at once, in frames of 16 KiB", () => {
  const { stream, taken, send } = setUp();
  expect(send(stream(1), 40_000)).toBe(true);
  expect(taken()).toEqual(["1:16384", "1:16384", "1:7232"]);
});

test("what does not fit waits for the stream's window, or the connection's", () => {
  const { scheduler, events, stream, taken, send } = setUp();
  const [first, second] = [stream(1, 10), stream(3)];
  expect(send(first, 30)).toBe(false);
  expect(taken()).toEqual(["1:10"]);
  expect(scheduler.canSend).toBe(false);
  scheduler.widenStream(first, 15);
  scheduler.run(1);
  expect([taken(), events]).toEqual([["1:15"], []]);
  scheduler.widenStream(first, 100);
  scheduler.run(2);
  expect([taken(), events]).toEqual([["1:5"], ["empty 1"]]);
  expect(send(second, windowBytesInitial)).toBe(false);
  taken();
  scheduler.widenStream(second, 1_000);
  expect(scheduler.canSend).toBe(false);
  scheduler.widenConnection(1_000);
  scheduler.run(3);
  expect(taken()).toEqual(["3:30"]);
});

test("streams that wait take turns, a frame each, and a newcomer waits behind them", () => {
  const { scheduler, stream, taken, send } = setUp();
  scheduler.isWritable = false;
  const [first, second, third] = [stream(1), stream(3), stream(5)];
  for (const one of [first, second]) send(one, 32_768);
  scheduler.isWritable = true;
  expect(send(third, 10)).toBe(false);
  scheduler.run(0);
  expect(taken()).toEqual(["1:16384", "3:16384", "5:10", "1:16384", "3:16373"]);
});

test("a socket that takes nothing, and an output that is full, hold everything back", () => {
  const { scheduler, stream, taken, send } = setUp(20_000);
  const one = stream(1);
  expect(send(one, 60_000)).toBe(false);
  expect(taken()).toEqual(["1:16384", "1:16384"]);
  scheduler.isWritable = false;
  expect(scheduler.canSend).toBe(false);
  scheduler.run(0);
  expect(taken()).toEqual([]);
  scheduler.isWritable = true;
  scheduler.run(0);
  expect(taken()).toEqual(["1:16384", "1:10848"]);
});

test("lent bytes are copied when they must wait, kept bytes are not", () => {
  const { scheduler, stream } = setUp();
  const bytes = Uint8Array.of(1, 2, 3);
  const [lent, kept] = [stream(1, 0), stream(3, 0)];
  scheduler.send(lent, bytes, "copy", 0);
  scheduler.send(kept, bytes, "same", 0);
  bytes.fill(9);
  expect([[...lent.queue[0]!], [...kept.queue[0]!]]).toEqual([
    [1, 2, 3],
    [9, 9, 9],
  ]);
});

test("SETTINGS moves the windows of open streams, below zero too, and not the connection's", () => {
  const { scheduler, stream, taken, send } = setUp();
  const one = stream(1, windowBytesInitial);
  send(one, 60_000);
  taken();
  scheduler.setInitialWindow(10_000, [one]);
  expect(one.sendWindowBytes).toBe(10_000 - 60_000);
  expect(send(one, 100)).toBe(false);
  scheduler.widenStream(one, 50_000);
  expect(scheduler.canSend).toBe(false);
  scheduler.widenStream(one, 60);
  scheduler.run(0);
  expect(taken()).toEqual(["1:60"]);
});

test("windows beyond 2^31 - 1 are the client's error: the stream's, or the connection's", () => {
  const { scheduler, stream } = setUp();
  const one = stream(1);
  expect(() => scheduler.widenStream(one, windowBytesMax)).toThrow(StreamError);
  expect(() => scheduler.widenConnection(windowBytesMax)).toThrow(ConnectionError);
  const other = setUp();
  const wide = other.stream(1, windowBytesMax);
  expect(() => other.scheduler.setInitialWindow(windowBytesInitial + 1, [wide])).toThrow(ConnectionError);
});

test("a stream that was dropped is not sent", () => {
  const { scheduler, stream, taken, send } = setUp();
  scheduler.isWritable = false;
  const [first, second] = [stream(1), stream(3)];
  send(first, 10);
  send(second, 10);
  scheduler.drop(first);
  expect(first.queuedBytes).toBe(0);
  scheduler.isWritable = true;
  scheduler.run(0);
  expect(taken()).toEqual(["3:10"]);
});

test("whatever the order of writes and windows, no window is overdrawn, and each byte leaves once and in order", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("write" as const), index: fc.nat(2), length: fc.integer({ min: 4, max: 40_000 }) }),
    fc.record({ kind: fc.constant("widen" as const), index: fc.nat(3), bytes: fc.integer({ min: 1, max: 50_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { output, scheduler, stream } = setUp();
      const streams = [stream(1), stream(3), stream(5)];
      const allowed = [windowBytesInitial, windowBytesInitial, windowBytesInitial, windowBytesInitial];
      const written: Buffer[][] = [[], [], []];
      const sent: Buffer[][] = [[], [], []];
      for (const [place, next] of steps.entries()) {
        if (next.kind === "write") {
          const bytes = Buffer.alloc(next.length, uint32(place + 1));
          written[next.index]!.push(bytes);
          scheduler.send(streams[next.index]!, bytes, "same", 0);
        } else {
          allowed[next.index]! += next.bytes;
          if (next.index === 3) scheduler.widenConnection(next.bytes);
          else scheduler.widenStream(streams[next.index]!, next.bytes);
        }
        scheduler.run(0);
        for (let bytes = output.take(); bytes !== undefined; bytes = output.take()) {
          for (const { streamId, payload } of parseFrames(Buffer.from(bytes))) sent[(streamId - 1) / 2]!.push(payload);
          output.onWritten("flushed");
        }
      }
      const totals = sent.map((parts) => Buffer.concat(parts));
      expect(totals.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(allowed[3]!);
      for (const [index, total] of totals.entries()) {
        expect(total.length).toBeLessThanOrEqual(allowed[index]!);
        const whole = Buffer.concat(written[index]!);
        expect(whole.subarray(0, total.length).equals(total)).toBe(true);
        // Nothing that could be sent is held back: for the bytes that are left, no window is open.
        const isHeld = total.length === whole.length || total.length === allowed[index];
        expect(isHeld || totals.reduce((sum, { length }) => sum + length, 0) === allowed[3]).toBe(true);
      }
    }),
  );
});
