/** Promotions and elections: another server takes the place of one that is killed. */
import { until } from "../support/processes/until.ts";
import { askPort } from "../support/servers/ask-port.ts";
import { findEtcdLeader, startEtcdCluster } from "../support/servers/etcd-server.ts";
import { startPostgres, startStandby } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { findZooKeeperLeader, startZooKeeperEnsemble } from "../support/servers/zookeeper-server.ts";
import type { RecoveryStage } from "./recovery.ts";

/** A stage whose servers run. */
export interface StartedStage extends RecoveryStage {
  readonly stop: () => Promise<void>;
}

/** A failover of one kind of store. */
export interface Failover {
  readonly store: string;
  readonly name: string;
  readonly set: () => Promise<StartedStage>;
}

/** All of them, in the order of the table. */
export const failovers: readonly Failover[] = [
  { store: "postgres", name: "killed, and its standby promoted", set: postgresPair },
  { store: "redis", name: "killed, and its replica promoted", set: redisPair },
  { store: "etcd", name: "the leader of three killed", set: () => cluster("etcd", startEtcdCluster, findEtcdLeader) },
  {
    store: "zookeeper",
    name: "the leader of three killed",
    set: () => cluster("zookeeper", startZooKeeperEnsemble, findZooKeeperLeader),
  },
];

function stageOf(
  kind: string,
  servers: readonly TestServer[],
  {
    user = "",
    path = "",
    ...how
  }: Pick<RecoveryStage, "prepare" | "befall"> & {
    readonly user?: string;
    readonly path?: string;
  },
): StartedStage {
  return {
    ...how,
    url: `${kind}://${user}${servers.map(({ port }) => `127.0.0.1:${port}`).join()}${path}`,
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  };
}

async function postgresPair(): Promise<StartedStage> {
  const primary = await startPostgres();
  const standby = await startStandby(primary);
  return stageOf("postgres", [primary, standby], {
    user: "postgres@",
    path: "/postgres",
    prepare: () =>
      until(
        "the standby follows",
        async () => (await runSql(primary.url, "SELECT 1 FROM pg_stat_replication")).length === 1,
      ),
    befall: async () => {
      await primary.kill();
      await runSql(standby.url, "SELECT pg_promote(true, 120)");
    },
  });
}

async function redisPair(): Promise<StartedStage> {
  const quick = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"];
  const primary = await startRedis({ persistence: "every-write", args: quick });
  const follow = ["--replicaof", "127.0.0.1", `${primary.port}`];
  const replica = await startRedis({ persistence: "every-write", args: [...quick, ...follow] });
  const ask = (command: string): Promise<string> => askPort(replica.port, `${command}\r\nQUIT\r\n`);
  return stageOf("redis", [primary, replica], {
    // Without a second replica nobody would be left to take a write of the promoted one.
    path: "?replicas=0",
    prepare: () =>
      until("the replica follows", async () => (await ask("INFO replication")).includes("master_link_status:up")),
    befall: async () => {
      await primary.kill();
      await ask("REPLICAOF NO ONE");
    },
  });
}

async function cluster(
  kind: string,
  start: () => Promise<readonly TestServer[]>,
  findLeader: (members: readonly TestServer[]) => Promise<TestServer | undefined>,
): Promise<StartedStage> {
  const members = await start();
  return stageOf(kind, members, {
    prepare: () => until("they have a leader", async () => (await findLeader(members)) !== undefined),
    befall: async () => {
      const leader = await findLeader(members);
      if (leader === undefined) throw new Error("the members have no leader");
      await leader.kill();
    },
  });
}
