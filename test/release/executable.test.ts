import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildExecutable, packExecutable } from "../../tools/release/build-executable.ts";
import { ownVersion } from "../../tools/versions.ts";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";

/** The executable, on a machine that has no other Node: nothing is on PATH, and the environment is empty. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-executable-"));
const name = `snowlane-${ownVersion()}-linux-x64`;
const installed = join(folder, name);
const program = join(installed, "snowlane");
const bare = { PATH: join(folder, "nothing"), HOME: folder };
let output: string;

beforeAll(async () => {
  const built = join(folder, "built", name);
  await buildExecutable(".", built);
  await packExecutable(built, join(folder, `${name}.tar.gz`), new Date());
  const tools = (await runCommand("sh", ["-c", "for tool in sh tar gzip; do command -v $tool; done"]))
    .trim()
    .split("\n");
  mkdirSync(join(folder, "bin"));
  for (const path of tools) symlinkSync(path, join(folder, "bin", basename(path)));
  const env = { PATH: join(folder, "bin"), HOME: folder };
  output = await runReadmeBlock("docs/install.md", 2, { cwd: folder, env });
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function snowlane(...args: readonly string[]): Promise<Outcome> {
  const child = spawn(program, args, { env: bare, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => (said[name] += text));
  const [code] = (await once(child, "close")) as [number];
  return { code, ...said };
}

test("the lines of docs/install.md unpack it, and give an ID", () => {
  expect(output).toMatch(/^\d{19}\nok /);
});

// NODE_OPTIONS of a user reached it.
test("OPERATIONS 6: it takes no NODE_OPTIONS, so that nobody opens a debugger in it", async () => {
  const child = spawn(program, ["--version"], {
    env: { ...bare, NODE_OPTIONS: "--inspect=127.0.0.1:0 --require=/no/such/file" },
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  expect([await once(child, "close"), stderr]).toEqual([[0, null], ""]);
});

test("it has at most 140 MB, and the notices of what it contains, with those of Node", () => {
  expect(readdirSync(installed).toSorted()).toEqual(["LICENSE", "THIRD_PARTY_NOTICES", "snowlane"]);
  expect(statSync(program).size).toBeLessThan(140_000_000);
  const notices = readFileSync(join(installed, "THIRD_PARTY_NOTICES"), "utf8");
  for (const name of ["@redis/client", "mysql2", "node", "pg"])
    expect(notices).toMatch(new RegExp(`^${name} \\d`, "m"));
  expect(notices).toContain("OpenSSL");
});

test("it says its version, its help, and what an ID holds", async () => {
  expect(await snowlane("--version")).toEqual({ code: 0, stdout: `${ownVersion()}\n`, stderr: "" });
  expect(await snowlane("--help")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Usage: snowlane COMMAND"),
  });
  expect(await snowlane("parse", "1")).toMatchObject({ code: 0, stdout: expect.stringContaining("worker          0") });
});

test("it serves IDs, a sequence and the page beside an SQLite store, and ends in order", async () => {
  const server = await startSnowlane({
    args: ["--store", `sqlite:${join(folder, "served.db")}`],
    environment: bare,
    program: [program],
  });
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const answer = await fetch(`${server.url}/snowlane.v1.IdService/NextId`, post);
  expect(await answer.json()).toEqual({ id: expect.stringMatching(/^\d{19}$/), deployment: expect.any(Number) });
  for (const verb of ["create", "next"]) {
    const outcome = await snowlane("sequences", verb, "invoices", "--server", server.url);
    expect(outcome, verb).toMatchObject({ code: 0, stderr: "" });
  }
  const page = await fetch(`${server.url}/`);
  const html = await page.text();
  const [, script = ""] = /rel="modulepreload" href="(\/assets\/[^"]+)"/.exec(html) ?? [];
  for (const encoding of ["br", "gzip", "identity"]) {
    const asset = await fetch(server.url + script, { headers: { "accept-encoding": encoding } });
    expect([asset.status, (await asset.text()).length > 1_000], encoding).toEqual([200, true]);
  }
  expect((await fetch(`${server.url}/nothing`)).status).toBe(404);
  expect(await snowlane("health", "--server", server.url)).toMatchObject({ code: 0, stdout: "SERVING\n" });
  expect(await server.stop("SIGTERM")).toBe(0);
  expect(server.log.map(({ message }) => message)).toContain("Stopped");
});

test.each([
  ["SQLite", async () => ({ url: `sqlite:${join(folder, "a.db")}`, stop: () => Promise.resolve() })],
  ["PostgreSQL", startPostgres],
  ["MariaDB", startMariadb],
  ["Redis", startRedis],
])("it gets IDs from a store of %s", async (_name, start) => {
  const store = await start();
  try {
    const outcome = await snowlane("next", "--count", "3", "--store", store.url);
    expect(outcome).toEqual({ code: 0, stdout: expect.stringMatching(/^(\d{19}\n){3}$/), stderr: "" });
  } finally {
    await store.stop();
  }
});

test("it refuses to serve everybody who reaches it, said by nobody, in one line", async () => {
  const { code, stderr } = await snowlane("serve", "--listen", "0.0.0.0:0", "--store", "sqlite:refused.db");
  expect(code).toBe(2);
  expect(stderr).toMatch(/^snowlane: .*--auth[^\n]*\n$/);
});
