import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { machine, markdownTable } from "../bench/report.ts";
import type { Fault } from "./fault.ts";
import type { TrialOutcome } from "./fault-trial.ts";

const documentUrl = new URL("../../docs/reports/faults.md", import.meta.url);
const begin = "<!-- begin faults: written by npm run measure -- faults --write -->";
const end = "<!-- end faults -->";
const columns = [
  "fault",
  "injected",
  "IDs issued",
  "duplicates",
  "takeovers",
  "requests",
  "failed",
  "longest gap",
  "minutes",
  "load",
  "measured",
  "fails without",
] as const;
type Column = (typeof columns)[number];

/** The outcome of the faults, a row for each. */
export interface FaultTable {
  /** The machine and the versions of the measurement. */
  readonly heading: string;
  readonly rows: readonly (readonly string[])[];
  /** Remarks of the faults; each begins with the fault's name and a colon. */
  readonly remarks: readonly string[];
}

/** A table without rows. `storeUrl`: where the servers did not have embedded stores. */
export function emptyTable(storeUrl: string | undefined): FaultTable {
  const store = storeUrl === undefined ? `SQLite ${process.versions["sqlite"]}` : new URL(storeUrl).protocol;
  return { heading: `${machine()}; Node ${process.versions.node}, ${store}.`, rows: [], remarks: [] };
}

/** The table with what came of one more fault, which took `seconds`. */
export function withOutcome(
  table: FaultTable,
  { name, catches }: Fault,
  outcome: TrialOutcome,
  { seconds, seed }: { readonly seconds: number; readonly seed: number },
): FaultTable {
  const { injectedCount, issuedCount, duplicateCount, takeoverCount, requestCount, failedCount, longestGapMs, notes } =
    outcome;
  const counts = [injectedCount, issuedCount, duplicateCount, takeoverCount, requestCount, failedCount];
  // What else the machine does is in every figure but the duplicates: the average of the last minutes that it took.
  const [minute = 0, fiveMinutes = 0] = loadavg();
  const load = seconds < 150 ? minute : fiveMinutes;
  const measured = `${new Date().toISOString().slice(0, 10)}, seed ${seed}`;
  const means = [(seconds / 60).toFixed(1), load.toFixed(1), measured, shownCatch(catches)];
  const figures = [`${Math.round(longestGapMs)} ms`, ...means];
  const row = [name, ...counts.map((count) => count.toLocaleString("en-US")), ...figures];
  const remarks = notes.length > 0 ? [`${name}: ${notes.join("; ")}.`] : [];
  return { ...table, rows: [...table.rows, row], remarks: [...table.remarks, ...remarks] };
}

/** What a row proves beside availability. */
function shownCatch(catches: string): string {
  return catches === "availability" ? "(availability alone)" : catches;
}

/** A line about the last row, for a person who waits: a full run takes hours. */
export function lastRowAsLine({ rows }: FaultTable): string {
  return (rows.at(-1) ?? []).map((cell, index) => `${columns[index]}: ${cell}`).join(", ");
}

/** The table as Markdown. */
export function tableText({ heading, rows, remarks }: FaultTable): string {
  const parts = [heading, markdownTable({ title: "", columns, rows }), remarks.map((one) => `- ${one}`).join("\n")];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** `replace`: a row replaces the existing one. `add`: it is one more piece of it, with another seed. */
export type WriteMode = "replace" | "add";

/** Puts the rows into docs/reports/faults.md. @see {@link withRows} */
export function writeTable(table: FaultTable, names: readonly string[], mode: WriteMode): void {
  const text = readFileSync(documentUrl, "utf8");
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error("docs/reports/faults.md has no place for the table of faults.");
  const tables = withRows(parseTables(text.slice(from + begin.length, to)), table, names, mode);
  writeFileSync(
    documentUrl,
    `${text.slice(0, from)}${begin}\n${tables.map(tableText).join("\n\n")}\n${text.slice(to)}`,
  );
}

/**
 * Puts rows among the existing ones: a full run may be done fault by fault, and a fault in pieces, on any days. Those
 * of one machine and its versions are in one table. A piece that is added leaves the pieces of other machines where
 * they are, and a row that is measured as a whole takes the place of all of them.
 *
 * @param names - All faults, in the order of the tables.
 */
export function withRows(
  standing: readonly FaultTable[],
  table: FaultTable,
  names: readonly string[],
  mode: WriteMode,
): readonly FaultTable[] {
  const same = standing.find(({ heading }) => heading === table.heading) ?? { ...table, rows: [], remarks: [] };
  const fresh = table.rows.map((row) => {
    const before = same.rows.find(([name]) => name === row[0]);
    return mode === "add" && before !== undefined ? sumOf(before, row) : row;
  });
  const isOld = (name = ""): boolean => table.rows.some(([fault]) => name === fault || name.startsWith(`${fault}:`));
  const place = (name = ""): number => names.findIndex((each) => name === each || name.startsWith(`${each}:`));
  const isGone = (name: string | undefined, index: number): boolean =>
    isOld(name) && (index === 0 || mode === "replace");
  const others = standing.filter((each) => each !== same);
  return [same, ...others]
    .map(({ heading, rows, remarks }, index) => ({
      heading,
      rows: [...rows.filter(([name]) => !isGone(name, index)), ...(index === 0 ? fresh : [])].toSorted(
        ([one], [other]) => place(one) - place(other),
      ),
      remarks: [...remarks.filter((one) => !isGone(one, index)), ...(index === 0 ? table.remarks : [])].toSorted(
        (one, other) => place(one) - place(other),
      ),
    }))
    .filter(({ rows }) => rows.length > 0);
}

/** Reads what {@link tableText} wrote. */
export function parseTables(text: string): readonly FaultTable[] {
  const tables: { heading: string; rows: string[][]; remarks: string[] }[] = [];
  for (const line of text.split("\n").filter((each) => each !== "")) {
    if (!/^(\||- )/.test(line)) tables.push({ heading: line, rows: [], remarks: [] });
    else if (line.startsWith("- ")) tables.at(-1)?.remarks.push(line.slice(2));
    else tables.at(-1)?.rows.push(cellsOf(line));
  }
  // The first two lines of a table are its columns' names and a line below them.
  return tables.map(({ heading, rows, remarks }) => ({ heading, rows: rows.slice(2), remarks }));
}

function cellsOf(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

type Sum = (one: string, other: string) => string;

const sumOfCounts: Sum = (one, other) => (numberOf(one) + numberOf(other)).toLocaleString("en-US");

/** How a column of one more piece comes to that of the others; the others are the same in both. */
const sums: Partial<Record<Column, Sum>> = {
  injected: sumOfCounts,
  "IDs issued": sumOfCounts,
  duplicates: sumOfCounts,
  takeovers: sumOfCounts,
  requests: sumOfCounts,
  failed: sumOfCounts,
  "longest gap": (one, other) => (numberOf(one) > numberOf(other) ? one : other),
  minutes: (one, other) => (Number(one) + Number(other)).toFixed(1),
  load: (one, other) => (Number(one) > Number(other) ? one : other),
  measured: (one, other) => `${one}; ${other}`,
};

function sumOf(one: readonly string[], other: readonly string[]): readonly string[] {
  return columns.map((name, index) => {
    const [before = "", after = ""] = [one[index], other[index]];
    return sums[name]?.(before, after) ?? after;
  });
}

function numberOf(cell: string): number {
  return Number(cell.replaceAll(",", "").replace(" ms", ""));
}
