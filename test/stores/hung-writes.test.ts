import { createConnection, type RowDataPacket } from "mysql2/promise";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { toolInPlaceOf } from "../support/fetch/tools.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPgBouncer } from "../support/servers/pgbouncer-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { withPort } from "../support/servers/remote-stores.ts";
import type { TestServer } from "../support/servers/test-server.ts";

/** A database ends a wait for a lock by itself, but later than this. */
const databaseWaitsMs = 10_000;

/** Stores that hammer a server whose writes hang. */
const storeCount = 3;
/** Of one store to one server, at any moment, the sessions that were given up included. */
const connectionsMax = 3;
/** Writes of each store that fail, one after the other: each could leave a session behind. */
const failuresOfStore = 6;
/** Connections of PgBouncer to the server. */
const poolSize = 20;

async function openAll(url: string): Promise<readonly RecordStore[]> {
  const stores = await Promise.all(
    Array.from({ length: storeCount }, () => openStore(url, { namespace: "default", callTimeoutMs: 1_000 })),
  );
  for (const store of stores) onTestFinished(() => store.close());
  return stores;
}

/** Writes until enough writes have failed, while `count` says how many sessions the server has; returns the most. */
async function mostWhileHung(stores: readonly RecordStore[], count: () => Promise<number>): Promise<number> {
  let most = 0;
  const writing = new Set(stores);
  const hammer = async (store: RecordStore, index: number): Promise<void> => {
    let failed = 0;
    while (failed < failuresOfStore) {
      const key = `worker-${index}`;
      const write = store.read(key).then(({ entry }) => store.compareAndSet(key, entry, `${Math.random()}`));
      failed += await write.then(
        () => 0,
        () => 1,
      );
    }
    writing.delete(store);
  };
  const look = async (): Promise<void> => {
    while (writing.size > 0) {
      most = Math.max(most, await count());
      await sleep(50);
    }
  };
  await Promise.all([look(), ...stores.map(hammer)]);
  return most;
}

async function connectTo({ port }: TestServer, database = "postgres"): Promise<Client> {
  const client = new Client({ host: "127.0.0.1", port, user: "postgres", database });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** What writes of PostgreSQL can wait for: a statement for a lock, or a commit for a standby. */
function hangings(
  other: Client,
  cause: string,
): { readonly hold: () => Promise<void>; readonly release: () => Promise<void> } {
  const run = async (...statements: readonly string[]): Promise<void> => {
    for (const statement of statements) await other.query(statement);
  };
  const setStandbys = (names: string): Promise<void> =>
    run(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`, "SELECT pg_reload_conf()");
  return cause === "a lock"
    ? { hold: () => run("BEGIN", "LOCK TABLE snowlane_record IN EXCLUSIVE MODE"), release: () => run("COMMIT") }
    : { hold: () => setStandbys("away"), release: () => setStandbys("") };
}

test.each(["a lock", "a synchronous standby that is away"])(
  "while writes on PostgreSQL wait for %s, a server keeps three connections at most, and writes when they go on",
  async (cause) => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const stores = await openAll(server.url);
    for (const [index, store] of stores.entries()) await store.compareAndSet(`worker-${index}`, undefined, "old");
    // Within a transaction the list of sessions would stay as it was, so the locker and the watcher are two.
    const [other, watcher] = [await connectTo(server), await connectTo(server)];
    const { hold, release } = hangings(other, cause);
    await hold();
    const most = await mostWhileHung(stores, async () => {
      const sql = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'snowlane'";
      return (await watcher.query<{ count: number }>(sql)).rows[0]!.count;
    });
    expect(most).toBeLessThanOrEqual(storeCount * connectionsMax);
    await release();
    await expect.poll(() => writes(stores[0]!), { interval: 100 }).toBe(true);
  },
);

test.each(["a lock", "a synchronous standby that is away"])(
  "while writes through PgBouncer wait for %s, a server keeps three of its clients at most, and writes when they go on",
  async (cause) => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const bouncer = await startPgBouncer(server, { poolSize });
    onTestFinished(() => bouncer.stop());
    const stores = await openAll(bouncer.url);
    for (const [index, store] of stores.entries()) await store.compareAndSet(`worker-${index}`, undefined, "old");
    const [other, watcher] = [await connectTo(server), await connectTo(server)];
    const console = await connectTo(bouncer, "pgbouncer");
    const { hold, release } = hangings(other, cause);
    await hold();
    let mostSessions = 0;
    const most = await mostWhileHung(stores, async () => {
      const sql = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'snowlane'";
      mostSessions = Math.max(mostSessions, (await watcher.query<{ count: number }>(sql)).rows[0]!.count);
      const { rows } = await console.query<{ database: string }>("SHOW CLIENTS");
      return rows.filter(({ database }) => database === "postgres").length;
    });
    expect(most).toBeLessThanOrEqual(storeCount * connectionsMax);
    expect(mostSessions).toBeLessThanOrEqual(poolSize);
    await release();
    await expect.poll(() => writes(stores[0]!), { interval: 100 }).toBe(true);
  },
);

test.each(["a lock", "a synchronous standby that is away"])(
  "a session of PostgreSQL that waits for %s is cancelled while it waits, through PgBouncer, too",
  async (cause) => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const bouncer = await startPgBouncer(server, { poolSize });
    onTestFinished(() => bouncer.stop());
    const written = await (await openAll(server.url))[0]!.compareAndSet("worker-1", undefined, "old");
    if (written.kind !== "applied") throw new Error("the first write was not applied");
    const [other, watcher] = [await connectTo(server), await connectTo(server)];
    const hanging = async (): Promise<number> => {
      const sql = `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE application_name = 'snowlane' AND wait_event IN ('relation', 'SyncRep')`;
      return (await watcher.query<{ count: number }>(sql)).rows[0]!.count;
    };
    const { hold } = hangings(other, cause);
    await hold();
    for (const { url } of [server, bouncer]) {
      const [store] = await openAll(url);
      // A wait for a standby that was cancelled has committed.
      const { entry } = await store!.read("worker-1");
      const write = store!.compareAndSet("worker-1", entry, url);
      const refused = expect(write).rejects.toThrow("no answer to a write within 1 s");
      await expect.poll(hanging, { timeout: databaseWaitsMs, interval: 10 }).toBe(1);
      await refused;
      await expect.poll(hanging, { timeout: databaseWaitsMs }).toBe(0);
    }
  },
);

const sessionsOfOthers =
  "SELECT ID AS id, STATE AS state FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = 'root'";
/** MySQL and MariaDB list a session for a moment after they have closed its socket; one that stays is listed longer. */
const lastingMs = 500;

/** Counts the sessions of each list that were in earlier ones already. */
function lastingSessions(): (rows: readonly RowDataPacket[]) => number {
  const listedFromMs = new Map<number, number>();
  return (rows) => {
    const nowMs = performance.now();
    const ids = rows.map(({ id }) => Number(id));
    for (const id of ids) if (!listedFromMs.has(id)) listedFromMs.set(id, nowMs);
    return ids.filter((id) => nowMs - listedFromMs.get(id)! >= lastingMs).length;
  };
}

test.each([
  ["MariaDB", startMariadb],
  ["MySQL", startMysql],
])(
  "while writes on %s wait for a lock, a server keeps three connections at most, and writes when they go on",
  async (_, start) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const stores = await openAll(server.url);
    for (const [index, store] of stores.entries()) await store.compareAndSet(`worker-${index}`, undefined, "old");
    const other = await createConnection(server.url);
    onTestFinished(() => other.end());
    await other.query("BEGIN");
    await other.query("SELECT * FROM snowlane_record FOR UPDATE");
    const most = await mostWhileHung(stores, async () => {
      const [rows] = await other.query<RowDataPacket[]>(sessionsOfOthers);
      return rows.length;
    });
    expect(most).toBeLessThanOrEqual(storeCount * connectionsMax);
    await other.query("COMMIT");
    await expect.poll(() => writes(stores[0]!), { interval: 100 }).toBe(true);
  },
);

test.each([
  ["MariaDB", startMariadb],
  ["MySQL", startMysql],
])(
  "a session of %s that hangs is killed, and never through a proxy, where its number could be another's",
  async (_, start) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const proxy = await TcpProxy.start(server.port);
    onTestFinished(() => proxy.stop());
    const open = async (url: string): Promise<RecordStore> => {
      const store = await openStore(url, { namespace: "default", callTimeoutMs: 1_000 });
      onTestFinished(() => store.close());
      return store;
    };
    const [near, far] = [await open(server.url), await open(withPort(server, proxy.port))];
    const written = await near.compareAndSet("worker-1", undefined, "old");
    if (written.kind !== "applied") throw new Error("the first write was not applied");
    await far.read("worker-1");
    const other = await createConnection(server.url);
    onTestFinished(() => other.end());
    await other.query("BEGIN");
    await other.query("SELECT * FROM snowlane_record FOR UPDATE");
    const hanging = async (): Promise<number> => {
      const [rows] = await other.query("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'UPDATE %'");
      return (rows as readonly unknown[]).length;
    };
    await expect(near.compareAndSet("worker-1", written.entry, "near")).rejects.toThrow(
      "no answer to a write within 1 s",
    );
    await expect.poll(hanging, { timeout: databaseWaitsMs }).toBe(0);
    await expect(far.compareAndSet("worker-1", written.entry, "far")).rejects.toThrow(
      "no answer to a write within 1 s",
    );
    // For as long as it took to kill the other one, and longer.
    await sleep(3_000);
    expect(await hanging()).toBe(1);
    await other.query("COMMIT");
  },
);

/** MySQL has what waits for a copy in a plugin, by another name. */
const semiSynchronous = {
  MariaDB: { start: startMariadb, role: toolInPlaceOf("mariadb") === "mysql9" ? "source" : "master" },
  MySQL: { start: startMysql, role: "source" },
} as const;

test.each(["MariaDB", "MySQL"] as const)(
  "while commits on %s wait for a copy, a server keeps three connections at most, and writes when they go on",
  async (kind) => {
    const { start, role } = semiSynchronous[kind];
    const server = await start([
      ...(role === "source" ? ["--plugin-load-add=semisync_source.so"] : []),
      "--log-bin=binary",
      `--rpl-semi-sync-${role}-timeout=3600000`,
    ]);
    onTestFinished(() => server.stop());
    const stores = await openAll(server.url);
    for (const [index, store] of stores.entries()) await store.compareAndSet(`worker-${index}`, undefined, "old");
    const other = await createConnection(server.url);
    onTestFinished(() => other.end());
    const setWait = (value: string): Promise<unknown> =>
      other.query(`SET GLOBAL rpl_semi_sync_${role}_enabled = ${value}`);
    await setWait("ON");
    let mostInCommit = 0;
    let mostListed = 0;
    const countLasting = lastingSessions();
    const most = await mostWhileHung(stores, async () => {
      const [rows] = await other.query<RowDataPacket[]>(sessionsOfOthers);
      mostInCommit = Math.max(mostInCommit, rows.filter(({ state }) => /semi-sync ACK/i.test(`${state}`)).length);
      mostListed = Math.max(mostListed, rows.length);
      return countLasting(rows);
    });
    expect(mostInCommit).toBeGreaterThan(0);
    // One of each store may just have been killed.
    expect(mostListed).toBeLessThanOrEqual(storeCount * (connectionsMax + 1));
    expect(most).toBeLessThanOrEqual(storeCount * connectionsMax);
    await setWait("OFF");
    await expect.poll(() => writes(stores[0]!), { interval: 100 }).toBe(true);
  },
);

test("a write on PostgreSQL whose wait for a standby was cancelled is not taken for done", async () => {
  // The statement alone makes its commit wait: by the server's default it would not.
  const server = await startPostgres(["-c", "synchronous_standby_names=away", "-c", "synchronous_commit=off"]);
  onTestFinished(() => server.stop());
  const other = await connectTo(server);
  // As an administrator may set it: then not even a warning would be sent.
  await other.query("SET synchronous_commit = local; ALTER ROLE postgres SET client_min_messages = 'error'");
  await other.query(`CREATE TABLE snowlane_record (namespace text, key text, text text, PRIMARY KEY (namespace, key))`);
  const store = await openStore(server.url, { namespace: "default", callTimeoutMs: 60_000 });
  onTestFinished(() => store.close());
  const written = store.compareAndSet("worker-1", undefined, "text");
  const cancelled = expect(written).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: expect.stringContaining("canceling wait for synchronous replication due to user request"),
  });
  const cancel = "SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await expect.poll(async () => (await other.query(cancel)).rows).toEqual([{ done: true }]);
  await cancelled;
});

async function writes(store: RecordStore): Promise<boolean> {
  try {
    const { entry } = await store.read("worker-0");
    return (await store.compareAndSet("worker-0", entry, `${Math.random()}`)).kind === "applied";
  } catch {
    return false;
  }
}
