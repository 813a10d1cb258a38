/**
 * Injects every fault into real servers and prints what came of it: `npm run measure -- faults`, as often as the tests
 * do; `npm run measure -- faults --size full` as often as docs/reports/faults.md asks; `--size 5%` for a part of that.
 * `--only kill` for faults whose name has that word, `--store redis://localhost` for servers on that store; `--write`
 * writes the rows of docs/reports/faults.md one by one, and `--size 10% --seed 2 --write --add` adds a piece to them.
 * Exits with 1 where a promise was broken. `--gutted`: the control, in which each row's servers go without the rule
 * that the row is to catch (or without that of `--rule`), and it exits with 1 where one catches nothing. `--mixed`:
 * faults of all kinds together, on five stores; `--size full` takes two hours a store.
 */
import { systemClock } from "../../src/clock/clock.ts";
import { refuseProblems } from "../../src/config/load-settings.ts";
import { integer, onOff, text } from "../../src/config/setting-kinds.ts";
import { type SettingValues, withFallback } from "../../src/config/setting.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { bundleServer } from "../support/processes/server-bundle.ts";
import type { Fault } from "../fault/fault.ts";
import { emptyTable, lastRowAsLine, tableText, withOutcome, writeTable } from "../fault/fault-table.ts";
import type { TrialOutcome } from "../fault/fault-trial.ts";
import { mixedFaults } from "../fault/mixed-faults.ts";
import { abandonAll, faults, noOutcome, pieceLines, runFault, runPieces, showsFault } from "../fault/run-fault.ts";

const options = {
  size: withFallback(
    text({
      name: "size",
      placeholder: "pr|full|N%",
      pattern: /^(pr|full|(?!0+(\.0+)?%)\d+(\.\d+)?%)$/,
      hint: "pr, full or a part of full such as 5%",
      doc: "How often each fault is injected: as the tests do, as docs/reports/faults.md asks, or a part of that.",
    }),
    "pr",
  ),
  only: text({ name: "only", placeholder: "WORD", doc: "Faults whose name has that word." }),
  storeUrl: text({ name: "store", placeholder: "URL", doc: "Servers on that store; the embedded one without it." }),
  seed: withFallback(integer({ name: "seed", min: 0, max: 1e9, doc: "Of the random choices." }), 1),
  mixed: onOff({ name: "mixed", doc: "Faults of all kinds together, on each of five stores, as the seed draws them." }),
  gutted: onOff({ name: "gutted", doc: "The control: without the rule that each row is to catch." }),
  rule: text({
    name: "rule",
    placeholder: "MUTANT",
    doc: "With --gutted: without this rule, whatever a row is to catch.",
  }),
  write: onOff({ name: "write", doc: "Puts the rows into docs/reports/faults.md, one after the other." }),
  add: onOff({
    name: "add",
    doc: "With --write: adds to the existing row. A row is done in pieces by other seeds.",
  }),
};
type Options = SettingValues<typeof options>;

function countOf({ counts, fullMinutes }: Fault, size: string): number {
  if (fullMinutes !== undefined) return size === "pr" ? counts.pr : counts.full;
  if (!size.endsWith("%")) return size === "full" ? counts.full : counts.pr;
  return Math.max(1, Math.round((counts.full * Number(size.slice(0, -1))) / 100));
}

function minutesOf({ fullMinutes = 0 }: Fault, size: string): number {
  if (!size.endsWith("%")) return size === "full" ? fullMinutes : 0;
  return (fullMinutes * Number(size.slice(0, -1))) / 100;
}

/** The rule that is gone in a control. */
function ruleOf({ catches }: Fault, { rule = catches }: Options): string {
  return rule;
}

async function run(fault: Fault, given: Options): Promise<TrialOutcome> {
  const { size, storeUrl, seed, mixed } = given;
  const gutted = given.gutted ? ruleOf(fault, given) : undefined;
  const count = countOf(fault, size);
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
    const how = { storeUrl, patience: "user", seed, onInjected, gutted } as const;
    if (!mixed) return await runFault(fault, { ...how, count, lanes });
    const onPiece = (piece: number, outcome: TrialOutcome): void => {
      process.stderr.write(`${pieceLines(fault, piece, outcome).join("\n")}\n`);
    };
    return await runPieces(fault, { ...how, count, minutes: minutesOf(fault, size), onPiece });
  } catch (error) {
    const errors = [error instanceof Error ? error.message : String(error)];
    return { ...noOutcome, injectedCount: done, errors };
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void abandonAll().finally(() => process.exit(signal === "SIGINT" ? 130 : 143)));
}

function choose({ only = "", storeUrl, gutted, mixed, rule }: Options): readonly Fault[] {
  const all = mixed ? mixedFaults : faults;
  const chosen = all.filter(
    ({ name, stores, catches }) =>
      name.includes(only) &&
      (storeUrl === undefined || stores === "any") &&
      !(gutted && rule === undefined && catches === "availability"),
  );
  if (chosen.length > 0) return chosen;
  const names = all.map(({ name }) => name).join("\n");
  return refuseProblems([
    { place: "--only", value: only, hint: `No fault has that in its name. There are:\n${names}.` },
  ]);
}

async function runAll(chosen: readonly Fault[], given: Options): Promise<number> {
  await bundleServer();
  let table = emptyTable(given.storeUrl);
  let isBroken = false;
  for (const fault of chosen) {
    const startMs = systemClock.monotonicMs();
    const remarkCount = table.remarks.length;
    const outcome = await run(fault, given);
    const seconds = (systemClock.monotonicMs() - startMs) / 1_000;
    table = withOutcome(table, fault, outcome, { seconds, seed: given.seed });
    const gapMaxMs = fault.gapMaxMs ?? Number.POSITIVE_INFINITY;
    const late = outcome.longestGapMs > gapMaxMs ? [`the gap is longer than ${gapMaxMs} ms`] : [];
    const problems = [...outcome.problems, ...late];
    const isCaught = showsFault(outcome);
    isBroken ||= given.gutted ? !isCaught : isCaught || late.length > 0 || outcome.errors.length > 0;
    if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
    process.stderr.write(`${lastRowAsLine(table)}\n`);
    const word = given.gutted ? `without ${ruleOf(fault, given)}` : "BROKEN";
    for (const error of outcome.errors) process.stderr.write(`  NOT PLAYED TO ITS END: ${error}\n`);
    for (const problem of problems) process.stderr.write(`  ${word}: ${problem}\n`);
    if (given.gutted && !isCaught) process.stderr.write(`  NOT CAUGHT: ${ruleOf(fault, given)}\n`);
    if (given.write && !given.gutted) {
      const names = [...faults, ...mixedFaults].map(({ name }) => name);
      const row = { ...table, rows: table.rows.slice(-1), remarks: table.remarks.slice(remarkCount) };
      writeTable(row, names, given.add ? "add" : "replace");
    }
  }
  process.stdout.write(`${tableText(table)}\n`);
  return isBroken ? 1 : 0;
}

await runProgram({
  call: "npm run measure -- faults",
  summary: "Injects every fault into real servers and prints the outcome",
  options,
  examples: ["npm run measure -- faults --only kill", "npm run measure -- faults --size 5% --store redis://localhost"],
  run: (given) => runAll(choose(given), given),
});
