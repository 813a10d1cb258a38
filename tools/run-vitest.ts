import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, relative } from "node:path";

/** A test that did not pass. */
export interface Failure {
  readonly file: string;
  /** Undefined where the file itself did not load, or the run ended with an error outside of any test. */
  readonly test: string | undefined;
  readonly message: string;
}

/** What a run of tests came to. */
export interface Run {
  readonly passed: number;
  readonly failures: readonly Failure[];
}

/** The output of vitest's JSON reporter, as far as it is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
      readonly duration?: number | null;
    }[];
  }[];
}

function failuresOf({ testResults }: Report): Failure[] {
  return testResults.flatMap(({ name, status, message, assertionResults }): Failure[] => {
    const file = relative(process.cwd(), name);
    const failed = assertionResults.filter((result) => result.status !== "passed");
    if (failed.length === 0 && status !== "passed") return [{ file, test: undefined, message }];
    return failed.map((result) => ({
      file,
      test: result.fullName.trim(),
      message: result.failureMessages?.[0] ?? `it was ${result.status}`,
    }));
  });
}

/**
 * Runs tests of a suite, with their output on this terminal.
 *
 * @param command - Of vitest: `run`, with files if it is for some of them, and a reporter in the place of the default.
 * @param reportPath - Where vitest writes what it found.
 * @param env - Laid over `process.env`.
 */
export function runVitest(
  suite: string,
  command: readonly string[],
  reportPath: string,
  env: Readonly<Record<string, string>> = {},
): Run {
  const isTold = command.some((word) => word.startsWith("--reporter="));
  const args = ["node_modules/vitest/vitest.mjs", ...command, "--project", suite];
  const report = [...(isTold ? [] : ["--reporter=default"]), "--reporter=json", `--outputFile.json=${reportPath}`];
  const exit = spawnSync(process.execPath, [...args, ...report], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  let result: Report;
  try {
    result = JSON.parse(readFileSync(reportPath, "utf8"));
  } catch (error) {
    return { passed: 0, failures: [{ file: suite, test: undefined, message: `no report: ${String(error)}` }] };
  }
  const results = result.testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = results.filter(({ status }) => status === "passed").length;
  const failures = failuresOf(result);
  if (failures.length === 0 && (exit.status !== 0 || passed === 0)) {
    // A run can fail without a failed test: an unhandled rejection, or no test at all.
    const message = `vitest ended with ${exit.status ?? exit.signal}; its own output above says why`;
    return { passed, failures: [{ file: suite, test: undefined, message }] };
  }
  return { passed, failures };
}

/** Every test of a report with its seconds, below the name of its file; no line where there is no report. */
export function testLines(reportPath: string): readonly string[] {
  if (!existsSync(reportPath)) return [];
  const { testResults }: Report = JSON.parse(readFileSync(reportPath, "utf8"));
  const files = testResults.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return files.flatMap(({ name, assertionResults }) => {
    const tests = assertionResults.map(({ ancestorTitles, title, status, duration }) => {
      const seconds = ((duration ?? 0) / 1_000).toFixed(1);
      return `${status === "passed" ? "✓" : "✗"} ${[...ancestorTitles, title].filter(Boolean).join(" > ")} (${seconds} s)`;
    });
    return [basename(name)].concat(tests);
  });
}

/** Prints where a test failed, and the beginning of why. */
export function tell({ file, test, message }: Failure): void {
  console.log(`  ${file}${test === undefined ? "" : ` > ${test}`}`);
  for (const line of message.split("\n").slice(0, 4)) console.log(`      ${line.slice(0, 300)}`);
}
