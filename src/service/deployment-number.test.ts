import { expect, test } from "vitest";
import { createDeploymentNumber } from "./deployment-number.ts";

test("the number is that of the first 8 digits, never 0 once the fingerprint is known, and follows a change", () => {
  let fingerprint = "";
  const number = createDeploymentNumber(() => fingerprint);
  for (const [text, expected] of [
    ["", 0],
    ["1f00a3c2".padEnd(32, "7"), 0x1f00a3c2],
    ["ffffffff".padEnd(32, "0"), 2 ** 32 - 1],
    ["00000000".padEnd(32, "f"), 1],
    ["", 0],
  ] as const) {
    fingerprint = text;
    expect([number(), number()]).toEqual([expected, expected]);
  }
});
