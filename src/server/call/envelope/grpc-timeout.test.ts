import { expect, test } from "vitest";
import { readGrpcTimeoutMs } from "./grpc-timeout.ts";

test.each([
  ["1H", 3_600_000],
  ["2M", 120_000],
  ["3S", 3_000],
  ["4m", 4],
  ["5u", 0.005],
  ["6n", 0.000006],
  ["0S", 0],
  ["99999999m", 99_999_999],
])("%s is %d ms", (value, ms) => {
  expect(readGrpcTimeoutMs(value)).toBeCloseTo(ms, 9);
});

test.each(["", "1", "S", "1s", "-1S", "1.5S", "123456789S", "0x1S"])("'%s' is malformed", (value) => {
  expect(readGrpcTimeoutMs(value)).toBeUndefined();
});
