/**
 * `npm run crowd`: starts more Snowlane servers on one PostgreSQL than it has connections, and prints how many of them
 * serve, and how often the others tried to connect. `--write` puts the figures into docs/stores.md.
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
import { startPostgres } from "../support/servers/postgres-server.ts";
import { withPort } from "../support/servers/remote-stores.ts";

const columns = ["servers", "connections of the database", "of them serve", "connections tried", "in the last 30 s"];
const lastMs = 30_000;

const options = {
  servers: withFallback(integer({ name: "servers", min: 1, max: 1_000, doc: "How many are started." }), 200),
  connections: withFallback(integer({ name: "connections", min: 10, max: 1_000, doc: "Of the database." }), 60),
  for: withFallback(duration({ name: "for", minMs: 31_000, maxMs: 3_600_000, doc: "How long they run." }), 75_000),
  write: onOff({ name: "write", doc: "Puts the table into docs/stores.md." }),
};

await runProgram({
  call: "npm run crowd --",
  summary: "Starts more servers on one PostgreSQL than it has connections",
  options,
  examples: ["npm run crowd -- --servers 50 --connections 20 --for 40s"],
  run: async ({ servers, connections, for: runMs, write }) => {
    const figures = await crowd(servers, connections, runMs);
    const table = markdownTable({ title: "", columns, rows: [figures.map(String)] });
    const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
    const about = `${day}, ${runMs / 1_000} s, on ${machine()}, Node ${process.versions.node}.`;
    process.stdout.write(`${about}\n\n${table}\n`);
    if (write) writeMarkedSection("docs/stores.md", "crowd", `${about}\n\n${table}`);
    return 0;
  },
});

/** The figures of one run: see {@link columns}. */
async function crowd(serverCount: number, connectionCount: number, runMs: number): Promise<readonly number[]> {
  const database = await startPostgres(["-c", `max_connections=${connectionCount}`]);
  const proxy = await TcpProxy.start(database.port);
  const storeUrl = withPort(database, proxy.port);
  const workers: StartingWorker[] = [];
  try {
    for (let index = 0; index < serverCount; index += 1) workers.push(await begin(storeUrl, index));
    await sleep(runMs - lastMs);
    const before = proxy.acceptedCount;
    await sleep(lastMs);
    const serving = workers.filter(({ source }) => source.state.kind === "serving").length;
    return [serverCount, connectionCount, serving, proxy.acceptedCount, proxy.acceptedCount - before];
  } finally {
    await Promise.all(workers.map((worker) => worker.close(1_000)));
    await proxy.stop();
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
