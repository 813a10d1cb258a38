import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SnowlaneError } from "./errors.ts";
import { PublicId } from "./offline.ts";

const key = Uint8Array.from({ length: 32 }, (_, index) => index);

interface PublicIdVector {
  readonly key: string;
  readonly bits: number;
  readonly id: string;
  readonly publicId: string;
}

test("public IDs are those of the vectors, which every client reads", () => {
  const text = readFileSync("test/vectors/public-ids.json", "utf8");
  const { vectors } = JSON.parse(text) as { readonly vectors: readonly PublicIdVector[] };
  const ofIds = vectors.filter(({ bits }) => bits === 63);
  expect(ofIds.length).toBeGreaterThan(5);
  for (const { key, id, publicId } of ofIds) {
    const publicIds = new PublicId(Buffer.from(key, "hex"));
    expect([publicIds.hide(BigInt(id)), publicIds.reveal(BigInt(publicId))]).toEqual([BigInt(publicId), BigInt(id)]);
  }
});

test("a public ID refuses what is no ID by this package's error, and a short key by the language's", () => {
  const publicIds = new PublicId(key);
  for (const id of [-1n, 2n ** 63n]) {
    for (const call of [() => publicIds.hide(id), () => publicIds.reveal(id)]) {
      expect(call).toThrow(SnowlaneError);
      expect(call).toThrow(expect.objectContaining({ reason: "MALFORMED_ID", code: "INVALID_ARGUMENT" }));
    }
  }
  expect(() => new PublicId(key.subarray(0, 15))).toThrow(RangeError);
});
