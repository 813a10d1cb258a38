import { expect, test } from "vitest";
import { createLayout } from "./layout.ts";
import { parseId } from "./parse.ts";
import { layouts } from "./presets.ts";

const malformed = expect.objectContaining({ reason: "MALFORMED_ID" });

test("an ID says when and by which worker it was made", () => {
  // The example of Discord's documentation.
  const parsed = parseId(layouts.discord, 175_928_847_299_117_063n);
  expect(parsed).toMatchObject({ ticks: 41_944_705_796, datacenterId: 1, workerId: 0, sequence: 7 });
  expect(new Date(parsed.createTimeMs).toISOString()).toBe("2016-04-30T11:18:25.796Z");
  expect(parsed.createTimeNs).toBe(1_462_015_105_796_000_000n);
});

test("bit 63, bits of no field and the fields are shown apart", () => {
  expect(parseId(layouts.twitter, 1n).bits).toBe(`0 ${"0".repeat(41)} 00000 00000 000000000001`);
  expect(parseId(layouts.javascript, 2n ** 53n - 1n).bits).toBe(`0 0000000000 ${"1".repeat(41)} 111111 111111`);
  expect(parseId(layouts.sonyflake, 3n).bits).toBe(`0 ${"0".repeat(39)} 00000000 0000000000000011`);
});

test("a field that the layout does not have is undefined", () => {
  expect(parseId(layouts.instagram, 0n).datacenterId).toBeUndefined();
  const bare = createLayout({ name: "custom", epochMs: 0, tickNs: 1_000, fields: [{ kind: "timestamp", bits: 50 }] });
  const parsed = parseId(bare, 1_001n);
  expect(parsed).toMatchObject({ workerId: undefined, sequence: undefined, createTimeMs: 1 });
  expect(parsed.createTimeNs).toBe(1_001_000n);
});

test("a time before 1970 is read to the nanosecond", () => {
  const fields = [{ kind: "timestamp", bits: 50 }] as const;
  const layout = createLayout({ name: "custom", epochMs: -1, tickNs: 1_000, fields });
  expect(parseId(layout, 1n)).toMatchObject({ createTimeMs: -1, createTimeNs: -999_000n });
});

test.each([-1n, -(2n ** 63n), 2n ** 63n, 2n ** 64n - 1n, 2n ** 200n])("%d is not an ID", (id) => {
  expect(() => parseId(layouts.twitter, id)).toThrow(malformed);
});

test("an ID with a bit above the layout's is refused", () => {
  expect(parseId(layouts.javascript, 2n ** 53n - 1n).ticks).toBe(2 ** 41 - 1);
  expect(() => parseId(layouts.javascript, 2n ** 53n)).toThrow(malformed);
});

test("an ID past the layout's life is refused", () => {
  const layout = createLayout({
    name: "custom",
    epochMs: 0,
    tickNs: 3_600_000_000_000,
    fields: [{ kind: "timestamp", bits: 60 }],
  });
  const { max } = layout.timestamp;
  expect(parseId(layout, BigInt(max)).createTimeMs).toBe(Date.UTC(9999, 11, 31, 23));
  expect(() => parseId(layout, BigInt(max) + 1n)).toThrow(malformed);
  expect(() => parseId(layout, 2n ** 60n - 1n)).toThrow(malformed);
});
