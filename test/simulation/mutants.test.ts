import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { mutants } from "./mutants.ts";
import { runSeeds } from "./run-seeds.ts";

/** What the run shows, for whoever reads its output. */
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Within so many seeds, from the one that is known on, the outside checker must see that a rule is gone. */
const seedsMax = 10_000;

test("each mutant is held by a seed, or by a test that fails with it; at least 20 by a seed", () => {
  expect(mutants.filter(({ caughtBySeed, heldBy }) => (caughtBySeed === undefined) === (heldBy === undefined))).toEqual(
    [],
  );
  expect(mutants.filter(({ caughtBySeed }) => caughtBySeed !== undefined).length).toBeGreaterThanOrEqual(20);
});

describe.concurrent("the simulation sees when the protocol goes without the rule that", () => {
  for (const { name, rule, caughtBySeed } of mutants) {
    if (caughtBySeed === undefined) continue;
    // The known seed catches it at once, until a change of the code or of the plans makes other histories of the seeds.
    test(`${rule} (${name})`, { timeout: 900_000 }, async ({ expect: expectThis }) => {
      const run = { first: caughtBySeed, count: seedsMax, processes: 1, mutant: name, stopsAtFirst: true };
      const [first] = (await runSeeds(run)).broken;
      expectThis(first, `no seed from ${caughtBySeed} on catches ${name}`).toBeDefined();
      const { promise, detail } = first!.violations[0]!;
      print(`${name}: seed ${first!.seed} breaks ${promise}: ${detail}`);
    });
  }
});

describe.concurrent("a test of its own fails when the protocol goes without the rule that", () => {
  for (const { name, rule, heldBy } of mutants) {
    if (heldBy === undefined) continue;
    test(`${rule} (${name})`, { timeout: 900_000 }, async ({ expect: expectThis }) => {
      const outcome = (await runMutated(name, heldBy.file)).get(heldBy.test);
      expectThis(outcome, `${heldBy.file} has no test "${heldBy.test}"`).toBeDefined();
      expectThis(outcome!.status, `${heldBy.test} is passed by ${name}`).toBe("failed");
      print(`${name}: ${outcome!.problem}`);
    });
  }
});

interface MutatedOutcome {
  readonly status: string;
  /** The first line of why it failed. */
  readonly problem: string;
}

/** Runs the tests of a file with a mutant switched in; what came of each, by its title. */
async function runMutated(mutant: string, file: string): Promise<ReadonlyMap<string, MutatedOutcome>> {
  const folder = await mkdtemp(join(tmpdir(), "snowlane-mutant-"));
  const report = join(folder, "report.json");
  const config = "test/simulation/mutant.vitest.config.ts";
  const reporter = ["--reporter=json", `--outputFile=${report}`];
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", config, ...reporter, file];
  // It is a run of its own, and must not take itself for a part of this one.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
  const env = { ...Object.fromEntries(inherited), SNOWLANE_MUTANT: mutant };
  const said = await new Promise<string>((resolve) => {
    // That tests fail is what is wanted: then it ends with 1.
    const options = { cwd: fileURLToPath(new URL("../..", import.meta.url)), env };
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve(`${error?.message ?? ""}${stdout}${stderr}`),
    );
  });
  const output = await readFile(report, "utf8").catch(() => {
    throw new Error(`The tests of ${file} did not run: ${said.slice(0, 2_000)}`);
  });
  await rm(folder, { recursive: true });
  const { testResults } = JSON.parse(output) as {
    testResults: { assertionResults: { title: string; status: string; failureMessages?: string[] }[] }[];
  };
  return new Map(
    testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .map(({ title, status, failureMessages }) => [
        title,
        { status, problem: failureMessages?.[0]?.split("\n")[0] ?? "" },
      ]),
  );
}
