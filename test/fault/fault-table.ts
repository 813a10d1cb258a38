import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { machine, markdownTable } from "../bench/report.ts";
import type { Fault } from "./fault.ts";
import type { TrialOutcome } from "./fault-trial.ts";

const documentUrl = new URL("../../docs/safety.md", import.meta.url);
const begin = "<!-- begin faults: written by npm run test:faults -- --write -->";
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
  "fails without",
];

/** The outcome of the faults, a row for each. */
export interface FaultTable {
  /** The machine and the date of the measurement. */
  readonly heading: string;
  readonly rows: readonly (readonly string[])[];
  /** Remarks of the faults; each begins with the fault's name and a colon. */
  readonly remarks: readonly string[];
}

/** A table without rows. `storeUrl`: where the servers did not have embedded stores. */
export function emptyTable(storeUrl: string | undefined, seed: number): FaultTable {
  const store = storeUrl === undefined ? `SQLite ${process.versions["sqlite"]}` : new URL(storeUrl).protocol;
  const day = new Date().toISOString().slice(0, 10);
  const heading = `Seed ${seed}; ${machine()}; Node ${process.versions.node}, ${store}; ${day}.`;
  return { heading, rows: [], remarks: [] };
}

/** The table with what came of one more fault, which took `seconds`. */
export function withOutcome(
  table: FaultTable,
  { name, catches }: Fault,
  outcome: TrialOutcome,
  seconds: number,
): FaultTable {
  const { injectedCount, issuedCount, duplicateCount, takeoverCount, requestCount, failedCount, longestGapMs, notes } =
    outcome;
  const counts = [injectedCount, issuedCount, duplicateCount, takeoverCount, requestCount, failedCount];
  // What else the machine does is in every figure but the duplicates: the average of the last minutes that it took.
  const [minute = 0, fiveMinutes = 0] = loadavg();
  const load = seconds < 150 ? minute : fiveMinutes;
  const figures = [`${Math.round(longestGapMs)} ms`, (seconds / 60).toFixed(1), load.toFixed(1), shownCatch(catches)];
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

/**
 * Puts the rows into docs/safety.md. Rows of other faults stay there if they were measured on the same machine and
 * versions, on the same day: a full run may be done fault by fault.
 *
 * @param names All faults, in the order of the table.
 */
export function writeTable(table: FaultTable, names: readonly string[]): void {
  const text = readFileSync(documentUrl, "utf8");
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error("docs/safety.md has no place for the table of faults.");
  const lines = text.slice(from, to).split("\n");
  const isSameRun = lines.includes(table.heading);
  const kept = names.filter((name) => isSameRun && table.rows.every(([fault]) => fault !== name));
  const oldRows = lines
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const oldRemarks = lines.filter((line) => line.startsWith("- ")).map((line) => line.slice(2));
  const rows = [...table.rows, ...oldRows.filter(([name = ""]) => kept.includes(name))];
  const remarks = [...table.remarks, ...oldRemarks.filter((one) => kept.some((name) => one.startsWith(`${name}:`)))];
  const place = (name: string): number => names.findIndex((each) => name === each || name.startsWith(`${each}:`));
  const merged: FaultTable = {
    heading: table.heading,
    rows: rows.toSorted(([one = ""], [other = ""]) => place(one) - place(other)),
    remarks: remarks.toSorted((one, other) => place(one) - place(other)),
  };
  writeFileSync(documentUrl, `${text.slice(0, from)}${begin}\n${tableText(merged)}\n${text.slice(to)}`);
}
