/**
 * `npm run bench` runs all benchmarks, `npm run bench generator` some of them, `npm run bench -- --list` names them.
 * Each prints its tables and writes its section of docs/benchmarks.md; with `--dry` it only prints.
 */
import { attacksBenchmark } from "./attacks.ts";
import type { Benchmark } from "./benchmark.ts";
import { clientsBenchmark } from "./clients.ts";
import { generatorBenchmark } from "./generator.ts";
import { memoryBenchmark } from "./memory.ts";
import { schemesBenchmark } from "./schemes.ts";
import { serviceBenchmark } from "./service.ts";
import { startBenchmark } from "./start.ts";
import { machine, markdownTable, writeSection } from "./report.ts";

const benchmarks: readonly Benchmark[] = [
  generatorBenchmark,
  serviceBenchmark,
  clientsBenchmark,
  schemesBenchmark,
  startBenchmark,
  memoryBenchmark,
  attacksBenchmark,
];

const flags = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const unknown = [
  ...wanted.filter((name) => benchmarks.every((benchmark) => benchmark.name !== name)),
  ...flags.filter((flag) => flag !== "--list" && flag !== "--dry"),
];
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. Benchmarks: ${benchmarks.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}
if (flags.includes("--list")) {
  for (const { name, title } of benchmarks) console.log(`${name.padEnd(12)} ${title}`);
  process.exit(0);
}
console.log(`${machine()}; Node ${process.versions.node}`);
for (const benchmark of benchmarks.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`\n${benchmark.title}`);
  const findings = await benchmark.run((line) => {
    console.log(`  ${line}`);
  });
  for (const finding of findings) console.log(`\n${finding.title}\n${markdownTable(finding)}`);
  if (!flags.includes("--dry")) writeSection(benchmark, findings, new Date().toISOString().slice(0, 10));
}
