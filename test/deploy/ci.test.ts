/** The files of CI call what people call. Nothing here runs them: that needs GitHub. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { allParts, wholeParts } from "../../tools/whole-parts.ts";
import { findTool } from "../support/fetch/tools.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<
    Record<
      string,
      { readonly steps: readonly Step[]; readonly "timeout-minutes": number; readonly permissions: object }
    >
  >;
}

function workflow(name: string): Workflow {
  return parse(readFileSync(`.github/workflows/${name}.yml`, "utf8")) as Workflow;
}

const { jobs } = workflow("checks");
const everyJob = ["checks", "release"].flatMap((name) => Object.values(workflow(name).jobs));
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
  // In place of vitest: it says what it was asked for, and reports.
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

// Actions came by tag, and the token stayed in the checkout.
test("OPERATIONS 20: jobs have the permissions that they name, end in time, keep no credentials, and pin each action by its commit", () => {
  for (const name of ["checks", "release"]) expect(workflow(name).permissions).toEqual({});
  for (const { permissions } of Object.values(jobs)) expect(permissions).toEqual({ contents: "read" });
  for (const { steps, permissions, "timeout-minutes": minutes } of everyJob) {
    expect(minutes).toBeGreaterThan(0);
    expect(Object.keys(permissions)).not.toContain("packages");
    for (const { uses, with: given } of steps) {
      if (uses === undefined) continue;
      expect(uses).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/);
      if (uses.startsWith("actions/checkout@")) expect(given).toMatchObject({ "persist-credentials": false });
    }
  }
});

test("zizmor finds nothing wrong with the workflows, and finds what is", async () => {
  const { path, env } = await findTool("zizmor");
  const audit = (folder: string) => {
    const options = { env: { ...process.env, ...env }, encoding: "utf8" } as const;
    return spawnSync(path, ["--offline", "--no-progress", "--persona", "pedantic", folder], options);
  };
  const good = audit(".github");
  expect([good.status, good.stdout, good.stderr.includes("error")]).toEqual([0, good.stdout, false]);
  const folder = join(temporaryFolder(), ".github/workflows");
  mkdirSync(folder, { recursive: true });
  const checks = readFileSync(".github/workflows/checks.yml", "utf8");
  writeFileSync(join(folder, "checks.yml"), checks.replaceAll(/@[0-9a-f]{40} # (v\d)\S*/g, "@$1"));
  expect(audit(folder)).toMatchObject({ status: expect.toSatisfy((code: number) => code > 0) as unknown });
});

test("only a tag publishes, from the file whose sum was checked", () => {
  const release = workflow("release");
  expect(release.jobs["sign"]).toMatchObject({ if: "github.event_name == 'push'", needs: "build" });
  expect(release.jobs["npm"]).toMatchObject({ environment: "npm", needs: ["build", "sign"] });
  const publishing = Object.values(release.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  const lines = publishing.filter((run) => run.includes("npm publish"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/sha256sum --check SHA256SUMS\n(?:npm publish ".*" --provenance --access public\n){2}$/);
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
    expect(steps.find(({ uses }) => uses?.startsWith("actions/checkout"))?.with).toMatchObject({ "fetch-depth": 0 });
  }
});
