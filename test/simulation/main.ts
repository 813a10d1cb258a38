/**
 * Runs the simulation: `npm run simulate`, a million seeds by `npm run simulate -- --seeds 1000000`, one by `--seed
 * 4711`. A seed that breaks a promise is printed with the shortest list of faults that still breaks it, and how to run
 * it again. Exits with 1 then.
 *
 * `--mutants` looks for the first seed, of 10,000, that catches each mutant, and `--write` puts it into mutants.ts;
 * `--mutant NAME` does it for one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { faultKinds, holderStates } from "./fault.ts";
import { mutants } from "./mutants.ts";
import { runSeeds } from "./run-seeds.ts";
import { shrink } from "./shrink.ts";
import { counted, simulate } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20000" },
    first: { type: "string", default: "1" },
    seed: { type: "string" },
    processes: { type: "string", default: "2" },
    mutants: { type: "boolean" },
    mutant: { type: "string" },
    write: { type: "boolean" },
  },
});

/** Within so many seeds each mutant is to be caught. */
const mutantSeeds = 10_000;

async function searchMutant(name: string, write: boolean): Promise<void> {
  const run = { first: 1, count: mutantSeeds, processes: Number(values.processes), mutant: name, stopsAtFirst: true };
  const [first] = (await runSeeds(run)).broken;
  const found = first?.violations[0];
  console.log(`${name.padEnd(30)}${first === undefined ? "-" : `${first.seed} ${found?.promise}: ${found?.detail}`}`);
  if (!write) return;
  const path = new URL("mutants.ts", import.meta.url);
  const before = new RegExp(`(name: "${name}",\\n    caughtBySeed: )[^,]+`);
  writeFileSync(path, readFileSync(path, "utf8").replace(before, `$1${first?.seed}`));
}

if (values.mutants === true || values.mutant !== undefined) {
  for (const { name } of mutants) {
    if (values.mutant === undefined || values.mutant === name) await searchMutant(name, values.write === true);
  }
  process.exit(0);
}

async function explain(seed: number): Promise<void> {
  const { kept, violations } = await shrink(seed);
  console.log(`seed ${seed} breaks ${violations.length} promises with ${kept.length} faults:`);
  for (const fault of kept) console.log(`  ${JSON.stringify(fault)}`);
  for (const { promise, detail } of violations) console.log(`  ${promise}: ${detail}`);
  console.log(`  again: npm run simulate -- --seed ${seed}`);
}

if (values.seed !== undefined) {
  const outcome = await simulate(Number(values.seed));
  console.log(`seed ${outcome.seed}: ${outcome.issued} IDs, history ${outcome.traceHash}`);
  if (outcome.violations.length > 0) await explain(outcome.seed);
  process.exit(outcome.violations.length > 0 ? 1 : 0);
}
const count = Number(values.seeds);
const startedMs = performance.now();
const report = await runSeeds({
  first: Number(values.first),
  count,
  processes: Number(values.processes),
  onProgress: (done) => {
    if (!process.stderr.isTTY) return;
    const leftS = ((performance.now() - startedMs) / done) * (count - done) * 0.001;
    const bar = "#".repeat(Math.round((done / count) * 30)).padEnd(30, ".");
    process.stderr.write(`\r[${bar}] ${done} of ${count} seeds, ${leftS.toFixed(0)} s left `);
  },
});
if (process.stderr.isTTY) process.stderr.write("\n");
console.log(["fault".padEnd(22), ...holderStates.map((state) => state.padStart(10))].join(""));
for (const kind of faultKinds) {
  const cells = holderStates.map((state) => String(report.met.get(`${kind}/${state}`) ?? 0).padStart(10));
  console.log([kind.padEnd(22), ...cells].join(""));
}
for (const what of counted) console.log(`${what}: ${report.met.get(what) ?? 0}`);
console.log(`${report.seeds} seeds, ${report.issued} IDs, ${report.broken.length} broken seeds`);
for (const { seed } of report.broken.slice(0, 5)) await explain(seed);
process.exit(report.broken.length > 0 ? 1 : 0);
