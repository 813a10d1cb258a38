/**
 * One process of a run of seeds: started by run-seeds.ts with its options as JSON; writes a line of JSON for every
 * hundred seeds.
 */
import { registerHooks } from "node:module";
import { type Mutant, patched } from "./mutant.ts";
import { mutants } from "./mutants.ts";
import type { BrokenSeed, SeedRun } from "./run-seeds.ts";
import type { Outcome } from "./simulation.ts";

const options = JSON.parse(process.argv[2] ?? "") as SeedRun & { readonly lane: number };
const mutant = mutants.find(({ name }) => name === options.mutant);
// Errors are made by the million here, and nobody reads where.
Error.stackTraceLimit = 0;

/**
 * Replaces text in a source while it is loaded. With a mutant, the code's own assertions are off: the outside checker
 * must see it alone.
 */
function patchSource(patch: Pick<Mutant, "file" | "find" | "replace">): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/${patch.file}`)) return loaded;
      const text = Buffer.from((loaded.source ?? "") as string).toString("utf8");
      return { ...loaded, source: patched(text, patch) };
    },
  });
}

if (options.mutant !== undefined) {
  patchSource({ file: "src/assert.ts", find: "if (!condition)", replace: "if (false)" });
  if (mutant === undefined) throw new Error(`There is no mutant ${options.mutant}.`);
  patchSource(mutant);
}
const runHistory =
  options.world === "moves"
    ? (await import("./move-history.ts")).runMoveHistory
    : (await import("./simulation.ts")).simulate;

/** A mutant is caught by what it issues, not by being unable to, nor by coming to grief. */
function isSeenOutside({ promise }: { readonly promise: string }): boolean {
  return promise !== "L" && promise !== "X";
}

const reportEvery = 100;
let report = emptyReport();

function emptyReport() {
  return { seeds: 0, issued: 0, digest: 0, broken: [] as BrokenSeed[], met: new Map<string, number>() };
}

function flush(): void {
  process.stdout.write(`${JSON.stringify({ ...report, met: [...report.met] })}\n`);
  report = emptyReport();
}

/** Errors of the code under test that it did not catch: a broken invariant, a circle, a fault of its own. */
let thrown: unknown;
process.on("unhandledRejection", (cause) => {
  thrown ??= cause;
});

async function runSeed(seed: number): Promise<BrokenSeed & Pick<Outcome, "issued" | "met">> {
  thrown = undefined;
  try {
    const outcome = await runHistory(seed);
    if (thrown === undefined) return outcome;
  } catch (cause) {
    thrown ??= cause;
  }
  const detail = `threw ${String(thrown)}`;
  return { seed, traceHash: "0", issued: 0, met: new Map(), violations: [{ promise: "X", detail }] };
}

for (let seed = options.first + options.lane; seed < options.first + options.count; seed += options.processes) {
  const outcome = await runSeed(seed);
  const { traceHash, issued, met } = outcome;
  const violations = outcome.violations.filter((each) => options.mutant === undefined || isSeenOutside(each));
  report.seeds += 1;
  report.issued += issued;
  report.digest ^= Number.parseInt(traceHash, 16);
  for (const [key, count] of met) report.met.set(key, (report.met.get(key) ?? 0) + count);
  if (violations.length > 0) report.broken.push({ seed, traceHash, violations });
  if (violations.length > 0 && options.stopsAtFirst === true) break;
  if (report.seeds >= reportEvery) flush();
}
flush();
