import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownVersion } from "../../tools/versions.ts";
import { shortLived } from "../support/fetch/maven-repository.ts";
import {
  compileProject,
  compiledTests,
  type JavaBuilds,
  mavenOfNewRepository,
  prepareJavaBuilds,
  writeProject,
} from "../support/processes/java-client.ts";
import { makeBareClone, runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startTlsDeployment } from "../support/processes/tls-deployment.ts";
import { expectSampleLines, makeSampleSequences, sampleNames } from "./sample-lines.ts";

const project = resolve("clients/java");
const folder = mkdtempSync(join(tmpdir(), "snowlane-java-"));
let builds: JavaBuilds;
let server: SnowlaneProcess;

beforeAll(async () => {
  builds = await prepareJavaBuilds();
  server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "snowlane.db")}`] });
  await makeSampleSequences(server.url);
});

afterAll(async () => {
  await server?.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

const java = (args: readonly string[]): Promise<string> =>
  runCommand("java", args, { env: { SNOWLANE_URL: server.url } });

test("it compiles without a warning, and its own tests hold", async () => {
  await builds.maven(project, ["-Dmaven.compiler.failOnWarning=true", `-DargLine=${shortLived.join(" ")}`, "test"]);
});

test("the samples, and the program of docs/tls.md", async () => {
  const { classpath, options } = await compiledTests();
  for (const name of sampleNames) {
    const file = join(project, "samples", `${name.charAt(0).toUpperCase()}${name.slice(1)}.java`);
    expectSampleLines(name, await java([...options, "-cp", classpath, file]));
  }
  const deployment = await startTlsDeployment();
  try {
    const args = [...options, "-cp", classpath, deployment.writeProgram("java", "Tls.java")];
    expect(await runCommand("java", args, { cwd: deployment.folder })).toMatch(/^\d{18,19}\n$/);
  } finally {
    await deployment.stop();
  }
});

test("five lines in an empty project give an ID", async () => {
  const code = readFileSync(join(project, "samples", "Quickstart.java"), "utf8");
  const [, body = ""] = /arguments\) \{\n([\s\S]*)\n {2}\}\n\}/.exec(code) ?? [];
  expect(body.split("\n")).toHaveLength(5);
  const repository = join(folder, "repository");
  const maven = mavenOfNewRepository(builds, repository);
  const clone = join(folder, "clone");
  await makeBareClone(clone);
  const sources = join(clone, "clients", "java");
  // As a user's own settings: where Maven keeps what it has, which is complete.
  mkdirSync(join(sources, ".mvn"));
  writeFileSync(join(sources, ".mvn", "jvm.config"), `${shortLived.join("\n")}\n`);
  writeFileSync(join(sources, ".mvn", "maven.config"), `--offline\n-Dmaven.repo.local=${repository}\n`);
  await runReadmeBlock("clients/java/README.md", 0, { cwd: sources });
  const classpath = await compileProject(maven, writeProject(join(folder, "project"), server.url));
  expect(classpath).toContain(join(folder, "repository", "dev", "snowlane"));
  expect(await java([...shortLived, "-cp", classpath, "Quickstart"])).toMatch(/^\d{18,19}\n$/);
  // For a reader's tools: the sources, of the stubs too, and the Javadoc of what a user calls.
  const version = ownVersion();
  const artifact = join(folder, "repository", "dev", "snowlane", "snowlane-client");
  const installed = join(artifact, version, `snowlane-client-${version}`);
  const list = async (archive: string): Promise<string> => await runCommand("jar", ["--list", "--file", archive]);
  const listed = await list(`${installed}-sources.jar`);
  for (const file of ["client/IdClient.java", "client/testing/FakeIdClient.java", "v1/NextIdRequest.java"]) {
    expect(listed).toContain(`dev/snowlane/${file}`);
  }
  expect(await list(`${installed}-javadoc.jar`)).toContain("dev/snowlane/client/IdClient.html");
  const described = await runCommand("jar", ["--describe-module", "--file", `${installed}.jar`]);
  expect(described).toContain(`dev.snowlane.client@${version} automatic`);
});
