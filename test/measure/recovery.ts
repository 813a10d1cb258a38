/**
 * `npm run measure -- recovery`: lets faults happen to the real server of each store, under two servers, and prints for
 * how long IDs were refused after its return. `npm run measure -- recovery redis etcd` for some of them; with
 * `--failovers` another server takes the place of one that is killed. `--write` puts the table into
 * docs/reports/losses.md.
 */
import { systemClock } from "../../src/clock/clock.ts";
import { duration, onOff } from "../../src/config/setting-kinds.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { nameWithVersion, type StoreServer } from "../support/servers/server-version.ts";
import { startZooKeeper } from "../support/servers/zookeeper-server.ts";
import { failovers, type StartedStage } from "../stores/failovers.ts";
import { recoveryFaults, runRecovery } from "../stores/recovery.ts";

const stores: Readonly<Record<StoreServer, () => Promise<TestServer>>> = {
  postgres: () => startPostgres(),
  mariadb: () => startMariadb(),
  redis: () => startRedis({ persistence: "every-write" }),
  etcd: () => startEtcd(),
  zookeeper: () => startZooKeeper(),
};

const columns = ["store", "fault", "a server that ran", "a new server", "duplicates"];

const options = {
  window: duration({ name: "window", minMs: 1_000, maxMs: 600_000, doc: "The window. Default: the store's." }),
  failovers: onOff({ name: "failovers", doc: "Promotions and elections in place of the other faults." }),
  write: onOff({ name: "write", doc: "Puts the table into docs/reports/losses.md." }),
};

await runProgram({
  call: "npm run measure -- recovery",
  summary: "Measures for how long IDs are refused after faults of each remote store",
  options,
  words: { placeholder: "[STORE...]", doc: "Some of the stores; all without one.", known: Object.keys(stores) },
  examples: ["npm run measure -- recovery redis --window 2s", "npm run measure -- recovery --failovers --write"],
  run: async ({ window, failovers: areFailovers, write }, wanted) => {
    const rows: (readonly string[])[] = [];
    for (const [kind, start] of Object.entries(stores)) {
      if (wanted.length > 0 && !wanted.includes(kind)) continue;
      const name = await nameWithVersion(kind as StoreServer);
      for (const [fault, set] of areFailovers ? failoversOf(kind) : faultsOf(start)) {
        const row = [name, fault, ...(await figuresOf(await set(), window))];
        rows.push(row);
        process.stdout.write(`| ${row.join(" | ")} |\n`);
      }
    }
    if (write) writeTable(areFailovers ? "failovers" : "recovery", rows);
    return rows.every((row) => row.at(-1) === "0") ? 0 : 1;
  },
});

type Faults = readonly (readonly [name: string, set: () => Promise<StartedStage>])[];

function faultsOf(start: () => Promise<TestServer>): Faults {
  return recoveryFaults.map(({ name, befall }) => [
    name,
    async () => {
      const server = await start();
      return {
        url: server.url,
        prepare: () => server.backUp(),
        befall: (windowMs) => befall(server, windowMs),
        stop: () => server.stop(),
      };
    },
  ]);
}

function failoversOf(kind: string): Faults {
  return failovers.filter(({ store }) => store === kind).map(({ name, set }) => [name, set]);
}

/** The figures of one fault: see {@link columns}. */
async function figuresOf(stage: StartedStage, windowMs: number | undefined): Promise<readonly string[]> {
  try {
    const { holderMs, newMs, duplicateCount } = await runRecovery(stage, windowMs);
    return [secondsOf(holderMs), secondsOf(newMs), String(duplicateCount)];
  } finally {
    await stage.stop();
  }
}

function secondsOf(ms: number): string {
  return `${(ms / 1_000).toFixed(0)} s`;
}

function writeTable(section: "failovers" | "recovery", rows: readonly (readonly string[])[]): void {
  const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  const about = `${day}, on ${machine()}, Node ${process.versions.node}.`;
  const table = markdownTable({ title: "", columns, rows });
  writeMarkedSection("docs/reports/losses.md", section, `${about}\n\n${table}`);
}
