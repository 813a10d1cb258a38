import * as fc from "fast-check";
import { expect, test } from "vitest";
import { data, frame, hello, ping } from "../../test/support/http2/http2-wire.ts";
import { preface } from "./frame.ts";
import { FrameReader } from "./frame-reader.ts";

function read(chunks: readonly Buffer[], payloadBytesMax = 16_384): readonly string[] {
  const frames: string[] = [];
  const sink = {
    onFrame: (type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): void =>
      void frames.push(`${type} ${flags} ${streamId} ${bytes.toString("hex", start, end)}`),
  };
  const reader = new FrameReader(sink, payloadBytesMax);
  for (const chunk of chunks) reader.read(chunk);
  return frames;
}

test("frames come out whole, with the reserved bit of their stream ignored", () => {
  expect(read([preface, frame(6, 1, 0x80000005, "0102"), frame(0, 0, 0x7fffffff)])).toEqual([
    "6 1 5 0102",
    "0 0 2147483647 ",
  ]);
});

test("any split of the bytes gives the same frames", () => {
  const bytes = Buffer.concat([hello, ping(), data(1, 300), data(3, 0), frame(9, 4, 7, "00"), data(5, 70)]);
  const whole = read([bytes]);
  expect(read([...bytes].map((byte) => Buffer.of(byte)))).toEqual(whole);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
      const sorted = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const chunks = sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
      expect(read(chunks)).toEqual(whole);
    }),
  );
});

test("a frame that comes in pieces is not lost when the pieces' buffer is used again", () => {
  const chunk = Buffer.alloc(64);
  const frames: string[] = [];
  const reader = new FrameReader({ onFrame: (...args) => void frames.push(args[3].toString("latin1", args[4])) }, 100);
  reader.read(preface);
  const bytes = data(1, Buffer.from("hello, world"));
  for (let at = 0; at < bytes.length; at += 5) {
    const length = bytes.copy(chunk, 0, at, at + 5);
    reader.read(chunk.subarray(0, length));
    chunk.fill(0);
  }
  expect(frames).toEqual(["hello, world"]);
});

test("a frame above the limit is refused by its header, before its payload comes", () => {
  expect(() => read([preface, data(1, 101).subarray(0, 9)], 100)).toThrow("exceeds 100");
  expect(() => read([preface, data(1, 101).subarray(0, 4), data(1, 101).subarray(4, 9)], 100)).toThrow("exceeds 100");
  expect(read([preface, data(1, 100)], 100)).toHaveLength(1);
});

test("nothing is handed on after stop, not even of the same chunk", () => {
  let count = 0;
  const reader: FrameReader = new FrameReader(
    {
      onFrame: () => {
        count++;
        reader.stop();
      },
    },
    100,
  );
  reader.read(Buffer.concat([preface, ping(), ping()]));
  reader.read(ping());
  expect(count).toBe(1);
});
