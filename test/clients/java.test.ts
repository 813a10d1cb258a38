import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  compileProject,
  compileTests,
  type JavaBuilds,
  mavenOfNewRepository,
  prepareJavaBuilds,
  writeProject,
} from "../support/java-client.ts";
import { runCommand } from "../support/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/snowlane-process.ts";
import { expectSampleLines, sampleNames } from "./sample-lines.ts";

const project = resolve("clients/java");
const folder = mkdtempSync(join(tmpdir(), "snowlane-java-"));
let builds: JavaBuilds;
let server: SnowlaneProcess;

beforeAll(async () => {
  builds = await prepareJavaBuilds();
  server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "snowlane.db")}`] });
}, 600_000);

afterAll(async () => {
  await server?.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

const java = (args: readonly string[]): Promise<string> =>
  runCommand("java", ["-XX:TieredStopAtLevel=1", ...args], { env: { SNOWLANE_URL: server.url } });

test("it compiles without a warning, and its own tests hold", { timeout: 900_000 }, async () => {
  await builds.maven(project, ["-Dmaven.compiler.failOnWarning=true", "test"]);
});

test("the four samples", { timeout: 600_000 }, async () => {
  const classpath = await compileTests(builds.maven, join(project, "target"));
  for (const name of sampleNames) {
    const file = join(project, "samples", `${name.charAt(0).toUpperCase()}${name.slice(1)}.java`);
    expectSampleLines(name, await java(["-cp", classpath, file]));
  }
});

test("five lines in an empty project give an ID", { timeout: 600_000 }, async () => {
  const code = readFileSync(join(project, "samples", "Quickstart.java"), "utf8");
  const [, body = ""] = /arguments\) \{\n([\s\S]*)\n {2}\}\n\}/.exec(code) ?? [];
  expect(body.split("\n")).toHaveLength(5);
  const maven = mavenOfNewRepository(builds, join(folder, "repository"));
  // The line of the README.
  await maven(project, ["install", "-DskipTests"]);
  const classpath = await compileProject(maven, writeProject(join(folder, "project"), server.url));
  expect(classpath).toContain(join(folder, "repository", "dev", "snowlane"));
  expect(await java(["-cp", classpath, "Quickstart"])).toMatch(/^\d{18,19}\n$/);
});
