import { expect, test } from "vitest";
import { decodeHuffman } from "./huffman.ts";

const decode = (hex: string): string => {
  const bytes = Buffer.from(hex, "hex");
  return decodeHuffman(bytes, 0, bytes.length);
};

test("the strings of RFC 7541 appendix C decode", () => {
  expect(decode("f1e3c2e5f23a6ba0ab90f4ff")).toBe("www.example.com");
  expect(decode("a8eb10649cbf")).toBe("no-cache");
  expect(decode("25a849e95ba97d7f")).toBe("custom-key");
  expect(decode("d07abe941054d444a8200595040b8166e082a62d1bff")).toBe("Mon, 21 Oct 2013 20:13:21 GMT");
  expect(decode("94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007")).toBe(
    "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
  );
});

test("padding of eight bits, padding that is not all ones, and the end of string inside a string are refused", () => {
  expect(decode("")).toBe("");
  expect(decode("1f")).toBe("a"); // 00011, then three ones
  expect(() => decode("1fff")).toThrow("Huffman");
  expect(() => decode("18")).toThrow("Huffman");
  expect(() => decode("ffffffff")).toThrow("Huffman");
  expect(() => decode("ff")).toThrow("Huffman");
});

test("a string far longer than the scratch buffer decodes whole", () => {
  // Eight codes of five bits fill five bytes: 00000 is "0".
  const zeros = Buffer.alloc(50_000);
  expect(decodeHuffman(zeros, 0, zeros.length)).toBe("0".repeat(80_000));
});
