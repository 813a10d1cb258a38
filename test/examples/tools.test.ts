/**
 * The programs of docs/tools.md with the real libraries, which are installed from their registries.
 *
 * FIELD F10: (a) pandas, (b) sorted sets of Redis, (c) JSON.stringify, (d) Jackson and GraphQL.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startRedis } from "../support/servers/redis-server.ts";

const folder = mkdtempSync(join(tmpdir(), "snowlane-tools-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const timeout = 900_000;

/** The one program of the page whose text has a word. */
function programWith(language: string, word: string): string {
  const found = blocksOf("docs/tools.md", `${language} tested by test/examples/tools.test.ts`).filter((text) =>
    text.includes(word),
  );
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** What a program says that it prints: the rest of each line behind an arrow. */
function promised(program: string): readonly string[] {
  return [...program.matchAll(/(?:#|\/\/) -> (.*)$/gm)].map(([, line = ""]) => line);
}

function linesOf(output: string): readonly string[] {
  return output.trimEnd().split("\n");
}

/** An environment of Python with packages, named with their versions. */
async function pythonWith(name: string, ...packages: readonly string[]): Promise<string> {
  const place = join(folder, name);
  await runCommand("python3", ["-m", "venv", place]);
  const python = join(place, "bin/python");
  await runCommand(python, ["-m", "pip", "install", "--quiet", ...packages]);
  return python;
}

test.each(["2.3.3", "3.0.0"])("pandas %s and NumPy keep every digit as the page says", { timeout }, async (version) => {
  const python = await pythonWith(`pandas-${version}`, `pandas==${version}`);
  const program = programWith("python", "import pandas");
  expect(linesOf(await runCommand(python, ["-W", "ignore", "-c", program]))).toEqual(promised(program));
});

test("pandas before 3 rounds the strings of our own JSON, and pandas 3 does not", { timeout }, async () => {
  const program = `import io, pandas as pd
print(int(pd.read_json(io.StringIO('[{"id": "2126432293437465085"}, {"id": "2126432293437465086"}]'))["id"][0]))`;
  const of = async (version: string) =>
    (await runCommand(join(folder, `pandas-${version}`, "bin/python"), ["-c", program])).trim();
  expect(await of("3.0.0")).toBe("2126432293437465085");
  expect(await of("2.3.3")).not.toBe("2126432293437465085");
});

test("openpyxl writes text cells", { timeout }, async () => {
  const program = programWith("python", "import openpyxl");
  const python = await pythonWith("openpyxl", "openpyxl==3.1.5");
  expect(linesOf(await runCommand(python, ["-c", program]))).toEqual(promised(program));
});

test("a sorted set of Redis has 256 IDs under two scores, and each under its own text", { timeout }, async () => {
  const program = programWith("python", "import redis");
  const python = await pythonWith("redis", "redis==6.4.0");
  const server = await startRedis();
  try {
    const env = { REDIS_URL: server.url };
    expect(linesOf(await runCommand(python, ["-c", program], { env }))).toEqual(promised(program));
  } finally {
    await server.stop();
  }
});

test("JavaScript: JSON with ids.toJSON", { timeout }, async () => {
  const program = programWith("js", "@snowlane/client");
  const place = join(folder, "javascript");
  const modules = join(place, "node_modules/@snowlane/client");
  mkdirSync(modules, { recursive: true });
  // The sources in place of the package, whose own test installs it: Node reads their types away.
  const entry = JSON.stringify(resolve("clients/typescript/src/index.ts"));
  writeFileSync(join(modules, "package.json"), '{"type":"module","exports":"./index.js"}');
  writeFileSync(join(modules, "index.js"), `export * from ${entry};\n`);
  writeFileSync(join(place, "app.mjs"), program);
  expect(linesOf(await runCommand(process.execPath, ["app.mjs"], { cwd: place }))).toEqual(promised(program));
});

test("GraphQL: an ID is exact, and Int is refused", { timeout }, async () => {
  const program = programWith("js", "buildSchema");
  const place = join(folder, "graphql");
  mkdirSync(place);
  await runCommand("npm", ["install", "--no-audit", "--no-fund", "--prefix", place, "graphql@17.1.0"]);
  writeFileSync(join(place, "app.mjs"), program);
  expect(linesOf(await runCommand(process.execPath, ["app.mjs"], { cwd: place }))).toEqual(promised(program));
});

test("Jackson and Gson write IDs as strings", { timeout }, async () => {
  const program = programWith("java", "ToStringSerializer");
  const place = join(folder, "java");
  mkdirSync(place);
  const dependency = (group: string, name: string, version: string) =>
    `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
  const dependencies = [
    dependency("com.fasterxml.jackson.core", "jackson-databind", "2.21.3"),
    dependency("com.google.code.gson", "gson", "2.13.2"),
  ];
  writeFileSync(
    join(place, "pom.xml"),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>a</groupId>
    <artifactId>tools</artifactId><version>1</version><dependencies>${dependencies.join("")}</dependencies></project>`,
  );
  writeFileSync(join(place, "Orders.java"), program);
  const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
  await runCommand("mvn", ["--batch-mode", "--quiet", goal, "-DoutputDirectory=libraries"], { cwd: place });
  const output = await runCommand("java", ["-cp", "libraries/*", "Orders.java"], { cwd: place });
  expect(linesOf(output)).toEqual(promised(program));
});

test("PHP reads and writes IDs", { timeout }, async () => {
  const program = programWith("php", "json_decode");
  const { path, env } = await findTool("php");
  writeFileSync(join(folder, "tools.php"), program);
  const output = await runCommand(path, ["-n", join(folder, "tools.php")], { env });
  expect(linesOf(output)).toEqual(promised(program));
});
