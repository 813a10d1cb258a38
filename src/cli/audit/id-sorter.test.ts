import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { IdSorter } from "./id-sorter.ts";

/** IDs with repeats, in no order: a generator whose numbers are the same each time. */
function someIds(count: number): readonly bigint[] {
  let state = 88_172_645_463_325_252n;
  return Array.from({ length: count }, () => {
    state = BigInt.asUintN(64, state ^ (state << 13n));
    state ^= state >> 7n;
    state = BigInt.asUintN(64, state ^ (state << 17n));
    return (state >> 1n) % 5_003n === 0n ? 2n ** 63n - 1n : ((state >> 20n) % 700n) << 40n;
  });
}

function countRepeated(ids: readonly bigint[]): readonly (readonly [bigint, number])[] {
  const counts = new Map<bigint, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

test.each([
  ["in memory", 10_000],
  ["of one chunk exactly", 2_000],
  ["of four chunks", 501],
  ["of 667 chunks", 3],
])("the IDs that came more than once are found with their counts, %s", (_how, chunkIds) => {
  const ids = someIds(2_000);
  const sorter = new IdSorter(tmpdir(), chunkIds);
  for (const id of ids) sorter.add(id);
  const repeated = Array.from(sorter.repeated(), ({ id, count }) => [id, count] as const);
  sorter.close();
  expect(repeated).toEqual(countRepeated(ids));
  expect(repeated.length).toBeGreaterThan(300);
});

test("IDs that differ, none and one have no repeats", () => {
  for (const ids of [[], [5n], [2n ** 32n, 1n, 2n ** 32n + 1n, 0n]]) {
    const sorter = new IdSorter(tmpdir(), 2);
    for (const id of ids) sorter.add(id);
    expect([...sorter.repeated()]).toEqual([]);
    sorter.close();
  }
});

test("the file has no name while it is used, so that a process that is killed leaves nothing", () => {
  const sorter = new IdSorter(tmpdir(), 2);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`snowlane-audit-${process.pid}`))).toEqual([]);
  sorter.close();
});
