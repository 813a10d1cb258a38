import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseFrames } from "../../test/support/http2-wire.ts";
import { Outbox, SlabPool } from "./outbox.ts";

function drainInto(outbox: Outbox, parts: Buffer[], fate: "copied" | "held" = "copied"): void {
  for (let bytes = outbox.take(); bytes !== undefined; bytes = outbox.take()) {
    parts.push(fate === "copied" ? Buffer.from(bytes) : bytes);
    outbox.settle(fate);
  }
}

test("frames of several slabs come out in order and whole", () => {
  const outbox = new Outbox(new SlabPool(), () => undefined);
  for (let index = 0; index < 20; index++) outbox.data(index, Buffer.alloc(10_000, index), 0, 10_000, false);
  const parts: Buffer[] = [];
  drainInto(outbox, parts);
  expect(parts.length).toBeGreaterThan(2);
  const frames = parts.flatMap((part) => parseFrames(part));
  expect(frames.map(({ streamId }) => streamId)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  for (const { streamId, payload } of frames) expect(payload.equals(Buffer.alloc(10_000, streamId))).toBe(true);
});

test("it says once that bytes wait, and again after they were taken", () => {
  let told = 0;
  const outbox = new Outbox(new SlabPool(), () => told++);
  outbox.settingsAck();
  outbox.settingsAck();
  expect(told).toBe(1);
  drainInto(outbox, []);
  expect(outbox.take()).toBeUndefined();
  outbox.settingsAck();
  expect(told).toBe(2);
});

test("room whose bytes are with the kernel is used again", () => {
  const pool = new SlabPool();
  const outbox = new Outbox(pool, () => undefined);
  const places = new Set<number>();
  for (let turn = 0; turn < 100; turn++) {
    outbox.data(1, Buffer.alloc(16_000), 0, 16_000, false);
    const bytes = outbox.take()!;
    places.add(bytes.byteOffset);
    outbox.settle("copied");
  }
  expect(places).toEqual(new Set([0]));
});

test("bytes that a socket still holds are never written over, whoever shares the pool", () => {
  const step = fc.record({
    connection: fc.nat(3),
    size: fc.nat(16_384),
    action: fc.constantFrom("write", "take held", "take copied"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pool = new SlabPool();
      const outboxes = Array.from({ length: 4 }, () => new Outbox(pool, () => undefined));
      const held: { readonly bytes: Buffer; readonly copy: Buffer }[] = [];
      for (const [index, { connection, size, action }] of steps.entries()) {
        const outbox = outboxes[connection]!;
        if (action === "write") {
          outbox.data(index, Buffer.alloc(size, index), 0, size, false);
          continue;
        }
        const bytes = outbox.take();
        if (bytes === undefined) continue;
        for (const { streamId, payload } of parseFrames(bytes)) {
          expect(payload.equals(Buffer.alloc(payload.length, streamId))).toBe(true);
        }
        if (action === "take held") held.push({ bytes, copy: Buffer.from(bytes) });
        outbox.settle(action === "take held" ? "held" : "copied");
      }
      for (const { bytes, copy } of held) expect(bytes.equals(copy)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test("an idle connection holds no slab, and the pool keeps few", () => {
  const pool = new SlabPool();
  const outboxes = Array.from({ length: 40 }, () => new Outbox(pool, () => undefined));
  for (const outbox of outboxes) outbox.settingsAck();
  for (const outbox of outboxes) drainInto(outbox, []);
  const kept = new Set(Array.from({ length: 40 }, () => pool.take()).filter(({ from }) => from === 0));
  expect(kept.size).toBe(40); // 16 used ones and 24 fresh ones
  outboxes[0]!.settingsAck();
  outboxes[0]!.discard();
  expect(outboxes[0]!.pendingBytes).toBe(0);
});
