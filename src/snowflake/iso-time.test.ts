import { expect, test } from "vitest";
import { isoOfNs } from "./iso-time.ts";

test("a time has milliseconds, and more digits only where it needs them", () => {
  expect(isoOfNs(0n)).toBe("1970-01-01T00:00:00.000Z");
  expect(isoOfNs(1_250_000n)).toBe("1970-01-01T00:00:00.00125Z");
  expect(isoOfNs(1n)).toBe("1970-01-01T00:00:00.000000001Z");
  expect(isoOfNs(-1n)).toBe("1969-12-31T23:59:59.999999999Z");
  expect(isoOfNs(-62_135_596_800_000_000_000n)).toBe("0001-01-01T00:00:00.000Z");
  expect(isoOfNs(253_402_300_799_999_999_999n)).toBe("9999-12-31T23:59:59.999999999Z");
});
