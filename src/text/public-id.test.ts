import { describe, expect, test } from "vitest";
import { createNumberPermutation, PublicId } from "./public-id.ts";

const key = Uint8Array.from({ length: 32 }, (_, i) => i);

/** Every width up to 16 bits, odd ones with a longer high half; two keys. */
const widths = Array.from({ length: 15 }, (_, i) => i + 2);

describe("a permutation of few bits, checked in full", () => {
  test.each(widths)("%i bits: each number is reached once, and leads back", (bits) => {
    for (const permutation of [createNumberPermutation(key, bits), createNumberPermutation(key.slice(16), bits)]) {
      const isReached = new Uint8Array(2 ** bits);
      let wrong = 0;
      for (let number = 0n; number < 1n << BigInt(bits); number++) {
        const image = permutation.apply(number);
        if (permutation.invert(image) !== number || isReached[Number(image)] !== 0) wrong++;
        isReached[Number(image)] = 1;
      }
      expect(wrong).toBe(0);
    }
  });
});

test("neighbours get public IDs without order or near distance", () => {
  const publicId = new PublicId(key);
  const images = Array.from({ length: 200 }, (_, i) => publicId.hide(1_900_000_000_000_000_000n + BigInt(i)));
  const rises = images.filter((image, i) => i > 0 && image > images[i - 1]!).length;
  expect(rises).toBeGreaterThan(60);
  expect(rises).toBeLessThan(140);
  for (const [i, image] of images.entries())
    expect(publicId.reveal(image)).toBe(1_900_000_000_000_000_000n + BigInt(i));
});

test("another key gives other public IDs", () => {
  expect(new PublicId(key).hide(1n)).not.toBe(new PublicId(key.slice(1)).hide(1n));
});

test("a short key is refused, and what is not an ID", () => {
  expect(() => new PublicId(key.slice(0, 15))).toThrow(expect.objectContaining({ reason: "INVALID_CONFIG" }));
  for (const id of [-1n, 2n ** 63n]) {
    expect(() => new PublicId(key).hide(id)).toThrow(expect.objectContaining({ reason: "MALFORMED_ID" }));
    expect(() => new PublicId(key).reveal(id)).toThrow(expect.objectContaining({ reason: "MALFORMED_ID" }));
  }
});
