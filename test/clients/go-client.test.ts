import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBareClone, runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startTlsDeployment } from "../support/processes/tls-deployment.ts";
import { expectSampleLines, makeSampleSequences, sampleNames } from "./sample-lines.ts";

const module = resolve("clients/go");
const project = mkdtempSync(join(tmpdir(), "snowlane-go-"));
const environment = { GOFLAGS: "-mod=mod" };
let server: SnowlaneProcess;

const go = (args: readonly string[], cwd: string): Promise<string> =>
  runCommand("nice", ["-n", "5", "go", ...args], { cwd, env: { ...environment, SNOWLANE_URL: server.url } });

beforeAll(async () => {
  server = await startSnowlane({ args: ["--store", `sqlite:${join(project, "snowlane.db")}`] });
  await makeSampleSequences(server.url);
});

afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(project, { recursive: true, force: true });
});

test("gofmt and go vet find nothing", async () => {
  expect(await runCommand("gofmt", ["-l", "."], { cwd: module })).toBe("");
  await go(["vet", "./..."], module);
});

test("go.mod is tidy", async () => {
  await go(["mod", "tidy", "-diff"], module);
});

test("its own tests hold, and again under the race detector", async () => {
  for (const flags of [[], ["-race", "-short"]]) {
    const output = await go(["test", "-count=1", ...flags, "./..."], module);
    expect(output).toContain("ok  \tsnowlane.dev/go\t");
  }
});

test.each(sampleNames)("the sample %s", async (name) => {
  expectSampleLines(name, await go(["run", `./samples/${name}`], module));
});

test("five lines in an empty module give an ID", async () => {
  const code = readFileSync(join(module, "samples", "quickstart", "main.go"), "utf8");
  const [, body = ""] = /func main\(\) \{\n([\s\S]*)\n\}/.exec(code) ?? [];
  expect(body.split("\n")).toHaveLength(5);
  const ported = code.replace("snowlane.Options{}", `snowlane.Options{Endpoints: []string{"${server.url}"}}`);
  writeFileSync(join(project, "main.go"), ported);
  const clone = join(project, "clone");
  await makeBareClone(clone);
  await runReadmeBlock("clients/go/README.md", 0, { cwd: project, places: { "/path/to/snowlane": clone } });
  expect(await go(["run", "."], project)).toMatch(/^\d{18,19} <nil>\n$/);
});

test("the program of docs/tls.md gets an ID with its certificate", async () => {
  const deployment = await startTlsDeployment();
  try {
    const program = join(deployment.folder, "tls");
    await go(["build", "-o", program, deployment.writeProgram("go", "tls.go")], module);
    expect(await runCommand(program, [], { cwd: deployment.folder })).toMatch(/^\d{18,19}\n$/);
  } finally {
    await deployment.stop();
  }
});
