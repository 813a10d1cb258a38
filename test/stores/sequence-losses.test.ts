/** The table of docs/sequence-losses.md, row by row, for the databases that have a server. */
import { chownSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { toolInPlaceOf } from "../support/fetch/tools.ts";
import { openSequences } from "../support/worlds/opened-sequences.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import {
  type ArchivedPostgres,
  startArchivedPostgres,
  startPostgres,
  startStandby,
} from "../support/servers/postgres-server.ts";
import { primaryArgs, promoteReplica, startReplica, untilReplicated } from "../support/servers/mysql-replica.ts";
import { runSql } from "../support/servers/run-sql.ts";
import { readRows, writeRows } from "../support/servers/table-rows.ts";
import { dumpDatabase, putDump } from "../support/servers/sql-dump.ts";
import { expectStops } from "../support/worlds/standing-losses.ts";
import type { TestServer } from "../support/servers/test-server.ts";

interface Loss {
  readonly name: string;
  readonly start: () => Promise<TestServer>;
  /** Keeps what is there. @returns Puts it back, and gives the URL of the database that servers then find. */
  readonly keep: (server: TestServer) => Promise<() => Promise<string>>;
}

const tables = [
  "snowlane_sequence",
  "snowlane_sequence_counter",
  "snowlane_sequence_place",
  "snowlane_sequence_witness",
] as const;

const seen: readonly Loss[] = [
  { name: "postgres: a dump is put back", start: () => startPostgres(), keep: keepDump },
  { name: "mariadb: a dump is put back", start: () => startMariadb(), keep: keepDump },
  { name: "mysql: a dump is put back", start: () => startMysql(), keep: keepDump },
  { name: "postgres: a dump is put into another database", start: () => startPostgres(), keep: keepElsewhere },
  { name: "postgres: another server has an older copy", start: () => startPostgres(), keep: keepIn(startPostgres) },
  { name: "mariadb: another server has an older copy", start: () => startMariadb(), keep: keepIn(startMariadb) },
  { name: "mysql: another server has an older copy", start: () => startMysql(), keep: keepIn(startMysql) },
  { name: "postgres: a standby is promoted that lagged", start: () => startPostgres(), keep: keepStandby },
  ...ofMariadb({ name: "mariadb: an older data folder is copied back", start: () => startMariadb(), keep: keepFiles }),
  { name: "postgres: the data is recovered to a point in time", start: startArchived, keep: keepPointInTime },
];

const unseen: readonly Loss[] = [
  { name: "postgres: an older data folder, as a snapshot of its volume", start: () => startPostgres(), keep: keepData },
  { name: "postgres: older rows in the existing tables", start: () => startPostgres(), keep: keepRows },
  { name: "mysql: an older data folder, as a snapshot of its volume", start: () => startMysql(), keep: keepData },
  ...ofMariadb({ name: "mariadb: a snapshot of its volume", start: () => startMariadb(), keep: keepSnapshot }),
  { name: "mariadb: older rows in the existing tables", start: () => startMariadb(), keep: keepRows },
  { name: "mysql: older rows in the existing tables", start: () => startMysql(), keep: keepRows },
];

/** A loss of MariaDB alone: where MySQL takes its place, there is none. */
function ofMariadb<T>(loss: T): readonly T[] {
  return toolInPlaceOf("mariadb") === "mariadb" ? [loss] : [];
}

/** Both kinds that MySQL's driver reaches. */
const ofMysql = [
  { kind: "mariadb", start: (args: readonly string[] = []) => startMariadb(args) },
  { kind: "mysql", start: (args: readonly string[] = []) => startMysql(args) },
];
const kinds = [{ kind: "postgres", start: () => startPostgres() }, ...ofMysql];

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
async function raiseAndOpen(url: string, count = 100n, counterCount = 1): Promise<void> {
  const operator = openSequences(url);
  const catalog = await operator.catalog();
  expect(await catalog.raise({ kind: "all", count })).toBe(counterCount);
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
    .poll(() => first.take(1).catch(({ reason }: { readonly reason: string }) => reason))
    .toBe("STORE_WENT_BACK");
  await expect(openSequences(url).take(1)).rejects.toEqual(regression);
});

test("a synchronous standby that is promoted lost nothing: raised by 0 and opened, it goes on without a gap", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const standby = await startStandby(server);
  onTestFinished(() => standby.stop());
  const first = openSequences(server.url);
  await (await first.catalog()).create({ name: "orders", allocation: "strict" });
  const set = "ALTER SYSTEM SET synchronous_standby_names = '*'";
  await runSql(server.url, set, "SELECT pg_reload_conf()");
  const isSync = "SELECT sync_state FROM pg_stat_replication";
  await expect.poll(() => runSql(server.url, isSync)).toEqual([{ sync_state: "sync" }]);
  expect(await first.take(5)).toEqual([1, 2, 3, 4, 5]);
  await first.close();
  await server.kill();
  // Nobody follows it, so that its own commits wait for nobody.
  await runSql(standby.url, "SELECT pg_promote()", "ALTER SYSTEM SET synchronous_standby_names = ''");
  await runSql(standby.url, "SELECT pg_reload_conf()");
  const later = openSequences(standby.url);
  await expect(later.take(1)).rejects.toEqual(regression);
  await raiseAndOpen(standby.url, 0n);
  expect(await openSequences(standby.url).take(2)).toEqual([6, 7]);
});

const oneName = `SELECT name FROM ${tables[0]}`;

/** A primary with a replica that is promoted without a word to the primary, which goes on. */
const pairs = [
  { kind: "postgres", start: () => startPostgres(), follow: startStandby, promote: promoteStandby },
  ...ofMysql.map(({ kind, start }) => {
    const follow = (server: TestServer) => startReplica(server, start);
    return { kind, start: () => start(primaryArgs), follow, promote: promoteReplica };
  }),
];

test.for(pairs)(
  "two primaries that both take writes repeat values, where each server sees only one of them: $kind",
  async ({ start, follow, promote }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const [one, replica] = [openSequences(server.url), await follow(server)];
    onTestFinished(() => replica.stop());
    await (await one.catalog()).create({ name: "orders", allocation: "strict" });
    await untilReplicated(replica, oneName);
    await promote(replica);
    expect(await one.take(1)).toEqual([1]);
    // The new primary shows that it is another one. An operator who opens it without fencing the old one has repeats.
    await expect(openSequences(replica.url).take(1)).rejects.toEqual(regression);
    await raiseAndOpen(replica.url, 0n);
    expect(await openSequences(replica.url).take(1)).toEqual([1]);
  },
);

test.for(pairs.slice(1))(
  "a replica that lacks nothing takes over: raised by 0 and opened, it goes on without a gap: $kind",
  async ({ start, follow, promote }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const [first, replica] = [openSequences(server.url), await follow(server)];
    onTestFinished(() => replica.stop());
    await (await first.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await first.take(5)).toEqual([1, 2, 3, 4, 5]);
    await untilReplicated(replica, `SELECT 1 FROM ${tables[1]} WHERE used_count = 5`);
    await first.close();
    await server.kill();
    await promote(replica);
    await expect(openSequences(replica.url).take(1)).rejects.toEqual(regression);
    await raiseAndOpen(replica.url, 0n);
    expect(await openSequences(replica.url).take(2)).toEqual([6, 7]);
  },
);

test.for(kinds)(
  "a move to another server, stopped before, lacks nothing: raised by 0 and opened, it goes on without a gap: $kind",
  async ({ start }) => {
    const [server, other] = [await start(), await start()];
    onTestFinished(async () => void (await Promise.all([server.stop(), other.stop()])));
    const first = openSequences(server.url);
    await (await first.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await first.take(5)).toEqual([1, 2, 3, 4, 5]);
    expect(await (await first.catalog()).stop("it is moved")).toBe(true);
    await first.close();
    await putDump(other.url, await dumpDatabase(server.url));
    await expect(openSequences(other.url).take(1)).rejects.toEqual(regression);
    await raiseAndOpen(other.url, 0n);
    expect(await openSequences(other.url).take(2)).toEqual([6, 7]);
    // A server that still names the old one gets nothing of it.
    await expect(openSequences(server.url).take(1)).rejects.toEqual(regression);
  },
);

test.for(kinds)(
  "a server that runs restores the counters after a raise by 0, before values can be taken: $kind",
  async ({ start }) => {
    const { first, lose } = await loseValues({ name: "a dump is put back", start, keep: keepDump });
    const url = await lose();
    const reason = () => first.take(1).catch((error: { readonly reason: string }) => error.reason);
    await expect.poll(reason).toBe("STORE_WENT_BACK");
    const operator = await openSequences(url).catalog();
    expect(await operator.raise({ kind: "all", count: 0n })).toBe(1);
    expect(await operator.open()).toMatchObject({ kind: "opened" });
    // The copy knows of 5 values. It gives none for half a minute, in which the server raises it to the 10 it took.
    const used = async () => Number((await runSql(url, `SELECT used_count FROM ${tables[1]}`))[0]?.["used_count"]);
    await expect.poll(used).toBe(10);
    await runSql(url, "UPDATE snowlane_sequence_place SET open_ms = 0");
    expect(await openSequences(url).take(1)).toEqual([11]);
  },
);

test.for(kinds)(
  "a loss in existing tables stops the database although no server takes from it: $kind",
  async ({ start }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    await expectStops(server.url, (statement) => runSql(server.url, statement));
  },
);

test.for(kinds)(
  "emptied tables: a server that runs stops the database, one that starts begins at nothing: $kind",
  async ({ start }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const empty = () => runSql(server.url, ...tables.map((table) => `DELETE FROM ${table}`));
    const first = openSequences(server.url);
    await (await first.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await first.take(2)).toEqual([1, 2]);
    const [database] = await runSql(server.url, "SELECT revision FROM snowlane_sequence_place");
    expect(Number(database?.["revision"])).toBe(1);
    // The rows of sequences and counters alone: the row of the database stays.
    await runSql(server.url, ...tables.slice(0, 2).map((table) => `DELETE FROM ${table}`));
    await expect(first.take(1)).rejects.toEqual(regression);
    await expect(openSequences(server.url).take(1)).rejects.toEqual(regression);
    // All of them: a new row is made, and values of the same name begin again.
    await first.close();
    await empty();
    const later = openSequences(server.url);
    await expect(later.take(1)).rejects.toMatchObject({ reason: "SEQUENCE_NOT_FOUND" });
    await (await later.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await openSequences(server.url).take(1)).toEqual([1]);
    // Where the runbook comes first, they begin above what was handed out.
    await empty();
    const operator = await openSequences(server.url).catalog();
    expect(await operator.stop("the tables were emptied")).toBe(true);
    await raiseAndOpen(server.url, 100n, 0);
    const above = openSequences(server.url);
    await (await above.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await above.take(1)).toEqual([101]);
  },
);

test.for(ofMysql)(
  "OPTIMIZE TABLE and ALTER TABLE show as a loss, and raised by 0 and opened the values go on without a gap: $kind",
  async ({ start }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const first = openSequences(server.url);
    await (await first.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await first.take(2)).toEqual([1, 2]);
    for (const [at, statement] of [`OPTIMIZE TABLE ${tables[1]}`, `ALTER TABLE ${tables[1]} FORCE`].entries()) {
      // Both tell tables apart by the second in which they were made.
      await runSql(server.url, "DO SLEEP(1.1)", statement);
      await expect(openSequences(server.url).take(1)).rejects.toEqual(regression);
      await raiseAndOpen(server.url, 0n);
      expect(await openSequences(server.url).take(1)).toEqual([3 + at]);
    }
  },
);

test.for(ofMariadb({ kind: "mariadb", start: () => startMariadb() }))(
  "chown of the data folder shows as a loss, and raised by 0 and opened the values go on without a gap: $kind",
  async ({ start }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const first = openSequences(server.url);
    await (await first.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await first.take(2)).toEqual([1, 2]);
    await runSql(server.url, "DO SLEEP(1.1)");
    const file = join(server.dataFolder, "test", `${tables[1]}.frm`);
    const { uid, gid } = statSync(file);
    chownSync(file, uid, gid);
    // MariaDB reads the time when it opens the table.
    await server.restart();
    await expect(openSequences(server.url).take(1)).rejects.toEqual(regression);
    await raiseAndOpen(server.url, 0n);
    expect(await openSequences(server.url).take(1)).toEqual([3]);
  },
);

test("a restart of the database after a crash changes nothing, and no value is skipped", async () => {
  for (const start of [() => startPostgres(), () => startMariadb(), () => startMysql()]) {
    const server = await start();
    onTestFinished(() => server.stop());
    const sequences = openSequences(server.url);
    await (await sequences.catalog()).create({ name: "orders", allocation: "strict" });
    expect(await sequences.take(3)).toEqual([1, 2, 3]);
    await server.restart();
    await expect.poll(() => sequences.take(1).catch(() => [])).toEqual([4]);
  }
});

/** A dump is put back by the database's own programs, which drop the tables and make them again. */
async function keepDump({ url }: TestServer): Promise<() => Promise<string>> {
  const dump = await dumpDatabase(url);
  // MariaDB and MySQL tell tables apart by the second in which they were made.
  if (!url.startsWith("postgres")) await runSql(url, "DO SLEEP(1.1)");
  return async () => {
    await putDump(url, dump);
    return url;
  };
}

/** The archives of servers that {@link startArchived} started. */
const archives = new WeakMap<TestServer, ArchivedPostgres>();

async function startArchived(): Promise<TestServer> {
  const archived = await startArchivedPostgres();
  onTestFinished(() => archived.removeFiles());
  archives.set(archived.server, archived);
  await archived.backUp();
  return archived.server;
}

/** A base backup is recovered to a point in time, with the archive of the log. */
async function keepPointInTime(server: TestServer): Promise<() => Promise<string>> {
  const archived = archives.get(server)!;
  await runSql(server.url, "SELECT pg_create_restore_point('before')");
  return async () => {
    const [switched] = await runSql(server.url, "SELECT pg_walfile_name(pg_switch_wal()) AS name");
    const isArchived = `SELECT last_archived_wal >= '${String(switched?.["name"])}' AS is_archived FROM pg_stat_archiver`;
    await expect.poll(() => runSql(server.url, isArchived)).toEqual([{ is_archived: true }]);
    await server.kill();
    const recovered = await archived.recoverTo("before");
    onTestFinished(() => recovered.stop());
    const isOver = "SELECT pg_is_in_recovery() AS is_in_recovery";
    await expect.poll(() => runSql(recovered.url, isOver)).toEqual([{ is_in_recovery: false }]);
    return recovered.url;
  };
}

/** The rows are overwritten, as a tool does that puts data back without touching the tables. */
async function keepRows({ url }: TestServer): Promise<() => Promise<string>> {
  const rows = await readRows(url, tables);
  return async () => {
    await writeRows(url, rows);
    return url;
  };
}

async function keepElsewhere({ url }: TestServer): Promise<() => Promise<string>> {
  const dump = await dumpDatabase(url);
  await runSql(url, "CREATE DATABASE other");
  return async () => {
    const other = url.replace(/\/postgres$/, "/other");
    await putDump(other, dump);
    return other;
  };
}

/** A dump is put into another server of the kind. */
function keepIn(start: () => Promise<TestServer>): Loss["keep"] {
  return async ({ url }) => {
    const dump = await dumpDatabase(url);
    const other = await start();
    onTestFinished(() => other.stop());
    return async () => {
      await putDump(other.url, dump);
      return other.url;
    };
  };
}

async function keepData(server: TestServer): Promise<() => Promise<string>> {
  await server.backUp();
  return async () => {
    await server.restore();
    return server.url;
  };
}

/** MariaDB takes the time of the table's file for that of its creation, and a copy of the file has another one. */
async function keepFiles(server: TestServer): Promise<() => Promise<string>> {
  const putBack = await keepData(server);
  return async () => {
    await runSql(server.url, "DO SLEEP(1.1)");
    return putBack();
  };
}

/**
 * The times of a table's file are those of then in a snapshot of a volume, and nobody may set them. So that file, the
 * .frm, stays: no take writes to it.
 */
async function keepSnapshot(server: TestServer): Promise<() => Promise<string>> {
  await server.backUp();
  return async () => {
    await runSql(server.url, "DO SLEEP(1.1)");
    await server.restoreAllBut(".frm");
    return server.url;
  };
}

async function promoteStandby({ url }: TestServer): Promise<void> {
  await runSql(url, "SELECT pg_promote()");
}

async function keepStandby(server: TestServer): Promise<() => Promise<string>> {
  const standby = await startStandby(server);
  onTestFinished(() => standby.stop());
  const [at] = await runSql(server.url, "SELECT pg_current_wal_lsn()::text AS lsn");
  const hasAll = `SELECT pg_last_wal_replay_lsn() >= '${String(at?.["lsn"])}' AS has_all`;
  await expect.poll(() => runSql(standby.url, hasAll)).toEqual([{ has_all: true }]);
  await standby.kill();
  return async () => {
    await server.kill();
    await standby.restart();
    await promoteStandby(standby);
    return standby.url;
  };
}
