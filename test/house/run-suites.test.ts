/** What `npm test` makes of suites that pass, fail, crash and hang: the runner itself on small suites of this test. */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { type CliOutcome, runCli } from "../support/processes/cli-outcome.ts";
import { isAlive } from "../support/processes/process-tree.ts";

const passing = 'import { test } from "vitest";\ntest("holds", () => {});\n';

/** Runs the suites that have these files, by their names. */
async function runSuites(
  suites: Readonly<Record<string, Readonly<Record<string, string>>>>,
  script: readonly string[] = ["tools/run-suites.ts"],
): Promise<CliOutcome> {
  const folder = temporaryFolder();
  for (const name of ["node_modules", "tools"]) symlinkSync(resolve(name), join(folder, name));
  for (const name of ["vitest.config.ts", "package.json"]) cpSync(name, join(folder, name));
  // Two rows at least are a table.
  const rows = ["other", ...Object.keys(suites)].map((name) => `| \`${name}\` | \`test/${name}/\` | Node | 1 min |`);
  writeFileSync(join(folder, "CONTRIBUTING.md"), `\n## Suites\n${rows.join("\n")}\n`);
  for (const [suite, files] of Object.entries({ ...suites, other: { "passes.test.ts": passing } })) {
    mkdirSync(join(folder, "test", suite), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, "test", suite, file), text);
  }
  // It is a run of its own, and must not take itself for a part of this one.
  const inherited = Object.keys(process.env).filter((name) => name.startsWith("VITEST"));
  const environment = Object.fromEntries(inherited.map((name) => [name, ""]));
  const program = ["env", "-C", folder, ...inherited.flatMap((name) => ["-u", name]), process.execPath, ...script];
  return runCli([], { program, environment });
}

const lastLine = ({ stdout }: CliOutcome): string | undefined => stdout.toString().trimEnd().split("\n").at(-1);

test("what fails is named whole at the end, with the command that runs it alone; what is skipped has failed", async () => {
  const fails = `import { describe, expect, test } from "vitest";
describe("a group", () => {
  test("does (not) hold", () => expect({ a: 1, b: [2] }).toEqual({ a: 1, b: [3] }));
  test("holds", () => {});
  test("is left out", (context) => context.skip());
});`;
  const outcome = await runSuites({ wrong: { "fails.test.ts": fails, "broken.test.ts": 'import "./nothing.ts";' } });
  const text = outcome.stdout.toString();
  expect(text).toContain("  test/wrong/fails.test.ts > a group > does (not) hold\n");
  expect(text).toMatch(/- +3,\n +\+ +2,/);
  expect(text).toContain(
    "Alone: npx vitest run --project wrong test/wrong/fails.test.ts -t 'a group does .not. hold'\n",
  );
  expect(text).toContain("it was skipped");
  expect(text).toMatch(/test\/wrong\/broken\.test\.ts\n.*nothing\.ts/);
  expect([outcome.code, lastLine(outcome)]).toEqual([1, "2 passed, 3 failed"]);
});

test("a test that passes only at the second try passes, and is counted apart", async () => {
  const late = `import { existsSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
test("is late", () => {
  const wasHere = existsSync("was-here");
  writeFileSync("was-here", "");
  expect(wasHere).toBe(true);
});`;
  const outcome = await runSuites({ late: { "late.test.ts": late } });
  expect(outcome.stdout.toString()).toMatch(
    /second try, which is a fault to be found:\n {2}test\/late\/late\.test\.ts > /,
  );
  expect(outcome.stdout.toString()).toContain("\n1 passed only at the second try\n2 passed, 0 failed\n");
  expect(outcome.code).toBe(0);
});

test("a test of uniqueness has no second try", async () => {
  const twice = `import { existsSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
test("no ID comes twice", () => {
  const wasHere = existsSync("was-here");
  writeFileSync("was-here", "");
  expect(wasHere).toBe(true);
});`;
  expect(lastLine(await runSuites({ unique: { "twice.test.ts": twice } }))).toBe("1 passed, 1 failed");
});

test("the temporary files of a run lie in a folder that goes with it", async () => {
  const folder = temporaryFolder();
  const leaves = `import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
test("leaves a folder", () => {
  writeFileSync(${JSON.stringify(join(folder, "left"))}, mkdtempSync(join(tmpdir(), "left-")));
});`;
  expect(lastLine(await runSuites({ leaves: { "leaves.test.ts": leaves } }))).toBe("2 passed, 0 failed");
  const left = readFileSync(join(folder, "left"), "utf8");
  expect(left).toContain("/snowlane-run-");
  expect(existsSync(left)).toBe(false);
});

test("a run that ends without its tests' results has failed", async () => {
  const crashes =
    'import { test } from "vitest";\ntest("ends vitest", () => void process.kill(process.ppid, "SIGKILL"));';
  const rejects = `${passing}void Promise.reject(new Error("nobody waits for this"));`;
  const outcome = await runSuites({ crashes: { "c.test.ts": crashes }, rejects: { "r.test.ts": rejects } });
  const text = outcome.stdout.toString();
  expect(text).toContain("vitest ended with SIGKILL");
  expect(text).toContain("nobody waits for this");
  expect([outcome.code, lastLine(outcome)]).toEqual([1, "2 passed, 2 failed"]);
});

test("a run that hangs is ended, and has failed", async () => {
  const hangs = 'import { test } from "vitest";\ntest("hangs", () => { for (;;); });';
  const script = `const { runVitest } = await import("./tools/suites/run-vitest.ts");
const { failures } = await runVitest({ suite: "hangs", command: ["run"], minutesMax: 0.1, outputPath: "output.txt" });
console.log(failures.map(({ message }) => message).join());`;
  const outcome = await runSuites({ hangs: { "hangs.test.ts": hangs } }, ["--input-type=module", "-e", script]);
  expect(outcome.stdout.toString()).toMatch(/^ran for 0\.1 minutes and was ended; under way: /);
});

test("a signal to the runner alone ends all that it started", async () => {
  const folder = temporaryFolder();
  const asks = `import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "vitest";
test("starts a program, and ends the run", async () => {
  const { pid } = spawn("sleep", ["600"], { stdio: "ignore", detached: true });
  writeFileSync(${JSON.stringify(join(folder, "pid"))}, String(pid));
  const [, runner] = /^PPid:\\s*(\\d+)/m.exec(readFileSync(\`/proc/\${process.ppid}/status\`, "utf8"));
  process.kill(Number(runner), "SIGTERM");
  await new Promise(() => {});
});`;
  const outcome = await runSuites({ asks: { "asks.test.ts": asks }, later: { "later.test.ts": passing } });
  expect(outcome.code).toBe(130);
  expect(isAlive(Number(readFileSync(join(folder, "pid"), "utf8")))).toBe(false);
});
