/** Statements of `snowlane sql numbers`: numbers without a gap in a transaction of the caller, on real databases. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../cli/in-process.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { type CuttableSession, openSqlSession, runSql, type TestSession } from "../support/servers/run-sql.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";

const writerCount = 6;
const documentCount = 25;

/** The statements that a dialect prints, without comments. */
async function printed(dialect: string): Promise<readonly string[]> {
  const { code, stdout } = await runInProcess(["sql", "numbers", "--dialect", dialect]);
  expect(code).toBe(0);
  const text = stdout.replaceAll(/^--.*$/gm, "");
  // The body of a function holds no semicolon.
  return text
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

/** The end of a transaction: three of ten are rolled back, and one of sixteen loses its connection. */
function endOf(random: SeededRandom): "commit" | "rollback" | "cut" {
  if (random.oneIn(16)) return "cut";
  return random.below(10) < 3 ? "rollback" : "commit";
}

interface Numbering {
  readonly open: () => Promise<CuttableSession>;
  readonly begin: string;
  readonly next: (session: TestSession) => Promise<number>;
}

/** Writes documents, each in a transaction of its own. A transaction that the database refuses is begun again. */
async function write({ open, begin, next }: Numbering, seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  let session = await open();
  for (let written = 0; written < documentCount; ) {
    const end = endOf(random);
    try {
      await session.run(begin);
      const number = await next(session);
      await session.run(`INSERT INTO invoice (period, number, writer) VALUES ('2026', ${number}, ${seed})`);
      if (end === "cut") {
        // Without a word to the database.
        await session.cut();
        session = await open();
        continue;
      }
      await session.run(end === "commit" ? "COMMIT" : "ROLLBACK");
      if (end === "commit") written += 1;
    } catch (error) {
      const isRace = /deadlock|serializ|could not|lock wait/i.test(String(error));
      if (!isRace) throw error;
      await session.run("ROLLBACK");
    }
  }
  await session.end();
}

test.each([
  ["PostgreSQL", "postgresql", () => startPostgres()],
  [
    "PostgreSQL that is serializable",
    "postgresql",
    () => startPostgres(["-c", "default_transaction_isolation=serializable"]),
  ],
  ["MariaDB", "mysql", () => startMariadb()],
  ["MySQL", "mysql", () => startMysql()],
] as const)(
  "%s: rollbacks and cut connections leave no gap, and no number comes twice",
  async (_name, dialect, start) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const [table, ...others] = await printed(dialect);
    const invoice = "CREATE TABLE invoice (period VARCHAR(10), number BIGINT, writer INT, UNIQUE (period, number))";
    await runSql(server.url, table!, invoice, ...(dialect === "postgresql" ? others : []));
    const next = async (session: TestSession): Promise<number> => {
      if (dialect === "postgresql") {
        const [row] = await session.run("SELECT snowlane_next_number('invoice', '2026') AS number");
        return Number(row!["number"]);
      }
      await session.run(others[0]!);
      const [row] = await session.run(others[1]!);
      return Number(Object.values(row!)[0]);
    };
    const numbering = { open: () => openSqlSession(server.url), begin: "START TRANSACTION", next };
    await Promise.all(Array.from({ length: writerCount }, (_, seed) => write(numbering, seed + 1)));
    const rows = await runSql(server.url, "SELECT number FROM invoice ORDER BY number");
    const all = Array.from({ length: writerCount * documentCount }, (_, index) => index + 1);
    expect(rows.map((row) => Number(row["number"]))).toEqual(all);
  },
);

test("SQLite: rollbacks and closed connections leave no gap, and no number comes twice", async () => {
  const path = join(temporaryFolder(), "shop.db");
  const [table, next] = await printed("sqlite");
  const first = new DatabaseSync(path);
  first.exec(`${table}; CREATE TABLE invoice (number INTEGER UNIQUE)`);
  first.close();
  const random = new SeededRandom(1);
  let database = new DatabaseSync(path);
  for (let written = 0; written < 100; ) {
    database.exec("BEGIN IMMEDIATE");
    const row = database.prepare(next!).get();
    database.prepare("INSERT INTO invoice VALUES (?)").run(Number(row!["last_number"]));
    const end = endOf(random);
    if (end === "cut") {
      database.close();
      database = new DatabaseSync(path);
    } else {
      database.exec(end === "commit" ? "COMMIT" : "ROLLBACK");
      if (end === "commit") written += 1;
    }
  }
  const rows = database.prepare("SELECT number FROM invoice ORDER BY number").all();
  database.close();
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

test("a dialect has to be named, and another one is refused", async () => {
  expect(await runInProcess(["sql", "numbers"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--dialect"),
  });
  expect(await runInProcess(["sql", "numbers", "--dialect", "oracle"])).toMatchObject({ code: 2 });
});
