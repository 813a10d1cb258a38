import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ReceiveWindow } from "./receive-window.ts";

test("the example: bytes are given back once half of the window is owed, and one byte too many is refused", () => {
  const window = new ReceiveWindow(65_535);
  expect([window.receive(16_384), window.receive(16_384), window.heldBytes]).toEqual([true, true, 32_768]);
  expect([window.consume(20_000), window.heldBytes]).toEqual([0, 12_768]);
  expect([window.consume(12_768), window.heldBytes]).toEqual([32_768, 0]);
  expect(Array.from({ length: 4 }, () => window.receive(16_384))).toEqual([true, true, true, false]);
  expect(window.heldBytes).toBe(65_536);
});

test("bytes are given back once", () => {
  const window = new ReceiveWindow(10);
  window.receive(10);
  expect([window.consume(5), window.consume(0), window.consume(5)]).toEqual([5, 0, 5]);
});

test("a client may send exactly the window and all increments, and never waits for ever", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.array(fc.nat(400), { maxLength: 50 }), (size, wishes) => {
      const window = new ReceiveWindow(size);
      let allowed = size;
      for (const wish of wishes) {
        const sent = Math.min(wish, allowed);
        allowed -= sent;
        expect(window.receive(sent)).toBe(true);
        // All that is held is consumed, in two steps.
        for (const part of [Math.floor(window.heldBytes / 3), window.heldBytes]) {
          allowed += window.consume(Math.min(part, window.heldBytes));
        }
        expect(window.heldBytes).toBe(0);
        expect(allowed).toBeGreaterThan(size / 2);
      }
      expect(window.receive(allowed + 1)).toBe(false);
    }),
  );
});
