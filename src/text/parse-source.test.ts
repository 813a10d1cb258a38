import { expect, test } from "vitest";
import { layouts } from "../snowflake/presets.ts";
import { parseSource } from "./parse-source.ts";
import { createTextCodec } from "./text-codec.ts";

const codec = createTextCodec({ layout: layouts.twitter, namespace: "default" });
/** 2026-01-01. */
const nowMs = 1_767_225_600_000;

test("an ID and each of its texts say the same", () => {
  const id = 1_541_815_603_606_036_480n;
  const said = parseSource(codec, id, { nowMs });
  expect(said.format).toBeUndefined();
  expect(said.parsed).toMatchObject({
    id,
    createTimeMs: 1_656_432_460_105,
    datacenterId: 11,
    workerId: 26,
    sequence: 0,
  });
  expect(said.plausibleLayouts[0]?.name).toBe("twitter");
  for (const { format, text } of said.texts) {
    const { format: found, uuid, ...rest } = parseSource(codec, text, { form: format.form, nowMs });
    expect({ ...rest, found }).toEqual({ ...said, found: format });
    expect(uuid?.version).toBe(format.form === "uuid" ? 7 : undefined);
  }
});

test("the texts carry the prefix, the offset and the check symbol of the source", () => {
  const serial = parseSource(codec, "PAY2025031309443494909920005", { utcOffsetMinutes: 480, nowMs });
  expect(serial.texts.map(({ text }) => text)).toContain("PAY2025031309443494909920005");
  const checked = codec.writer({ form: "base32", checkSymbol: true })(serial.parsed!.id);
  expect(parseSource(codec, checked, { nowMs }).texts.map(({ text }) => text)).toContain(checked);
});

test("a UUID that holds none of our IDs says what it is, and no more", () => {
  const said = parseSource(codec, "C232AB00-9414-11EC-B3C8-9F6BDECED846", { nowMs });
  expect(said).toMatchObject({ format: { form: "uuid" }, uuid: { version: 1 }, texts: [], plausibleLayouts: [] });
  expect(said.parsed).toBeUndefined();
});

test("an ID that the layout cannot hold is malformed, as number and as text", () => {
  const narrow = createTextCodec({ layout: layouts.javascript, namespace: "default" });
  const malformed = expect.objectContaining({ reason: "MALFORMED_ID" });
  expect(() => parseSource(narrow, 2n ** 53n, { nowMs })).toThrow(malformed);
  expect(() => parseSource(narrow, String(2n ** 53n), { nowMs })).toThrow(malformed);
  expect(() => parseSource(codec, 2n ** 63n, { nowMs })).toThrow(malformed);
  expect(() => parseSource(codec, -1n, { nowMs })).toThrow(malformed);
});
