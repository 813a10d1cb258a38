/**
 * Runs the test suites in turn and prints the minutes of each: `npm test`, or `npm test core text` for some of them.
 * The last line is `N passed, N failed`; a skipped test counts as failed, so that nothing is skipped in silence.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Minutes that each suite should stay below on two cores, everything fetched. A guide for readers of the table, not a
 * limit.
 */
const budgetMinutes: Readonly<Record<string, number>> = { core: 3, text: 1, proof: 4, stores: 5, clients: 4, http2: 5 };

interface Outcome {
  readonly suite: string;
  readonly minutes: number;
  readonly passed: number;
  readonly failed: number;
}

function runSuite(suite: string, folder: string): Outcome {
  const report = join(folder, `${suite}.json`);
  const startedMs = Date.now();
  const args = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--project",
    suite,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ];
  const exit = spawnSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  const minutes = (Date.now() - startedMs) / 60_000;
  let passed = 0;
  let failed = 0;
  try {
    const result = JSON.parse(readFileSync(report, "utf8"));
    passed = result.numPassedTests;
    failed = result.numTotalTests - result.numPassedTests;
  } catch {
    failed = 1;
  }
  // A suite can fail without a failed test: a file that does not load, an unhandled rejection, no test at all.
  if (exit.status !== 0 && failed === 0) failed = 1;
  return { suite, minutes, passed, failed };
}

const known = Object.keys(budgetMinutes);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((suite) => !known.includes(suite));
if (unknown.length > 0) {
  console.error(`No suite named ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "snowlane-suites-"));
const outcomes: Outcome[] = [];
try {
  for (const suite of wanted.length > 0 ? wanted : known) outcomes.push(runSuite(suite, folder));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log("\nsuite      minutes  budget  passed  failed");
for (const { suite, minutes, passed, failed } of outcomes) {
  const budget = (budgetMinutes[suite] ?? 0).toFixed(0);
  console.log(
    `${suite.padEnd(9)} ${minutes.toFixed(2).padStart(8)} ${budget.padStart(7)} ${String(passed).padStart(7)} ${String(failed).padStart(7)}`,
  );
}
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
