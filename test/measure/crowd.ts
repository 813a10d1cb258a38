/**
 * `npm run measure -- crowd`: starts more Snowlane servers on one PostgreSQL than it has connections, directly and
 * through PgBouncer, and prints how many of them serve, and how often they tried to connect. `--write` puts the figures
 * into docs/evidence/stores.md.
 */
import { systemClock } from "../../src/clock/clock.ts";
import { duration, integer, onOff } from "../../src/config/setting-kinds.ts";
import { withFallback } from "../../src/config/setting.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { runCrowd } from "../stores/crowd.ts";

const columns = [
  "way",
  "servers",
  "connections for them",
  "most that they had",
  "serve",
  "lost their worker ID",
  "connections tried",
  "in the last 30 s",
];
const lastMs = 30_000;

const options = {
  servers: withFallback(integer({ name: "servers", min: 1, max: 1_000, doc: "How many are started." }), 200),
  connections: withFallback(integer({ name: "connections", min: 10, max: 1_000, doc: "Of the database." }), 60),
  pool: withFallback(integer({ name: "pool", min: 1, max: 1_000, doc: "Those that PgBouncer keeps of them." }), 10),
  for: withFallback(duration({ name: "for", minMs: 31_000, maxMs: 3_600_000, doc: "How long they run." }), 75_000),
  write: onOff({ name: "write", doc: "Puts the table into docs/evidence/stores.md." }),
};

await runProgram({
  call: "npm run measure -- crowd",
  summary: "Starts more servers on one PostgreSQL than it has connections",
  options,
  examples: ["npm run measure -- crowd --servers 50 --connections 20 --for 40s"],
  run: async ({ servers, connections, pool, for: runMs, write }) => {
    const rows: (readonly string[])[] = [];
    for (const poolSize of [undefined, pool]) {
      const crowd = { serverCount: servers, connectionCount: connections, poolSize, runMs, lastMs };
      const { most, serving, lapsed, tried, triedLast } = await runCrowd(crowd);
      const figures = [servers, poolSize ?? connections, most, serving, lapsed, tried, triedLast];
      rows.push([poolSize === undefined ? "direct" : "through PgBouncer", ...figures.map(String)]);
    }
    const table = markdownTable({ title: "", columns, rows });
    const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
    const about = `${day}, ${runMs / 1_000} s, on ${machine()}, Node ${process.versions.node}.`;
    process.stdout.write(`${about}\n\n${table}\n`);
    if (write) writeMarkedSection("docs/evidence/stores.md", "crowd", `${about}\n\n${table}`);
    return 0;
  },
});
