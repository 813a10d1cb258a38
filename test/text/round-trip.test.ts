import { describe, expect, test } from "vitest";
import type { Layout } from "../../src/snowflake/layout.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import type { TextFormat } from "../../src/text/text-form.ts";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";
import { createRandom, randomId } from "./random-ids.ts";

const idCount = 1_000_000;
const layouts: readonly Layout[] = [...vectorLayouts.values()];

const formats: readonly TextFormat[] = [
  { form: "decimal" },
  { form: "hex" },
  { form: "base32", checkSymbol: false },
  { form: "base32", checkSymbol: true },
  { form: "base58" },
  { form: "base62" },
  { form: "serial", serialPrefix: "PAY7", utcOffsetMinutes: 480 },
  { form: "uuid" },
];

describe(`${idCount} IDs over all layouts`, () => {
  test.each(formats)("$form $checkSymbol reads what it wrote", (format) => {
    const random = createRandom();
    const { utcOffsetMinutes = 0, form } = format;
    for (const layout of layouts) {
      const codec = createTextCodec({ layout, namespace: "default" });
      const write = codec.writer(format);
      for (let i = 0; i < idCount / layouts.length; i++) {
        const id = randomId(layout, random);
        let text: string;
        try {
          text = write(id);
        } catch (error) {
          // What a form cannot say: a time before 1970 in a UUID, or moved past the year 9999.
          expect(error).toMatchObject({ reason: "INVALID_TEXT_FORMAT" });
          expect(layout.name).toMatch(/custom|yitter/);
          continue;
        }
        const reading = codec.read(text, { form, utcOffsetMinutes, nowMs: 0 });
        if (reading.id !== id) throw new Error(`SEED=${random.seed} ${layout.name} ${id} ${text} ${reading.id}`);
      }
    }
  });
});
