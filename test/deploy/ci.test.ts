/** The files of CI call what people call. Nothing here runs them: that needs GitHub. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { allParts, wholeParts } from "../../tools/whole-parts.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
const { jobs, permissions } = parse(readFileSync(".github/workflows/checks.yml", "utf8")) as {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[]; readonly "timeout-minutes": number }>>;
};
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: Record<string, string> };

test("each job calls the scripts of package.json, with parts that there are", () => {
  const lines = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  const calls = lines.map((line) => /npm run (\S+)(?: -- (.*))?$/.exec(line)).filter((call) => call !== null);
  expect(calls.length).toBe(Object.keys(jobs).length);
  for (const [, script = "", parts] of calls) {
    expect(Object.keys(scripts)).toContain(script);
    for (const part of parts?.split(" ") ?? []) expect(allParts()).toContain(part);
  }
});

test("npm run all goes on behind a part that failed, says how each ended, and fails (only its list of parts was tested)", async () => {
  const folder = temporaryFolder();
  const rows = "| `kube` | `test/kube/` | Go | by hand |\n| `core` | `src/` | Node | 3 min |\n";
  writeFileSync(join(folder, "CONTRIBUTING.md"), `\n## Suites\n${rows}`);
  const fake = { lint: "exit 3", test: "echo tested", measure: "echo measured" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: fake }));
  // In the place of vitest: it says what it was asked for, and reports.
  mkdirSync(join(folder, "node_modules/vitest"), { recursive: true });
  const vitest = `console.log(process.env.SNOWLANE_TEST_SIZE ?? "apart", ...process.argv.slice(4, -1));
const tests = [{ titles: ["one"], status: "passed", message: "", seconds: 1 }];
process.send({ kind: "file-end", file: "test/kube/one.test.ts", seconds: 1, tests, errors: [] });
process.send({ kind: "run-end", isPassed: true, errors: [] });
process.disconnect();
`;
  writeFileSync(join(folder, "node_modules/vitest/vitest.mjs"), vitest);
  const all = (...parts: readonly string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [resolve("tools/run-all.ts"), ...parts], { cwd: folder });
    return [status, stdout.toString().replaceAll(/in \d+ s/g, "in TIME")];
  };
  const end = (part: string, word = "passed") => `${part.padEnd(14)} ${word}`;
  const passes = ["", "1 passed, 0 failed, in TIME"];
  const kube = ["apart --project kube", ...passes];
  const seeds = ["whole test/simulation/simulation.test.ts --project proof", ...passes];
  const [status, text] = all();
  const ends = ["lint", "test", ...wholeParts.map(({ name }) => name), "gutted", "kube"];
  expect(status).toBe(1);
  expect(text).toMatch(/^tested\nwhole .*\n/);
  expect(
    String(text).endsWith(`\n${ends.map((part) => end(part, part === "lint" ? "failed" : "passed")).join("\n")}\n`),
  ).toBe(true);
  expect(all("test")).toEqual([0, ["tested", "", end("test"), ""].join("\n")]);
  expect(all("gutted")).toEqual([0, ["measured faults --gutted", "", end("gutted"), ""].join("\n")]);
  expect(all("kube")).toEqual([0, [...kube, "", end("kube"), ""].join("\n")]);
  expect(all("seeds")).toEqual([0, [...seeds, "", end("seeds"), ""].join("\n")]);
});

test("jobs may only read, end in time, and take actions of a version", () => {
  expect(permissions).toEqual({ contents: "read" });
  for (const { steps, "timeout-minutes": minutes } of Object.values(jobs)) {
    expect(minutes).toBeGreaterThan(0);
    for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/@v\d+$/);
  }
});

test("each job keeps the pictures that the suite web took, also where a test failed", () => {
  const suite = readFileSync("test/web/page-looks.test.ts", "utf8");
  const [, folder] = /^const pictures = "(.*)";$/m.exec(suite) ?? [];
  for (const { steps } of Object.values(jobs)) {
    const kept = steps.at(-1);
    expect(kept).toMatchObject({ if: "always()", uses: expect.stringMatching(/^actions\/upload-artifact@/) });
    // Without the second one, the action leaves out what begins with a dot.
    expect(kept?.with).toMatchObject({ path: folder, "include-hidden-files": true });
  }
});

test("a job that runs the suite of releases has all commits (an older one was not found in a shallow clone)", () => {
  for (const { steps } of Object.values(jobs)) {
    const [, chosen] = steps.map(({ run }) => /npm run all(?: -- (.*))?$/.exec(run ?? "")).find((call) => call) ?? [];
    if (!(chosen?.split(" ") ?? allParts()).includes("release")) continue;
    expect(steps.find(({ uses }) => uses?.startsWith("actions/checkout"))?.with).toEqual({ "fetch-depth": 0 });
  }
});
