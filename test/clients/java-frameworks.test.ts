/**
 * The modules of `clients/java/frameworks` with their own tests, and the application of `examples/spring-boot` on a
 * real server and PostgreSQL. `npm run all -- examples` has the other frameworks, and earlier versions of these.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileExample, installFrameworks, prepareFrameworkBuilds } from "../support/processes/java-frameworks.ts";
import { mavenOfNewRepository } from "../support/processes/java-client.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import type { Maven } from "../support/fetch/maven-repository.ts";

const folder = mkdtempSync(join(tmpdir(), "snowlane-frameworks-"));
let maven: Maven;

beforeAll(async () => {
  maven = mavenOfNewRepository(await prepareFrameworkBuilds(), join(folder, "repository"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the modules compile without a warning, and their own tests hold", async () => {
  await installFrameworks(maven, folder, { args: ["-Dmaven.compiler.failOnWarning=true"] });
});

test("the lines for Jackson in docs/frameworks.md are those that the tests of its module read and write", () => {
  const blocks = blocksOf("docs/frameworks.md", "java tested by test/clients/java-frameworks.test.ts");
  const tests = "clients/java/frameworks/jackson/src/test/java/dev/snowlane/jackson/IdAsStringTest.java";
  const code = readFileSync(tests, "utf8").replaceAll(/^ {2}/gm, "");
  expect(blocks.map((block) => block.includes("@IdAsString"))).toEqual([true, true]);
  for (const block of blocks) expect(code).toContain(block);
});

test("a Spring Boot application with Hibernate saves entities whose IDs come from a server", async () => {
  const copy = join(folder, "spring-boot");
  cpSync("examples/spring-boot", copy, { recursive: true });
  const [command = "", ...args] = await compileExample(maven, copy);
  const database = await startPostgres();
  const server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "snowlane.db")}`] });
  try {
    const jdbc = `jdbc:postgresql://127.0.0.1:${database.port}/postgres?user=postgres`;
    const env = { SNOWLANE_URL: server.url, JDBC_URL: jdbc };
    const startMs = Date.now();
    const printed = await runCommand(command, [...args, "2000"], { cwd: copy, env });
    const rows = [...printed.matchAll(/^(\d{18,19}) (\S+Z)$/gm)];
    expect(rows).toHaveLength(2);
    for (const [, id = "", time = ""] of rows) {
      expect(Date.parse(time)).toBe(Number(BigInt(id) >> 22n) + 1_288_834_974_657);
      expect(Date.parse(time)).toBeGreaterThan(startMs - 1_000);
    }
  } finally {
    await server.stop("SIGTERM");
    await database.stop();
  }
});
