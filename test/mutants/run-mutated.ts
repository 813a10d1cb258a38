import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The outcome of one test. */
export interface MutatedOutcome {
  readonly status: string;
  /** The first line of why it failed. */
  readonly problem: string;
}

/** A source with another text. */
export interface MutatedSource {
  /** From the root of the repository. */
  readonly file: string;
  readonly text: string;
}

/** How tests are run on a mutant. */
export interface MutatedRun {
  /** The title of the only test to run; without one the run ends with the first failure. */
  readonly only?: string | undefined;
  /** A pattern of the full names of the tests to run, where {@link only} is absent. */
  readonly pattern?: string | undefined;
  /** After so long the run counts as hanging. */
  readonly timeoutMs: number;
}

/**
 * Runs tests with another text of one source.
 *
 * @param tests - Files or folders.
 * @returns The outcome of each test, by its title; undefined if it was ended because it hung.
 * @throws Error if no test ran, though the source was loaded without an error.
 */
export async function runMutated(
  source: MutatedSource,
  tests: readonly string[],
  { only: title, pattern, timeoutMs }: MutatedRun,
): Promise<ReadonlyMap<string, MutatedOutcome> | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "snowlane-mutant-"));
  try {
    const [report, text] = [join(folder, "report.json"), join(folder, "mutant.ts")];
    await writeFile(text, source.text);
    const only = title?.replaceAll(/\W/g, ".");
    const extent = only === undefined ? ["--bail=1"] : [`--testNamePattern=${only}$`];
    if (only === undefined && pattern !== undefined) extent.push(`--testNamePattern=${pattern}`);
    const reporter = ["--reporter=json", `--outputFile=${report}`, ...extent];
    const config = ["--config", "test/mutants/mutant.vitest.config.ts"];
    const args = ["node_modules/vitest/vitest.mjs", "run", ...config, ...reporter, ...tests];
    // It is a run of its own, and must not take itself for a part of this one.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
    const env = { ...Object.fromEntries(inherited), SNOWLANE_PATCHED: source.file, SNOWLANE_PATCHED_TEXT: text };
    const cwd = fileURLToPath(new URL("../..", import.meta.url));
    const { said, hung } = await new Promise<{ said: string; hung: boolean }>((resolve) => {
      // That tests fail is what is wanted: then it ends with 1.
      const options = { cwd, env, timeout: timeoutMs, killSignal: "SIGKILL" } as const;
      execFile(process.execPath, args, options, (error, stdout, stderr) =>
        resolve({ said: `${error?.message ?? ""}${stdout}${stderr}`, hung: error?.killed ?? false }),
      );
    });
    if (hung) return undefined;
    const output = await readFile(report, "utf8").catch(() => {
      throw new Error(`The tests of ${source.file} did not run: ${said.slice(0, 2_000)}`);
    });
    return outcomesOf(output);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function outcomesOf(report: string): ReadonlyMap<string, MutatedOutcome> {
  const { testResults } = JSON.parse(report) as {
    testResults: {
      name: string;
      status: string;
      message?: string;
      assertionResults: { title: string; status: string; failureMessages?: string[] }[];
    }[];
  };
  const all = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const outcomes = assertionResults.map(({ title, status: outcome, failureMessages }) => {
      return [title, { status: outcome, problem: failureMessages?.[0]?.split("\n")[0] ?? "" }] as const;
    });
    // A file that cannot be loaded has no tests.
    const isBroken = status === "failed" && assertionResults.length === 0;
    return isBroken ? [[name, { status, problem: message?.split("\n")[0] ?? "" }] as const] : outcomes;
  });
  // Of tests of one title, as a contract has them for each store, one that failed counts.
  return new Map(all.toSorted(([, a], [, b]) => Number(a.status === "failed") - Number(b.status === "failed")));
}
