import { expect, test } from "vitest";
import { IdError } from "../errors.ts";
import { layouts } from "../snowflake/presets.ts";
import { foreignKinds, readForeignText } from "./foreign-text.ts";
import { readText } from "./parse-source.ts";
import { createTextCodec } from "./text-codec.ts";
import { foreignTexts } from "../../test/text/foreign-texts.ts";

const codec = createTextCodec({ layout: layouts.twitter, namespace: "default" });
const nowMs = 1_767_225_600_000;

test("published-foreign-texts.json: the examples of each kind's own specification", () => {
  expect(foreignTexts.map(({ kind }) => kind)).toEqual([...foreignKinds]);
  for (const { kind, text, createTime, parts } of foreignTexts) {
    const { createTimeNs, ...rest } = readForeignText(text)!;
    expect(rest).toEqual({ kind, parts });
    expect(createTimeNs).toBe(BigInt(Date.parse(createTime)) * 1_000_000n);
    expect(readText(codec, text, { nowMs })).toMatchObject({ kind, parts });
  }
});

test("a text that differs in one character of length or alphabet is not read", () => {
  const near = [
    "",
    "81ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01ARZ3NDEKTSV4RRFFQ69G5FAU",
    "01ARZ3NDEKTSV4RRFFQ69G5FA",
    "aWgEPTl1tmebfsQzFP4bxwgy80W",
    "0ujtsYcgvSTl8PAuAdqWYSMnLO_",
    "507f1f77bcf86cd79943901",
    "507F1F77BCF86CD799439011",
    "9m4e2mr0ui3e8a215n4h",
    "9m4e2mr0ui3e8a215nwg",
    "_01h2xcejqtf2nbrexx3vqjhp41",
    "Prefix_01h2xcejqtf2nbrexx3vqjhp41",
    "prefix__01h2xcejqtf2nbrexx3vqjhp41",
    "prefix_81h2xcejqtf2nbrexx3vqjhp41",
    "prefix_01H2XCEJQTF2NBREXX3VQJHP41",
    "prefix_01h2xcejqtf2nbrexx3vqjhp4",
    `${"a".repeat(64)}_01h2xcejqtf2nbrexx3vqjhp41`,
    "a".repeat(10_000_000),
  ];
  for (const text of near) {
    expect(readForeignText(text), text.slice(0, 100)).toBeUndefined();
    expect(() => readText(codec, text, { nowMs }), text.slice(0, 100)).toThrow(IdError);
  }
});

test("the ends of the ranges: the last KSUID, the longest prefix, a time past the year 9999, a UUID without time", () => {
  expect(readForeignText("aWgEPTl1tmebfsQzFP4bxwgy80V")?.parts).toEqual({ random: "f".repeat(32) });
  expect(readForeignText("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")).toEqual({ kind: "ulid", parts: { random: "f".repeat(20) } });
  const prefix = "a".repeat(63);
  const longest = readText(codec, `${prefix}_01h2xcejqtf2nbrexx3vqjhp41`, { nowMs });
  expect(longest).toMatchObject({ kind: "typeid", parts: { prefix } });
  const nil = "prefix_00000000000000000000000000";
  const uuid = "00000000-0000-0000-0000-000000000000";
  expect(readForeignText(nil)).toEqual({ kind: "typeid", parts: { prefix: "prefix", uuid } });
  expect(readForeignText("pre_fix_00000000000000000000000000")?.parts).toEqual({ prefix: "pre_fix", uuid });
});

test("a text of ours is never taken for another generator's", () => {
  const options = { serialPrefix: "PAY", typePrefix: "order" };
  for (const { text, format } of codec.writeAll(1_900_000_000_000_000_005n, options)) {
    if (format.form !== "base62") expect(readText(codec, text, { nowMs })).toMatchObject({ format });
  }
  // PAGE 3: 20 digits are a number that is too long, though an xid could be only digits.
  expect(() => readText(codec, "18446744073709551610", { nowMs })).toThrow(
    expect.objectContaining({ metadata: expect.objectContaining({ form: "decimal" }) }),
  );
});

test("where a form or a type prefix is named, no other generator's text is read", () => {
  for (const { text } of foreignTexts) {
    expect(() => readText(codec, text, { form: "base58", nowMs })).toThrow(IdError);
    expect(() => readText(codec, text, { typePrefix: "prefix", nowMs })).toThrow(IdError);
  }
});
