/**
 * Injects every fault into real servers and prints what came of it: `npm run test:faults`, as often as the tests do;
 * `npm run test:faults -- --size full` as often as docs/safety.md asks; `--size 5%` for a part of that. `--only kill`
 * for faults whose name has that word, `--store redis://localhost` for servers on that store, `--write` for the table
 * of docs/safety.md. Exits with 1 where a promise was broken.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { machine, markdownTable } from "../bench/report.ts";
import type { Fault } from "./fault.ts";
import { bundleServer, type TrialOutcome } from "./fault-trial.ts";
import { abandonAll, faults, runFault } from "./run-fault.ts";

const { values } = parse();
const percent = /^(\d+(?:\.\d+)?)%$/.exec(values.size)?.[1];
const seed = Number(values.seed);
if (!(["pr", "full"].includes(values.size) || Number(percent) > 0)) refuse(`--size ${values.size} is no size.`);
if (!Number.isSafeInteger(seed)) refuse(`--seed ${values.seed} is no number.`);
const storeUrl = values.store;
const chosen = faults.filter(
  ({ name, stores }) => name.includes(values.only ?? "") && (storeUrl === undefined || stores === "any"),
);
if (chosen.length === 0) {
  refuse(`No fault has ${values.only} in its name. There are:\n${faults.map(({ name }) => name).join("\n")}`);
}

function parse() {
  try {
    return parseArgs({
      options: {
        size: { type: "string", default: "pr" },
        only: { type: "string" },
        store: { type: "string" },
        seed: { type: "string", default: "1" },
        write: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(cause: string): never {
  const usage = "[--size pr | full | N%] [--only WORD] [--store URL] [--seed N] [--write]";
  process.stderr.write(`${cause}\nUsage: npm run test:faults -- ${usage}\n`);
  process.exit(2);
}

function countOf({ counts }: Fault): number {
  if (percent === undefined) return values.size === "full" ? counts.full : counts.pr;
  return Math.max(1, Math.round((counts.full * Number(percent)) / 100));
}

async function run(fault: Fault): Promise<TrialOutcome> {
  const count = countOf(fault);
  const lanes = Math.min(fault.lanes, count);
  let done = 0;
  const show = (): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${fault.name}: ${done} of ${count}`);
  };
  show();
  const onInjected = (): void => {
    done += 1;
    show();
  };
  try {
    return await runFault(fault, { storeUrl, patience: "user", seed, onInjected, count, lanes });
  } catch (error) {
    const problems = [error instanceof Error ? error.message : String(error)];
    return { ...nothing, injectedCount: done, problems };
  }
}

const nothing: TrialOutcome = {
  injectedCount: 0,
  issuedCount: 0,
  duplicateCount: 0,
  requestCount: 0,
  failedCount: 0,
  longestGapMs: 0,
  problems: [],
  failures: [],
  notes: [],
};

function rowOf(fault: Fault, outcome: TrialOutcome): readonly string[] {
  const { injectedCount, issuedCount, duplicateCount, requestCount, failedCount, longestGapMs } = outcome;
  const counts = [injectedCount, issuedCount, duplicateCount, requestCount, failedCount];
  return [fault.name, ...counts.map((count) => count.toLocaleString("en-US")), `${Math.round(longestGapMs)} ms`];
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void abandonAll().finally(() => process.exit(signal === "SIGINT" ? 130 : 143)));
}
const columns = ["fault", "injected", "IDs issued", "duplicates", "requests", "failed", "longest gap"];
await bundleServer();
const rows: (readonly string[])[] = [];
const remarks: string[] = [];
let isBroken = false;
for (const fault of chosen) {
  const outcome = await run(fault);
  const row = rowOf(fault, outcome);
  const gapMaxMs = fault.gapMaxMs ?? Number.POSITIVE_INFINITY;
  const late = outcome.longestGapMs > gapMaxMs ? [`the gap is longer than ${gapMaxMs} ms`] : [];
  const problems = [...outcome.problems, ...late];
  isBroken ||= problems.length > 0 || outcome.duplicateCount > 0;
  rows.push(row);
  if (outcome.notes.length > 0) remarks.push(`${fault.name}: ${outcome.notes.join("; ")}.`);
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
  // A line a fault, as it comes: a full run takes hours.
  process.stderr.write(`${row.map((cell, index) => `${columns[index]}: ${cell}`).join(", ")}\n`);
  for (const problem of problems) process.stderr.write(`  BROKEN: ${problem}\n`);
}
const sqlite = storeUrl === undefined ? `, SQLite ${process.versions["sqlite"]}` : "";
const versions = `Node ${process.versions.node}${sqlite}`;
// What else the machine does is in every figure but the duplicates.
const [load = 0] = loadavg().slice(-1);
const day = new Date().toISOString().slice(0, 10);
const heading = `${machine()}, load average ${load.toFixed(1)}; ${versions}; ${day}.`;
const table = markdownTable({ title: "", columns, rows });
process.stdout.write(`${heading}\n\n${table}\n\n${remarks.join("\n")}\n`);
if (values.write) writeTable();
process.exit(isBroken ? 1 : 0);

/** Puts the table where docs/safety.md has one. */
function writeTable(): void {
  const url = new URL("../../docs/safety.md", import.meta.url);
  const text = readFileSync(url, "utf8");
  const begin = "<!-- begin faults: written by npm run test:faults -- --write -->";
  const end = "<!-- end faults -->";
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error("docs/safety.md has no place for the table of faults.");
  const size = `By \`npm run test:faults -- --size ${values.size}\`, seed ${seed}: ${heading}`;
  const notes = remarks.map((remark) => `- ${remark}`).join("\n");
  writeFileSync(url, `${text.slice(0, from)}${begin}\n${size}\n\n${table}\n\n${notes}\n${text.slice(to)}`);
}
