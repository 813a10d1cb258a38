import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Pool } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { insteadVariable } from "../support/fetch/tools.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { type Example, examples, installModules } from "./example-programs.ts";
import { exampleMember, type Member, phpMember, rustMember } from "./fleet-members.ts";
import { FaultyServers, runFleet } from "./fleet-run.ts";

/**
 * Each program of examples/ saves entities whose IDs come from a server, on PostgreSQL: alone over a restart of the
 * server, and all at once through servers that are killed and frozen. docs/frameworks.md shows their lines.
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

async function query(sql: string): Promise<void> {
  const client = new Client({ host: "127.0.0.1", port: database.port, user: "postgres", database: "postgres" });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The environment of an example: its servers, and a database of this name. */
function environment(servers: readonly string[], name: string, port = database.port): Readonly<Record<string, string>> {
  return {
    SNOWLANE_URL: servers.join(","),
    DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/${name}`,
    JDBC_URL: `jdbc:postgresql://127.0.0.1:${port}/${name}?user=postgres`,
  };
}

const installed = new Map<string, Promise<readonly string[]>>();

/** Installs an example when it is first asked for. */
function commandOf({ name, install }: Example): Promise<readonly string[]> {
  const found = installed.get(name);
  if (found !== undefined) return found;
  const copy = copyOf(name);
  cpSync(join("examples", name.split(" ")[0]!), copy, { recursive: true });
  const command = install(copy);
  installed.set(name, command);
  return command;
}

const copyOf = (name: string): string => join(folder, name.replaceAll(/\W/g, "-"));

test.each(examples)(
  "$name: entities get IDs, and their times are read back, over a restart of the server",
  { timeout: 1_200_000 },
  async (example) => {
    const [command = "", ...args] = await commandOf(example);
    const name = example.name.replaceAll(/\W/g, "_");
    await query(`CREATE DATABASE ${name}`);
    const listen = `127.0.0.1:${await findFreePort()}`;
    const store = `sqlite:${join(copyOf(example.name), "snowlane.db")}`;
    const startMs = Date.now();
    const outputs: (readonly RegExpExecArray[])[] = [];
    for (const _ of ["before the restart", "after it"]) {
      const server = await startSnowlane({ args: ["--store", store], listen });
      try {
        const env = environment([server.url], name);
        const printed = await runCommand(command, args, { cwd: copyOf(example.name), env });
        outputs.push([...printed.matchAll(/^(\d{18,19}) (\S+)$/gm)]);
      } finally {
        await server.stop("SIGTERM");
      }
    }
    const [first = [], both = []] = outputs;
    expect([first.length, both.length]).toEqual([1, 2]);
    expect(both[0]![0]).toBe(first[0]![0]);
    expect(BigInt(both[1]![1]!)).toBeGreaterThan(BigInt(both[0]![1]!));
    for (const [, id = "", time = ""] of both) {
      expect(Date.parse(time)).toBe(Number(BigInt(id) >> 22n) + 1_288_834_974_657);
      expect(Date.parse(time)).toBeGreaterThan(startMs - 1_000);
    }
  },
);

test.each([
  ["spring-boot-starter", "-Dspring-boot.version=4.0.7"],
  ["hibernate", "-Dhibernate.version=7.2.19.Final"],
])("the module %s keeps its own tests with %s", { timeout: 1_200_000 }, async (module, version) => {
  const { maven, sources } = await installModules(folder);
  await maven(sources, ["--projects", module, version, "test"]);
});

/** All that are written for the current version of their framework: those share a table with the others. */
const current = examples.filter(({ name }) => !name.includes(" "));

test("a million entities of all frameworks get IDs through a kill -9 and a frozen server, and none are equal", {
  timeout: 3_600_000,
}, async () => {
  const commands = new Map<string, readonly string[]>();
  for (const example of current) commands.set(example.name, await commandOf(example));
  // The others run on PostgreSQL 15.
  vi.stubEnv(insteadVariable, "postgres=postgres18");
  const newest = await startPostgres().finally(() => vi.unstubAllEnvs());
  // Members insert side by side.
  const client = new Pool({ host: "127.0.0.1", port: newest.port, user: "postgres", database: "postgres" });
  const servers = new FaultyServers(newest.url, [await findFreePort(), await findFreePort()]);
  const members: Member[] = [];
  try {
    await servers.start();
    const env = environment(servers.urls, "postgres", newest.port);
    for (const [name, command] of commands)
      members.push(exampleMember({ name, command, cwd: copyOf(name) }, { env, database: client }));
    members.push(
      await rustMember(folder, { env, database: client }),
      await phpMember(folder, { env, database: client }),
    );
    const saved = await runFleet({ members, database: client, servers, rowCount: 1_000_000 });
    expect(saved).toBeGreaterThanOrEqual(1_000_000);
    const union = members.map(({ table }) => `SELECT id FROM ${table}`).join(" UNION ALL ");
    const counted = await client.query(
      `SELECT count(*) AS all, count(DISTINCT id) AS different FROM (${union}) AS ids`,
    );
    expect(counted.rows).toEqual([{ all: `${saved}`, different: `${saved}` }]);
  } finally {
    for (const member of members) await member.stop();
    await servers.stop();
    await client.end();
    await newest.stop();
  }
});
