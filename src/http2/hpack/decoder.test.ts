import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CompressionError } from "./compression-error.ts";
import { HpackDecoder } from "./decoder.ts";
import { encodeFields } from "./encoder.ts";

const listBytesMax = 16_384;
const countMax = 128;

function decode(decoder: HpackDecoder, hex: string): readonly string[] {
  const bytes = Buffer.from(hex.replaceAll(" ", ""), "hex");
  return decoder.decode(bytes, 0, bytes.length).map(({ name, value }) => `${name}: ${value}`);
}

test("the request examples of RFC 7541 appendix C.3 decode on one connection", () => {
  const decoder = new HpackDecoder(listBytesMax, countMax);
  const common = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
  expect(decode(decoder, "828684410f7777772e6578616d706c652e636f6d")).toEqual(common);
  expect(decode(decoder, "828684be58086e6f2d6361636865")).toEqual([...common, "cache-control: no-cache"]);
  expect(decode(decoder, "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565")).toEqual([
    ":method: GET",
    ":scheme: https",
    ":path: /index.html",
    ":authority: www.example.com",
    "custom-key: custom-value",
  ]);
});

test("the request examples of RFC 7541 appendix C.4, in Huffman's code, decode on one connection", () => {
  const decoder = new HpackDecoder(listBytesMax, countMax);
  expect(decode(decoder, "828684418cf1e3c2e5f23a6ba0ab90f4ff")?.at(-1)).toBe(":authority: www.example.com");
  expect(decode(decoder, "828684be5886a8eb10649cbf")?.at(-1)).toBe("cache-control: no-cache");
  expect(decode(decoder, "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf")?.at(-1)).toBe("custom-key: custom-value");
});

const malformed: readonly (readonly [what: string, hex: string])[] = [
  ["index 0", "80"],
  ["an index past both tables", "be"],
  ["a name index past both tables", "7f 00 01 61"],
  ["an integer without an end", "ff"],
  ["an integer of too many bytes", "ff 80 80 80 80 80 01"],
  ["a string longer than its block", "00 05 61 62"],
  ["a literal without a value", "00 01 61"],
  ["a size update after a field", "82 20"],
  ["a size update above the limit", "3f e2 1f"],
  ["a third size update", "20 3f e1 1f 20"],
  ["Huffman padding of zeros", "00 81 18 00"],
];

test.each(malformed)("%s is a compression error", (_, hex) => {
  expect(() => decode(new HpackDecoder(listBytesMax, countMax), hex)).toThrow(CompressionError);
});

test("size updates at the head of a block are obeyed, two of them too", () => {
  const decoder = new HpackDecoder(listBytesMax, countMax);
  decode(decoder, "40 01 61 01 62");
  expect(decode(decoder, "be")).toEqual(["a: b"]);
  expect(decode(decoder, "20 3f e1 1f")).toEqual([]);
  expect(() => decode(decoder, "be")).toThrow(CompressionError);
});

test("a list over the limit is dropped, and the table stays right", () => {
  const decoder = new HpackDecoder(100, countMax);
  // Literal with indexing: 120 bytes of value.
  expect(decode(decoder, `40 01 61 78 ${"62".repeat(120)}`)).toEqual([]);
  expect(decoder.isCut).toBe(true);
  expect(decode(decoder, "40 01 63 01 64")).toEqual(["c: d"]);
  expect(decode(decoder, "be")).toEqual(["c: d"]);
  expect(decoder.isCut).toBe(false);
  expect(decode(decoder, "bf")).toEqual([]);
  expect(decoder.isCut).toBe(true);
});

test("more fields than the limit are dropped, and the table stays right", () => {
  const decoder = new HpackDecoder(listBytesMax, 3);
  expect(decode(decoder, "82 82 82 40 01 61 01 62")).toHaveLength(3);
  expect(decoder.isCut).toBe(true);
  expect(decode(decoder, "82 82 be").at(-1)).toBe("a: b");
  expect(decoder.isCut).toBe(false);
  expect(decode(decoder, "82 82 82 be")).toHaveLength(3);
});

test("a block that expands far beyond the limit ends the connection before it is expanded", () => {
  const decoder = new HpackDecoder(listBytesMax, countMax);
  decode(decoder, `40 01 61 7f a1 1e ${"62".repeat(4000)}`);
  expect(() => decode(decoder, "be".repeat(16_000))).toThrow("far too large");
});

test("the same block after a change of the table is decoded again", () => {
  const decoder = new HpackDecoder(listBytesMax, countMax);
  decode(decoder, "40 01 61 01 62");
  const first = decode(decoder, "be");
  expect(decode(decoder, "be")).toEqual(first);
  decode(decoder, "40 01 63 01 64");
  expect(decode(decoder, "be")).toEqual(["c: d"]);
});

test("the same block under the same table gives the very same fields", () => {
  const decoder = new HpackDecoder(listBytesMax, countMax);
  const block = encodeFields([["a", "b"]]);
  const first = decoder.decode(block, 0, block.length);
  const within = Buffer.concat([Buffer.from("xx"), block, Buffer.from("y")]);
  expect(decoder.decode(within, 2, 2 + block.length)).toBe(first);
});

test("what was encoded decodes to the same fields", () => {
  const name = fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9a-z]{1,40}$/);
  const value = fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => Buffer.from(bytes).toString("latin1"))
    // oxlint-disable-next-line no-control-regex -- what may not be sent is taken out
    .map((text) => text.replaceAll(/[\0\r\n]/g, "").replaceAll(/^[ \t]+|[ \t]+$/g, ""));
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 20 }), (fields) => {
      const block = encodeFields(fields);
      const decoded = new HpackDecoder(1e6, countMax).decode(block, 0, block.length);
      expect(decoded?.map((field) => [field.name, field.value])).toEqual(fields);
    }),
  );
});

test("bytes that are not a block end in a CompressionError, never in anything else", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 5 }), (blocks) => {
      const decoder = new HpackDecoder(listBytesMax, countMax);
      for (const block of blocks) {
        const bytes = Buffer.from(block);
        try {
          decoder.decode(bytes, 0, bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(CompressionError);
          return;
        }
      }
    }),
    { numRuns: 5000 },
  );
});
