/** The walk of docs/migrating.md from AUTO_INCREMENT, step by step as the page shows it, while writers go on. */
import { chmodSync, globSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/clock/clock.ts";
import { decomposeId, ticksToMsDown } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { findTool } from "../support/fetch/tools.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { openSqlSession, type TestSession } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";

const orderCount = 20_000;
const marked = (language: string) =>
  blocksOf("docs/migrating.md", `${language} tested by test/stores/migrating.test.ts`);
const [addColumns = "", fillItems = "", dropOld = ""] = marked("sql");
const [backFill = ""] = marked("sh");

/** Which columns a writer sets, one step of the walk after another. */
type Columns = "old" | "both" | "new";

/** A program that places orders, each with one item, all the time. */
class Shop {
  readonly #session: TestSession;
  readonly #ids: GrpcIdClient;
  readonly #running: Promise<void>;
  #columns: Columns = "old";
  #isClosed = false;
  #turn = Promise.withResolvers<void>();
  orderCount = 0;

  constructor(session: TestSession, ids: GrpcIdClient) {
    this.#session = session;
    this.#ids = ids;
    this.#running = this.#run();
    // It may fail before anybody waits for it.
    this.#running.catch(() => {});
  }

  /** Resolves when no order is under way that sets other columns, and one with these was placed. */
  async use(columns: Columns): Promise<void> {
    this.#columns = columns;
    for (let turns = 0; turns < 2; turns += 1) await Promise.race([this.#turn.promise, this.#running]);
  }

  /** @throws What an order met. */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#running;
    } finally {
      await this.#session.end();
    }
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      await this.#place(this.#columns);
      this.orderCount += 1;
      this.#turn.resolve();
      this.#turn = Promise.withResolvers();
      await sleep(5);
    }
  }

  async #place(columns: Columns): Promise<void> {
    const time = "utc_timestamp(6)";
    if (columns === "old") {
      await this.#session.run(`INSERT INTO orders (created_at) VALUES (${time})`);
      await this.#session.run("INSERT INTO items (order_id) VALUES (last_insert_id())");
      return;
    }
    const id = await this.#ids.nextId(60_000);
    await this.#session.run(`INSERT INTO orders (created_at, new_id) VALUES (${time}, ${id})`);
    const item =
      columns === "both"
        ? `(order_id, order_new_id) VALUES (last_insert_id(), ${id})`
        : `(order_new_id) VALUES (${id})`;
    await this.#session.run(`INSERT INTO items ${item}`);
  }
}

/** Gives the commands of the page to sh as its reader has them. @returns What they print. */
async function shellOf(database: TestServer): Promise<(script: string) => Promise<string>> {
  const folder = temporaryFolder();
  const program = (await bundledSnowlane()).join(" ").replace("dist", join(process.cwd(), "dist"));
  writeFileSync(join(folder, "snowlane"), `#!/bin/sh\nexec ${program} "$@"\n`);
  chmodSync(join(folder, "snowlane"), 0o755);
  const { path, env: ofTool } = await findTool("mariadb-dump");
  // Where Debian's package was only unpacked, the client does not find its plugins, of which MySQL needs one.
  const plugins = globSync(join(dirname(path), "../lib/*/libmariadb3/plugin")).map((place) => `plugin-dir=${place}`);
  const client = ["host=127.0.0.1", `port=${database.port}`, "user=root", ...plugins];
  writeFileSync(join(folder, ".my.cnf"), `[client]\n${client.join("\n")}\n`);
  const env = { ...ofTool, HOME: folder, PATH: [folder, dirname(path), process.env["PATH"]].join(delimiter) };
  return (script) => runCommand("sh", ["-euc", script], { cwd: folder, env });
}

/** Orders of ten years, some of one moment and one without a time, with one item each. */
async function fill(session: TestSession): Promise<void> {
  await session.run("CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, created_at DATETIME(6) NULL)");
  await session.run(`CREATE TABLE items (nr BIGINT AUTO_INCREMENT PRIMARY KEY, order_id BIGINT NOT NULL,
    CONSTRAINT items_order FOREIGN KEY (order_id) REFERENCES orders (id))`);
  const [fromMs, untilMs] = [Date.UTC(2016, 0, 1), Date.UTC(2026, 0, 1)];
  const times = Array.from({ length: orderCount }, (_, order) => {
    if (order === 77) return "(NULL)";
    const ms = order < 5_000 ? fromMs : fromMs + Math.floor(((untilMs - fromMs) * order) / orderCount);
    return `('${new Date(ms).toISOString().slice(0, -1)}')`;
  });
  for (let at = 0; at < times.length; at += 5_000)
    await session.run(`INSERT INTO orders (created_at) VALUES ${times.slice(at, at + 5_000).join()}`);
  await session.run("INSERT INTO items (order_id) SELECT id FROM orders ORDER BY id");
}

async function runAll(session: TestSession, statements: string): Promise<void> {
  for (const statement of statements.split(/;\n/)) if (statement.trim() !== "") await session.run(statement);
}

/** Each order has an ID of its own, each old one with its time, and each item has the order that it had. */
async function check(
  session: TestSession,
  before: readonly Readonly<Record<string, unknown>>[],
  placed: number,
): Promise<void> {
  const [counted] =
    await session.run(`SELECT count(*) AS orders, count(DISTINCT new_id) AS ids, count(created_at) AS timed,
    (SELECT count(*) FROM items JOIN orders ON new_id = order_new_id) AS items FROM orders`);
  const all = orderCount + placed;
  expect(Object.values(counted!).map(Number)).toEqual([all, all, all - 1, all]);
  const rows = await session.run(
    "SELECT new_id, unix_timestamp(created_at) * 1000 AS ms FROM orders WHERE created_at < '2026-01-01'",
  );
  const lags = rows.map(({ new_id: id, ms }) => {
    const { ticks } = decomposeId(layouts.twitter, BigInt(id as string));
    return ticksToMsDown(layouts.twitter, ticks) - Math.floor(Number(ms));
  });
  expect(lags.length).toBe(orderCount - 1);
  expect(lags.filter((lag) => lag < 0 || lag > 1_000)).toEqual([]);
  // Each item has the order that it had.
  const after = new Map(
    (await session.run("SELECT nr, order_new_id FROM items")).map(({ nr, order_new_id: id }) => [nr, id]),
  );
  for (const { nr, new_id: id } of before) expect(after.get(nr)).toBe(id);
}

test.each([
  ["mariadb", startMariadb],
  ["mysql", startMysql],
] as const)(
  "orders of an AUTO_INCREMENT column of %s get IDs with their times while writers go on",
  async (dialect, start) => {
    const database = await start();
    onTestFinished(() => database.stop());
    const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
    const server = await startSnowlane({ args: ["--store", store] });
    const ids = new GrpcIdClient(server.address);
    onTestFinished(async () => {
      ids.close();
      await server.stop("SIGTERM");
    });
    const open = (): Promise<TestSession> => openSqlSession(database.url);
    const session = await open();
    onTestFinished(() => session.end());
    await session.run("SET time_zone = '+00:00'");
    await fill(session);
    const writer = await open();
    // A writer that the walk locks out fails.
    await writer.run("SET lock_wait_timeout = 20, innodb_lock_wait_timeout = 1");
    const shop = new Shop(writer, ids);
    const shell = await shellOf(database);
    try {
      await shop.use("old");
      await runAll(session, addColumns);
      await shop.use("both");

      const endMs = systemClock.nowMs();
      await shop.use("both");
      await vi.waitFor(() => expect(systemClock.nowMs()).toBeGreaterThan(endMs + 1_000), { timeout: 30_000 });
      const ownRows = backFill
        .replace(/mysql:\S+/, store)
        .replace("--sql mysql", `--sql ${dialect}`)
        .replace("--to 2026-01-01", `--to ${new Date(endMs).toISOString()}`)
        .replace("mysql shop", "mysql test");
      const placedBefore = shop.orderCount;
      expect(await shell(ownRows)).toMatch(/\n1\t1\n$/);
      expect(shop.orderCount).toBeGreaterThan(placedBefore);

      expect(await session.run("SELECT created_at FROM orders WHERE new_id IS NULL")).toEqual([{ created_at: null }]);
      await session.run(`UPDATE orders SET new_id = ${await ids.nextId(60_000)} WHERE new_id IS NULL`);
      await runAll(session, fillItems);
      const before = await session.run("SELECT nr, new_id FROM items JOIN orders ON orders.id = order_id");
      await shop.use("new");
      await runAll(session, dropOld);
      await shop.use("new");
      await shop.close();
      await check(session, before, shop.orderCount);
    } catch (error) {
      await shop.close().catch(() => {});
      throw error;
    }
  },
);
