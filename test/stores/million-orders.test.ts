/** The two commands of docs/back-fill.md, over ten years of orders in a real PostgreSQL, while a server issues. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import { IdLoad } from "../support/processes/id-load.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { openSqlSession, type TestSession } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { sized } from "../support/worlds/scale.ts";

const orderCount = sized(100_000, 1_000_000);
/** Orders of one second, as after an import of old ones: more than a millisecond has IDs. */
const tieCount = 10_000;
const page = readFileSync("docs/back-fill.md", "utf8");

let database: TestServer;
let folder: string;
let server: SnowlaneProcess;
let client: GrpcIdClient;
let shop: TestSession;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-orders-"));
  database = await startPostgres();
  const session = await openSqlSession(database.url);
  await session.run("CREATE DATABASE shop");
  await session.end();
  shop = await openSqlSession(database.url.replace(/postgres$/, "shop"));
  server = await startSnowlane({ args: ["--store", database.url] });
  client = new GrpcIdClient(server.address);
  const program = (await bundledSnowlane()).join(" ");
  writeFileSync(
    join(folder, "snowlane"),
    `#!/bin/sh\nexec ${program.replace("dist", join(process.cwd(), "dist"))} "$@"\n`,
  );
  chmodSync(join(folder, "snowlane"), 0o755);
});
afterAll(async () => {
  client?.close();
  await server?.stop("SIGTERM");
  await shop?.end();
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs commands of the page as its reader does, on the databases of this test. @returns What they print. */
async function runBlock(pattern: RegExp): Promise<string> {
  return await runShell(pattern.exec(page)![1]!.replace("sqlite:ids.db", database.url));
}

async function runShell(script: string): Promise<string> {
  const { path, env: ofTool } = await findTool("pg_dump");
  const env = {
    ...ofTool,
    PATH: [folder, dirname(path), process.env["PATH"]].join(delimiter),
    PGHOST: "127.0.0.1",
    PGPORT: String(database.port),
    PGUSER: "postgres",
  };
  return await runCommand("sh", ["-euc", script], { cwd: folder, env });
}

/** The first command. @returns The statements that it prints into the file. */
async function claim(): Promise<string> {
  await runBlock(/^```sh run\n(snowlane backfill .*?--sql postgresql[^]*?)^```/m);
  return readFileSync(join(folder, "backfill.sql"), "utf8");
}

/** The second command. @returns What the database says, of the rows without an ID at the end. */
async function number(): Promise<string> {
  return await runBlock(/^```sh not run: the database is yours\n(psql [^]*?)^```/m);
}

/** The one query of the page that checks it; `within`: no ID is earlier than its order, nor later by over a second. */
async function check(): Promise<Readonly<Record<string, unknown>>> {
  const query = /^```sql not run: the table is yours\n([^]*?)^```/m.exec(page)![1]!;
  const within = "bool_and(snowlane_time(id) - created_at BETWEEN interval '-1 ms' AND interval '1 s') AS within";
  const [found] = await shop.run(query.replace("AS lag", `AS lag, ${within}`));
  return found!;
}

/** How the database would number the rows by a script. */
async function planOf(script: string): Promise<string> {
  await shop.run("BEGIN");
  for (const [setting] of script.matchAll(/^SET LOCAL .*;$/gm)) await shop.run(setting);
  const rows = await shop.run(`EXPLAIN ${/^UPDATE "orders"[^]*?;$/m.exec(script)![0]}`);
  await shop.run("ROLLBACK");
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

/** Places orders with IDs of the server, one after another, as a live shop does. */
function placeOrders(): { stop(): Promise<number> } {
  const ending = new AbortController();
  let placed = 0;
  const placing = (async () => {
    const session = await openSqlSession(database.url.replace(/postgres$/, "shop"));
    try {
      for (; !ending.signal.aborted; placed += 1) {
        const id = await client.nextId(60_000);
        await session.run(`INSERT INTO orders VALUES (${orderCount + 1 + placed}, now(), ${id})`);
        await sleep(20);
      }
    } finally {
      await session.end();
    }
    return placed;
  })();
  return {
    stop: () => {
      ending.abort();
      return placing;
    },
  };
}

test("a shop's old orders get IDs by two commands while a server issues, and a second back-fill shares none", async () => {
  await shop.run("CREATE TABLE orders (nr bigint PRIMARY KEY, created_at timestamptz NOT NULL, id bigint)");
  await shop.run(`INSERT INTO orders (nr, created_at) SELECT nr, CASE WHEN nr <= ${tieCount} THEN '2019-11-29T00:00:00Z'
    ELSE timestamptz '2016-01-01Z' + random() * (timestamptz '2026-01-01Z' - timestamptz '2016-01-01Z') END
    FROM generate_series(1, ${orderCount}) AS nr`);
  await runShell("snowlane sql --dialect postgresql | psql -qv ON_ERROR_STOP=1 shop");

  const load = new IdLoad({
    targets: () => [client],
    callerCount: 2,
    streamCount: 0,
    pauseMs: 5,
    callTimeoutMs: 60_000,
    requestTimeoutMs: 0,
  });
  const newOrders = placeOrders();
  await claim();
  expect(await number()).toMatch(/\n *0 \| *0\n/);
  expect(await check()).toMatchObject({ count: String(orderCount), within: true });

  // Now the statistics of the database say that every row has an ID.
  await shop.run("ALTER TABLE orders SET (autovacuum_enabled = off)");
  await shop.run("ANALYZE orders");
  await shop.run("CREATE TABLE first AS SELECT nr, id FROM orders WHERE created_at < '2026-01-01'");
  await shop.run("UPDATE orders SET id = NULL WHERE created_at < '2026-01-01'");
  const script = await claim();
  expect(await planOf(script)).not.toContain("Nested Loop");
  expect(await planOf(script.replace(/^SET LOCAL.*$/m, ""))).toContain("Nested Loop");
  expect(await number()).toMatch(/\n *0 \| *0\n/);
  expect(await check()).toMatchObject({ count: String(orderCount), within: true });

  await load.stop();
  const placed = await newOrders.stop();
  expect(placed).toBeGreaterThan(0);
  expect(load.received.countRepeated()).toBe(0);
  const [all] = await shop.run(
    "SELECT count(*) AS all, count(DISTINCT id) AS different FROM (SELECT id FROM orders UNION ALL SELECT id FROM first) AS ids",
  );
  expect(all).toEqual({ all: String(2 * orderCount + placed), different: String(2 * orderCount + placed) });
});
