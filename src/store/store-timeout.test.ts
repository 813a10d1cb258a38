import { expect, test } from "vitest";
import { defaultStoreTimeoutMs } from "./store-timeout.ts";

test.each([
  ["postgres://db/ids", undefined, 5_000],
  ["etcd://one,two", 30_000, 5_000],
  ["mysql://db/ids", 12_000, 2_000],
  ["redis://cache", undefined, 833],
  ["redis://cache", 20_000, 3_333],
  ["postgres://db/ids", 600_000, 5_000],
  ["sqlite:ids.db", 6_000, 5_000],
])(
  "a call to %s under a window of %s ms takes a sixth of it at most, and never more than 5 s",
  (url, windowMs, limitMs) => {
    expect(defaultStoreTimeoutMs(url, windowMs)).toBe(limitMs);
  },
);
