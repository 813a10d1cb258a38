import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseFrames } from "../../test/support/http2/http2-wire.ts";
import { OutputBuffer, SlabPool } from "./output-buffer.ts";

function drainInto(output: OutputBuffer, parts: Buffer[], fate: "flushed" | "buffered" = "flushed"): void {
  for (let bytes = output.take(); bytes !== undefined; bytes = output.take()) {
    parts.push(fate === "flushed" ? Buffer.from(bytes) : bytes);
    output.onWritten(fate);
  }
}

test("frames of several slabs come out in order and whole", () => {
  const output = new OutputBuffer(new SlabPool(), () => undefined);
  for (let index = 0; index < 20; index++) output.data(index, Buffer.alloc(10_000, index), 0, 10_000, false);
  const parts: Buffer[] = [];
  drainInto(output, parts);
  expect(parts.length).toBeGreaterThan(2);
  const frames = parts.flatMap((part) => parseFrames(part));
  expect(frames.map(({ streamId }) => streamId)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  for (const { streamId, payload } of frames) expect(payload.equals(Buffer.alloc(10_000, streamId))).toBe(true);
});

test("it says once that bytes wait, and again after they were taken", () => {
  let told = 0;
  const output = new OutputBuffer(new SlabPool(), () => told++);
  output.settingsAck();
  output.settingsAck();
  expect(told).toBe(1);
  drainInto(output, []);
  expect(output.take()).toBeUndefined();
  output.settingsAck();
  expect(told).toBe(2);
});

test("room whose bytes are with the kernel is used again", () => {
  const pool = new SlabPool();
  const output = new OutputBuffer(pool, () => undefined);
  const places = new Set<number>();
  for (let turn = 0; turn < 100; turn++) {
    output.data(1, Buffer.alloc(16_000), 0, 16_000, false);
    const bytes = output.take()!;
    places.add(bytes.byteOffset);
    output.onWritten("flushed");
  }
  expect(places).toEqual(new Set([0]));
});

test("bytes that a socket still holds are never written over by another user of the pool", () => {
  const step = fc.record({
    connection: fc.nat(3),
    size: fc.nat(16_384),
    action: fc.constantFrom("write", "take buffered", "take flushed"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pool = new SlabPool();
      const outputs = Array.from({ length: 4 }, () => new OutputBuffer(pool, () => undefined));
      const held: { readonly bytes: Buffer; readonly copy: Buffer }[] = [];
      for (const [index, { connection, size, action }] of steps.entries()) {
        const output = outputs[connection]!;
        if (action === "write") {
          output.data(index, Buffer.alloc(size, index), 0, size, false);
          continue;
        }
        const bytes = output.take();
        if (bytes === undefined) continue;
        for (const { streamId, payload } of parseFrames(bytes)) {
          expect(payload.equals(Buffer.alloc(payload.length, streamId))).toBe(true);
        }
        if (action === "take buffered") held.push({ bytes, copy: Buffer.from(bytes) });
        output.onWritten(action === "take buffered" ? "buffered" : "flushed");
      }
      for (const { bytes, copy } of held) expect(bytes.equals(copy)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test("a slab that is reported twice is given back once, because two connections would write into one", () => {
  const pool = new SlabPool();
  const output = new OutputBuffer(pool, () => undefined);
  output.settingsAck();
  output.take();
  output.onWritten("flushed");
  output.onWritten("flushed");
  const [one, other] = [pool.take(), pool.take()];
  expect(one).not.toBe(other);
});

test("a slab without room for the largest frame is used no more, because the frame would be cut at its end", () => {
  const pool = new SlabPool();
  const first = new OutputBuffer(pool, () => undefined);
  for (let index = 1; index <= 3; index++) first.data(index, Buffer.alloc(16_384, index), 0, 16_384, false);
  drainInto(first, [], "buffered");
  const second = new OutputBuffer(pool, () => undefined);
  const payload = Buffer.alloc(16_384, 7);
  second.data(7, payload, 0, payload.length, false);
  const parts: Buffer[] = [];
  drainInto(second, parts);
  expect(parts.flatMap((part) => parseFrames(part)).map((frame) => frame.payload.equals(payload))).toEqual([true]);
});

test("an idle connection holds no slab, and the pool keeps few", () => {
  const pool = new SlabPool();
  const outputs = Array.from({ length: 40 }, () => new OutputBuffer(pool, () => undefined));
  for (const output of outputs) output.settingsAck();
  for (const output of outputs) drainInto(output, []);
  const kept = new Set(Array.from({ length: 40 }, () => pool.take()).filter(({ from }) => from === 0));
  expect(kept.size).toBe(40); // 16 used ones and 24 fresh ones
  outputs[0]!.settingsAck();
  outputs[0]!.discard();
  expect(outputs[0]!.pendingBytes).toBe(0);
});
