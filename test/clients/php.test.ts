import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { composerEnvironment } from "../support/fetch/composer.ts";
import { phpCall } from "../support/fetch/php.ts";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { startIdPool, type Taken, takeFromPool } from "../support/processes/php-pool.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import type { PhpFpm } from "../support/servers/php-fpm-server.ts";
import { sized } from "../support/worlds/scale.ts";
import { makeSampleSequences } from "./sample-lines.ts";

const timeout = 600_000;
const folder = mkdtempSync(join(tmpdir(), "snowlane-php-"));
const client = resolve("clients/php");
let servers: SnowlaneProcess[];
let pool: PhpFpm | undefined;

const startServer = (listen: string): Promise<SnowlaneProcess> =>
  startSnowlane({ listen, args: ["--store", `sqlite:${join(folder, "ids.db")}`] });

beforeAll(async () => {
  servers = [await startServer(`127.0.0.1:${await findFreePort()}`), await startServer("127.0.0.1:0")];
  await makeSampleSequences(servers[0]!.url);
  // By the lines of docs/frameworks.md.
  pool = await startIdPool(folder, servers.map(({ url }) => url).join(","));
}, timeout);
afterAll(async () => {
  await pool?.stop();
  for (const server of servers) await server.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program of the client with PHP's command line. */
async function run(program: string, { url = servers[0]!.url, apcu = false } = {}): Promise<readonly string[]> {
  const [env = "", ...call] = await phpCall(apcu ? ["curl", "apcu"] : ["curl"]);
  const variables = { SNOWLANE_URL: url };
  return (await runCommand(env, [...call, join(client, program)], { env: variables })).trim().split("\n");
}

const take = (count: number): Promise<Taken> => takeFromPool(pool!, count);

/** Whether a worker still is there, which another caller may have killed. */
const isAlive = (worker: number): boolean => existsSync(`/proc/${worker}`);

test("texts are written and read as in every language", { timeout }, async () => {
  const [line = ""] = await run("tests/vectors.php");
  expect(Number(/^compared (\d+)$/.exec(line)?.[1])).toBeGreaterThan(1_000);
});

test("what cannot be is refused before anything is sent, and no message shows a secret", { timeout }, async () => {
  const argument = "InvalidArgumentException";
  expect(await run("tests/wrong-use.php")).toEqual([
    `no endpoint: ${argument}`,
    `an endpoint without a scheme: ${argument}`,
    `an endpoint with a password: ${argument}`,
    `an endpoint with a path: ${argument}`,
    `a token in the clear: ${argument}`,
    `too many retries: ${argument}`,
    "an unknown option: Error",
    `a file that is not there: ${argument}`,
    `a malformed fingerprint: ${argument}`,
    `a maxAge of nothing: ${argument}`,
    `counts upside down: ${argument}`,
    `a shared stock without APCu: ${argument}`,
    "a copy of a client: Error",
    "a copy of a buffer: LogicException",
    "no IDs: COUNT_OUT_OF_RANGE INVALID_ARGUMENT",
    "too many IDs: COUNT_OUT_OF_RANGE INVALID_ARGUMENT",
    "a token of two lines: RPC_FAILED UNAUTHENTICATED",
    "a closed client: CLIENT_CLOSED CANCELLED",
  ]);
});

test("the samples print IDs that rise, and values", { timeout }, async () => {
  const ids = (await run("samples/basic.php")).map(BigInt);
  expect(ids).toHaveLength(11);
  expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids);
  const [value, ...values] = await run("samples/sequence.php");
  expect([value, values.shift(), values.pop()]).toEqual([
    "value 1",
    expect.stringMatching(/^values \d+ from 2$/),
    "text INV-000001",
  ]);
});

test("the lines of its README install it by Composer, and a program gets an ID", { timeout }, async () => {
  const project = join(folder, "project");
  const env = await composerEnvironment(join(folder, "composer"));
  mkdirSync(project);
  writeFileSync(join(project, "composer.json"), "{}");
  const places = { "/path/to/snowlane": process.cwd() };
  await runReadmeBlock("clients/php/README.md", 0, { cwd: project, env, places });
  const code = `require "vendor/autoload.php"; echo (new Snowlane\\IdClient("${servers[0]!.url}"))->nextId();`;
  expect(await runCommand("php", ["-r", code], { cwd: project, env })).toMatch(/^\d{18,19}$/);
});

test("a Unix socket is an endpoint", { timeout }, async () => {
  const url = `unix:${join(folder, "ids.sock")}`;
  const local = await startServer(url);
  try {
    expect(await run("samples/basic.php", { url })).toHaveLength(11);
  } finally {
    await local.stop("SIGTERM");
  }
});

test("values of another database of sequences are refused", { timeout }, async () => {
  // An older server tells none.
  const databases = [0xab, 0xcd, 0, 0xab];
  const scripted = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ value: "7", database: databases.shift() }));
  });
  scripted.listen(0, "127.0.0.1");
  await once(scripted, "listening");
  const url = `http://127.0.0.1:${(scripted.address() as AddressInfo).port}`;
  try {
    const metadata = { database: "000000cd", expected_database: "000000ab", endpoint_first: url };
    const refused = `DEPLOYMENT_MISMATCH ${JSON.stringify(metadata)}`;
    expect(await run("tests/databases.php", { url })).toEqual(["7", refused, "7", "7"]);
  } finally {
    scripted.closeAllConnections();
    scripted.close();
  }
});

test("a forked child hands out no ID of its parent", { timeout }, async () => {
  const ids = await run("tests/fork.php");
  expect(ids).toHaveLength(1 + 4 * 500);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the workers of a pool have one stock, by APCu", { timeout }, async () => {
  let calls = 1;
  // The IDs of one reservation go to the next requests, too, if those come before they are too old.
  while ((await take(1)).refills > 0) expect(calls++).toBeLessThan(100);
});

test("keys that APCu loses leave a gap, and no ID comes twice", { timeout }, async () => {
  const lines = await run("tests/lost-cursor.php", { apcu: true });
  const [refills, ids] = [Number(lines.at(-1)), lines.slice(0, -1)];
  expect(ids).toHaveLength(40);
  expect(new Set(ids).size).toBe(40);
  expect(refills).toBeGreaterThanOrEqual(4);
});

test("a pool hands out no ID twice, though workers and a server are killed and the other one is frozen", {
  timeout: 3_600_000,
}, async () => {
  const callsOfEach = sized(100, 1_000);
  const ids: string[] = [];
  const workers = new Set<number>();
  const calls = { done: 0, lost: 0 };
  const call = async (): Promise<void> => {
    const taken = await take(25).catch(() => undefined);
    calls.done++;
    if (taken === undefined) calls.lost++;
    else ids.push(...taken.ids);
    if (taken !== undefined) workers.add(taken.worker);
    if (taken !== undefined && calls.done % 100 === 0 && isAlive(taken.worker)) process.kill(taken.worker, "SIGKILL");
  };
  const callers = Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let index = 0; index < callsOfEach; index++) await call();
    }),
  );
  const untilDone = async (share: number): Promise<void> => {
    while (calls.done < share * 8 * callsOfEach) await sleep(10);
  };
  await untilDone(0.2);
  await servers[0]!.stop("SIGKILL");
  await untilDone(0.4);
  servers[0] = await startServer(servers[0]!.address);
  await untilDone(0.5);
  servers[1]!.child.kill("SIGSTOP");
  await untilDone(0.8).finally(() => servers[1]!.child.kill("SIGCONT"));
  await callers;
  const after = await take(100);
  ids.push(...after.ids);
  expect(after.reasons).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(workers.size, "workers that took the place of killed ones").toBeGreaterThan(4);
  // Each killed worker may take the request of one caller along, and the next ones until another has its place.
  expect(calls.lost).toBeLessThan(4 * callsOfEach);
  expect(ids.length).toBeGreaterThan(25 * 4 * callsOfEach);
});
