import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { presetLayout } from "../../src/snowflake/presets.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";
import { IssuedRuns } from "../support/worlds/issued-runs.ts";

/** The checker of the checker: what it must find, planted where it is hardest to see. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-issued-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Record {
  readonly firstId: bigint;
  readonly count: number;
}

function writeLog(name: string, records: readonly Record[], strideBits = 0): string {
  const bytes = Buffer.alloc(records.length * 16);
  let at = 0;
  for (const { firstId, count } of records) {
    at = bytes.writeBigUInt64BE(firstId, at);
    at = bytes.writeUInt32BE(count, at);
    at = bytes.writeUInt32BE(strideBits, at);
  }
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

function read(...paths: readonly string[]): IssuedRuns {
  const runs = new IssuedRuns();
  for (const path of paths) runs.addLog(path);
  return runs;
}

/** IDs of 64 workers, ten million in all, in the order in which they would be issued; some in runs. */
function tenMillion(): Record[] {
  const { timestamp, worker } = presetLayout("twitter");
  const records: Record[] = [];
  const random = new SeededRandom(1);
  for (let ticks = 0, idCount = 0; idCount < 10_000_000; ticks += 1) {
    for (let index = 0; index < 64 && idCount < 10_000_000; index += 1) {
      const firstId = (BigInt(ticks) << BigInt(timestamp.shift)) | (BigInt(index) << BigInt(worker.shift));
      const count = Math.min(random.oneIn(2) ? 1 : 1 + random.below(40), 10_000_000 - idCount);
      records.push({ firstId, count });
      idCount += count;
    }
  }
  return records;
}

describe("among ten million IDs in two logs", () => {
  let records: Record[];
  let paths: readonly [string, string];
  beforeAll(() => {
    records = tenMillion();
    const half = records.length / 2;
    paths = [writeLog("one", records.slice(0, half)), writeLog("other", records.slice(half))];
  });

  test("none is found twice where none is", () => {
    const runs = read(...paths);
    expect([runs.idCount, runs.countRepeated(), runs.findRepeated()]).toEqual([10_000_000, 0, undefined]);
  });

  test("one that is planted is found: in the same log, in the other one, and in the middle of a run", () => {
    const long = records.findIndex(({ count }) => count > 10);
    const planted: readonly (readonly [string, bigint])[] = [
      ["same", records[0]!.firstId],
      ["across", records.at(-1)!.firstId],
      ["within", records[long]!.firstId + 5n],
    ];
    for (const [name, id] of planted) {
      const runs = read(...paths, writeLog(name, [{ firstId: id, count: 1 }]));
      expect([name, runs.countRepeated(), runs.findRepeated()]).toEqual([name, 1, id]);
    }
  });
});

test("every way in which two runs can overlap is found, and counted to the ID", () => {
  const cases: readonly (readonly [Record, Record, number])[] = [
    [{ firstId: 100n, count: 10 }, { firstId: 110n, count: 10 }, 0],
    [{ firstId: 100n, count: 10 }, { firstId: 109n, count: 10 }, 1],
    [{ firstId: 100n, count: 10 }, { firstId: 91n, count: 10 }, 1],
    [{ firstId: 100n, count: 10 }, { firstId: 103n, count: 4 }, 4],
    [{ firstId: 100n, count: 10 }, { firstId: 100n, count: 10 }, 10],
    [{ firstId: 2n ** 63n - 1n, count: 1 }, { firstId: 2n ** 63n - 1n, count: 1 }, 1],
  ];
  for (const [one, other, repeated] of cases) {
    const runs = new IssuedRuns();
    for (const run of [one, other]) runs.add({ ...run, stride: 1n });
    expect([one, other, runs.countRepeated()]).toEqual([one, other, repeated]);
    expect(runs.findRepeated() === undefined).toBe(repeated === 0);
  }
});

test("random runs: what it counts is what a set of all IDs counts, with and without a stride", () => {
  const random = new SeededRandom(7);
  for (let round = 0; round < 400; round += 1) {
    const strideBits = random.pick([0, 3]);
    const stride = 1n << BigInt(strideBits);
    const runs = new IssuedRuns();
    const ids: bigint[] = [];
    for (let index = random.below(12); index >= 0; index -= 1) {
      const run = { firstId: BigInt(random.below(300)), count: 1 + random.below(6), stride };
      runs.add(run);
      for (let step = 0n; step < run.count; step += 1n) ids.push(run.firstId + step * stride);
    }
    expect([round, runs.idCount, runs.countRepeated()]).toEqual([round, ids.length, ids.length - new Set(ids).size]);
    const found = runs.findRepeated();
    if (found !== undefined) expect(ids.filter((id) => id === found).length).toBeGreaterThan(1);
  }
});

test("an ID that a client has and the log has not is named", () => {
  const log = read(
    writeLog("partial", [
      { firstId: 100n, count: 10 },
      { firstId: 110n, count: 5 },
    ]),
  );
  const client = new IssuedRuns();
  client.addIds([100n, 101n, 108n, 109n, 110n, 111n], 0);
  expect(client.findMissingFrom(log)).toBeUndefined();
  client.addIds([115n], 0);
  expect(client.findMissingFrom(log)).toBe(115n);
  client.addIds([7n], 0);
  expect(client.findMissingFrom(log)).toBe(7n);
});

test("a log that ends within a record is refused", () => {
  const path = join(folder, "torn");
  writeFileSync(path, Buffer.alloc(24));
  expect(() => read(path)).toThrow("ends within a record");
});
