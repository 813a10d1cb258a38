import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { layouts } from "../../src/snowflake/presets.ts";
import { msToTicksDown } from "../../src/snowflake/layout.ts";
import { PastNumbers } from "../../src/snowflake/past-numbers.ts";
import { runInProcess } from "../cli/in-process.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { sized } from "../support/worlds/scale.ts";
import { openSqlSession, type TestSession } from "../support/servers/run-sql.ts";

const layout = layouts.twitter;
const fromMs = Date.UTC(2020, 2, 1);
const toMs = Date.UTC(2020, 3, 1);
const rowCount = sized(20_000, 1_000_000);
/** This many rows have one time: more than two ticks hold. */
const tieCount = 9_000;

interface TestRow {
  readonly nr: number;
  readonly unixMs: number | undefined;
}

/** A database of rows for a test. */
interface RowsDatabase {
  readonly session: TestSession;
  /** Opens a session of a writer; absent where the database has one writer at a time. */
  readonly openWriter?: () => Promise<TestSession>;
  /** The column's type, and a time in it. */
  readonly timeType: string;
  readonly timeOf: (unixMs: number) => string;
  readonly close: () => Promise<void>;
}

const dialects: Readonly<Record<string, () => Promise<RowsDatabase>>> = {
  postgresql: async () => {
    const server = await startPostgres();
    const session = await openSqlSession(server.url);
    await session.run("SET TIME ZONE 'America/New_York'");
    return ofServer(server, session, "timestamptz", (ms) => `'${new Date(ms).toISOString()}'`);
  },
  mysql: async () => {
    const server = await startMysql();
    return ofServer(server, await openSqlSession(server.url), "datetime(6)", plainTime);
  },
  mariadb: async () => {
    const server = await startMariadb();
    return ofServer(server, await openSqlSession(server.url), "datetime(6)", plainTime);
  },
  sqlite: async () => {
    const database = new DatabaseSync(":memory:");
    const run = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      return statement.all();
    };
    const session = { run, end: async () => database.close() };
    return { session, timeType: "text", timeOf: plainTime, close: session.end };
  },
};

const timesWithoutEnd: Readonly<Record<string, readonly string[]>> = { postgresql: ["infinity", "-infinity"] };

function plainTime(unixMs: number): string {
  return `'${new Date(unixMs).toISOString().replace("T", " ").replace("Z", "")}'`;
}

function ofServer(
  server: { readonly url: string; stop(): Promise<void> },
  session: TestSession,
  timeType: string,
  timeOf: (unixMs: number) => string,
): RowsDatabase {
  const close = async (): Promise<void> => {
    await session.end();
    await server.stop();
  };
  return { session, openWriter: () => openSqlSession(server.url), timeType, timeOf, close };
}

/** Rows at random times, many at one time, some without one, and some outside of the interval. */
function testRows(count: number): readonly TestRow[] {
  let seed = 7;
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const tieMs = fromMs + 1_000_000_000;
  return Array.from({ length: count }, (_, index) => {
    const nr = (index * 7_919) % 1_000_003;
    if (index % 1_000 === 999) return { nr, unixMs: undefined };
    if (index % 1_000 === 998) return { nr, unixMs: toMs + index };
    return { nr, unixMs: index < tieCount ? tieMs : fromMs + Math.floor(random() * (toMs - fromMs)) };
  });
}

/** Runs the statements of a text one after another, as a client that goes on after an error. @returns The errors. */
async function runAll(session: TestSession, text: string): Promise<readonly string[]> {
  const errors: string[] = [];
  for (const statement of text.split(/;\n/)) {
    if (statement.replaceAll(/--.*/g, "").trim() === "") continue;
    await session.run(statement).catch((error: unknown) => errors.push((error as Error).message));
  }
  return errors;
}

async function insert({ session, timeOf }: RowsDatabase, rows: readonly TestRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 5_000) {
    const values = rows
      .slice(at, at + 5_000)
      .map(({ nr, unixMs }) => `(${nr}, ${unixMs === undefined ? "NULL" : timeOf(unixMs)})`);
    await session.run(`INSERT INTO orders (nr, created_at) VALUES ${values.join(",")}`);
  }
}

/** The rows that have an ID, sorted by it. */
async function numbered(session: TestSession): Promise<readonly (readonly [number, bigint])[]> {
  const rows = await session.run("SELECT nr, id FROM orders WHERE id IS NOT NULL ORDER BY id");
  return rows.map(({ nr, id }) => [Number(nr), BigInt(id as string)]);
}

/** What the library numbers the rows with: sorted by time, then by key. */
function expectedIds(rows: readonly TestRow[], text: string): readonly (readonly [number, bigint])[] {
  const [firstTick, endTick] = [msToTicksDown(layout, fromMs), msToTicksDown(layout, toMs + 1_000)];
  const names = /^-- Worker IDs? (.*?), from /m
    .exec(text)![1]!
    .split(", ")
    .map((name) => name.split("/").map(Number));
  const lanes = names.map(([datacenterId = 0, workerId = 0]) => ({ datacenterId, workerId }));
  const numbers = new PastNumbers(layout, { firstTick, endTick, lanes });
  const inside = rows.filter(({ unixMs }) => unixMs !== undefined && unixMs >= fromMs && unixMs < toMs);
  const sorted = inside.toSorted((one, other) => one.unixMs! - other.unixMs! || one.nr - other.nr);
  const all = sorted.map(({ nr, unixMs }) => [nr, numbers.next(msToTicksDown(layout, unixMs!))!] as const);
  return all.toSorted(([, one], [, other]) => (one < other ? -1 : 1));
}

describe.each(Object.entries(dialects))("%s numbers its own rows", (dialect, open) => {
  let folder: string;
  let database: RowsDatabase;
  let store: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "snowlane-backfill-"));
    store = `sqlite:${join(folder, "ids.db")}`;
    expect(await runInProcess(["next", "--store", store])).toMatchObject({ code: 0 });
    database = await open();
  });
  afterAll(async () => {
    await database?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Claims, and gives the text. */
  async function claim(...more: readonly string[]): Promise<string> {
    const names = ["--table", "orders", "--key", "nr", "--id", "id", "--time", "created_at"];
    const interval = [
      "--from",
      "2020-03-01",
      "--to",
      "2020-04-01",
      "--known-since",
      "always",
      "--reason",
      "it's a test",
    ];
    const outcome = await runInProcess([
      "backfill",
      "--store",
      store,
      "--sql",
      dialect,
      ...names,
      ...interval,
      ...more,
    ]);
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    return outcome.stdout;
  }

  async function makeTable(rows: readonly TestRow[]): Promise<void> {
    await database.session.run("DROP TABLE IF EXISTS orders");
    await database.session.run(`CREATE TABLE orders (nr bigint, created_at ${database.timeType} NULL, id bigint NULL)`);
    await database.session.run("CREATE INDEX orders_nr ON orders (nr)");
    await insert(database, rows);
  }

  test("as the library does: with ties, without a time, outside of the interval, and with an ID of their own", async () => {
    const rows = testRows(rowCount);
    await makeTable(rows);
    // Times that the database accepts, and that do not exist.
    for (const [at, time] of (timesWithoutEnd[dialect] ?? []).entries())
      await database.session.run(`INSERT INTO orders (nr, created_at) VALUES (${6_000_000 + at}, '${time}')`);
    const [own, ...others] = rows;
    await database.session.run(`UPDATE orders SET id = 4711 WHERE nr = ${own!.nr}`);
    const text = await claim();
    expect(await runAll(database.session, text)).toEqual([]);
    const expected = [[own!.nr, 4711n] as const, ...expectedIds(others, text)];
    expect(await numbered(database.session)).toEqual(expected);
  });

  test("once: a second run changes nothing, also of rows that came meanwhile, whatever the client does after an error", async () => {
    const rows = testRows(12_000);
    await makeTable(rows);
    const text = await claim();
    expect(await runAll(database.session, text)).toEqual([]);
    const before = await numbered(database.session);
    // A row goes to an archive with its ID, and another one of its time comes.
    const tied = new Set(rows.filter(({ unixMs }) => unixMs === rows[0]!.unixMs).map(({ nr }) => nr));
    const [archived, archivedId] = before.find(([nr]) => tied.has(nr))!;
    await database.session.run(`DELETE FROM orders WHERE nr = ${archived}`);
    await insert(database, [{ nr: 5_000_000, unixMs: rows[0]!.unixMs }]);
    expect((await runAll(database.session, text)).length).toBeGreaterThan(0);
    await runAll(database.session, "ROLLBACK;\n");
    expect(await numbered(database.session)).toEqual(before.filter(([nr]) => nr !== archived));
    // The control: without its row the claim is used again, and the ID in the archive comes again.
    await database.session.run("DELETE FROM snowlane_backfill");
    await runAll(database.session, text);
    expect(await numbered(database.session)).toContainEqual([5_000_000, archivedId]);
  });

  test("while writers insert rows with IDs of their own, which they keep, and rows without, which get none", async () => {
    const { openWriter, session } = database;
    // SQLite has one writer at a time.
    if (openWriter === undefined) return;
    const writer = await openWriter();
    try {
      const rows = testRows(2_000);
      await makeTable(rows);
      const impatient = dialect === "postgresql" ? "SET lock_timeout = '1s'" : "SET innodb_lock_wait_timeout = 1";
      await writer.run(impatient);
      let ownId = 4_711;
      const insertTwo = async (): Promise<void> => {
        for (const id of [ownId, "NULL"]) {
          const time = database.timeOf(fromMs + ownId);
          await writer.run(`INSERT INTO orders (nr, created_at, id) VALUES (${(ownId += 2_000_000)}, ${time}, ${id})`);
        }
      };
      const text = await claim();
      const [before, after] = text.split(/^(?=COMMIT;)/m);
      expect(await runAll(session, before!)).toEqual([]);
      await insertTwo();
      expect(await runAll(session, after!)).toEqual([]);
      expect(await numbered(session)).toEqual([[2_004_711, 4_711n], ...expectedIds(rows, text)]);

      // The control: with locks between the rows a writer waits.
      if (dialect === "postgresql") return;
      await makeTable(rows);
      const locking = (await claim()).replace("READ COMMITTED", "REPEATABLE READ");
      expect(await runAll(session, locking.split(/^(?=COMMIT;)/m)[0]!)).toEqual([]);
      await expect(insertTwo()).rejects.toThrow(/Lock wait timeout/);
      await session.run("ROLLBACK");
    } finally {
      await writer.end();
    }
  });

  test("by several lanes, where one has too few IDs", async () => {
    const rows = testRows(10_000);
    await makeTable(rows);
    const text = await claim("--lanes", "3");
    expect(await runAll(database.session, text)).toEqual([]);
    expect(await numbered(database.session)).toEqual(expectedIds(rows, text));
  });

  test("not where the key is not unique", async () => {
    await makeTable([...testRows(10), ...testRows(1)]);
    expect((await runAll(database.session, await claim())).length).toBeGreaterThan(0);
    await runAll(database.session, "ROLLBACK;\n");
    expect(await numbered(database.session)).toEqual([]);
  });

  test("up to the lag: rows that are too many for it keep no ID, and the last query counts them", async () => {
    const rows = testRows(10_000);
    await makeTable(rows);
    const text = await claim("--lag-max", "1ms");
    expect(await runAll(database.session, text)).toEqual([]);
    const found = await numbered(database.session);
    const ties = rows.filter(({ unixMs }) => unixMs === rows[0]!.unixMs).length;
    const query = text.split(/;\n/).findLast((statement) => statement.includes("SELECT count(*) AS rows_without_id"))!;
    const [counted] = await database.session.run(query);
    const outside = rows.filter(({ unixMs }) => unixMs !== undefined && unixMs >= toMs).length;
    const without = rows.filter(({ unixMs }) => unixMs === undefined).length;
    expect(ties).toBeGreaterThan(2 * 4_096);
    expect(Number(counted!["rows_without_id"])).toBe(rows.length - found.length - outside);
    expect(Number(counted!["of_these_without_a_time"])).toBe(without);
    expect(rows.length - found.length - outside - without).toBe(ties - 2 * 4_096);
  });
});
