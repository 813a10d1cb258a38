import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { type TextForm, textForms } from "../../src/text/text-form.ts";
import { createUuidCodec } from "../../src/text/uuid-v7.ts";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";

const document = readFileSync(new URL("../../docs/text-forms.md", import.meta.url), "utf8");

test("each example of docs/text-forms.md is the text of its ID", () => {
  const layout = vectorLayouts.get("twitter")!;
  const codec = createTextCodec({ layout, namespace: "default" });
  const rows = Array.from(document.matchAll(/^\| `(?<form>\w+)` +\| `(?<text>[^`]+)` +\|/gm), ({ groups }) => groups!);
  expect(rows.map((row) => row["form"])).toEqual([...textForms]);
  for (const row of rows) {
    const form = row["form"] as TextForm;
    const prefixes = { serial: { serialPrefix: "PAY" }, typed: { typePrefix: "order" } };
    const prefix = form === "serial" || form === "typed" ? prefixes[form] : {};
    expect(codec.writer({ form, ...prefix })(1_900_000_000_000_000_005n)).toBe(row["text"]);
  }
});

test("docs/text-forms.md states the filler of each layout that it names", () => {
  const rows = Array.from(
    document.matchAll(/^\| (?<names>`[^|]+`) +\| (?<bits>\d+) bits +\|/gm),
    ({ groups }) => groups!,
  );
  expect(rows.length).toBeGreaterThan(2);
  for (const row of rows) {
    for (const name of row["names"]!.matchAll(/`([^`]+)`/g)) {
      expect(createUuidCodec(vectorLayouts.get(name[1]!)!, "default").fillerBits).toBe(Number(row["bits"]));
    }
  }
});
