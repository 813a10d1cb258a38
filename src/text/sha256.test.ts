import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { sha256 } from "./sha256.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("SHA-256 equals the platform's at every length around the block's end", () => {
  for (let length = 0; length <= 200; length++) {
    const message = randomBytes(length);
    expect(hex(sha256(message))).toBe(createHash("sha256").update(message).digest("hex"));
  }
});
