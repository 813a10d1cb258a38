import { createLayout, type Layout, type LayoutFieldKind } from "../../src/snowflake/layout.ts";
import { layouts, presetNames } from "../../src/snowflake/presets.ts";
import { createSerialCodec } from "../../src/text/serial.ts";
import { createUuidCodec } from "../../src/text/uuid-v7.ts";

/** The namespace of every vector that does not name another. */
export const vectorNamespace = "default";

const kinds: Readonly<Record<string, LayoutFieldKind>> = {
  t: "timestamp",
  d: "datacenter",
  w: "worker",
  s: "sequence",
};

/** A layout from fields in short, such as `t41 d5 w5 s12`. */
function layout(name: string, epochMs: number, tickNs: number, fields: string): Layout {
  return createLayout({
    name,
    epochMs,
    tickNs,
    fields: fields.split(" ").map((field) => ({ kind: kinds[field.charAt(0)]!, bits: Number(field.slice(1)) })),
  });
}

/** The layouts of the vectors: presets, then custom layouts that need what no preset needs. */
export const vectorLayouts: ReadonlyMap<string, Layout> = new Map(
  [
    ...presetNames.map((name) => layouts[name]),
    layout("custom-1us", 1_577_836_800_000, 1e3, "t51 w6 s6"),
    layout("custom-250us", 1_577_836_800_000, 250_000, "t43 d4 w4 s12"),
    layout("custom-100ms", 1_577_836_800_123, 1e8, "t35 w20 s8"),
    layout("custom-90s", 1_577_836_800_500, 9e10, "t26 w5 s32"),
    layout("custom-worker-first", 1_577_836_800_000, 1e6, "w8 t43 s12"),
    layout("custom-sequence-first", 1_577_836_800_000, 1e6, "s10 t43 w6 d4"),
    layout("custom-time-alone", 0, 1e6, "t42"),
    layout("custom-epoch-1900", -2_208_988_800_000, 1e6, "t44 w8 s11"),
  ].map((each) => [each.name, each]),
);

/** The parts of a layout that its texts depend on, for readers of the vectors that have no presets of their own. */
export function layoutVectors(): { readonly vectors: readonly object[] } {
  const vectors = Array.from(vectorLayouts.values(), (each) => ({
    name: each.name,
    epochMs: each.epochMs,
    tickNs: each.tickNs,
    fields: each.fields,
    timestampMax: each.timestamp.max,
    serialDigits: createSerialCodec(each).digitCount,
    uuidFillerBits: createUuidCodec(each, vectorNamespace).fillerBits,
  }));
  return { vectors };
}

/** Unix nanoseconds as a google.protobuf.Timestamp has them: 64 bits of nanoseconds would end in 2262. */
export function timestampOf(unixNs: bigint): { readonly seconds: number; readonly nanos: number } {
  const nanos = ((unixNs % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return { seconds: Number((unixNs - nanos) / 1_000_000_000n), nanos: Number(nanos) };
}
