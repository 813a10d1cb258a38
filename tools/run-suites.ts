/**
 * Runs the test suites in turn and prints the minutes of each: `npm test`, or `npm test core text` for some of them.
 * Before the last line, `N passed, N failed`, every failure is named again. A skipped test counts as failed, so that
 * nothing is skipped in silence.
 *
 * A test that failed gets one second try, alone with its file, and is named even if it then passes: real servers on a
 * busy machine are late now and then. Uniqueness gets no second try: see {@link mayTryAgain}.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../test/support/processes/run-program.ts";
import { type Failure, type Run, runVitest, tell } from "./run-vitest.ts";
import { readTestSuites } from "./test-suites.ts";

/** The suites of `npm test` in their order, with the minutes that each should stay below. */
const known = new Map(
  readTestSuites().flatMap(({ name, budgetMinutes }) =>
    budgetMinutes === undefined ? [] : [[name, budgetMinutes] as const],
  ),
);
const names = [...known.keys()];
/** More files than these have not failed by chance. */
const secondTryFilesMax = 3;

interface Outcome extends Run {
  readonly suite: string;
  readonly minutes: number;
  /** Tests that failed at first and passed when they were run again. */
  readonly late: readonly Failure[];
}

function isOfUniqueness({ test, message }: Failure): boolean {
  return test === undefined || /twice|duplicate|repeat|unique|distinct/i.test(`${test} ${message}`);
}

/** Whether what failed may be late servers, and not the one promise that must never fail even once. */
function mayTryAgain(suite: string, failures: readonly Failure[]): boolean {
  const files = new Set(failures.map(({ file }) => file));
  return suite !== "proof" && files.size <= secondTryFilesMax && !failures.some(isOfUniqueness);
}

function runSuite(suite: string, folder: string): Outcome {
  const startedMs = Date.now();
  const first = runVitest(suite, ["run"], join(folder, `${suite}.json`));
  let { passed, failures } = first;
  let late: readonly Failure[] = [];
  if (failures.length > 0 && mayTryAgain(suite, failures)) {
    const files = [...new Set(failures.map(({ file }) => file))];
    console.log(`\nA second try: ${files.join(" ")}\n`);
    const again = runVitest(suite, ["run", ...files], join(folder, `${suite}-again.json`));
    late = failures.filter(({ file, test }) => !again.failures.some((one) => one.file === file && one.test === test));
    passed += late.length;
    failures = again.failures;
  }
  return { suite, minutes: (Date.now() - startedMs) / 60_000, passed, failures, late };
}

function runSuites(suites: readonly string[]): number {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-suites-"));
  const outcomes: Outcome[] = [];
  try {
    for (const suite of suites) outcomes.push(runSuite(suite, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const late = outcomes.flatMap((outcome) => outcome.late);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  if (late.length > 0) console.log("\nPassed only at the second try, which is a fault to be found:");
  late.forEach(tell);
  if (failures.length > 0) console.log("\nFailed:");
  failures.forEach(tell);
  console.log("\nsuite      minutes  budget  passed  failed");
  for (const { suite, minutes, passed, failures: failed } of outcomes) {
    const budget = String(known.get(suite) ?? "");
    console.log(
      `${suite.padEnd(9)} ${minutes.toFixed(2).padStart(8)} ${budget.padStart(7)} ${String(passed).padStart(7)} ${String(failed.length).padStart(7)}`,
    );
  }
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  console.log(`\n${passed} passed, ${failures.length} failed`);
  return failures.length === 0 && passed > 0 ? 0 : 1;
}

await runProgram({
  call: "npm test --",
  summary: "Runs the test suites in turn",
  options: {},
  words: { placeholder: "[SUITE...]", doc: `Some of them: ${names.join(", ")}.`, known: names },
  examples: ["npm test", "npm test -- stores http2"],
  run: async (_, wanted) => runSuites(wanted.length > 0 ? wanted : names),
});
