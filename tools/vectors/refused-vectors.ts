import { IdError } from "../../src/errors.ts";
import type { TextFault } from "../../src/text/malformed-text.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { type TextForm, type TextFormat, textForms } from "../../src/text/text-form.ts";
import { vectorLayouts, vectorNamespace } from "./layout-vectors.ts";

/** Now, for detection: 2026-01-01. */
const nowMs = 1_767_225_600_000;

/** A text, what is wrong with it, and where. */
type Fault = readonly [text: string, reason: TextFault, position: number];

const smile = "\u{1f600}";
const fullWidthOne = "\uff11";
const huge = "1".repeat(1_000);

/** The characters on both sides of digits and letters: none of them is one. */
const neighbours: readonly string[] = ["/", ":", "@", "[", "`", "{"];

/** A text with each neighbour at one place of it. */
function besideAt(text: string, position: number): readonly Fault[] {
  return neighbours.map((odd) => [text.slice(0, position) + odd + text.slice(position + 1), "character", position]);
}

/**
 * Written by hand, so that they say what should be, not what is. All under the layout twitter unless named otherwise.
 */
const faults: Readonly<Record<TextForm | "detected", readonly Fault[]>> = {
  decimal: [
    ["", "too_short", 0],
    [" 1", "character", 0],
    ["1 ", "character", 1],
    ["+1", "character", 0],
    ["-1", "character", 0],
    ["1e3", "character", 1],
    ["0x1", "character", 1],
    ["1_000", "character", 1],
    [`1${fullWidthOne}`, "character", 1],
    ["\u0661", "character", 0],
    [`12${smile}`, "character", 2],
    ["12\ud83d", "character", 2],
    ["1\u0000", "character", 1],
    ["1\n", "character", 1],
    ["00", "leading_zero", 0],
    ["01", "leading_zero", 0],
    ["9223372036854775808", "out_of_range", 0],
    ["9999999999999999999", "out_of_range", 0],
    ["18446744073709551615", "too_long", 19],
    ["00000000000000000000", "too_long", 19],
    [huge, "too_long", 19],
    ...besideAt("1900000000000000005", 7),
  ],
  hex: [
    ["", "too_short", 0],
    ["0", "too_short", 1],
    ["0x", "too_short", 2],
    ["0x1a5e27eef13e000", "too_short", 17],
    ["0x1a5e27eef13e00055", "too_long", 18],
    ["0X1a5e27eef13e0005", "character", 1],
    ["1a5e27eef13e0005", "character", 0],
    ["0x1A5e27eef13e0005", "character", 3],
    ["0x1a5e27eef13e000g", "character", 17],
    [`0x1a${smile}`, "character", 4],
    ["0x8000000000000000", "out_of_range", 2],
    ["0xffffffffffffffff", "out_of_range", 2],
    ["0x1a5e27eef13e000F", "character", 17],
    ...besideAt("0x1a5e27eef13e0005", 9),
  ],
  base32: [
    ["", "too_short", 0],
    ["1MQH7XVRKW00", "too_short", 12],
    ["1MQH7XVRKW0U5", "character", 11],
    ["1MQH7-XVRKW005", "character", 5],
    ["1MQH7XVRKW00*", "character", 12],
    [`1MQH7${fullWidthOne}VRKW005`, "character", 5],
    ["1MQH7XVRKW005\u0000", "character", 13],
    ["1MQH7XVRKW00544", "too_long", 14],
    ["8000000000000", "out_of_range", 0],
    ["ZZZZZZZZZZZZZ", "out_of_range", 0],
    ["1MQH7XVRKW005!", "character", 13],
    ["00000000000001", "check_symbol", 13],
    ["0000000000000*", "check_symbol", 13],
    ["0000000000001U", "check_symbol", 13],
    ...besideAt("1MQH7XVRKW005", 4),
  ],
  base58: [
    ["", "too_short", 0],
    ["5QoSRAiHAu", "too_short", 10],
    ["5QoSRAiHAuPP", "too_long", 11],
    ["0QoSRAiHAuP", "character", 0],
    ["5OoSRAiHAuP", "character", 1],
    ["5QISRAiHAuP", "character", 2],
    ["5QolRAiHAuP", "character", 3],
    ["5QoSRAiHAu\ud800", "character", 10],
    ["NQm6nKp8qFD", "out_of_range", 0],
    ...besideAt("5QoSRAifXhW", 10),
    ["zzzzzzzzzzz", "out_of_range", 0],
  ],
  base62: [
    ["", "too_short", 0],
    ["2GM1FU6hr3", "too_short", 10],
    ["2GM1FU6hr3ll", "too_long", 11],
    ["2GM1FU_hr3l", "character", 6],
    ["2GM1FU6hr3 ", "character", 10],
    ["AzL8n0Y58m8", "out_of_range", 0],
    ...besideAt("2GM1FU6deuj", 0),
    ["zzzzzzzzzzz", "out_of_range", 0],
  ],
  serial: [
    ["", "too_short", 0],
    ["PAY", "too_short", 3],
    ["202503130116243490495000", "too_short", 24],
    ["PAy2025031301162434904950000", "character", 2],
    ["PAY-2025031301162434904950000", "character", 3],
    ["PAY20250313011624349049500O0", "character", 26],
    [`PAY${smile}2025031301162434904950000`, "character", 3],
    ["ABCDEFGHIJKLMNOPQ2025031301162434904950000", "too_long", 41],
    [`A${huge}`, "too_long", 41],
    ["PAY2025001301162434904950000", "date", 7],
    ["PAY2025131301162434904950000", "date", 7],
    ["PAY2025030001162434904950000", "date", 9],
    ["PAY2025022901162434904950000", "date", 9],
    ["PAY2100022901162434904950000", "date", 9],
    ["PAY2025043101162434904950000", "date", 9],
    ["PAY2025031324162434904950000", "date", 11],
    ["PAY2025031301602434904950000", "date", 13],
    ["PAY2025031301166034904950000", "date", 15],
    ["PAY2010110401425465604950000", "tick", 3],
    ["2080071117473920904950000", "tick", 0],
    ["0000010100000000004950000", "tick", 0],
    ["PAY2025031301162434910240000", "out_of_range", 20],
    ["PAY2025031301162434904954096", "out_of_range", 24],
    ...besideAt("PAY2025031301162434904950000", 1),
    ...besideAt("PAY2025031301162434904950000", 20),
  ],
  uuid: [
    ["", "too_short", 0],
    ["01958d2c-bf86-7350-a45f-cd06cf6470a", "too_short", 35],
    ["01958d2c-bf86-7350-a45f-cd06cf6470a33", "too_long", 36],
    ["01958d2cbf867350a45fcd06cf6470a3", "character", 8],
    ["{01958d2c-bf86-7350-a45f-cd06cf6470a3}", "character", 0],
    ["urn:uuid:01958d2c-bf86-7350-a45f-cd06cf6470a3", "character", 0],
    ["01958d2c-bf86-7350-a45f-cd06cf6470ag", "character", 35],
    ["01958d2c-bf867-350-a45f-cd06cf6470a3", "character", 13],
    [`01958d2c-bf86-7350-a45f-cd06cf6470a${fullWidthOne}`, "character", 35],
    ["01958d2c\u2010bf86-7350-a45f-cd06cf6470a3", "character", 8],
    ["01958d2c-bf86-7350-a45f-cd06cf6470aG", "character", 35],
    ...besideAt("01958d2c-bf86-7350-a45f-cd06cf6470a3", 20),
  ],
  typed: [
    ["", "too_short", 0],
    ["order", "too_short", 5],
    ["order_", "too_short", 6],
    ["Order_5QoSRAifXhW", "prefix", 0],
    ["_5QoSRAifXhW", "prefix", 0],
    ["1order_5QoSRAifXhW", "prefix", 0],
    ["orDer_5QoSRAifXhW", "prefix", 2],
    ["or-der_5QoSRAifXhW", "prefix", 2],
    ["order5QoSRAifXhW", "prefix", 6],
    [`ord${fullWidthOne}er_5QoSRAifXhW`, "prefix", 3],
    ["a123456789abcdefg_5QoSRAifXhW", "prefix", 16],
    ["a123456789abcdefG_5QoSRAifXhW", "prefix", 16],
    [`a${huge}`, "prefix", 16],
    ["or_der_5QoSRAifXhW", "character", 6],
    ["order_0QoSRAifXhW", "character", 6],
    ["order_5OoSRAifXhW", "character", 7],
    [`order_5Qo${smile}`, "character", 9],
    ["order_5QoSRAifXh", "too_short", 16],
    ["order_5QoSRAifXhWx", "too_long", 17],
    ["order_5QoSRAifXhW_", "too_long", 17],
    [`order_${huge}`, "too_long", 17],
    ["order_NQm6nKp8qFD", "out_of_range", 6],
    ["order_zzzzzzzzzzz", "out_of_range", 6],
    ...besideAt("order_5QoSRAifXhW", 16),
  ],
  detected: [
    ["", "too_short", 0],
    [" ", "character", 0],
    ["1900000000000000005\n", "character", 19],
    [`1MQH7${smile}`, "character", 5],
    [huge, "too_long", 64],
    ["\u007f", "character", 0],
    ["!", "no_form", 0],
    ["~", "no_form", 0],
    ["Q", "no_form", 0],
    ["01", "no_form", 0],
    ["1MQH7XVRKW00", "no_form", 0],
    ["1MQH7XVRKW00544", "no_form", 0],
    ["0X1a5e27eef13e0005", "no_form", 0],
    ["0xg", "character", 2],
    ["18446744073709551615", "too_long", 19],
    ["9223372036854775808", "out_of_range", 0],
    ["1MQH7-XVRKW005", "character", 1],
    ["not-a-uuid", "character", 0],
    // Serial only where the last digits are digits. The next four are other generators', whom only servers read.
    ["PAY202503130116243490495000x", "no_form", 0],
    ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "no_form", 0],
    ["0ujtsYcgvSTl8PAuAdqWYSMnLOv", "no_form", 0],
    ["9m4e2mr0ui3e8a215n4g", "no_form", 0],
    ["prefix_01h2xcejqtf2nbrexx3vqjhp41", "character", 7],
    ["pay2025031301162434904950000", "character", 0],
    ["PAY2025131301162434904950000", "date", 7],
    ["1MQH7XVRKW0U5", "character", 11],
    ["00000000000001", "check_symbol", 13],
    ["7ZZZZZZZZZZZZ", "future", 0],
    ["5QoSRAiHAu_", "prefix", 0],
    ["1_000", "prefix", 0],
    ["Order_5QoSRAifXhW", "prefix", 0],
    ["order_5QoSRAifXh", "too_short", 16],
    ["or-der_5QoSRAifXhW", "prefix", 2],
    ["0x_5QoSRAifXhW", "character", 2],
    ["AzL8n0Y58m7", "future", 0],
  ],
};

/** Under other layouts. */
const faultsOfLayouts: readonly (readonly [layout: string, form: TextForm | "detected", ...Fault])[] = [
  ["sonyflake", "serial", "201408312359599900127001", "too_short", 24],
  ["sonyflake", "serial", "PAY2014083123595999001270001", "tick", 3],
  ["sonyflake", "serial", "PAY2025031301162434655360001", "out_of_range", 19],
  ["sonyflake", "serial", "PAY2025031301162434001270256", "out_of_range", 24],
  ["custom-1us", "serial", "2025031301162434999900640063", "out_of_range", 20],
  ["custom-250us", "serial", "20250313011624349401270000", "tick", 17],
  ["custom-100ms", "serial", "20191231235959900000010001", "tick", 0],
  ["custom-100ms", "serial", "20250313011624310485760001", "out_of_range", 15],
  ["custom-90s", "serial", "2025031301163100010000000001", "tick", 0],
  ["custom-90s", "serial", "2025031301163000014294967296", "out_of_range", 18],
  ["custom-time-alone", "serial", "2025031301162434900010000", "out_of_range", 17],
];

/** Where typed IDs of one prefix are expected. */
const faultsOfPrefixes: readonly (readonly [expectedPrefix: string, ...Fault])[] = [
  ["order", "user_5QoSRAifXhW", "prefix", 0],
  ["order", "orders_5QoSRAifXhW", "prefix", 0],
  ["order", "orde_5QoSRAifXhW", "prefix", 0],
  ["order", "user_5QoSRAifXh", "prefix", 0],
  ["order", "oRder_5QoSRAifXhW", "prefix", 1],
  ["order", "order_5QoSRAifXh", "too_short", 16],
  ["order", "1900000000000000005", "prefix", 0],
  ["order", "", "too_short", 0],
];

/** Two ways to read one text. */
const ambiguous: readonly string[] = ["2GM1FU6deuj", "2GM1FU6hr3m", "1JPwcyDCgEq"];

const formats: readonly (readonly [format: object, error: string])[] = [
  [{ form: "decimal", serialPrefix: "PAY" }, "INVALID_TEXT_FORMAT"],
  [{ form: "base58", utcOffsetMinutes: 480 }, "INVALID_TEXT_FORMAT"],
  [{ form: "serial", checkSymbol: true }, "INVALID_TEXT_FORMAT"],
  [{ form: "hex", checkSymbol: true }, "INVALID_TEXT_FORMAT"],
  [{ form: "serial", serialPrefix: "pay" }, "INVALID_TEXT_FORMAT"],
  [{ form: "serial", serialPrefix: "PAY-" }, "INVALID_TEXT_FORMAT"],
  [{ form: "serial", serialPrefix: "ABCDEFGHIJKLMNOPQ" }, "INVALID_TEXT_FORMAT"],
  [{ form: "serial", serialPrefix: smile }, "INVALID_TEXT_FORMAT"],
  [{ form: "serial", utcOffsetMinutes: 1_081 }, "INVALID_TEXT_FORMAT"],
  [{ form: "serial", utcOffsetMinutes: -1_081 }, "INVALID_TEXT_FORMAT"],
  [{ form: "typed" }, "INVALID_TEXT_FORMAT"],
  [{ form: "typed", typePrefix: "Order" }, "INVALID_TEXT_FORMAT"],
  [{ form: "typed", typePrefix: "1order" }, "INVALID_TEXT_FORMAT"],
  [{ form: "typed", typePrefix: "or_der" }, "INVALID_TEXT_FORMAT"],
  [{ form: "typed", typePrefix: "order\n" }, "INVALID_TEXT_FORMAT"],
  [{ form: "typed", typePrefix: "a123456789abcdefg" }, "INVALID_TEXT_FORMAT"],
  [{ form: "typed", typePrefix: smile }, "INVALID_TEXT_FORMAT"],
  [{ form: "typed", typePrefix: "order", checkSymbol: true }, "INVALID_TEXT_FORMAT"],
  [{ form: "base58", typePrefix: "order" }, "INVALID_TEXT_FORMAT"],
];

/** Refused inputs: texts with reason and position, ambiguous texts, formats, and IDs that a form cannot write. */
export function refusedVectors(): {
  readonly namespace: string;
  readonly nowMs: number;
  readonly vectors: readonly object[];
} {
  const ofTwitter = Object.entries(faults).flatMap(([form, list]) =>
    list.map((fault) => ["twitter", form as TextForm | "detected", ...fault] as const),
  );
  const texts = [...ofTwitter, ...faultsOfLayouts].map(([layout, form, text, reason, position]) => {
    const named = form === "detected" ? {} : { form };
    const error = errorOf(() => codecOf(layout).read(text, { ...named, nowMs }));
    hold(error, "MALFORMED_TEXT", `${layout} ${form} ${text.slice(0, 80)}`);
    if (error.metadata["reason"] !== reason || error.metadata["position"] !== String(position))
      throw new Error(`${layout} ${form} ${text.slice(0, 80)}: ${JSON.stringify(error.metadata)}`);
    return {
      kind: "text",
      layout,
      form: form === "detected" ? null : form,
      text,
      error: error.reason,
      metadata: error.metadata,
    };
  });
  const ofPrefixes = faultsOfPrefixes.map(([typePrefix, text, reason, position]) => {
    const error = errorOf(() => codecOf("twitter").read(text, { typePrefix, nowMs }));
    hold(error, "MALFORMED_TEXT", `${typePrefix} ${text}`);
    if (error.metadata["reason"] !== reason || error.metadata["position"] !== String(position))
      throw new Error(`${typePrefix} ${text}: ${JSON.stringify(error.metadata)}`);
    return {
      kind: "text",
      layout: "twitter",
      form: null,
      typePrefix,
      text,
      error: error.reason,
      metadata: error.metadata,
    };
  });
  const unclear = ambiguous.map((text) => {
    const error = errorOf(() => codecOf("twitter").read(text, { nowMs }));
    hold(error, "AMBIGUOUS_TEXT", text);
    return { kind: "text", layout: "twitter", form: null, text, error: error.reason, metadata: error.metadata };
  });
  const wrongFormats = formats.map(([format, reason]) => {
    hold(
      errorOf(() => codecOf("twitter").writer(format as TextFormat)),
      reason,
      JSON.stringify(format),
    );
    return { kind: "format", layout: "twitter", format, error: reason };
  });
  return {
    namespace: vectorNamespace,
    nowMs,
    vectors: [...texts, ...ofPrefixes, ...unclear, ...wrongFormats, ...refusedIds()],
  };
}

const refusedIdList: readonly (readonly [layout: string, format: TextFormat, id: bigint, error: string])[] = [
  ...textForms.flatMap((form) => {
    const format: TextFormat = form === "typed" ? { form, typePrefix: "order" } : { form };
    return [-1n, 2n ** 63n, 2n ** 64n].map((id) => ["twitter", format, id, "MALFORMED_ID"] as const);
  }),
  ["sonyflake", { form: "serial" }, 2n ** 63n, "MALFORMED_ID"],
  ["custom-time-alone", { form: "serial" }, 2n ** 42n, "MALFORMED_ID"],
  ["custom-time-alone", { form: "uuid" }, 2n ** 62n, "MALFORMED_ID"],
  ["custom-epoch-1900", { form: "uuid" }, 0n, "INVALID_TEXT_FORMAT"],
];

function refusedIds(): readonly object[] {
  return refusedIdList.map(([layout, format, id, reason]) => {
    hold(
      errorOf(() => codecOf(layout).writer(format)(id)),
      reason,
      `${layout} ${format.form} ${id}`,
    );
    return { kind: "id", layout, format, id: String(id), error: reason };
  });
}

function codecOf(layout: string): ReturnType<typeof createTextCodec> {
  return createTextCodec({ layout: vectorLayouts.get(layout)!, namespace: vectorNamespace });
}

function errorOf(action: () => unknown): IdError {
  try {
    action();
  } catch (error) {
    if (error instanceof IdError) return error;
    throw error;
  }
  throw new Error("Nothing was refused.");
}

function hold(error: IdError, reason: string, subject: string): void {
  if (error.reason !== reason) throw new Error(`${subject}: ${error.reason} instead of ${reason}`);
}
