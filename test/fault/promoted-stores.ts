import { setTimeout as sleep } from "node:timers/promises";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { askPort } from "../support/servers/ask-port.ts";
import { followAnew, startPostgres, startStandby } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import type { SeededRandom } from "../support/worlds/seeded-random.ts";

/** Servers of one store, of which one takes writes, and another may be made to. */
export interface PromotedStore {
  readonly servers: readonly TestServer[];
  /** By which copies reach the one that takes writes. */
  readonly ways: readonly TcpProxy[];
  /**
   * Kills the one that takes writes, makes a copy take them, and puts the killed one back as a copy: an operator who
   * fences first. Before that the copy may hear nothing for a while.
   */
  readonly promote: (random: SeededRandom) => Promise<void>;
}

/** Lets the copy that is to be promoted miss what is written, now and then. */
async function partFirst(way: TcpProxy, random: SeededRandom): Promise<void> {
  if (random.oneIn(2)) return;
  way.mode = "black-hole";
  await sleep(random.below(3_000));
}

/** Until the operator takes the next step. */
async function pause(random: SeededRandom): Promise<void> {
  await sleep(random.below(1_500));
}

/** Starts PostgreSQL with a standby. Whichever of the two takes writes, each commit waits until the other has it. */
export async function startPostgresPair(): Promise<PromotedStore> {
  const waits = ["-c", "synchronous_standby_names=*"];
  let primary = await startPostgres(waits);
  const way = await TcpProxy.start(primary.port);
  let standby = await startStandby(primary, { port: way.port, args: waits });
  return {
    servers: [primary, standby],
    ways: [way],
    promote: async (random) => {
      await partFirst(way, random);
      await primary.kill();
      await pause(random);
      await runSql(standby.url, "SELECT pg_promote(true, 120)");
      [primary, standby] = [standby, primary];
      way.targetPort = primary.port;
      way.reopen();
      await pause(random);
      await followAnew(standby, primary, way.port);
    },
  };
}

/** Starts Redis with two replicas. Any of them is promoted, also one that lacks writes that a majority has. */
export async function startRedisTrio(): Promise<PromotedStore> {
  const quick = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", "--repl-timeout", "5"];
  const ways: TcpProxy[] = [];
  const servers: TestServer[] = [];
  let primary = 0;
  const args = (place: number): readonly string[] =>
    place === primary ? quick : [...quick, "--replicaof", "127.0.0.1", String(ways[place]!.port)];
  for (const place of [0, 1, 2]) {
    ways.push(await TcpProxy.start(servers[0]?.port ?? 0));
    servers.push(await startRedis({ persistence: "every-write", args: () => args(place) }));
  }
  return {
    servers,
    ways,
    promote: async (random) => {
      const old = primary;
      const chosen = random.pick([0, 1, 2].filter((place) => place !== old));
      await partFirst(ways[chosen]!, random);
      await servers[old]!.kill();
      await pause(random);
      primary = chosen;
      const next = servers[chosen]!;
      await askPort(next.port, "REPLICAOF NO ONE\r\nQUIT\r\n");
      for (const way of ways) {
        way.targetPort = next.port;
        way.reopen();
      }
      await pause(random);
      await servers[old]!.restart();
    },
  };
}
