import { expect, test } from "vitest";
import { SnowlaneError } from "./errors.ts";
import { PublicId } from "./offline.ts";

const key = Uint8Array.from({ length: 32 }, (_, index) => index);

test("a public ID refuses what is not an ID by this package's error, and a short key by the language's", () => {
  const publicIds = new PublicId(key);
  for (const id of [-1n, 2n ** 63n]) {
    for (const call of [() => publicIds.hide(id), () => publicIds.reveal(id)]) {
      expect(call).toThrow(SnowlaneError);
      expect(call).toThrow(expect.objectContaining({ reason: "MALFORMED_ID", code: "INVALID_ARGUMENT" }));
    }
  }
  expect(() => new PublicId(key.subarray(0, 15))).toThrow(RangeError);
});
