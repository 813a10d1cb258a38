import { expect, test } from "vitest";
import { IdError } from "../errors.ts";
import {
  composeId,
  createLayout,
  decomposeId,
  type LayoutSpec,
  msToTicksDown,
  msToTicksUp,
  ticksToMsDown,
  ticksToMsUp,
} from "./layout.ts";

const spec: LayoutSpec = {
  name: "custom",
  epochMs: 1_600_000_000_000,
  tickNs: 1_000_000,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "datacenter", bits: 5 },
    { kind: "worker", bits: 5 },
    { kind: "sequence", bits: 12 },
  ],
};

function reasonOf(change: Partial<LayoutSpec>): string {
  try {
    createLayout({ ...spec, ...change });
  } catch (error) {
    if (error instanceof IdError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return "none";
}

test("fields are placed from the lowest bit up, in whatever order", () => {
  const layout = createLayout({
    ...spec,
    fields: [
      { kind: "worker", bits: 4 },
      { kind: "timestamp", bits: 40 },
      { kind: "sequence", bits: 3 },
      { kind: "datacenter", bits: 2 },
    ],
  });
  expect(layout.datacenter).toEqual({ bits: 2, shift: 0, max: 3 });
  expect(layout.sequence).toEqual({ bits: 3, shift: 2, max: 7 });
  expect(layout.timestamp).toEqual({ bits: 40, shift: 5, max: 2 ** 40 - 1 });
  expect(layout.worker).toEqual({ bits: 4, shift: 45, max: 15 });
  expect(layout.bits).toBe(49);
  expect(layout.stride).toBe(4n);
  expect(layout.workerCount).toBe(64);
});

test("a field that is absent holds nothing", () => {
  const layout = createLayout({ ...spec, fields: [{ kind: "timestamp", bits: 45 }] });
  expect(layout.sequence).toEqual({ bits: 0, shift: 0, max: 0 });
  expect(layout.stride).toBe(1n);
  expect(layout.workerCount).toBe(1);
  expect(composeId(layout, { ticks: 5, datacenterId: 0, workerId: 0, sequence: 0 })).toBe(5n);
});

test("the highest ID of 63 bits is 2^63 - 1", () => {
  const layout = createLayout(spec);
  const parts = { ticks: 2 ** 41 - 1, datacenterId: 31, workerId: 31, sequence: 4095 };
  expect(composeId(layout, parts)).toBe(2n ** 63n - 1n);
  expect(decomposeId(layout, 2n ** 63n - 1n)).toEqual(parts);
});

test("a layout cannot be changed", () => {
  type Changeable = { epochMs: number; fields: { bits: number }[]; sequence: { max: number } };
  const layout = createLayout(spec) as unknown as Changeable;
  expect(() => {
    layout.epochMs = 0;
  }).toThrow(TypeError);
  expect(() => {
    layout.sequence.max = 0;
  }).toThrow(TypeError);
  expect(() => {
    layout.fields[0]!.bits = 1;
  }).toThrow(TypeError);
});

test.each([
  [1_000, 7, 7_000, 7_000, 0, 1],
  [250_000, -3, -12, -12, -1, 0],
  [1_000_000, 7, 7, 7, 7, 7],
  [10_000_000, 17, 1, 2, 170, 170],
  [7_000_000, 14, 2, 2, 98, 98],
  [7_000_000, -1, -1, 0, -7, -7],
  [1_000_000_000, 1_999, 1, 2, 1_999_000, 1_999_000],
  [3_600_000_000_000, 3_600_001, 1, 2, 12_960_003_600_000, 12_960_003_600_000],
])("a tick of %d ns: ms %d is in tick %d, up %d; tick of that number begins at %d, up %d", (...row) => {
  const [tickNs, ms, down, up, beginsDown, beginsUp] = row;
  const layout = createLayout({ ...spec, tickNs, fields: [{ kind: "timestamp", bits: 40 }] });
  expect(msToTicksDown(layout, layout.epochMs + ms)).toBe(down);
  // Adding 0 makes 0 of -0.
  expect(msToTicksUp(layout, layout.epochMs + ms) + 0).toBe(up);
  expect(ticksToMsDown(layout, ms)).toBe(layout.epochMs + beginsDown);
  expect(ticksToMsUp(layout, ms)).toBe(layout.epochMs + beginsUp);
});

test("a layout's life ends with its timestamp field", () => {
  const fields = [{ kind: "timestamp", bits: 10 }] as const;
  expect(createLayout({ ...spec, fields }).endMs).toBe(spec.epochMs + 1024);
  expect(createLayout({ ...spec, fields, tickNs: 3_600_000_000_000 }).endMs).toBe(spec.epochMs + 1024 * 3_600_000);
  // 1024 us are 1.024 ms: the second millisecond is still partly in the layout's life.
  expect(createLayout({ ...spec, fields, tickNs: 1_000 }).endMs).toBe(spec.epochMs + 2);
});

test("a layout's life ends with the year 9999, which a protobuf Timestamp ends with", () => {
  const fields = [{ kind: "timestamp", bits: 62 }] as const;
  const layout = createLayout({ ...spec, fields });
  expect(layout.endMs).toBe(Date.UTC(10_000, 0, 1));
  const hours = createLayout({ ...spec, fields, tickNs: 3_600_000_000_000, epochMs: Date.UTC(1900, 0, 1) });
  expect(hours.endMs).toBe(Date.UTC(10_000, 0, 1));
});

test("a layout's life ends at 2^53 - 1 ticks, which a number can count", () => {
  const layout = createLayout({ ...spec, tickNs: 1_000, fields: [{ kind: "timestamp", bits: 62 }] });
  expect(layout.timestamp.max).toBe(Number.MAX_SAFE_INTEGER);
  expect(layout.endMs).toBe(spec.epochMs + Math.ceil(2 ** 53 / 1_000));
});

test.each<[string, Partial<LayoutSpec>]>([
  ["a fraction of a millisecond as epoch", { epochMs: 0.5 }],
  ["an epoch before year 1", { epochMs: -62_135_596_800_001 }],
  ["an epoch after year 9999", { epochMs: 253_402_300_800_000 }],
  ["an epoch that is not a number", { epochMs: Number.NaN }],
  ["a tick below 1 us", { tickNs: 999 }],
  ["a tick above 1 h", { tickNs: 3_600_000_000_001 }],
  ["a tick that neither divides nor counts milliseconds", { tickNs: 1_500_000 }],
  ["a tick of 3 us", { tickNs: 3_000 }],
  ["no field", { fields: [] }],
  ["no timestamp", { fields: [{ kind: "worker", bits: 3 }] }],
  ["no bit", { fields: [{ kind: "timestamp", bits: 0 }] }],
  ["half a bit", { fields: [{ kind: "timestamp", bits: 40.5 }] }],
  ["63 bits in one field", { fields: [{ kind: "timestamp", bits: 63 }] }],
  [
    "64 bits in all",
    {
      fields: [
        { kind: "timestamp", bits: 42 },
        { kind: "sequence", bits: 22 },
      ],
    },
  ],
  [
    "a field twice",
    {
      fields: [
        { kind: "timestamp", bits: 20 },
        { kind: "timestamp", bits: 20 },
      ],
    },
  ],
  [
    "33 bits of sequence",
    {
      fields: [
        { kind: "timestamp", bits: 30 },
        { kind: "sequence", bits: 33 },
      ],
    },
  ],
  [
    "33 bits of identity",
    {
      fields: [
        { kind: "timestamp", bits: 30 },
        { kind: "datacenter", bits: 16 },
        { kind: "worker", bits: 17 },
      ],
    },
  ],
  [
    "a kind from elsewhere",
    {
      fields: [
        { kind: "timestamp", bits: 40 },
        { kind: "machine", bits: 10 } as unknown as { kind: "worker"; bits: 10 },
      ],
    },
  ],
])("%s is INVALID_LAYOUT", (_, change) => {
  expect(reasonOf(change)).toMatch(/^INVALID_LAYOUT: /);
});
