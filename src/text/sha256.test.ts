import { createHash, createHmac, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createHmacSha256, sha256 } from "./sha256.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("SHA-256 equals the platform's at every length around the block's end", () => {
  for (let length = 0; length <= 200; length++) {
    const message = randomBytes(length);
    expect(hex(sha256(message))).toBe(createHash("sha256").update(message).digest("hex"));
  }
});

test("HMAC-SHA-256 equals the platform's for keys shorter and longer than a block", () => {
  for (let length = 1; length <= 150; length++) {
    const key = randomBytes(length);
    const message = randomBytes(length % 97);
    expect(hex(createHmacSha256(key)(message))).toBe(createHmac("sha256", key).update(message).digest("hex"));
  }
});

// RFC 4231, test case 2.
test("HMAC-SHA-256 equals the published vector", () => {
  const hmac = createHmacSha256(Buffer.from("Jefe"));
  expect(hex(hmac(Buffer.from("what do ya want for nothing?")))).toBe(
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
});
