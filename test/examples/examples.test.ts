import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFreePort } from "../support/processes/free-port.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";

/**
 * Each folder of examples/ saves an entity whose ID comes from a server, and reads the time back that the ID carries,
 * before and after a restart of the server. What the examples need is installed from the package registries.
 */

const folder = mkdtempSync(join(tmpdir(), "snowlane-examples-"));
let database: TestServer;

beforeAll(async () => {
  database = await startPostgres();
}, 600_000);
afterAll(async () => {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** How an example is installed in a copy of its folder, and called there. */
interface Example {
  readonly install: (copy: string) => Promise<void>;
  readonly call: (copy: string) => readonly [command: string, ...args: string[]];
}

const python: Example = {
  install: async (copy) => {
    await runCommand("python3", ["-m", "venv", ".venv"], { cwd: copy });
    const source = join(copy, "client");
    cpSync("clients/python", source, { recursive: true });
    const args = ["-m", "pip", "install", "--quiet", "--requirement", "requirements.txt", source];
    await runCommand(join(copy, ".venv/bin/python"), args, { cwd: copy });
  },
  call: (copy) => [join(copy, ".venv/bin/python"), "app.py"],
};

function node(program: string): Example {
  return {
    install: async (copy) => {
      const packed = await runCommand("npm", ["pack", "--workspace", "@snowlane/client", "--pack-destination", copy]);
      const client = join(copy, packed.trim().split("\n").at(-1)!);
      await runCommand("npm", ["install", "--no-audit", "--no-fund", client], { cwd: copy });
      // An engine for migrations, which "generate" does not call; it would be fetched from Prisma's own server.
      const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
      await runCommand("npm", ["run", "--if-present", "generate"], { cwd: copy, env });
    },
    call: () => [process.execPath, program],
  };
}

const go: Example = {
  install: async (copy) => {
    const client = ["-require", "snowlane.dev/go@v0.0.0", "-replace", `snowlane.dev/go=${resolve("clients/go")}`];
    await runCommand("go", ["mod", "edit", ...client], { cwd: copy });
    await runCommand("go", ["mod", "tidy"], { cwd: copy });
    await runCommand("nice", ["go", "build", "-o", "app"], { cwd: copy });
  },
  call: (copy) => [join(copy, "app")],
};

const java: Example = {
  install: async (copy) => {
    const repository = `-Dmaven.repo.local=${join(folder, "maven")}`;
    const maven = (cwd: string, args: readonly string[]): Promise<string> =>
      runCommand("mvn", ["--batch-mode", "--quiet", repository, ...args], { cwd });
    await maven("clients/java", [`-Dsnowlane.target=${join(copy, "client")}`, "-DskipTests", "install"]);
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath";
    await maven(copy, ["compile", goal, "-Dmdep.outputFile=classpath.txt"]);
  },
  call: (copy) => {
    const classpath = [join(copy, "target/classes"), readFileSync(join(copy, "classpath.txt"), "utf8").trim()];
    return ["java", "-cp", classpath.join(delimiter), "shop.App"];
  },
};

const examples: readonly (readonly [string, Example])[] = [
  ["sqlalchemy", python],
  ["django", python],
  ["drizzle", node("app.mjs")],
  ["typeorm", node("app.mjs")],
  ["prisma", node("app.ts")],
  ["gorm", go],
  ["hibernate", java],
  ["spring", java],
];

test.each(examples)(
  "%s: entities get IDs, and their times are read back, over a restart of the server",
  {
    timeout: 1_200_000,
  },
  async (name, { install, call }) => {
    const copy = join(folder, name);
    cpSync(join("examples", name), copy, { recursive: true });
    await install(copy);
    const listen = `127.0.0.1:${await findFreePort()}`;
    const args = ["--store", `sqlite:${join(copy, "snowlane.db")}`];
    const [command, ...rest] = call(copy);
    const startMs = Date.now();
    const outputs: string[] = [];
    for (const _ of ["before the restart", "after it"]) {
      const server = await startSnowlane({ args, listen });
      try {
        const env = { SNOWLANE_URL: server.url, DATABASE_URL: database.url };
        outputs.push(await runCommand(command, rest, { cwd: copy, env }));
      } finally {
        await server.stop("SIGTERM");
      }
    }
    const [first = "", both = ""] = outputs;
    const rows = both
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
    expect(both.startsWith(first)).toBe(true);
    expect(rows).toHaveLength(2);
    expect(BigInt(rows[1]![0]!)).toBeGreaterThan(BigInt(rows[0]![0]!));
    for (const [id = "", time = ""] of rows) {
      expect(Date.parse(time)).toBe(Number(BigInt(id) >> 22n) + 1_288_834_974_657);
      expect(Date.parse(time)).toBeGreaterThan(startMs - 1_000);
    }
  },
);
