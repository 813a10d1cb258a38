import * as fc from "fast-check";
import { createLayout, type Layout, type LayoutField } from "../../../src/snowflake/layout.ts";
import { layouts } from "../../../src/snowflake/presets.ts";

/** The time that the clock traces of property tests begin at. */
export const traceStartMs = Date.UTC(2026, 10, 21);

const ticksNs = [1_000, 8_000, 125_000, 500_000, 1_000_000, 7_000_000, 10_000_000, 1_000_000_000, 60_000_000_000];

/** Any order of fields, widths from 1, with or without each but the timestamp. */
const arbitraryFields: fc.Arbitrary<readonly LayoutField[]> = fc
  .record({
    timestamp: fc.integer({ min: 24, max: 41 }),
    datacenter: fc.integer({ min: 0, max: 4 }),
    worker: fc.integer({ min: 0, max: 6 }),
    sequence: fc.integer({ min: 0, max: 12 }),
  })
  .chain((bits) => fc.shuffledSubarray(fieldsOf(bits), { minLength: fieldsOf(bits).length }));

function fieldsOf(bits: Readonly<Record<LayoutField["kind"], number>>): LayoutField[] {
  const kinds = ["timestamp", "datacenter", "worker", "sequence"] as const;
  return kinds.map((kind) => ({ kind, bits: bits[kind] })).filter((field) => field.bits > 0);
}

/** A custom layout whose life holds {@link traceStartMs}: just begun, half over, or about to end. */
const arbitraryCustomLayout: fc.Arbitrary<Layout> = fc
  .record({
    fields: arbitraryFields,
    tickNs: fc.constantFrom(...ticksNs),
    livedShare: fc.constantFrom(0, 0.5, 0.999),
  })
  .map(({ fields, tickNs, livedShare }) => {
    const bits = fields.find(({ kind }) => kind === "timestamp")?.bits ?? 0;
    const livedMs = Math.min((2 ** bits * tickNs * livedShare) / 1_000_000, traceStartMs);
    return createLayout({ name: "custom", epochMs: traceStartMs - Math.floor(livedMs), tickNs, fields });
  });

/** A preset, or a custom layout. */
export const arbitraryLayout: fc.Arbitrary<Layout> = fc.oneof(
  fc.constantFrom(...Object.values(layouts).filter(({ name }) => name !== "baidu")),
  fc.constant(createLayout({ ...layouts.baidu, epochMs: Date.UTC(2026, 0, 1) })),
  arbitraryCustomLayout,
);

/** One whose IDs can be issued: its sequence is below its timestamp. */
export const arbitraryIssuingLayout: fc.Arbitrary<Layout> = arbitraryLayout.filter(
  ({ sequence, timestamp }) => sequence.bits === 0 || sequence.shift < timestamp.shift,
);
