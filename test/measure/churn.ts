/**
 * `npm run measure -- churn`: for each remote store, starts its real server, starts two Snowlane servers on it, kills
 * and replaces them in a loop under load for a minute, and prints what came of it. `npm run measure -- churn redis etcd
 * --seconds 10` for some of them, and another length; `--write` puts the table into docs/evidence/stores.md.
 */
import { loadavg } from "node:os";
import { systemClock } from "../../src/clock/clock.ts";
import { integer, onOff } from "../../src/config/setting-kinds.ts";
import { withFallback } from "../../src/config/setting.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { remoteStoreKinds } from "../support/servers/remote-stores.ts";
import { nameWithVersion, type StoreServer } from "../support/servers/server-version.ts";
import { after, churn } from "../stores/churn.ts";

const columns = ["store", "IDs issued", "duplicates", "servers killed", "requests", "failed", "longest gap"];

const options = {
  seconds: withFallback(integer({ name: "seconds", min: 1, max: 86_400, doc: "For each store." }), 60),
  write: onOff({ name: "write", doc: "Puts the table into docs/evidence/stores.md." }),
};

await runProgram({
  call: "npm run measure -- churn",
  summary: "Kills and replaces two servers on each remote store under load",
  options,
  words: {
    placeholder: "[STORE...]",
    doc: "Some of the stores; all without one.",
    known: remoteStoreKinds.map(({ kind }) => kind),
  },
  examples: ["npm run measure -- churn redis etcd --seconds 10"],
  run: async ({ seconds, write }, wanted) => {
    const rows: (readonly string[])[] = [];
    process.stdout.write(`${columns.map((heading) => heading.padStart(18)).join("")}\n`);
    for (const remote of remoteStoreKinds) {
      if (wanted.length > 0 && !wanted.includes(remote.kind)) continue;
      const row = await churnOn(remote, seconds);
      rows.push(row);
      process.stdout.write(`${row.map((cell) => cell.padStart(18)).join("")}\n`);
    }
    if (write) writeTable(rows, seconds);
    return rows.every(([, , duplicates]) => duplicates === "0") ? 0 : 1;
  },
});

/** The row of one store: see {@link columns}. */
async function churnOn({ kind, start }: (typeof remoteStoreKinds)[number], seconds: number) {
  const server = await start();
  try {
    const isTerminal = process.stderr.isTTY;
    const result = await churn(server.url, {
      isOver: after(seconds * 1_000),
      onProgress: (line) => {
        if (isTerminal) process.stderr.write(`\r${kind}: ${line}`);
      },
    });
    if (isTerminal) process.stderr.write("\n");
    const { idCount, duplicateCount, killCount, requestCount, failedCount, longestGapMs } = result;
    const figures = [idCount, duplicateCount, killCount, requestCount, failedCount].map((figure) => `${figure}`);
    return [await nameOf(kind), ...figures, `${Math.round(longestGapMs)} ms`];
  } finally {
    await server.stop();
  }
}

/** The store with the version of the server that was started. */
async function nameOf(kind: string): Promise<string> {
  if (kind === "kubernetes") return "kubernetes (fake)";
  return await nameWithVersion(kind === "mysql" ? "mariadb" : (kind as StoreServer));
}

function writeTable(rows: readonly (readonly string[])[], seconds: number): void {
  const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  // What else ran there shows in the gaps.
  const load = `load ${Math.round(loadavg()[2]!)} over the last 15 minutes`;
  const about = `${day}, ${seconds} s for each store, on ${machine()}, ${load}, Node ${process.versions.node}.`;
  const table = markdownTable({ title: "", columns, rows });
  writeMarkedSection("docs/evidence/stores.md", "churn", `${about}\n\n${table}`);
}
