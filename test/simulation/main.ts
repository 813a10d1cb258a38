/**
 * Runs the simulation: `npm run simulate`, a million seeds by `npm run simulate -- --seeds 1000000`, one by `--seed
 * 4711`. A seed that breaks a promise is printed with the shortest list of faults that still breaks it, and how to run
 * it again. Exits with 1 then.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { choice, integer, onOff } from "../../src/config/setting-kinds.ts";
import { type SettingValues, withFallback } from "../../src/config/setting.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { faultKinds, holderStates } from "./fault.ts";
import { runMoveHistory } from "./move-history.ts";
import type { Mutant } from "./mutant.ts";
import { mutants } from "./mutants.ts";
import { runSeeds, type SeedReport } from "./run-seeds.ts";
import { shrink } from "./shrink.ts";
import { counted, simulate } from "./simulation.ts";
import { type TraceEvent, traceLine } from "./trace-event.ts";

/** Within this many seeds each mutant is to be caught. */
const mutantSeeds = 10_000;

const options = {
  seeds: withFallback(integer({ name: "seeds", min: 1, max: 1e9, doc: "How many seeds." }), 20_000),
  first: withFallback(integer({ name: "first", min: 0, max: 1e9, doc: "The first of them." }), 1),
  seed: integer({ name: "seed", min: 0, max: 2e9, doc: "This one alone, with its shortest list of faults." }),
  processes: withFallback(integer({ name: "processes", min: 1, max: 64, doc: "How many seeds run at once." }), 2),
  trace: onOff({ name: "trace", doc: "With --seed: prints what happens, one line an event." }),
  moves: onOff({ name: "moves", doc: "The seeds of histories in which a namespace moves between two stores." }),
  mutants: onOff({ name: "mutants", doc: `The first seed, of ${mutantSeeds}, that catches each mutant.` }),
  mutant: choice({
    name: "mutant",
    placeholder: "NAME",
    words: mutants.map(({ name }) => name),
    doc: "The same for one mutant.",
  }),
  write: onOff({ name: "write", doc: "Writes what --mutants or --mutant finds into the files of mutants." }),
};
type Options = SettingValues<typeof options>;

async function searchMutant({ name, world }: Mutant, { processes, write }: Options): Promise<void> {
  const run = { first: 1, count: mutantSeeds, processes, mutant: name, world, stopsAtFirst: true };
  const [first] = (await runSeeds(run)).broken;
  const found = first?.violations[0];
  console.log(`${name.padEnd(30)}${first === undefined ? "-" : `${first.seed} ${found?.promise}: ${found?.detail}`}`);
  if (!write) return;
  const before = new RegExp(`(name: "${name}",\\n    caughtBySeed: )[^,]+`);
  for (const path of globSync(join(import.meta.dirname, "*-mutants.ts"))) {
    writeFileSync(path, readFileSync(path, "utf8").replace(before, `$1${first?.seed}`));
  }
}

async function explain(seed: number): Promise<void> {
  const { kept, violations } = await shrink(seed);
  console.log(`seed ${seed} breaks ${violations.length} promises with ${kept.length} faults:`);
  for (const fault of kept) console.log(`  ${JSON.stringify(fault)}`);
  for (const { promise, detail } of violations) console.log(`  ${promise}: ${detail}`);
  console.log(`  again: npm run simulate -- --seed ${seed}`);
}

async function runOne(seed: number, { moves: isMove, trace }: Options): Promise<number> {
  const sink = trace ? (event: TraceEvent) => console.log(traceLine(event)) : undefined;
  const outcome = isMove ? await runMoveHistory(seed) : await simulate(seed, { sink });
  console.log(`seed ${outcome.seed}: ${outcome.issued} IDs, history ${outcome.traceHash}`);
  if (isMove) for (const { promise, detail } of outcome.violations) console.log(`  ${promise}: ${detail}`);
  else if (outcome.violations.length > 0) await explain(outcome.seed);
  return outcome.violations.length > 0 ? 1 : 0;
}

async function runMany({ seeds: count, first, processes, moves }: Options): Promise<number> {
  const startedMs = performance.now();
  const report = await runSeeds({
    first,
    count,
    processes,
    world: moves ? "moves" : "one store",
    onProgress: (done) => {
      if (!process.stderr.isTTY) return;
      const leftS = ((performance.now() - startedMs) / done) * (count - done) * 0.001;
      const bar = "#".repeat(Math.round((done / count) * 30)).padEnd(30, ".");
      process.stderr.write(`\r[${bar}] ${done} of ${count} seeds, ${leftS.toFixed(0)} s left `);
    },
  });
  if (process.stderr.isTTY) process.stderr.write("\n");
  if (moves) printMoves(report);
  else await printFaults(report);
  return report.broken.length > 0 ? 1 : 0;
}

function printMoves({ met, seeds, issued, broken }: SeedReport): void {
  for (const [what, count] of [...met].toSorted(([one], [other]) => one.localeCompare(other)))
    console.log(`${what}: ${count}`);
  console.log(`${seeds} seeds, ${issued} IDs, ${broken.length} broken seeds`);
  for (const { seed, violations } of broken.slice(0, 5)) {
    console.log(`seed ${seed} breaks ${violations[0]?.promise}: ${violations[0]?.detail}`);
    console.log(`  again: npm run simulate -- --moves --seed ${seed}`);
  }
}

async function printFaults(report: SeedReport): Promise<void> {
  console.log(["fault".padEnd(22), ...holderStates.map((state) => state.padStart(10))].join(""));
  for (const kind of faultKinds) {
    const cells = holderStates.map((state) => String(report.met.get(`${kind}/${state}`) ?? 0).padStart(10));
    console.log([kind.padEnd(22), ...cells].join(""));
  }
  for (const what of counted) console.log(`${what}: ${report.met.get(what) ?? 0}`);
  console.log(`${report.seeds} seeds, ${report.issued} IDs, ${report.broken.length} broken seeds`);
  for (const { seed } of report.broken.slice(0, 5)) await explain(seed);
}

await runProgram({
  call: "npm run simulate --",
  summary: "Runs the protocol over simulated clocks, network, store and disk, under faults",
  options,
  examples: [
    "npm run simulate -- --seeds 1000000",
    "npm run simulate -- --seed 22 --trace",
    "npm run simulate -- --moves",
  ],
  run: async (given) => {
    const searched = mutants.filter(({ name }) => given.mutants || name === given.mutant);
    for (const mutant of searched) await searchMutant(mutant, given);
    if (searched.length > 0) return 0;
    return given.seed === undefined ? await runMany(given) : await runOne(given.seed, given);
  },
});
