import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { presetLayout } from "../../src/snowflake/presets.ts";
import { beginWorker, type StartingWorker } from "../../src/worker/open-worker.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { startPgBouncer } from "../support/servers/pgbouncer-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { withPort } from "../support/servers/remote-stores.ts";
import { openSqlSession } from "../support/servers/run-sql.ts";

/** How many servers are started on one PostgreSQL. */
interface Crowd {
  readonly serverCount: number;
  readonly connectionCount: number;
  /** Of PgBouncer; undefined = the servers connect to the database itself. */
  readonly poolSize: number | undefined;
  readonly runMs: number;
  /** The end of the run, whose connections are counted by themselves. */
  readonly lastMs: number;
}

/** What came of it. */
interface CrowdFigures {
  /** The most connections that they had at the database. */
  readonly most: number;
  /** How many serve at the end. */
  readonly serving: number;
  /** How many lost their worker ID meanwhile. */
  readonly lapsed: number;
  /** Connections that were tried. */
  readonly tried: number;
  readonly triedLast: number;
}

/** Starts the servers at once, and lets them run. */
export async function runCrowd(crowd: Crowd): Promise<CrowdFigures> {
  const { serverCount, connectionCount, poolSize, runMs, lastMs } = crowd;
  const database = await startPostgres(["-c", `max_connections=${connectionCount}`]);
  const watcher = await openSqlSession(database.url);
  const bouncer =
    poolSize === undefined ? undefined : await startPgBouncer(database, { poolSize, clientsMax: 3 * serverCount });
  const proxy = await TcpProxy.start((bouncer ?? database).port);
  const storeUrl = withPort(database, proxy.port);
  const workers: StartingWorker[] = [];
  let most = 0;
  const watch = async (forMs: number): Promise<void> => {
    const endMs = systemClock.monotonicMs() + forMs;
    while (systemClock.monotonicMs() < endMs) {
      const sql = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'snowlane'";
      most = Math.max(most, Number((await watcher.run(sql))[0]!["count"]));
      await sleep(250);
    }
  };
  try {
    for (let index = 0; index < serverCount; index += 1) workers.push(await begin(storeUrl, index));
    await watch(runMs - lastMs);
    const before = proxy.acceptedCount;
    await watch(lastMs);
    const serving = workers.filter(({ source }) => source.state.kind === "serving").length;
    const lapsed = workers.reduce((sum, { source }) => sum + source.status().counters.lapsed, 0);
    const tried = proxy.acceptedCount;
    return { most, serving, lapsed, tried, triedLast: tried - before };
  } finally {
    await Promise.all(workers.map((worker) => worker.close(1_000)));
    await watcher.end();
    await proxy.stop();
    await bouncer?.stop();
    await database.stop();
  }
}

async function begin(storeUrl: string, index: number): Promise<StartingWorker> {
  const worker = await beginWorker({
    storeUrl,
    namespace: "default",
    layout: presetLayout("twitter"),
    instance: `server-${index}`,
    version: "crowd",
  });
  worker.granted.catch(() => {});
  return worker;
}
