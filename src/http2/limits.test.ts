import { expect, test } from "vitest";
import { createLimits, limitTable } from "./limits.ts";

test("every limit has a default in its range and says what it is", () => {
  const limits = createLimits();
  for (const [name, { default: value, min, max, doc }] of Object.entries(limitTable)) {
    expect(limits).toHaveProperty(name, value);
    expect(value >= min && value <= max).toBe(true);
    expect(doc.length).toBeGreaterThan(20);
  }
});

test("a value out of its range is refused by name", () => {
  expect(() => createLimits({ concurrentStreamsMax: 0 })).toThrow("concurrentStreamsMax is 0");
  expect(() => createLimits({ streamWindowBytes: 100 })).toThrow("streamWindowBytes");
  expect(() => createLimits({ framePayloadBytesMax: 1e9 })).toThrow("framePayloadBytesMax");
  expect(() => createLimits({ pingsPerSecond: 1.5 })).toThrow("pingsPerSecond");
  expect(() => createLimits({ pingsPerSecond: Infinity })).toThrow("pingsPerSecond");
  expect(createLimits({ idleTimeoutMs: Infinity }).idleTimeoutMs).toBe(Infinity);
});
