import { expect, test } from "vitest";
import { layouts } from "../../src/snowflake/presets.ts";
import { parseSource } from "../../src/text/parse-source.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { foreignFields, rowsOf64 } from "../../web/src/lab/foreign-bits.ts";
import { foreignTexts } from "../text/foreign-texts.ts";

/** The bits of texts of other generators, by their published examples. */

const codec = createTextCodec({ layout: layouts.twitter, namespace: "default" });
const nowMs = Date.UTC(2026, 10, 27);
const fieldsOf = (text: string) => foreignFields(text, parseSource(codec, text, { nowMs }));
const valueOf = (digits: string): bigint => BigInt(`0b${digits}`);

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const alphabets = {
  ulid: "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
  ksuid: `0123456789${letters}${letters.toLowerCase()}`,
  objectid: "0123456789abcdef",
  xid: "0123456789abcdefghijklmnopqrstuv",
  typeid: "0123456789abcdefghjkmnpqrstvwxyz",
} as const;

/** The number that a text writes in the digits of its alphabet. */
const numberOf = (text: string, alphabet: string): bigint =>
  Array.from(text).reduce(
    (number, character) => number * BigInt(alphabet.length) + BigInt(alphabet.indexOf(character)),
    0n,
  );

test("PAGE 25: a UUID of version 7 has its Unix time in its first 48 bits, and 128 bits in all", () => {
  const fields = fieldsOf("0190b6b4-7c00-7abc-8def-0123456789ab");
  expect(fields.map(({ name, digits }) => [name, digits.length])).toEqual([
    ["unix_ts_ms", 48],
    ["ver", 4],
    ["rand_a", 12],
    ["var", 2],
    ["rand_b", 62],
  ]);
  expect(valueOf(fields[0]!.digits)).toBe(0x0190b6b47c00n);
  expect(valueOf(fields[1]!.digits)).toBe(7n);
  expect(valueOf(fields.map(({ digits }) => digits).join(""))).toBe(0x0190b6b47c007abc8def0123456789abn);
});

test("a UUID of version 1 has its node in its last 48 bits", () => {
  const fields = fieldsOf("c232ab00-9414-11ec-b3c8-9f6bdeced846");
  expect(valueOf(fields.at(-1)!.digits)).toBe(0x9f6bdeced846n);
});

test.each(foreignTexts.map(({ text, kind }) => [kind, text] as const))(
  "the bits of %s %s are those of its parts",
  (kind, text) => {
    const bits = { ulid: 128, ksuid: 160, objectid: 96, xid: 96, typeid: 128 }[kind as "ulid"];
    const alphabet = alphabets[kind as keyof typeof alphabets];
    const fields = fieldsOf(text);
    const digits = fields.map((field) => field.digits).join("");
    expect(digits).toHaveLength(bits);
    const number = numberOf(text.slice(text.lastIndexOf("_") + 1), alphabet);
    // The 20 characters of an xid hold 100 bits, of which the last four are 0.
    expect(valueOf(digits)).toBe(kind === "xid" ? number >> 4n : number);
    const rows = rowsOf64(fields);
    expect(
      rows
        .flat()
        .map((field) => field.digits)
        .join(""),
    ).toBe(digits);
    const widths = rows.map((row) => row.reduce((sum, field) => sum + field.digits.length, 0));
    expect(widths.slice(0, -1).every((width) => width === 64)).toBe(true);
  },
);
