import { expect, test } from "vitest";
import { readTraceParent } from "./trace-parent.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

test.each([
  ["01", true],
  ["00", false],
  ["03", true],
  ["fe", false],
])("a traceparent is read with its flag: %s", (flags, isSampled) => {
  expect(readTraceParent(`00-${traceId}-${spanId}-${flags}`)).toEqual({ traceId, spanId, isSampled });
});

test("a later version may have more at its end", () => {
  expect(readTraceParent(`cc-${traceId}-${spanId}-01-what`)?.isSampled).toBe(true);
  expect(readTraceParent(`00-${traceId}-${spanId}-01-what`)).toBeUndefined();
  expect(readTraceParent(`cc-${traceId}-${spanId}-01what`)).toBeUndefined();
});

test.each([
  undefined,
  "",
  `ff-${traceId}-${spanId}-01`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-1`,
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  ` 00-${traceId}-${spanId}-01`,
])("a malformed one counts as none: %s", (text) => expect(readTraceParent(text)).toBeUndefined());
