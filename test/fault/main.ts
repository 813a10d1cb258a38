/**
 * Injects every fault into real servers and prints what came of it: `npm run test:faults`, as often as the tests do;
 * `npm run test:faults -- --size full` as often as docs/safety.md asks; `--size 5%` for a part of that. `--only kill`
 * for faults whose name has that word, `--store redis://localhost` for servers on that store, `--write` for the rows
 * of docs/safety.md, one after the other. Exits with 1 where a promise was broken.
 */
import { parseArgs } from "node:util";
import { systemClock } from "../../src/clock.ts";
import type { Fault } from "./fault.ts";
import { emptyTable, lastRowAsLine, tableText, withOutcome, writeTable } from "./fault-table.ts";
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

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void abandonAll().finally(() => process.exit(signal === "SIGINT" ? 130 : 143)));
}
await bundleServer();
let table = emptyTable(storeUrl, seed);
let isBroken = false;
for (const fault of chosen) {
  const startMs = systemClock.monotonicMs();
  const outcome = await run(fault);
  table = withOutcome(table, fault, outcome, (systemClock.monotonicMs() - startMs) / 1_000);
  const gapMaxMs = fault.gapMaxMs ?? Number.POSITIVE_INFINITY;
  const late = outcome.longestGapMs > gapMaxMs ? [`the gap is longer than ${gapMaxMs} ms`] : [];
  const problems = [...outcome.problems, ...late];
  isBroken ||= problems.length > 0 || outcome.duplicateCount > 0;
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
  process.stderr.write(`${lastRowAsLine(table)}\n`);
  for (const problem of problems) process.stderr.write(`  BROKEN: ${problem}\n`);
  if (values.write) {
    writeTable(
      table,
      faults.map(({ name }) => name),
    );
  }
}
process.stdout.write(`${tableText(table)}\n`);
process.exit(isBroken ? 1 : 0);
