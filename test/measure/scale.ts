/**
 * `npm run measure -- scale`: many workers on one store. Prints what renewals ask of it, how long starts take, and what
 * outages do: over a simulated store, and in real processes. `npm run measure -- scale starts measured` for some of the
 * tables; `--write` puts them into docs/scale.md.
 */
import { systemClock } from "../../src/clock/clock.ts";
import { integer, onOff } from "../../src/config/setting-kinds.ts";
import { withFallback } from "../../src/config/setting.ts";
import type { Finding } from "../bench/benchmark.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { outageTable, renewalTable, slowTable, startTable } from "../simulation/fleet/fleet-tables.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { measuredTable } from "../stores/measured-fleet-table.ts";

const options = {
  members: withFallback(
    integer({ name: "members", min: 20, max: 1_000, doc: "Simulated servers, of 1,024 worker IDs." }),
    1_000,
  ),
  processes: withFallback(integer({ name: "processes", min: 2, max: 250, doc: "Real ones, on each store." }), 100),
  write: onOff({ name: "write", doc: "Puts the tables into docs/scale.md." }),
};

const print = (row: readonly string[]): void => void process.stdout.write(`| ${row.join(" | ")} |\n`);

/** Each table by the name of its place in docs/scale.md. */
const tables: Readonly<Record<string, (sizes: { members: number; processes: number }) => Promise<Finding>>> = {
  renewals: async () => renewalTable(),
  starts: ({ members }) => startTable(members, print),
  outages: ({ members }) => outageTable(members, print),
  slow: ({ members }) => slowTable(members / 2, print),
  measured: ({ processes }) => measuredTable(processes, print),
};
const names = Object.keys(tables);

await runProgram({
  call: "npm run measure -- scale",
  summary: "Simulates many servers on one store, and measures real ones",
  options,
  words: { placeholder: "[TABLE...]", doc: `Some of them: ${names.join(", ")}.`, known: names },
  examples: ["npm run measure -- scale starts --members 100", "npm run measure -- scale measured --processes 20"],
  run: async ({ members, processes, write }, wanted) => {
    for (const name of wanted.length > 0 ? wanted : names) {
      const finding = await tables[name]!({ members, processes });
      const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
      const about = `${day}, on ${machine()}, Node ${process.versions.node}.`;
      const text = `${[about, finding.note ?? ""].join(" ").trim()}\n\n${markdownTable(finding)}`;
      process.stdout.write(`\n${finding.title}\n\n${text}\n`);
      if (write) writeMarkedSection("docs/scale.md", name, text);
    }
    return 0;
  },
});
