import { describe, expect, test } from "vitest";
import { createNumberPermutation, PublicId } from "./public-id.ts";

const key = Uint8Array.from({ length: 32 }, (_, i) => i);

describe("a permutation of few bits, looked at whole", () => {
  test.each([2, 3, 8, 11, 12])("%i bits: each number is met once, and leads back", (bits) => {
    const permutation = createNumberPermutation(key, bits);
    const images = new Set<bigint>();
    for (let number = 0n; number < 1n << BigInt(bits); number++) {
      const image = permutation.apply(number);
      expect(permutation.invert(image)).toBe(number);
      images.add(image);
    }
    expect(images.size).toBe(2 ** bits);
    expect([...images].every((image) => image < 1n << BigInt(bits))).toBe(true);
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

test("a short key is refused, and what is no ID", () => {
  expect(() => new PublicId(key.slice(0, 15))).toThrow(expect.objectContaining({ reason: "INVALID_CONFIG" }));
  for (const id of [-1n, 2n ** 63n]) {
    expect(() => new PublicId(key).hide(id)).toThrow(expect.objectContaining({ reason: "MALFORMED_ID" }));
    expect(() => new PublicId(key).reveal(id)).toThrow(expect.objectContaining({ reason: "MALFORMED_ID" }));
  }
});
