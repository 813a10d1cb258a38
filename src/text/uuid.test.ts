import { expect, test } from "vitest";
import { describeUuid, readUuid } from "./uuid.ts";

/** 1582-10-15, in Unix nanoseconds. */
const gregorianStartNs = BigInt(Date.UTC(1582, 9, 15)) * 1_000_000n;

/** A text of 32 hexadecimal digits with hyphens. */
function hyphenate(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

test("each bit of the time is where RFC 9562 has it, in versions 1 and 6", () => {
  const times = [0n, 2n ** 60n - 1n, ...Array.from({ length: 60 }, (_, bit) => 1n << BigInt(bit))];
  for (const time of times) {
    const hex = time.toString(16).padStart(15, "0");
    const [high, middle, low] = [hex.slice(0, 3), hex.slice(3, 7), hex.slice(7)];
    const said = {
      variant: "rfc9562",
      createTimeNs: gregorianStartNs + time * 100n,
      clockSequence: 0x1234,
      node: "00:00:00:00:00:ff",
    };
    const first = hyphenate(`${low}${middle}1${high}92340000000000ff`);
    expect(describeUuid(readUuid(first))).toEqual({ version: 1, ...said });
    const sixth = hyphenate(`${hex.slice(0, 12)}6${hex.slice(12)}92340000000000ff`);
    expect(describeUuid(readUuid(sixth))).toEqual({ version: 6, ...said });
  }
});

test("each bit of clock sequence and node is where RFC 9562 has it", () => {
  for (let bit = 0; bit < 14; bit++) {
    const octets = (0x8000 | (1 << bit)).toString(16);
    expect(describeUuid(readUuid(`00000000-0000-1000-${octets}-000000000000`)).clockSequence).toBe(1 << bit);
  }
  for (let bit = 0n; bit < 48n; bit++) {
    const node = (1n << bit).toString(16).padStart(12, "0");
    const said = describeUuid(readUuid(`00000000-0000-1000-8000-${node}`));
    expect(said.node?.replaceAll(":", "")).toBe(node);
    expect(said.clockSequence).toBe(0);
  }
});

test("each bit of the milliseconds of version 7 counts", () => {
  for (let bit = 0n; bit < 48n; bit++) {
    const ms = (1n << bit).toString(16).padStart(12, "0");
    const { createTimeNs } = describeUuid(readUuid(`${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`));
    expect(createTimeNs).toBe((1n << bit) * 1_000_000n);
  }
});

test("the variant depends on the highest bits of the ninth octet", () => {
  const variants = Array.from({ length: 16 }, (_, digit) => {
    const text = `00000000-0000-4000-${digit.toString(16)}000-000000000000`;
    return describeUuid(readUuid(text)).variant;
  });
  const expected = ["ncs", "ncs", "ncs", "ncs", "rfc9562", "rfc9562", "microsoft", "future"];
  expect(variants).toEqual(expected.flatMap((variant) => [variant, variant]));
});
