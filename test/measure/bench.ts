/**
 * `npm run bench` runs all benchmarks, `npm run bench generator` some of them, `npm run bench -- --list` names them.
 * Each prints its tables and writes its section of docs/reports/benchmarks.md; with `--dry` it only prints.
 */
import { onOff } from "../../src/config/setting-kinds.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { benchmarks } from "../bench/benchmarks.ts";
import { machine, markdownTable, writeSection } from "../bench/report.ts";

const options = {
  list: onOff({ name: "list", doc: "Names the benchmarks." }),
  dry: onOff({ name: "dry", doc: "Only prints." }),
};

await runProgram({
  call: "npm run bench --",
  summary: "Measures, prints tables and writes them into docs/reports/benchmarks.md",
  options,
  words: {
    placeholder: "[BENCHMARK...]",
    doc: "Some of them; all without one.",
    known: benchmarks.map(({ name }) => name),
  },
  examples: ["npm run bench -- --list", "npm run bench -- generator --dry"],
  run: async ({ list, dry }, wanted) => {
    if (list) for (const { name, title } of benchmarks) console.log(`${name.padEnd(12)} ${title}`);
    else await measure({ wanted, dry });
    return 0;
  },
});

async function measure({ wanted, dry }: { readonly wanted: readonly string[]; readonly dry: boolean }): Promise<void> {
  console.log(`${machine()}; Node ${process.versions.node}`);
  for (const benchmark of benchmarks.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    console.log(`\n${benchmark.title}`);
    const findings = await benchmark.run((line) => {
      console.log(`  ${line}`);
    });
    for (const finding of findings) console.log(`\n${finding.title}\n${markdownTable(finding)}`);
    if (!dry) writeSection(benchmark, findings, new Date().toISOString().slice(0, 10));
  }
}
