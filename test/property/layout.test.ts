/** Layouts against an oracle that knows an ID as a string of binary digits. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { idRange } from "../../src/snowflake/id-range.ts";
import {
  composeId,
  decomposeId,
  type FieldPlace,
  type IdParts,
  type Layout,
  msToTicksDown,
  msToTicksUp,
  ticksToMsDown,
  ticksToMsUp,
} from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { arbitraryLayout } from "../support/worlds/arbitrary-layout.ts";
import { scale } from "../support/worlds/scale.ts";

const layoutAndParts = arbitraryLayout.chain((layout) =>
  fc.record({
    layout: fc.constant(layout),
    parts: fc.record({
      ticks: fc.nat(layout.timestamp.max),
      datacenterId: fc.nat(layout.datacenter.max),
      workerId: fc.nat(layout.worker.max),
      sequence: fc.nat(layout.sequence.max),
    }),
  }),
);

function oracle(layout: Layout, parts: IdParts): string {
  const values = {
    timestamp: parts.ticks,
    datacenter: parts.datacenterId,
    worker: parts.workerId,
    sequence: parts.sequence,
  };
  return layout.fields.map(({ kind, bits }) => values[kind].toString(2).padStart(bits, "0")).join(" ");
}

test("an ID is its fields' digits one after the other, and reads back", () => {
  fc.assert(
    fc.property(layoutAndParts, ({ layout, parts }) => {
      const id = composeId(layout, parts);
      const digits = oracle(layout, parts);
      expect(id).toBe(BigInt(`0b${digits.replaceAll(" ", "")}`));
      expect(decomposeId(layout, id)).toEqual(parts);
      const parsed = parseId(layout, id);
      expect(parsed.bits.endsWith(` ${digits}`)).toBe(true);
      expect(parsed.bits.replaceAll(" ", "")).toBe(id.toString(2).padStart(64, "0"));
    }),
    { numRuns: 2_000 * scale },
  );
});

test("any 64 bits are taken apart as shifts and masks of the whole number do", () => {
  const layoutAndId = fc.record({ layout: arbitraryLayout, id: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) });
  fc.assert(
    fc.property(layoutAndId, ({ layout, id }) => {
      const partOf = ({ bits, shift }: FieldPlace): number =>
        Number((id >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n));
      const { timestamp, datacenter, worker, sequence } = layout;
      expect(decomposeId(layout, id)).toEqual({
        ticks: partOf(timestamp),
        datacenterId: partOf(datacenter),
        workerId: partOf(worker),
        sequence: partOf(sequence),
      });
    }),
    { numRuns: 2_000 * scale },
  );
});

test("ticks and milliseconds turn into each other by rounding alone", () => {
  const layoutAndMs = arbitraryLayout.chain((layout) =>
    fc.record({ layout: fc.constant(layout), ms: fc.nat(8_640_000_000_000) }),
  );
  fc.assert(
    fc.property(layoutAndMs, ({ layout, ms }) => {
      const unixMs = layout.epochMs + ms;
      const ns = BigInt(ms) * 1_000_000n;
      const tickNs = BigInt(layout.tickNs);
      expect(BigInt(msToTicksDown(layout, unixMs))).toBe(ns / tickNs);
      expect(BigInt(msToTicksUp(layout, unixMs))).toBe((ns + tickNs - 1n) / tickNs);
      const ticks = Math.min(ms, layout.timestamp.max);
      const beginNs = BigInt(ticks) * tickNs;
      expect(BigInt(ticksToMsDown(layout, ticks) - layout.epochMs)).toBe(beginNs / 1_000_000n);
      expect(BigInt(ticksToMsUp(layout, ticks) - layout.epochMs)).toBe((beginNs + 999_999n) / 1_000_000n);
      // A mark bounds exactly the ticks that begin below it.
      expect(msToTicksUp(layout, ticksToMsUp(layout, ticks))).toBeGreaterThanOrEqual(ticks);
      expect(msToTicksUp(layout, ticksToMsDown(layout, ticks))).toBeLessThanOrEqual(ticks);
    }),
    { numRuns: 2_000 * scale },
  );
});

test("an interval's range holds exactly the IDs created in it, where the timestamp is the highest field", () => {
  const cases = layoutAndParts
    .filter(({ layout }) => layout.fields[0]?.kind === "timestamp")
    .chain(({ layout, parts }) =>
      fc.record({
        layout: fc.constant(layout),
        parts: fc.constant(parts),
        beforeNs: fc.bigInt(-5_000_000_000n, 5_000_000_000n),
        lengthNs: fc.bigInt(1n, 10_000_000_000n),
      }),
    );
  fc.assert(
    fc.property(cases, ({ layout, parts, beforeNs, lengthNs }) => {
      const id = composeId(layout, parts);
      const { createTimeNs } = parseId(layout, id);
      const startNs = createTimeNs - beforeNs;
      const endNs = startNs + lengthNs;
      let isInRange = false;
      try {
        const { firstId, lastId } = idRange(layout, startNs, endNs);
        isInRange = firstId <= id && id <= lastId;
      } catch (error) {
        expect(error).toMatchObject({ reason: "INVALID_TIME_RANGE" });
      }
      expect(isInRange).toBe(startNs <= createTimeNs && createTimeNs < endNs);
    }),
    { numRuns: 3_000 * scale },
  );
});
