import { expect, test } from "vitest";
import { addEarlierLife, earlierLivesLengthMax, endOfLife } from "./earlier-lives.ts";

test("of the lives that ended the last three are kept, and one that ends again has its last end", () => {
  let earlier: string | undefined;
  for (const [index, identity] of ["a", "b", "c", "d", "b"].entries()) {
    earlier = addEarlierLife(earlier, identity, 1_000 * (index + 1));
  }
  const ends = ["a", "b", "c", "d"].map((identity) => endOfLife(earlier, identity));
  expect(ends).toEqual([undefined, 5_000, 3_000, 4_000]);
  expect(addEarlierLife(earlier, "e", 99_999_999_999_999).length).toBeLessThanOrEqual(earlierLivesLengthMax);
});

test("a life is known by its parts, in whatever order they are named", () => {
  const earlier = addEarlierLife(undefined, "system=1 table=2", 1_000);
  expect(endOfLife(earlier, "table=2 system=1")).toBe(1_000);
  expect(endOfLife(earlier, "system=1 table=3")).toBeUndefined();
});
