import { expect, test } from "vitest";
import { type IdRun, idsOf, writeRun } from "./run.ts";

function readBack(target: Uint32Array): bigint[] {
  const ids: bigint[] = [];
  for (let at = 0; at < target.length; at += 2) ids.push(BigInt(target[at]!) | (BigInt(target[at + 1]!) << 32n));
  return ids;
}

test.each<[string, IdRun]>([
  ["one ID", { firstId: 7n, count: 1, stride: 1n }],
  ["a run", { firstId: 2n ** 62n, count: 100, stride: 1n }],
  ["a stride of 2^16", { firstId: 5n, count: 256, stride: 65_536n }],
  ["a carry into the upper half", { firstId: 2n ** 32n - 2n, count: 5, stride: 1n }],
  ["a carry at each step", { firstId: 2n ** 32n - 1n, count: 5, stride: 2n ** 32n - 1n }],
  ["a stride above the lower half", { firstId: 3n, count: 8, stride: 2n ** 40n + 1n }],
  ["the highest ID", { firstId: 2n ** 63n - 3n, count: 3, stride: 1n }],
])("writing %s is listing it", (_, run) => {
  const target = new Uint32Array(run.count * 2 + 4);
  expect(writeRun(run, target, 2)).toBe(run.count * 2 + 2);
  expect(readBack(target).slice(1, -1)).toEqual([...idsOf([run])]);
  expect(target[0]).toBe(0);
  expect(target.at(-1)).toBe(0);
});

test("runs are listed one after the other", () => {
  const runs = [
    { firstId: 1n, count: 2, stride: 10n },
    { firstId: 100n, count: 1, stride: 10n },
  ];
  expect([...idsOf(runs)]).toEqual([1n, 11n, 100n]);
});

test("pairs of halves are the packed fixed64 of protobuf on a little-endian machine", () => {
  const target = new Uint32Array(4);
  writeRun({ firstId: 0x0102_0304_0506_0708n, count: 2, stride: 1n }, target, 0);
  const view = new DataView(new ArrayBuffer(16));
  target.forEach((half, index) => {
    view.setUint32(index * 4, half, true);
  });
  expect(view.getBigUint64(0, true)).toBe(0x0102_0304_0506_0708n);
  expect(view.getBigUint64(8, true)).toBe(0x0102_0304_0506_0709n);
});
