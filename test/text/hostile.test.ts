import { describe, expect, test } from "vitest";
import { IdError } from "../../src/errors.ts";
import { createTextCodec, type TextReading } from "../../src/text/text-codec.ts";
import { type TextForm, textForms } from "../../src/text/text-form.ts";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";
import { createRandom, randomId, type Random } from "./random-ids.ts";

const codecs = Array.from(vectorLayouts.values(), (layout) => ({
  layout,
  codec: createTextCodec({ layout, namespace: "default" }),
}));
const nowMs = 1_767_225_600_000;

/** Characters that look like those of a form, end strings early, change their length, or are not characters. */
const oddities = [
  "\u0000",
  "\n",
  " ",
  "\u00a0",
  "-",
  "\u2010",
  "_",
  "+",
  ".",
  "\uff10",
  "\uff21",
  "\u0661",
  "\u0130",
  "\u0131",
  "\u017f",
  "\u212a",
  "\u{1f600}",
  "\ud83d",
  "\ude00",
  "\ufeff",
  "\u202e",
  "\u0301",
  "o",
  "O",
  "0",
  "l",
  "I",
  "1",
  "U",
  "x",
  "X",
];

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)]!;
}

/** A text with one thing wrong, or nothing. */
function mutate(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const odd = random.below(2) === 0 ? pick(random, oddities) : String.fromCharCode(random.below(128));
  switch (random.below(7)) {
    case 0:
      return text.slice(0, at) + odd + text.slice(at);
    case 1:
      return text.slice(0, at) + odd + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2);
    case 4:
      return random.below(2) === 0 ? text.toLowerCase() : text.toUpperCase();
    case 5:
      return text.slice(0, at);
    default:
      return text + pick(random, [text, odd, "0", "9"]);
  }
}

/** The one text that a reading stands for. */
function canonical(text: string, { format }: TextReading): string {
  if (format.form === "uuid") return text.toLowerCase();
  if (format.form !== "base32") return text;
  return text.toUpperCase().replaceAll(/[IL]/g, "1").replaceAll("O", "0");
}

function holdStrict(text: string, form: TextForm | undefined, random: Random): void {
  for (const { layout, codec } of codecs) {
    const where = `SEED=${random.seed} ${layout.name} ${form ?? "detected"} ${JSON.stringify(text)}`;
    let reading: TextReading;
    try {
      reading = codec.read(text, { ...(form === undefined ? {} : { form }), nowMs });
    } catch (error) {
      if (!(error instanceof IdError)) throw new Error(where, { cause: error });
      if (error.reason === "AMBIGUOUS_TEXT" && form === undefined) continue;
      const position = Number(error.metadata["position"]);
      if (error.reason !== "MALFORMED_TEXT" || !(position >= 0 && position <= text.length))
        throw new Error(where, { cause: error });
      // oxlint-disable-next-line no-control-regex -- all of ASCII is meant
      if (!/^[\u0000-\u007f]*$/.test(text.slice(0, position)))
        throw new Error(`${where}: position after a character that is not ASCII`, { cause: error });
      continue;
    }
    if (reading.id === undefined) {
      if (reading.uuid === undefined) throw new Error(where);
      continue;
    }
    const again = codec.writer(reading.format)(reading.id);
    if (again !== canonical(text, reading))
      throw new Error(`${where}: read as ${reading.id}, which is written ${again}`);
  }
}

describe("every accepted text is the one canonical text of its ID; every other is refused with a place in it", () => {
  test.each([...textForms, undefined])("near misses of %s", (form) => {
    const random = createRandom();
    for (let i = 0; i < 4_000; i++) {
      const { layout, codec } = pick(random, codecs);
      const texts = codec.writeAll(randomId(layout, random), {
        serialPrefix: pick(random, ["", "PAY", "A1", "2025"]),
        typePrefix: pick(random, ["a", "order", "a123456789abcdef"]),
      });
      let text = (texts.find((each) => each.format.form === form) ?? pick(random, texts)).text;
      for (let steps = random.below(3); steps >= 0; steps--) text = mutate(text, random);
      holdStrict(text, form, random);
    }
  });

  test("texts of anything", () => {
    const random = createRandom();
    for (let i = 0; i < 4_000; i++) {
      const limit = pick(random, [128, 256, 65_536]);
      const length = random.below(64);
      const text = Array.from({ length }, () => String.fromCharCode(random.below(limit))).join("");
      holdStrict(text, pick(random, [...textForms, undefined]), random);
    }
  });
});

test("a text of ten million characters is refused by its first few", () => {
  const huge = { digits: "1".repeat(10_000_000), letters: "A".repeat(10_000_000), hyphens: "-".repeat(10_000_000) };
  for (const text of Object.values(huge)) {
    for (const form of [...textForms, undefined]) {
      for (const { codec } of codecs) {
        expect(() => codec.read(text, { ...(form === undefined ? {} : { form }), nowMs })).toThrow(IdError);
      }
    }
  }
});
