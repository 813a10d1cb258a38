/** The table of losses of docs/sequences.md, row by row, for the databases that have a server. */
import { expect, onTestFinished, test } from "vitest";
import { systemClock, systemTimers } from "../../src/clock/clock.ts";
import { openSequenceStore } from "../../src/sequence/open-sequence-store.ts";
import { Sequences } from "../../src/sequence/sequences.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres, startStandby } from "../support/servers/postgres-server.ts";
import { openSqlSession, runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";

interface Loss {
  readonly name: string;
  readonly start: () => Promise<TestServer>;
  /** Keeps what is there. @returns Puts it back, and gives the URL of the database that servers then find. */
  readonly keep: (server: TestServer) => Promise<() => Promise<string>>;
}

const tables = ["snowlane_sequence", "snowlane_sequence_counter", "snowlane_sequence_place"] as const;

const seen: readonly Loss[] = [
  { name: "postgres: a dump is put back", start: () => startPostgres(), keep: keepTables },
  { name: "mysql: a dump is put back", start: () => startMariadb(), keep: keepTables },
  { name: "postgres: a dump is put into another database", start: () => startPostgres(), keep: keepElsewhere },
  { name: "mysql: another server has an older copy", start: () => startMariadb(), keep: keepInOtherServer },
  { name: "postgres: a standby is promoted that lagged", start: () => startPostgres(), keep: keepStandby },
];

const unseen: readonly Loss[] = [
  { name: "postgres: an older data folder, as a snapshot of its volume", start: () => startPostgres(), keep: keepData },
  { name: "postgres: older rows in the tables that stand", start: () => startPostgres(), keep: keepRows },
  { name: "mysql: older rows in the tables that stand", start: () => startMariadb(), keep: keepRows },
];

/** The sequences of a server of Snowlane. Every value is taken for a caller, so that the database knows of each. */
function openSequences(storeUrl: string) {
  const sequences = new Sequences({
    storeUrls: [storeUrl],
    store: { namespace: "default", callTimeoutMs: 20_000 },
    waitMaxMs: 60_000,
    namesMax: 10,
    clock: systemClock,
    timers: systemTimers,
    onEvent: () => {},
  });
  onTestFinished(() => sequences.close(1_000));
  const catalog = () => sequences.catalog();
  const take = async (count: number): Promise<readonly number[]> => {
    const values: number[] = [];
    while (values.length < count) {
      const source = await sequences.open("orders");
      const { runs } = await source.reserve({ count: count - values.length, priority: "unary" });
      for (const run of runs) for (let at = 0; at < run.count; at += 1) values.push(Number(run.firstValue) + at);
    }
    return values;
  };
  return { catalog, take, close: () => sequences.close(1_000) };
}

/** Hands out 1 to 5, keeps a copy, hands out 6 to 10, and puts the copy back. */
async function loseValues({ start, keep }: Loss) {
  const server = await start();
  onTestFinished(() => server.stop());
  const first = openSequences(server.url);
  await (await first.catalog()).create({ name: "orders", allocation: "strict" });
  expect(await first.take(5)).toEqual([1, 2, 3, 4, 5]);
  const putBack = await keep(server);
  expect(await first.take(5)).toEqual([6, 7, 8, 9, 10]);
  return { server, first, lose: putBack };
}

/** Raises and opens, as the runbook says; the half minute after it is over at once. */
async function raiseAndOpen(url: string): Promise<void> {
  const operator = openSequences(url);
  const catalog = await operator.catalog();
  expect(await catalog.raise({ kind: "all", count: 100n })).toBeGreaterThan(0);
  expect(await catalog.open()).toMatchObject({ kind: "opened" });
  await operator.close();
  await runSql(url, "UPDATE snowlane_sequence_place SET open_ms = 0");
}

const regression = expect.objectContaining({ reason: "STORE_WENT_BACK" });

test.for(seen)("a loss that shows stops the database before a value repeats: $name", async (loss) => {
  const { first, lose } = await loseValues(loss);
  await first.close();
  const url = await lose();
  const later = openSequences(url);
  await expect(later.take(1)).rejects.toEqual(regression);
  // Stopped for all, also where a server comes to know of it only from the database.
  await expect(openSequences(url).take(1)).rejects.toEqual(regression);
  await raiseAndOpen(url);
  expect(await openSequences(url).take(2)).toEqual([106, 107]);
});

test.for(unseen)("a loss that does not show repeats a value, unless the runbook comes first: $name", async (loss) => {
  const { first, lose } = await loseValues(loss);
  await first.close();
  const url = await lose();
  expect(await openSequences(url).take(1)).toEqual([6]);
  const operator = openSequences(url);
  expect(await (await operator.catalog()).stop("a backup was put back")).toBe(true);
  await raiseAndOpen(url);
  expect(await openSequences(url).take(1)).toEqual([107]);
});

test.for(unseen)("a server that goes on finds such a loss with its next take: $name", async (loss) => {
  const { first, lose } = await loseValues(loss);
  const url = await lose();
  await expect
    .poll(() => first.take(1).catch(({ reason }: { readonly reason: string }) => reason), { timeout: 60_000 })
    .toBe("STORE_WENT_BACK");
  await expect(openSequences(url).take(1)).rejects.toEqual(regression);
});

test("a restart of the database after a crash changes nothing, and no value is skipped", async () => {
  for (const start of [() => startPostgres(), () => startMariadb()]) {
    const server = await start();
    onTestFinished(() => server.stop());
    const sequences = openSequences(server.url);
    await (await sequences.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await sequences.take(3)).toEqual([1, 2, 3]);
    await server.restart();
    await expect.poll(() => sequences.take(1).catch(() => []), { timeout: 60_000 }).toEqual([4]);
  }
});

/** The tables are dropped, and made again from what they were. */
async function keepTables({ url }: TestServer): Promise<() => Promise<string>> {
  const like = (table: string): string =>
    url.startsWith("postgres") ? `(LIKE ${table} INCLUDING ALL)` : `LIKE ${table}`;
  // MariaDB tells tables apart by the second in which they were made.
  const pause = url.startsWith("postgres") ? "SELECT 1" : "DO SLEEP(1.1)";
  const made = tables.flatMap((table) => [
    `CREATE TABLE old_${table} ${like(table)}`,
    `INSERT INTO old_${table} SELECT * FROM ${table}`,
  ]);
  await runSql(url, pause, ...made);
  return async () => {
    const put = tables.flatMap((table) => [`DROP TABLE ${table}`, `ALTER TABLE old_${table} RENAME TO ${table}`]);
    await runSql(url, ...put);
    return url;
  };
}

/** The rows are overwritten, as a tool does that puts data back without touching the tables. */
async function keepRows({ url }: TestServer): Promise<() => Promise<string>> {
  const rows = await readRows(url);
  return async () => {
    await writeRows(url, rows);
    return url;
  };
}

async function keepElsewhere({ url }: TestServer): Promise<() => Promise<string>> {
  const rows = await readRows(url);
  await runSql(url, "CREATE DATABASE other");
  return async () => {
    const other = url.replace(/\/postgres$/, "/other");
    await writeRows(other, rows);
    return other;
  };
}

async function keepInOtherServer({ url }: TestServer): Promise<() => Promise<string>> {
  const rows = await readRows(url);
  const other = await startMariadb();
  onTestFinished(() => other.stop());
  return async () => {
    await writeRows(other.url, rows);
    return other.url;
  };
}

async function keepData(server: TestServer): Promise<() => Promise<string>> {
  await server.backUp();
  return async () => {
    await server.restore();
    return server.url;
  };
}

async function keepStandby(server: TestServer): Promise<() => Promise<string>> {
  const standby = await startStandby(server);
  onTestFinished(() => standby.stop());
  const [at] = await runSql(server.url, "SELECT pg_current_wal_lsn()::text AS lsn");
  const hasAll = `SELECT pg_last_wal_replay_lsn() >= '${String(at?.["lsn"])}' AS has_all`;
  await expect.poll(() => runSql(standby.url, hasAll), { timeout: 60_000 }).toEqual([{ has_all: true }]);
  await standby.kill();
  return async () => {
    await server.kill();
    await standby.restart();
    await runSql(standby.url, "SELECT pg_promote()");
    return standby.url;
  };
}

type Rows = ReadonlyMap<string, readonly Record<string, unknown>[]>;

async function readRows(url: string): Promise<Rows> {
  const rows = new Map<string, readonly Record<string, unknown>[]>();
  for (const table of tables) rows.set(table, await runSql(url, `SELECT * FROM ${table}`));
  return rows;
}

/** Makes the tables where there are none, and puts the rows in the place of those that stand. */
async function writeRows(url: string, rows: Rows): Promise<void> {
  const store = await openSequenceStore(url, { namespace: "other", callTimeoutMs: 60_000 });
  await store.look([]);
  await store.close();
  const session = await openSqlSession(url);
  for (const [table, all] of rows) {
    await session.run(`DELETE FROM ${table}`);
    for (const row of all) {
      const values = Object.values(row).map((value) =>
        typeof value === "boolean" ? String(value) : `'${String(value)}'`,
      );
      await session.run(`INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${values.join(", ")})`);
    }
  }
  await session.end();
}
