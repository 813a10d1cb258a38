/**
 * One process of shown.test.ts: loads the sources as they are, with a rule taken out of them, or with all switches in
 * them, and writes what came of some runs as JSON.
 */
import { registerHooks } from "node:module";
import { patched } from "../mutant.ts";
import type { SwitchedRule } from "./rule-names.ts";
import { assertion, mutantOf, withSwitches } from "./rule-switches.ts";
import type { ShownRun } from "./run-link.ts";

/** The work of a lane. */
export interface HashWork {
  readonly sources: "plain" | "patched" | "switched";
  readonly rule: SwitchedRule | undefined;
  /** The histories that these seeds draw. */
  readonly seeds: readonly number[];
  readonly runs: readonly ShownRun[];
}

/** What came of a run. */
export interface HashOutcome {
  readonly hash: string;
  readonly violations: readonly string[];
}

const work = JSON.parse(process.argv[2] ?? "") as HashWork;
// Errors are made by the thousand here, and nobody reads where.
Error.stackTraceLimit = 0;
// A protocol without one of its rules may come to grief.
process.on("unhandledRejection", () => {});

const mutant = work.rule === undefined ? undefined : mutantOf(work.rule);
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (work.sources === "plain" || !url.includes("/src/")) return loaded;
    const text = Buffer.from((loaded.source ?? "") as string).toString("utf8");
    if (work.sources === "switched") return { ...loaded, source: withSwitches(url, text) };
    const patches = mutant === undefined ? [] : [{ ...assertion, replace: "if (false)" }, mutant];
    return { ...loaded, source: patches.filter(({ file }) => url.endsWith(`/${file}`)).reduce(patched, text) };
  },
});
if (work.sources === "switched") globalThis.removedRule = work.rule;

const { simulate } = await import("../simulation.ts");
const { calmScenario } = await import("./calm.ts");
const outcomes: HashOutcome[] = [];
async function run(seed: number, options?: Parameters<typeof simulate>[1]): Promise<void> {
  try {
    const { traceHash, violations } = await simulate(seed, options);
    outcomes.push({ hash: traceHash, violations: violations.map(({ promise }) => promise) });
  } catch (error) {
    outcomes.push({ hash: String(error), violations: [] });
  }
}
for (const seed of work.seeds) await run(seed);
for (const { seed, store, faults } of work.runs) await run(seed, { scenario: calmScenario(seed, store, faults) });
process.stdout.write(JSON.stringify(outcomes));
