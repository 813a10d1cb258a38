import { expect, test } from "vitest";
import { highOf, IdWords, lowOf } from "./id-words.ts";

test("the halves are the ID", () => {
  const words = new IdWords();
  words.high = 0x7fff_ffff;
  words.low = 0xffff_fffe;
  expect(words.id).toBe(2n ** 63n - 2n);
  words.id = 2n ** 32n + 5n;
  expect([words.high, words.low]).toEqual([1, 5]);
});

test.each([
  [22, 2 ** 41 - 1],
  [0, Number.MAX_SAFE_INTEGER],
  [10, Number.MAX_SAFE_INTEGER],
  [31, 2 ** 32 - 1],
  [25, 0xf_00f1],
  [0, 4095],
  [62, 1],
])("a field above %d bits holds %d exactly", (shift, value) => {
  const unit = 2 ** shift;
  const expected = BigInt(value) << BigInt(shift);
  expect((BigInt(highOf(unit, value)) << 32n) | BigInt(lowOf(unit, value))).toBe(expected);
});
