/** The losses of data that docs/store-losses.md says show by themselves, on the real store. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry } from "../../src/store/record-store.ts";
import { askPort } from "../support/servers/ask-port.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { runSql } from "../support/servers/run-sql.ts";
import type { StoreServer } from "../support/servers/server-version.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { startZooKeeper, startZooKeeperEnsemble } from "../support/servers/zookeeper-server.ts";
import { withStore } from "./loss-run.ts";

/** A store that is about to lose data. */
export interface ShownLossStage {
  readonly url: string;
  /** Called when the store has its layout and a record that was given back, but not yet that of the holder. */
  readonly prepare?: () => Promise<unknown>;
  readonly lose: () => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

/** A way to lose data. */
export interface ShownLoss {
  readonly server: StoreServer;
  readonly name: string;
  /** Whether the server goes on meanwhile: where it starts again, part of the quarantine passes before it serves. */
  readonly isLive?: boolean;
  /** Whether it has to show in the store's identity: a holder that is back soon finds its own record older, too. */
  readonly isAnotherLife?: boolean;
  readonly set: () => Promise<ShownLossStage>;
}

const durableRedis = (): Promise<TestServer> => startRedis({ persistence: "every-write" });

/** All of them, in the order of the table. */
export const shownLosses: readonly ShownLoss[] = [
  {
    server: "redis",
    name: "redis: FLUSHALL",
    isLive: true,
    set: () => onOne(durableRedis(), ({ port }) => ({ lose: () => askPort(port, "FLUSHALL\r\nQUIT\r\n") })),
  },
  {
    server: "redis",
    name: "redis: a restart without persistence",
    set: () => onOne(startRedis(), (server) => ({ lose: () => server.restart() })),
  },
  {
    server: "redis",
    name: "redis: a restart on an older append-only file",
    set: () => onOne(durableRedis(), olderData),
  },
  {
    server: "redis",
    name: "redis: a failover and back, which keeps the run_id",
    isLive: true,
    set: redisAndBack,
  },
  {
    server: "postgres",
    name: "postgres: a restart on an older data folder",
    set: () => onOne(startPostgres(), olderData),
  },
  {
    server: "postgres",
    name: "postgres: an older table takes the place of the present one",
    isLive: true,
    set: () =>
      onOne(startPostgres(), ({ url }) => ({
        prepare: () =>
          runSql(url, "CREATE TABLE old (LIKE snowlane_record INCLUDING ALL)", "INSERT INTO old TABLE snowlane_record"),
        lose: () => runSql(url, "DROP TABLE snowlane_record", "ALTER TABLE old RENAME TO snowlane_record"),
      })),
  },
  {
    server: "postgres",
    name: "postgres: a copy made by TEMPLATE takes the name of the database",
    isLive: true,
    set: () => onOne(startPostgres(), ({ port }) => copiedDatabase(besideIds(port))),
  },
  { server: "mariadb", name: "mysql: a restart on an older data folder", set: () => onOne(startMariadb(), olderData) },
  {
    server: "mariadb",
    name: "mysql: an older table takes the place of the present one",
    isLive: true,
    set: () =>
      onOne(startMariadb(), ({ url }) => ({
        prepare: () =>
          runSql(
            url,
            "DO SLEEP(1)",
            "CREATE TABLE old LIKE snowlane_record",
            "INSERT INTO old SELECT * FROM snowlane_record",
          ),
        lose: () => runSql(url, "DROP TABLE snowlane_record", "ALTER TABLE old RENAME TO snowlane_record"),
      })),
  },
  {
    server: "zookeeper",
    name: "zookeeper: older znodes are put back into a new ensemble",
    set: () => onOne(startZooKeeper(), putBackZnodes),
  },
  {
    server: "zookeeper",
    name: "zookeeper: all members of an ensemble restart on older data folders",
    isAnotherLife: true,
    set: olderEnsemble,
  },
];

type Acts = Pick<ShownLossStage, "prepare" | "lose">;

async function onOne(starting: Promise<TestServer>, actsOf: (server: TestServer) => Acts): Promise<ShownLossStage> {
  const server = await starting;
  return { url: server.url, ...actsOf(server), stop: () => server.stop() };
}

function olderData(server: TestServer): Acts {
  return { prepare: () => server.backUp(), lose: () => server.restore() };
}

/** Another Redis takes over before the holder is granted anything, and gives the role back. */
async function redisAndBack(): Promise<ShownLossStage> {
  const [server, other] = await Promise.all([durableRedis(), durableRedis()]);
  return {
    url: server.url,
    prepare: () => followAndPromote(other.port, server.port),
    lose: () => followAndPromote(server.port, other.port),
    stop: () => Promise.all([server.stop(), other.stop()]),
  };
}

function copiedDatabase(url: string): Acts {
  return {
    prepare: () => runSql(url, "CREATE DATABASE ids_backup TEMPLATE postgres"),
    lose: async () => {
      // One that others are connected to cannot be renamed.
      await runSql(
        url,
        "ALTER DATABASE postgres ALLOW_CONNECTIONS false",
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = 'postgres'",
        "ALTER DATABASE postgres RENAME TO ids_broken",
        "ALTER DATABASE ids_backup RENAME TO postgres",
      );
    },
  };
}

function putBackZnodes(server: TestServer): Acts {
  let older: readonly Entry[] = [];
  return {
    prepare: async () => void (older = await withStore(server.url, async (store) => (await store.list()).entries)),
    lose: async () => {
      await server.restartEmpty();
      await withStore(server.url, async (store) => {
        for (const { key, text } of older) await store.compareAndSet(key, undefined, text);
      });
    },
  };
}

async function olderEnsemble(): Promise<ShownLossStage> {
  const members = await startZooKeeperEnsemble();
  return {
    url: members[0]!.url,
    // One after the other, so that the others go on meanwhile.
    prepare: async () => {
      for (const member of members) await member.backUp();
    },
    lose: async () => {
      // All before the first comes back: it would take the newer data from one that runs.
      await Promise.all(members.map((member) => member.kill()));
      await Promise.all(members.map((member) => member.restore()));
    },
    stop: () => Promise.all(members.map((member) => member.stop())),
  };
}

/** Where statements run that need the store's own database to themselves. */
const besideIds = (port: number): string => `postgres://postgres@127.0.0.1:${port}/template1`;

/** Makes a Redis server the replica of another one until it is in step, and then a primary. */
async function followAndPromote(port: number, primaryPort: number): Promise<void> {
  await askPort(port, `REPLICAOF 127.0.0.1 ${primaryPort}\r\nQUIT\r\n`);
  while (!/master_link_status:up/.test(await askPort(port, "INFO replication\r\nQUIT\r\n"))) await sleep(10);
  await askPort(port, "REPLICAOF NO ONE\r\nQUIT\r\n");
}
