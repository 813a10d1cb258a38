import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { IdError } from "../../src/errors.ts";
import { createLayout, decomposeId, type Layout, type LayoutField } from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { textFaults } from "../../src/text/malformed-text.ts";
import { createNumberPermutation } from "../../src/text/public-id.ts";
import { SipHash } from "../../src/text/sip-hash.ts";
import { createTextCodec, type TextCodec } from "../../src/text/text-codec.ts";
import type { TextForm, TextFormat } from "../../src/text/text-form.ts";
import type { UuidInfo } from "../../src/text/uuid.ts";
import { vectorFiles } from "../../tools/generate-vectors.ts";
import { timestampOf } from "../../tools/vectors/layout-vectors.ts";

interface VectorFile<V> {
  readonly namespace: string;
  readonly nowMs: number;
  readonly layout: string;
  readonly vectors: readonly V[];
}

function load<V>(name: string): VectorFile<V> {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8")) as VectorFile<V>;
}

interface LayoutVector {
  readonly name: string;
  readonly epochMs: number;
  readonly tickNs: number;
  readonly fields: readonly LayoutField[];
}

const layouts: ReadonlyMap<string, Layout> = new Map(
  load<LayoutVector>("layouts.json").vectors.map((vector) => [vector.name, createLayout(vector)]),
);
const codecOf = (layout: string, namespace = "default"): TextCodec =>
  createTextCodec({ layout: layouts.get(layout)!, namespace });

function errorOf(action: () => unknown): IdError {
  try {
    action();
  } catch (error) {
    if (error instanceof IdError) return error;
    throw error;
  }
  throw new Error("Nothing was refused.");
}

test("the generated files are what the generator writes", () => {
  for (const [name, text] of vectorFiles()) {
    expect(readFileSync(new URL(name, import.meta.url), "utf8"), `${name}: npm run generate`).toBe(text);
  }
});

test("there are at least 200 vectors", () => {
  const counts = ["ids.json", "refused.json"].map((name) => load(name).vectors.length);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(100);
  expect(counts[0]).toBeGreaterThanOrEqual(200);
});

interface IdVector {
  readonly layout: string;
  readonly id: string;
  readonly ticks: number;
  readonly datacenterId: number;
  readonly workerId: number;
  readonly sequence: number;
  readonly createTime: object;
  readonly bits: string;
  readonly texts: readonly (TextFormat & { readonly text: string })[];
}

test("ids.json: each ID has these fields, is written so and read so", () => {
  const { namespace, vectors } = load<IdVector>("ids.json");
  for (const { layout, id, texts, ticks, datacenterId, workerId, sequence, createTime, bits } of vectors) {
    expect(decomposeId(layouts.get(layout)!, BigInt(id))).toEqual({ ticks, datacenterId, workerId, sequence });
    const parsed = parseId(layouts.get(layout)!, BigInt(id));
    expect({ createTime: timestampOf(parsed.createTimeNs), bits: parsed.bits }).toEqual({ createTime, bits });
    const codec = codecOf(layout, namespace);
    for (const { text, ...format } of texts) {
      expect(codec.writer(format)(BigInt(id))).toBe(text);
      const { form, utcOffsetMinutes = 0 } = format;
      expect(codec.read(text, { form, utcOffsetMinutes, nowMs: 0 })).toMatchObject({ id: BigInt(id), format });
    }
  }
});

test("detection.json: the form is found without being named", () => {
  interface Vector {
    readonly layout: string;
    readonly text: string;
    readonly utcOffsetMinutes: number;
    readonly format: TextFormat;
    readonly id: string | null;
  }
  const { namespace, nowMs, vectors } = load<Vector>("detection.json");
  for (const { layout, text, utcOffsetMinutes, format, id } of vectors) {
    const reading = codecOf(layout, namespace).read(text, { utcOffsetMinutes, nowMs });
    expect({ text, format: reading.format, id: reading.id?.toString() ?? null }).toEqual({ text, format, id });
  }
});

interface UuidVector {
  readonly text: string;
  readonly id?: string | null;
}

function describeReading({ createTimeNs, clockSequence, node, ...rest }: UuidInfo): object {
  return {
    ...rest,
    createTime: createTimeNs === undefined ? null : timestampOf(createTimeNs),
    clockSequence: clockSequence ?? null,
    node: node ?? null,
  };
}

describe("UUIDs", () => {
  test("uuids.json: any UUID says what it is", () => {
    const { namespace, layout, vectors } = load<UuidVector>("uuids.json");
    for (const { text, id, ...said } of vectors) {
      const reading = codecOf(layout, namespace).read(text, { nowMs: 0 });
      expect({ text, ...describeReading(reading.uuid!) }).toEqual({ text, ...said });
      expect(reading.id?.toString() ?? null).toBe(id);
    }
  });

  test("published-uuids.json: the examples of RFC 9562", () => {
    for (const { text, ...said } of load<UuidVector & { section?: string }>("published-uuids.json").vectors) {
      const { section: _, ...facts } = said;
      const reading = codecOf("twitter").read(text, { nowMs: 0 });
      expect({ text, ...describeReading(reading.uuid!) }).toEqual({ text, ...facts });
      expect(reading.id).toBeUndefined();
    }
  });
});

test("published-texts.json: numbers that others wrote down", () => {
  interface Vector {
    readonly form: TextForm;
    readonly checkSymbol: boolean;
    readonly number: string;
    readonly published: string;
    readonly text: string;
  }
  for (const { form, checkSymbol, number, published, text } of load<Vector>("published-texts.json").vectors) {
    expect(codecOf("twitter").writer({ form, checkSymbol })(BigInt(number))).toBe(text);
    expect(codecOf("twitter").read(text, { form, nowMs: 0 }).id).toBe(BigInt(number));
    expect(text.endsWith(published.replace(/^1+/, ""))).toBe(true);
  }
});

test("refused.json: each error has its reason and its position", () => {
  interface Vector {
    readonly kind: "text" | "format" | "id";
    readonly layout: string;
    readonly form: TextForm | null;
    readonly typePrefix?: string;
    readonly format: TextFormat;
    readonly text: string;
    readonly id: string;
    readonly error: string;
    readonly metadata?: { readonly reason?: string };
  }
  const { namespace, nowMs, vectors } = load<Vector>("refused.json");
  for (const { kind, layout, form, typePrefix, format, text, id, error: reason, metadata } of vectors) {
    const codec = codecOf(layout, namespace);
    const action = {
      text: () => codec.read(text, { ...(form === null ? {} : { form }), typePrefix, nowMs }),
      format: () => codec.writer(format),
      id: () => codec.writer(format)(BigInt(id)),
    }[kind];
    const error = errorOf(action);
    expect({ text, reason: error.reason }).toEqual({ text, reason });
    if (kind === "text") expect({ text, metadata: error.metadata }).toEqual({ text, metadata });
  }
  const reasons = new Set(vectors.flatMap((vector) => vector.metadata?.reason ?? []));
  expect([...reasons].toSorted()).toEqual(textFaults.toSorted());
});

interface PublicIdVectors extends VectorFile<PublicIdVector> {
  readonly sipHash: readonly { readonly key: string; readonly message: string; readonly hash: string }[];
}

interface PublicIdVector {
  readonly key: string;
  readonly bits: number;
  readonly id: string;
  readonly publicId: string;
}

describe("public IDs", () => {
  const { sipHash, vectors } = load<PublicIdVector>("public-ids.json") as PublicIdVectors;

  test("public-ids.json: SipHash gives these hashes", () => {
    expect(sipHash.length).toBeGreaterThan(0);
    for (const { key, message, hash } of sipHash) {
      const hasher = new SipHash(Buffer.from(key, "hex"));
      hasher.hash(blocksOf(Buffer.from(message, "hex")));
      const halves = Uint32Array.of(hasher.high, hasher.low);
      expect(Array.from(halves, (half) => half.toString(16).padStart(8, "0")).join("")).toBe(hash);
    }
  });

  test("public-ids.json: each key permutes so", () => {
    for (const { key, bits, id, publicId } of vectors) {
      const permutation = createNumberPermutation(Buffer.from(key, "hex"), bits);
      expect(permutation.apply(BigInt(id))).toBe(BigInt(publicId));
      expect(permutation.invert(BigInt(publicId))).toBe(BigInt(id));
    }
  });

  // Written by hand, so that a fault of our code cannot write itself into the generated file.
  test("public-ids.json has the values that other programs computed", () => {
    const values = vectors.filter(({ bits }) => bits === 63).map(({ id, publicId }) => `${id} ${publicId}`);
    expect(values).toEqual(
      expect.arrayContaining([
        "0 604316123935828654",
        "1541815603606036480 5709126820134443914",
        "9223372036854775807 8883255967016224327",
        "0 8824806111621904672",
        "1900000000000000005 2272457387093247233",
        "9223372036854775807 2176503757173269861",
        "1 7292172809285070023",
        "1541815603606036522 1256409343093161972",
      ]),
    );
    const whole = vectors.filter(({ bits }) => bits === 4).map(({ publicId }) => publicId);
    expect(whole.join(" ")).toBe("5 1 2 9 0 11 12 3 15 13 7 4 10 6 14 8");
  });
});

/** A message in the blocks that SipHash takes: filled up with zeros, the last byte its length. */
function blocksOf(message: Uint8Array): Uint32Array {
  const filled = new Uint8Array((Math.floor(message.length / 8) + 1) * 8);
  filled.set(message);
  filled[filled.length - 1] = message.length;
  const view = new DataView(filled.buffer);
  return Uint32Array.from({ length: filled.length / 4 }, (_, i) => view.getUint32(i * 4, true));
}
