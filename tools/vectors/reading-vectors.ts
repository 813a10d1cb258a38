import { createTextCodec, type TextReading } from "../../src/text/text-codec.ts";
import { timestampOf, vectorLayouts, vectorNamespace } from "./layout-vectors.ts";

/** Now, for detection: 2026-01-01. */
const nowMs = 1_767_225_600_000;

const readText = (layout: string, text: string, utcOffsetMinutes = 0): TextReading =>
  createTextCodec({ layout: vectorLayouts.get(layout)!, namespace: vectorNamespace }).read(text, {
    utcOffsetMinutes,
    nowMs,
  });

/** Layout, text, offset: what detection reads without knowing the form. */
const detected: readonly (readonly [string, string, number?])[] = [
  ["twitter", "0"],
  ["twitter", "7"],
  ["twitter", "1900000000000000005"],
  ["twitter", "9223372036854775807"],
  // 11 and 13 digits are decimal, whatever else they could be.
  ["twitter", "12345678912"],
  ["twitter", "1234567891234"],
  ["twitter", "0x1a5e27eef13e0005"],
  ["twitter", "0000000000000"],
  ["twitter", "1MQH7XVRKW005"],
  ["twitter", "1mqh7xvrkw005"],
  ["twitter", "lMQH7XVRKWoo5"],
  ["twitter", "00000000000"],
  ["twitter", "5QoSRAifXhW"],
  ["twitter", "PAY2025031301162434904950000"],
  ["twitter", "2025031301162434904950000"],
  ["twitter", "PAY2025031309162434904950000", 480],
  // A prefix that ends in digits: the digits of the number are the last 25.
  ["twitter", "PAY992025031301162434904950000"],
  ["twitter", "20252025031301162434904950000"],
  ["sonyflake", "PAY2025031301162434000010127"],
  ["custom-100ms", "20250313011624300001010127"],
  // Typed IDs: a prefix of one letter, of 16 characters; a public ID.
  ["twitter", "order_5QoSRAifXhW"],
  ["twitter", "a_11111111111"],
  ["twitter", "user2_NQm6nKp8qFC"],
  ["twitter", "order_2QMtrqVs35o"],
  ["sonyflake", "a123456789abcdef_5QoSRAifXhW"],
  ["twitter", "C232AB00-9414-11EC-B3C8-9F6BDECED846"],
];

/** Texts whose form is detected. */
export function detectionVectors(): {
  readonly namespace: string;
  readonly nowMs: number;
  readonly vectors: readonly object[];
} {
  const vectors = detected.map(([layout, text, utcOffsetMinutes = 0]) => {
    const { format, id } = readText(layout, text, utcOffsetMinutes);
    return { layout, text, utcOffsetMinutes, format, id: id === undefined ? null : String(id) };
  });
  return { namespace: vectorNamespace, nowMs, vectors };
}

/** UUIDs that hold no ID of ours, beside those of published-uuids.json: variants, edges of the clocks, near misses. */
const foreignUuids: readonly string[] = [
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "00000000-0000-1000-8000-000000000000",
  "ffffffff-ffff-1fff-bfff-ffffffffffff",
  "13814000-1dd2-11b2-8000-000000000001",
  "000004d2-92e8-21ed-8100-3fdb0085247e",
  "00000000-0000-6000-8000-000000000000",
  "1b21dd21-3814-6000-8001-0a0b0c0d0e0f",
  "00000000-0000-7000-8000-000000000000",
  "ffffffff-ffff-7fff-bfff-ffffffffffff",
  "01958d2c-bf86-7350-245f-cd06cf6470a3",
  "01958d2c-bf86-7350-c45f-cd06cf6470a3",
  "01958d2c-bf86-7350-e45f-cd06cf6470a3",
  "01958d2c-bf86-0350-a45f-cd06cf6470a3",
  "01958d2c-bf86-9350-a45f-cd06cf6470a3",
  "01958d2c-bf86-f350-a45f-cd06cf6470a3",
];

/** UUIDs with what they say, under the layout twitter: some ours, most not. */
export function uuidVectors(): {
  readonly namespace: string;
  readonly layout: string;
  readonly vectors: readonly object[];
} {
  const layout = "twitter";
  const ours = writeUuid(layout, vectorNamespace);
  const lastDigit = ours.endsWith("0") ? "1" : "0";
  const uuids = [
    ours,
    ours.toUpperCase(),
    `${ours.slice(0, -1)}${lastDigit}`,
    writeUuid(layout, "other"),
    writeUuid("discord", vectorNamespace),
    ...foreignUuids,
  ];
  const vectors = uuids.map((text) => {
    const { id, uuid } = readText(layout, text);
    const { version, variant, createTimeNs, clockSequence, node } = uuid!;
    return {
      text,
      version,
      variant,
      createTime: createTimeNs === undefined ? null : timestampOf(createTimeNs),
      clockSequence: clockSequence ?? null,
      node: node ?? null,
      id: id === undefined ? null : String(id),
    };
  });
  return { namespace: vectorNamespace, layout, vectors };
}

function writeUuid(layout: string, namespace: string): string {
  const codec = createTextCodec({ layout: vectorLayouts.get(layout)!, namespace });
  return codec.writer({ form: "uuid" })(1_900_000_000_000_000_005n);
}
