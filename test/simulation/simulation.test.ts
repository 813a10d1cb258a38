import { expect, test } from "vitest";
import { faultKinds, holderStates } from "./fault.ts";
import { regressionSeeds } from "./regression-seeds.ts";
import { runSeeds } from "./run-seeds.ts";
import { simulate } from "./simulation.ts";

/** What the run shows, for whoever reads its output. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Seeds of the suite; more by `npm run simulate`. */
const suiteSeeds = 2_000;

test("one seed gives one history", async () => {
  const hashes = new Set<string>();
  for (let round = 0; round < 3; round++) hashes.add((await simulate(4_711)).traceHash);
  expect(hashes.size).toBe(1);
  expect((await simulate(4_712)).traceHash).not.toBe([...hashes][0]);
});

test("seeds that once broke a promise keep it", async () => {
  for (const { seed } of regressionSeeds) expect((await simulate(seed)).violations, `seed ${seed}`).toEqual([]);
});

test("no seed breaks a promise, and every fault meets every state", { timeout: 900_000 }, async () => {
  const report = await runSeeds({ first: 100_000, count: suiteSeeds, processes: 2 });
  print(["fault".padEnd(22), ...holderStates.map((state) => state.padStart(10))].join(""));
  const never: string[] = [];
  for (const kind of faultKinds) {
    const counts = holderStates.map((state) => report.met.get(`${kind}/${state}`) ?? 0);
    print([kind.padEnd(22), ...counts.map((count) => String(count).padStart(10))].join(""));
    if (counts.includes(0)) never.push(kind);
  }
  print(`${report.seeds} seeds, ${report.issued} IDs`);
  expect(report.broken.slice(0, 5)).toEqual([]);
  expect(report.seeds).toBe(suiteSeeds);
  expect(never).toEqual([]);
});
