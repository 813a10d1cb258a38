import { expect, test } from "vitest";
import { sized } from "../support/worlds/scale.ts";
import { dangers } from "./danger-watch.ts";
import { faultKinds, holderStates } from "./fault.ts";
import { regressionSeeds } from "./regression-seeds.ts";
import { runSeeds } from "./run-seeds.ts";
import { counted, simulate } from "./simulation.ts";

/** Prints a result of the run for people. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Seeds of the suite; the whole by `npm run all -- seeds`, more by `npm run simulate`. */
const suiteSeeds = sized(3_000, 30_000);
/** So often at least each fault must meet a holder in each state; the fewer the seeds, the more it varies. */
const meetingsMin = sized(75, 1_000);
/** Few seeds have these; a loss that does not show is the only loss of its seed. */
const rareMin = sized(10, 100);

test("one seed gives one history, in any process and whatever ran before it", async () => {
  let digest = 0;
  for (let seed = 4_711; seed < 4_731; seed++) digest ^= Number.parseInt((await simulate(seed)).traceHash, 16);
  expect((await runSeeds({ first: 4_711, count: 20, processes: 2 })).digest).toBe(digest);
  expect((await runSeeds({ first: 4_712, count: 20, processes: 1 })).digest).not.toBe(digest);
});

test("seeds that once broke a promise keep it", async () => {
  for (const { seed } of regressionSeeds) expect((await simulate(seed)).violations, `seed ${seed}`).toEqual([]);
});

test("no seed breaks a promise, and every fault meets every state", async () => {
  const report = await runSeeds({ first: 100_000, count: suiteSeeds, processes: 2 });
  const tooFew: string[] = [];
  print(["fault".padEnd(22), ...holderStates.map((state) => state.padStart(10))].join(""));
  for (const kind of faultKinds) {
    const counts = holderStates.map((state) => report.met.get(`${kind}/${state}`) ?? 0);
    print([kind.padEnd(22), ...counts.map((count) => String(count).padStart(10))].join(""));
    const enough = kind === "store-goes-back-unseen" ? rareMin : meetingsMin;
    if (counts.some((count) => count < enough)) tooFew.push(kind);
  }
  for (const what of counted) print(`${what}: ${report.met.get(what) ?? 0}`);
  print(`${report.seeds} seeds, ${report.issued} IDs`);
  expect(report.broken.slice(0, 5)).toEqual([]);
  expect(report.seeds).toBe(suiteSeeds);
  expect(tooFew).toEqual([]);
  expect(report.met.get("clone that lived") ?? 0).toBeGreaterThan(meetingsMin);
  expect(report.met.get("resumed") ?? 0).toBeGreaterThan(meetingsMin);
  expect(report.met.get("a copy started again from its copied record") ?? 0).toBeGreaterThan(rareMin);
  expect(report.met.get("an operator released a worker ID") ?? 0).toBeGreaterThan(rareMin);
  expect(report.met.get("a loss that did not show took a worker record back") ?? 0).toBeGreaterThan(meetingsMin);
  // The moments for which the protocol has its rules.
  expect(dangers.filter((danger) => (report.met.get(danger) ?? 0) < meetingsMin)).toEqual([]);
});
