/** Counters of other programs are taken over from the real databases, by the queries of the pages of sequences. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../cli/in-process.ts";
import { docBlock, sequencesDoc } from "../house/stores-doc.ts";
import { findTool } from "../support/fetch/tools.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { runSql } from "../support/servers/run-sql.ts";

/** `snowlane sequences` on a new SQLite file. */
function sequencesInFile() {
  const store = `sqlite:${join(temporaryFolder(), "s.db")}`;
  return (...words: readonly string[]) => runInProcess(["sequences", ...words, "--store", store]);
}

const queryOf = (program: string): string => docBlock(`import: ${program}`, sequencesDoc).replaceAll("\n", " ");

describe.each([
  ["MariaDB", startMariadb],
  ["MySQL", startMysql],
] as const)("from %s", (_name, start) => {
  test("AUTO_INCREMENT: above all rows, also those that were deleted before a crash, and of an empty table", async () => {
    const server = await start();
    onTestFinished(() => server.stop());
    const { url } = server;
    await runSql(
      url,
      "CREATE TABLE Orders (id BIGINT PRIMARY KEY AUTO_INCREMENT, item INT)",
      "CREATE TABLE tickets (id BIGINT PRIMARY KEY AUTO_INCREMENT)",
      "CREATE TABLE plain (id BIGINT PRIMARY KEY)",
      "INSERT INTO Orders (item) VALUES (1), (2), (3)",
      "DELETE FROM Orders WHERE id = 3",
    );
    const run = sequencesInFile();
    const source = ["import", "--from", url, "--sql", queryOf("auto-increment"), "--enable"];
    const next = async (name: string): Promise<number> => Number((await run("next", name)).stdout);
    expect(await run(...source)).toMatchObject({ code: 0, stderr: "" });
    expect([4, 5]).toContain(await next("orders"));
    expect([1, 2]).toContain(await next("tickets"));
    expect((await run("get", "plain")).code).toBe(1);
    await runSql(url, "INSERT INTO Orders (id) VALUES (100)", "DELETE FROM Orders");
    await server.kill();
    await server.restart();
    // Servers may have values in memory that the other program has given: nothing is written.
    const early = await run(...source);
    expect(early).toMatchObject({ code: 6, stderr: expect.stringMatching(/The sequence (orders|tickets) is in use/) });
    for (const name of ["orders", "tickets"]) await run("update", name, "--disabled", "true", "--wait", "30s");
    const again = (await run(...source)).stdout;
    expect(again).toMatch(/^orders +10[12] +raised$/m);
    expect(again).toMatch(/^tickets +\d +is higher already$/m);
  });
});

describe("from MariaDB", () => {
  let url: string;
  beforeAll(async () => {
    const server = await startMariadb();
    url = server.url;
    return () => server.stop();
  });

  test("Leaf: its step is the smallest segment, and its description stays", async () => {
    await runSql(
      url,
      `CREATE TABLE leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', max_id bigint(20) NOT NULL DEFAULT '1',
        step int(11) NOT NULL, description varchar(256) DEFAULT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag))`,
      "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ('leaf-segment-test', 2001, 2000, 'Test')",
      "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('Orders', 9007199254740993, 10)",
    );
    const run = sequencesInFile();
    await run("import", "--from", url, "--sql", queryOf("leaf"), "--margin", "100");
    const orders = JSON.parse((await run("get", "orders", "--json")).stdout) as unknown;
    expect(orders).toMatchObject({ nextValue: "9007199254741094", stepMin: "10" });
    const other = JSON.parse((await run("get", "leaf-segment-test", "--json")).stdout) as unknown;
    expect(other).toMatchObject({ nextValue: "2102", stepMin: "2000", description: "Test" });
  });

  test("Tinyid: of two databases the highest maximum wins", async () => {
    const table = `CREATE TABLE tiny_id_info (id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
      biz_type varchar(63) NOT NULL DEFAULT '', begin_id bigint(20) NOT NULL DEFAULT '0',
      max_id bigint(20) NOT NULL DEFAULT '0', step int(11) DEFAULT '0', delta int(11) NOT NULL DEFAULT '1',
      remainder int(11) NOT NULL DEFAULT '0', version bigint(20) NOT NULL DEFAULT '0', PRIMARY KEY (id),
      UNIQUE KEY uniq_biz_type (biz_type))`;
    const run = sequencesInFile();
    for (const [database, max] of [
      ["tiny_a", 50_001],
      ["tiny_b", 40_001],
    ] as const) {
      const own = url.replace(/test$/, database);
      await runSql(url, `CREATE DATABASE ${database}`);
      const row = `('order', 1, ${max}, 10000, 2, ${max % 2})`;
      await runSql(
        own,
        table,
        `INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder) VALUES ${row}`,
      );
      expect((await run("import", "--from", own, "--sql", queryOf("tinyid"))).code).toBe(0);
    }
    await run("update", "order", "--disabled", "false");
    expect((await run("next", "order")).stdout).toBe("50002\n");
  });

  test("CosId: names lose the underscores that a sequence's name may not end in", async () => {
    await runSql(
      url,
      `CREATE TABLE cosid (name varchar(100) NOT NULL PRIMARY KEY, last_max_id bigint unsigned NOT NULL DEFAULT 0,
        last_fetch_time bigint unsigned NOT NULL)`,
      "INSERT INTO cosid VALUES ('shop.__share__', 700, 1), ('shop.Order', 12345, 1)",
    );
    const run = sequencesInFile();
    const source = ["import", "--from", url, "--sql", queryOf("cosid")];
    const planned = await run(...source, "--dry-run");
    expect(planned.stdout).toMatch(/^NAME +NEXT +WOULD BE\nshop.+ made\nshop.+ made\n$/);
    expect((await run()).code).not.toBe(0);
    expect((await run(...source)).code).toBe(0);
    // It may be repeated until the cut-over, and until then nothing gives values.
    expect((await run("next", "shop.share")).stderr).toContain("disabled");
    expect((await run(...source, "--enable")).code).toBe(0);
    expect((await run("next", "shop.share")).stdout).toBe("701\n");
  });

  test("a query that would write is refused, and one that is wrong is reported in the database's words", async () => {
    await runSql(url, "CREATE TABLE kept (id INT)");
    const run = sequencesInFile();
    const import_ = (sql: string) => run("import", "--from", url, "--name", "a", "--sql", sql);
    expect(await import_("INSERT INTO kept VALUES (1)")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/READ ONLY/i),
    });
    expect(await import_("SELECT max(id) FROM nothing")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nothing"),
    });
    expect(await runSql(url, "SELECT * FROM kept")).toEqual([]);
  });
});

test("from PostgreSQL: identity columns and sequences, and an account that is refused gets an error that says so", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  await runSql(
    server.url,
    "CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY, item int)",
    "INSERT INTO orders (item) VALUES (1), (2)",
    "CREATE SEQUENCE tickets START 2000",
    "SELECT nextval('tickets')",
    "CREATE SEQUENCE unused",
    // A block allocator hands out 1 to 100: the sequence has the low end of its last block.
    "CREATE SEQUENCE blocks INCREMENT 50",
    "SELECT nextval('blocks'), nextval('blocks')",
    "CREATE SEQUENCE turns MAXVALUE 100 CYCLE",
    "CREATE SEQUENCE down INCREMENT -1",
  );
  const run = sequencesInFile();
  const outcome = await run("import", "--from", server.url, "--sql", queryOf("postgres"));
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
  expect((await run("get", "blocks", "--json")).stdout).toContain('"nextValue":"101"');
  // One that begins again has no highest value: its program's rows have.
  expect((await run("get", "turns", "--json")).stdout).toContain('"nextValue":"101"');
  expect((await run("get", "down")).code).toBe(1);
  const listed = (await run()).stdout.split("\n").map((line) => line.split(/ +/).slice(0, 2));
  expect(listed.slice(1, 6)).toEqual([
    ["blocks", "101"],
    ["orders_id_seq", "3"],
    ["tickets", "2001"],
    ["turns", "101"],
    ["unused", "1"],
  ]);
  const write = await run("import", "--from", server.url, "--name", "a", "--sql", "DELETE FROM orders RETURNING id");
  expect(write).toMatchObject({ code: 2, stderr: expect.stringContaining("read-only transaction") });
  const nobody = server.url.replace("postgres@", "nobody@");
  expect((await run("import", "--from", nobody, "--sql", "SELECT 'a', 1")).code).toBe(4);
});

test("from Redis: a counter's value by the line of the page", async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const { path, env } = await findTool("redis-cli");
  const ask = (...args: readonly string[]): string =>
    execFileSync(path, ["-u", redis.url, ...args], { encoding: "utf8", env: { ...process.env, ...env } }).trim();
  ask("SET", "orders", "41237");
  const line = docBlock("import: redis", sequencesDoc).trim();
  const [, key = ""] = /GET (\w+)\)"$/.exec(line) ?? [];
  const words = line
    .replace(/"\$\(.*\)"$/, ask("GET", key))
    .split(" ")
    .slice(2);
  const run = sequencesInFile();
  expect(await run(...words, "--enable")).toMatchObject({ code: 0, stderr: "" });
  expect((await run("next", "orders")).stdout).toBe("41238\n");
});

test("from SQLite, and whatever cannot be taken over is refused before anything is written", async () => {
  const path = join(temporaryFolder(), "old.db");
  const old = new DatabaseSync(path);
  old.exec("CREATE TABLE counter (name TEXT, value); INSERT INTO counter VALUES ('a', 9007199254740993), ('b', NULL)");
  const run = sequencesInFile();
  const from = (sql: string, ...more: readonly string[]) =>
    run("import", "--from", `sqlite:${path}`, "--sql", sql, ...more);
  const refusals: readonly (readonly [sql: string, problem: string, ...more: string[]])[] = [
    ["SELECT name, value FROM counter UNION ALL SELECT 'B', 1", 'Row 3 has the name "B"'],
    ["SELECT 'a', 1 UNION ALL SELECT 'a', 2", "two rows for the sequence a"],
    ["SELECT 'a', -1", 'the value "-1"'],
    ["SELECT 'a', 1.5", 'the value "1.5"'],
    ["SELECT 'a', 9223372036854775807", "No value is left above"],
    ["SELECT 'a', 1, -5", 'the step "-5"'],
    ["SELECT 'a'", "Row 1 has 1 columns"],
    ["SELECT 'a', 1, 2, 'text', 5", "Row 1 has 5 columns"],
    ["SELECT value FROM counter WHERE 0", "gave no row", "--name", "a"],
    ["SELEC", "syntax error"],
    ["DELETE FROM counter", "readonly database"],
  ];
  for (const [sql, problem, ...more] of refusals) {
    expect(await from(sql, ...more), sql).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  }
  expect((await run("get", "a")).code).toBe(4);
  expect((await from("SELECT name, value FROM counter", "--enable")).code).toBe(0);
  expect((await run("next", "a")).stdout).toBe("9007199254740994\n");
  expect((await run("next", "b")).stdout).toBe("1\n");
});

test("words that do not fit together are refused with what to give", async () => {
  const run = sequencesInFile();
  const hints: readonly (readonly [words: string[], hint: string])[] = [
    [[], "URL of the other program's database"],
    [["--from", "redis://127.0.0.1", "--sql", "GET a"], "a value of another store with --value"],
    [["--value", "5"], "Give the name"],
    [["--value", "5", "--name", "a", "--sql", "SELECT 1"], "Give --value, or --from with --sql"],
    [["--from", "sqlite:/none/at/all", "--sql", "SELECT 1", "--name", "a"], "there is no file"],
  ];
  for (const [words, hint] of hints) {
    expect(await run("import", ...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) });
  }
});
