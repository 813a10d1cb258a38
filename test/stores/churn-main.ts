/**
 * `npm run churn`: for each remote store, starts its real server, starts two Snowlane servers on it, kills and replaces
 * them in a loop under load for a minute, and prints what came of it. `npm run churn -- redis etcd --seconds 10` for
 * some of them, and another length; `--write` puts the table into docs/stores.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/clock.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/run-command.ts";
import { remoteStoreKinds } from "../support/servers/remote-stores.ts";
import { churn } from "./churn.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "60" }, write: { type: "boolean", default: false } },
});
const seconds = Number(values.seconds);
const known = remoteStoreKinds.map(({ kind }) => kind);
const unknown = positionals.filter((kind) => !known.includes(kind));
if (unknown.length > 0 || !(seconds > 0)) {
  process.stderr.write(`Usage: npm run churn -- [${known.join(" | ")}]... [--seconds 60] [--write]\n`);
  process.exit(2);
}

const columns = ["store", "IDs issued", "duplicates", "servers killed", "requests", "failed", "longest gap"];
const rows: (readonly string[])[] = [];
process.stdout.write(`${columns.map((heading) => heading.padStart(18)).join("")}\n`);
for (const { kind, start } of remoteStoreKinds) {
  if (positionals.length > 0 && !positionals.includes(kind)) continue;
  const server = await start();
  try {
    const isTerminal = process.stderr.isTTY;
    const result = await churn(server.url, seconds * 1_000, (line) => {
      if (isTerminal) process.stderr.write(`\r${kind}: ${line}`);
    });
    const { idCount, duplicateCount, killCount, requestCount, failedCount, longestGapMs } = result;
    const gap = `${Math.round(longestGapMs)} ms`;
    const figures = [idCount, duplicateCount, killCount, requestCount, failedCount].map((figure) => `${figure}`);
    const row = [await nameOf(kind), ...figures, gap];
    rows.push(row);
    if (isTerminal) process.stderr.write("\n");
    process.stdout.write(`${row.map((cell) => cell.padStart(18)).join("")}\n`);
    if (duplicateCount > 0) process.exitCode = 1;
  } finally {
    await server.stop();
  }
}
if (values.write) writeTable();

/** The store with the version of the server that was started. */
async function nameOf(kind: string): Promise<string> {
  if (kind === "kubernetes") return "kubernetes (fake)";
  const tool = await findTool(kind === "mysql" ? "mariadb" : (kind as "postgres" | "redis" | "etcd" | "zookeeper"));
  // ZooKeeper's is a file whose link bears the version.
  const text =
    kind === "zookeeper"
      ? await runCommand("readlink", ["-f", tool.path])
      : await runCommand(tool.path, ["--version"], { env: tool.env });
  const version = /\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? "";
  return `${kind === "mysql" ? "mariadb" : kind} ${version}`;
}

function writeTable(): void {
  const document = new URL("../../docs/stores.md", import.meta.url);
  const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  // What else ran there shows in the gaps.
  const load = `load ${Math.round(loadavg()[2]!)} over the last 15 minutes`;
  const about = `${day}, ${seconds} s for each store, on ${machine()}, ${load}, Node ${process.versions.node}.`;
  const table = markdownTable({ title: "", columns, rows });
  const written = readFileSync(document, "utf8").replace(
    /(<!-- begin churn[^\n]*-->\n)[^]*?(<!-- end churn -->)/,
    (_, begin: string, end: string) => `${begin}\n${about}\n\n${table}\n\n${end}`,
  );
  writeFileSync(document, written);
}
