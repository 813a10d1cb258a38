import { describe, expect, test } from "vitest";
import { createLayout, type Layout } from "../snowflake/layout.ts";
import { createTextCodec } from "./text-codec.ts";
import { textForms } from "./text-form.ts";

const twitter: Layout = createLayout({
  name: "twitter",
  epochMs: 1_288_834_974_657,
  tickNs: 1_000_000,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "datacenter", bits: 5 },
    { kind: "worker", bits: 5 },
    { kind: "sequence", bits: 12 },
  ],
});
const codec = createTextCodec({ layout: twitter, namespace: "default" });
const id = 1_900_000_000_000_000_005n;
const nowMs = 1_767_225_600_000;

test("an ID has a text in each form, in the order of the table", () => {
  expect(codec.writeAll(id, {}).map(({ format, text }) => [format.form, text])).toEqual([
    ["decimal", "1900000000000000005"],
    ["hex", "0x1a5e27eef13e0005"],
    ["base32", "1MQH7XVRKW005"],
    ["base58", "5QoSRAifXhW"],
    ["base62", "2GM1FU6deuj"],
    ["serial", "2025031301443494909920005"],
    ["uuid", "01958d2c-bf85-7f80-805f-cd06cf6470a3"],
  ]);
});

test("each form reads its text, with the options that the text shows", () => {
  const options = { serialPrefix: "PAY2", utcOffsetMinutes: 480, checkSymbol: true, typePrefix: "order" };
  for (const { format, text } of codec.writeAll(id, options)) {
    const reading = codec.read(text, { form: format.form, utcOffsetMinutes: 480, nowMs });
    expect(reading).toMatchObject({ id, format });
    expect(codec.writer(reading.format)(id)).toBe(text);
  }
  expect(codec.writeAll(id, options).map(({ format }) => format.form)).toEqual([...textForms]);
});

describe("detection", () => {
  test("a text that fits base 58 and base 62 is theirs by its time, or ambiguous", () => {
    expect(codec.read("5QoSRAifXhW", { nowMs })).toMatchObject({ id, format: { form: "base58" } });
    const read = (): unknown => codec.read("2GM1FU6deuj", { nowMs });
    expect(read).toThrow(
      expect.objectContaining({ reason: "AMBIGUOUS_TEXT", metadata: { candidates: "base58,base62" } }),
    );
    expect(codec.read("2GM1FU6deuj", { form: "base62", nowMs }).id).toBe(id);
  });

  test("a base 32 that would be from after tomorrow is refused, unless the form is named", () => {
    const beforeMs = 1_741_830_274_949 - 86_400_000;
    const read = (nowMs: number): unknown => codec.read("1MQH7XVRKW005", { nowMs });
    expect(() => read(beforeMs)).toThrow(
      expect.objectContaining({ metadata: expect.objectContaining({ reason: "future" }) }),
    );
    expect(read(beforeMs + 1)).toMatchObject({ id });
    expect(codec.read("1MQH7XVRKW005", { form: "base32", nowMs: beforeMs })).toMatchObject({ id });
  });

  test("a base 32 whose ID has bits above a narrow layout is refused", () => {
    const narrow = createLayout({ ...twitter, name: "narrow", fields: [{ kind: "timestamp", bits: 41 }] });
    const read = (): unknown => createTextCodec({ layout: narrow, namespace: "" }).read("1MQH7XVRKW005", { nowMs });
    expect(read).toThrow(expect.objectContaining({ reason: "MALFORMED_TEXT" }));
  });
});

function idBy(text: string, layout: Layout, namespace: string): bigint | undefined {
  return createTextCodec({ layout, namespace }).read(text, { nowMs }).id;
}

describe("UUIDs", () => {
  const text = codec.writer({ form: "uuid" })(id);

  test("hold an ID for their own layout and namespace alone", () => {
    const later = createLayout({ ...twitter, epochMs: 1_288_834_974_658 });
    const renamed = createLayout({ ...twitter, name: "the same by another name" });
    expect(idBy(text, twitter, "default")).toBe(id);
    expect(idBy(text, twitter, "other")).toBeUndefined();
    expect(idBy(text, later, "default")).toBeUndefined();
    expect(idBy(text, renamed, "default")).toBe(id);
  });

  test("one bit changed in the filler, the version or the variant makes them another's", () => {
    const bits = BigInt(`0x${text.replaceAll("-", "")}`);
    const filler = Array.from({ length: 52 }, (_, i) => i);
    for (const bit of [...filler, 62, 63, 76, 77, 78, 79]) {
      const hex = (bits ^ (1n << BigInt(bit))).toString(16).padStart(32, "0");
      const changed = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
      expect(codec.read(changed, { nowMs }).id).toBeUndefined();
    }
  });
});

test("the serial numbers of a layout that issues until 9999 end with that year, offset or not", () => {
  const long = createLayout({ ...twitter, name: "long", fields: [{ kind: "timestamp", bits: 50 }] });
  const last = BigInt(long.timestamp.max);
  const write = (utcOffsetMinutes: number): string =>
    createTextCodec({ layout: long, namespace: "" }).writer({ form: "serial", utcOffsetMinutes })(last);
  expect(write(0)).toBe("9999123123595999900000000");
  expect(() => write(1)).toThrow(expect.objectContaining({ reason: "INVALID_TEXT_FORMAT" }));
});

test("an unknown form, and an offset that is not a number of minutes, are refused", () => {
  const invalid = expect.objectContaining({ reason: "INVALID_TEXT_FORMAT" });
  expect(() => codec.writer({ form: "roman" as "hex" })).toThrow(invalid);
  expect(() => codec.read("0", { form: "roman" as "hex", nowMs })).toThrow(invalid);
  expect(() => codec.writer({ form: "serial", utcOffsetMinutes: 0.5 })).toThrow(invalid);
  expect(() => codec.read("0", { utcOffsetMinutes: Number.NaN, nowMs })).toThrow(invalid);
});

test("an ID from the last millisecond before 1970 has no UUID", () => {
  const old = createLayout({ ...twitter, name: "old", epochMs: -1 });
  const codec = createTextCodec({ layout: old, namespace: "" });
  const written = codec.writeAll(0n, { typePrefix: "order" }).map(({ format }) => format.form);
  expect(written).toEqual(textForms.filter((form) => form !== "uuid"));
  expect(() => codec.writer({ form: "uuid" })(0n)).toThrow(expect.objectContaining({ reason: "INVALID_TEXT_FORMAT" }));
});
