/**
 * `npm run churn`: for each remote store, starts its real server, starts two Snowlane servers on it, kills and replaces
 * them in a loop under load for a minute, and prints what came of it. `npm run churn -- redis etcd --seconds 10` for
 * some of them, and another length.
 */
import { parseArgs } from "node:util";
import { remoteStoreKinds } from "../support/servers/remote-stores.ts";
import { churn } from "./churn.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "60" } },
});
const seconds = Number(values.seconds);
const known = remoteStoreKinds.map(({ kind }) => kind);
const unknown = positionals.filter((kind) => !known.includes(kind));
if (unknown.length > 0 || !(seconds > 0)) {
  process.stderr.write(`Usage: npm run churn -- [${known.join(" | ")}]... [--seconds 60]\n`);
  process.exit(2);
}

const headings = ["store", "IDs issued", "duplicates", "servers killed", "requests", "failed", "longest gap"];
process.stdout.write(`${headings.map((heading) => heading.padStart(16)).join("")}\n`);
for (const { kind, start } of remoteStoreKinds) {
  if (positionals.length > 0 && !positionals.includes(kind)) continue;
  const server = await start();
  try {
    const isTerminal = process.stderr.isTTY;
    const result = await churn(server.url, seconds * 1_000, (line) => {
      if (isTerminal) process.stderr.write(`\r${kind}: ${line}`);
    });
    const { idCount, duplicateCount, killCount, requestCount, failedCount, longestGapMs } = result;
    const cells = [
      kind,
      idCount,
      duplicateCount,
      killCount,
      requestCount,
      failedCount,
      `${Math.round(longestGapMs)} ms`,
    ];
    if (isTerminal) process.stderr.write("\n");
    process.stdout.write(`${cells.map((cell) => String(cell).padStart(16)).join("")}\n`);
    if (duplicateCount > 0) process.exitCode = 1;
  } finally {
    await server.stop();
  }
}
