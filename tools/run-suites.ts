/**
 * Runs the test suites: `npm test`, or `npm test core text` for some of them. Two suites run at a time, the longest
 * first and core last, since most tests wait for a server now and then. At the end come the slowest files, the minutes
 * of each suite and every failure, whole; the last line is `N passed, N failed`. A skipped test counts as failed, so
 * that nothing is skipped in silence.
 *
 * A test that failed gets one second try, alone with its file, and is named even if it then passes: real servers on a
 * busy machine are late now and then. Uniqueness gets no second try: see {@link filesToTryAgain}.
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemClock } from "../src/clock/clock.ts";
import { onOff } from "../src/config/setting-kinds.ts";
import { bundledVariable } from "../test/support/processes/server-bundle.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { changedSuites } from "./suites/changed-suites.ts";
import { closingLines, type Outcome } from "./suites/closing-report.ts";
import { describeMissing, missingNeeds } from "./suites/machine-needs.ts";
import { Progress } from "./suites/progress.ts";
import { type Run, runVitest } from "./suites/run-vitest.ts";
import { filesToTryAgain, withSecondTry } from "./suites/second-try.ts";
import { makeTemporaryFolder } from "./suites/temporary-folder.ts";
import { readTestSuites, type TestSuite } from "./test-suites.ts";

const suites = readTestSuites().filter(({ budgetMinutes }) => budgetMinutes !== undefined);
const names = suites.map(({ name }) => name);
/** Where the output of vitest goes; of the last run. */
const outputFolder = ".test-output";
/**
 * Node keeps the compiled form of each file here. The tests start thousands of processes, which without it strip the
 * types of the same files and compile them again and again: 40 % of the processor time of test/cli.
 */
const compiledFolder = resolve(outputFolder, "compiled");
/** Suites that run at once. */
const lanes = 2;
const tickMs = 60_000;
const terminalTickMs = 1_000;

/** No run hangs: a suite is ended, and fails, when it has taken so long. */
function minutesMaxOf({ budgetMinutes = 0 }: TestSuite): number {
  return 15 + 4 * budgetMinutes;
}

const nowMs = (): number => systemClock.monotonicMs();
const progress = new Progress(process.stdout, nowMs);

function runOne(suite: TestSuite, files: readonly string[], isAgain: boolean): Promise<Run> {
  const { name } = suite;
  progress.begin(name, files.length);
  return runVitest({
    suite: name,
    command: ["run", ...(isAgain ? files : [])],
    files,
    outputPath: join(outputFolder, `${name}${isAgain ? "-again" : ""}.txt`),
    // Made before this run, and the same for all of it.
    env: { [bundledVariable]: "1", NODE_COMPILE_CACHE: compiledFolder },
    minutesMax: minutesMaxOf(suite),
    onEvent: (event) => progress.take(name, event),
  }).finally(() => progress.end(name));
}

/** The longest suites come first. `core` waits least, so it uses both processors when it is the only one left. */
function priorityOf({ name, budgetMinutes = 0 }: TestSuite): number {
  return name === "core" ? 0 : budgetMinutes;
}

/** Runs the suites, each as soon as a lane is free. */
async function runAll(chosen: readonly TestSuite[]): Promise<readonly Outcome[]> {
  const waiting = chosen.toSorted((a, b) => priorityOf(b) - priorityOf(a));
  const outcomes: Outcome[] = [];
  const runLane = async (): Promise<void> => {
    for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift()) {
      const startedMs = nowMs();
      const run = await runOne(suite, suite.files, false);
      const { name, budgetMinutes } = suite;
      outcomes.push({ ...run, suite: name, budgetMinutes, late: [], minutes: (nowMs() - startedMs) / 60_000 });
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return outcomes;
}

/** When nothing else runs any more. */
async function tryAgain(outcome: Outcome): Promise<Outcome> {
  const files = filesToTryAgain(outcome.suite, outcome.failures);
  const suite = suites.find(({ name }) => name === outcome.suite);
  if (files.length === 0 || suite === undefined) return outcome;
  process.stdout.write(`${outcome.suite}: a second try of ${files.join(" ")}\n`);
  return { ...outcome, ...withSecondTry(outcome, await runOne(suite, files, true)) };
}

async function runSuites(chosen: readonly TestSuite[]): Promise<number> {
  const missing = await missingNeeds(chosen.map(({ name }) => name));
  if (missing.length > 0) {
    const lacking = describeMissing(
      missing,
      chosen.map(({ name }) => name),
    );
    process.stdout.write(`${lacking}\n0 passed, ${missing.length} failed\n`);
    return 1;
  }
  mkdirSync(outputFolder, { recursive: true });
  // For every process from here on.
  process.env["TMPDIR"] = makeTemporaryFolder();
  const startedMs = nowMs();
  const ticking = setInterval(() => progress.tick(), process.stdout.isTTY ? terminalTickMs : tickMs);
  const outcomes: Outcome[] = [];
  for (const outcome of await runAll(chosen)) outcomes.push(await tryAgain(outcome));
  clearInterval(ticking);
  const inOrder = outcomes.toSorted((a, b) => names.indexOf(a.suite) - names.indexOf(b.suite));
  process.stdout.write(`${closingLines(inOrder, (nowMs() - startedMs) / 60_000).join("\n")}\n`);
  return inOrder.every(({ passed, failures }) => passed > 0 && failures.length === 0) ? 0 : 1;
}

await runProgram({
  call: "npm test --",
  summary: "Runs the test suites",
  options: { changed: onOff({ name: "changed", doc: "The suites that files changed since main belong to." }) },
  words: { placeholder: "[SUITE...]", doc: `Some of them: ${names.join(", ")}.`, known: names },
  examples: ["npm test", "npm test -- stores http2", "npm test -- --changed"],
  run: async ({ changed }, wanted) => {
    const chosen = [...wanted, ...(changed ? changedSuites(suites) : [])];
    if (changed && chosen.length === 0) {
      process.stdout.write("No file differs from main.\n");
      return 0;
    }
    return await runSuites(chosen.length > 0 ? suites.filter(({ name }) => chosen.includes(name)) : suites);
  },
});
