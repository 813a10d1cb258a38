import { expect, test } from "vitest";
import { runSeeds } from "./run-seeds.ts";

/** Apart from the seeds in which the mutants were searched. */
const seeds = { first: 20_000, count: 400 };

/** Seeds that once showed a fault of the move: two operators at once, of whom one took it back, broke an invariant. */
const regressionSeeds = [66, 359];

const deaths = ["claims", "closes", "watches", "gives", "copies", "opens", "notes where it went", "bars", "reopens"];

/** Each moment for which the move has its rules, and how often the seeds meet it at least. */
const wanted: Readonly<Record<string, number>> = {
  ...Object.fromEntries(deaths.map((step) => [`an operator died while it ${step}`, 5])),
  "an operator stood still": 100,
  moved: 400,
  "moved back": 100,
  abandoned: 200,
  held: 1_000,
  "was-moved": 20,
  "a holder woke up after its store was left": 60,
  "a start while the store is arriving": 100,
  "a start while the store is leaving": 200,
  "a start while the store is left": 200,
  "a start while the store is abandoned": 60,
  "a write without an answer was found standing": 50,
  raised: 100,
  "an operator died while it raises": 5,
  "a store went back": 50,
  "a start with a pinned worker ID": 100,
  "a claim of the past": 10,
  "a claim of the past that was refused": 500,
};

test("no move of a namespace breaks a promise, at whatever point its operator dies", async () => {
  for (const seed of regressionSeeds) {
    expect((await runSeeds({ first: seed, count: 1, processes: 1, world: "moves" })).broken).toEqual([]);
  }
  const report = await runSeeds({ ...seeds, processes: 2, world: "moves" });
  expect(report.broken).toEqual([]);
  const rare = Object.entries(wanted).filter(([what, atLeast]) => (report.met.get(what) ?? 0) < atLeast);
  expect(rare, JSON.stringify([...report.met])).toEqual([]);
});

test("one seed of a move is one history", async () => {
  const again = { first: 7, count: 5, processes: 1, world: "moves" } as const;
  expect((await runSeeds(again)).digest).toBe((await runSeeds({ ...again, processes: 2 })).digest);
});
