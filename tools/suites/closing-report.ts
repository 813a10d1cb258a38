import { type Failure, nameOf } from "./run-vitest.ts";
import type { TriedRun } from "./second-try.ts";

/** What a suite came to. */
export interface Outcome extends TriedRun {
  readonly suite: string;
  readonly minutes: number;
  readonly budgetMinutes: number | undefined;
}

const slowestCount = 10;

/**
 * What `npm test` says at its end: the slowest files, the minutes of each suite, what passed only at the second try,
 * every failure whole with the command that runs it alone, and, as the last line, `N passed, N failed`.
 */
export function closingLines(outcomes: readonly Outcome[], minutes: number): readonly string[] {
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const failed = outcomes.reduce((sum, { failures }) => sum + failures.length, 0);
  const late = outcomes.reduce((sum, outcome) => sum + outcome.late.length, 0);
  return [
    ...slowestFiles(outcomes),
    ...table(outcomes, minutes),
    ...section("Passed only at the second try, which is a fault to be found:", outcomes, ({ late: own }) => own),
    ...section("Failed:", outcomes, ({ failures }) => failures),
    "",
    `${late} passed only at the second try`,
    `${passed} passed, ${failed} failed`,
  ];
}

function slowestFiles(outcomes: readonly Outcome[]): readonly string[] {
  const files = outcomes.flatMap(({ suite, files: own }) => own.map(({ file, seconds }) => ({ suite, file, seconds })));
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestCount);
  const lines = slowest.map(
    ({ suite, file, seconds }) => `${seconds.toFixed(0).padStart(7)}  ${suite.padEnd(9)} ${file}`,
  );
  return ["", "seconds  suite     the slowest files", ...lines];
}

function table(outcomes: readonly Outcome[], minutes: number): readonly string[] {
  const rows = outcomes.map(({ suite, minutes: own, budgetMinutes, passed, failures }) =>
    row(suite, own.toFixed(1), `${budgetMinutes ?? ""}`, `${passed}`, `${failures.length}`),
  );
  return ["", row("suite", "minutes", "budget", "passed", "failed"), ...rows, row("together", minutes.toFixed(1))];
}

function row(name: string, ...cells: readonly string[]): string {
  return [name.padEnd(9), ...cells.map((cell) => cell.padStart(8))].join("");
}

function section(
  title: string,
  outcomes: readonly Outcome[],
  chosen: (outcome: Outcome) => readonly Failure[],
): readonly string[] {
  const lines = outcomes.flatMap((outcome) =>
    chosen(outcome).flatMap((failure) => {
      const message = failure.message.split("\n").map((line) => `      ${line}`);
      return [`  ${nameOf(failure)}`].concat(message, `      Alone: ${aloneCommand(outcome.suite, failure)}`);
    }),
  );
  return lines.length === 0 ? [] : ["", title, ...lines];
}

/** A command that runs one failed test, for a shell. */
function aloneCommand(suite: string, { file, titles }: Failure): string {
  if (file === suite) return `npm test -- ${suite}`;
  const pattern = titles?.join(" ").replaceAll(/[^\w ]/g, ".");
  return `npx vitest run --project ${suite} ${file}${pattern === undefined ? "" : ` -t '${pattern}'`}`;
}
