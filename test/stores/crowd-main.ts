/**
 * `npm run crowd`: starts more Snowlane servers on one PostgreSQL than it has connections, directly and through
 * PgBouncer, and prints how many of them serve, and how often they tried to connect. `--write` puts the figures into
 * docs/stores.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { duration, integer, onOff } from "../../src/config/setting-kinds.ts";
import { withFallback } from "../../src/config/setting.ts";
import { presetLayout } from "../../src/snowflake/presets.ts";
import { beginWorker, type StartingWorker } from "../../src/worker/open-worker.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { startPgBouncer } from "../support/servers/pgbouncer-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { withPort } from "../support/servers/remote-stores.ts";
import { openSqlSession } from "../support/servers/run-sql.ts";

const columns = [
  "way",
  "servers",
  "connections for them",
  "most that they had",
  "serve",
  "connections tried",
  "in the last 30 s",
];
const lastMs = 30_000;

const options = {
  servers: withFallback(integer({ name: "servers", min: 1, max: 1_000, doc: "How many are started." }), 200),
  connections: withFallback(integer({ name: "connections", min: 10, max: 1_000, doc: "Of the database." }), 60),
  pool: withFallback(integer({ name: "pool", min: 1, max: 1_000, doc: "Those that PgBouncer keeps of them." }), 10),
  for: withFallback(duration({ name: "for", minMs: 31_000, maxMs: 3_600_000, doc: "How long they run." }), 75_000),
  write: onOff({ name: "write", doc: "Puts the table into docs/stores.md." }),
};

await runProgram({
  call: "npm run crowd --",
  summary: "Starts more servers on one PostgreSQL than it has connections",
  options,
  examples: ["npm run crowd -- --servers 50 --connections 20 --for 40s"],
  run: async ({ servers, connections, pool, for: runMs, write }) => {
    const rows: (readonly string[])[] = [];
    for (const poolSize of [undefined, pool]) {
      const figures = await crowd({ serverCount: servers, connectionCount: connections, poolSize, runMs });
      rows.push([poolSize === undefined ? "direct" : "through PgBouncer", ...figures.map(String)]);
    }
    const table = markdownTable({ title: "", columns, rows });
    const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
    const about = `${day}, ${runMs / 1_000} s, on ${machine()}, Node ${process.versions.node}.`;
    process.stdout.write(`${about}\n\n${table}\n`);
    if (write) writeMarkedSection("docs/stores.md", "crowd", `${about}\n\n${table}`);
    return 0;
  },
});

/** How one run is made. */
interface Crowd {
  readonly serverCount: number;
  readonly connectionCount: number;
  /** Of PgBouncer; undefined = the servers connect to the database itself. */
  readonly poolSize: number | undefined;
  readonly runMs: number;
}

/** The figures of one run: see {@link columns}. */
async function crowd({ serverCount, connectionCount, poolSize, runMs }: Crowd): Promise<readonly number[]> {
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
    const tried = proxy.acceptedCount;
    return [serverCount, poolSize ?? connectionCount, most, serving, tried, tried - before];
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
