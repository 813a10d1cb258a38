import { expect, test } from "vitest";
import { parseTables, tableText, withRows } from "./fault-table.ts";

const names = ["kill", "stop", "fill"];
const row = (name: string, counts: readonly string[], ...means: readonly string[]): string[] => [
  name,
  ...counts,
  ...means,
  "own-clock",
];
const here = {
  heading: "this machine.",
  rows: [
    row("kill", ["10", "1,500", "0", "3", "20", "1"], "90 ms", "2.5", "8.0", "day one, seed 1"),
    row("fill", ["7", "8", "0", "0", "9", "0"], "5 ms", "1.0", "1.0", "day one, seed 1"),
  ],
  remarks: ["fill: a tmpfs."],
};
const elsewhere = {
  heading: "another machine.",
  rows: [
    row("kill", ["1", "1", "0", "0", "1", "0"], "1 ms", "0.1", "0.1", "day zero, seed 1"),
    row("stop", ["2", "2", "0", "0", "2", "0"], "2 ms", "0.2", "0.2", "day zero, seed 1"),
  ],
  remarks: [],
};
const piece = {
  heading: "this machine.",
  rows: [row("kill", ["5", "2,000", "1", "4", "30", "0"], "80 ms", "1.5", "9.5", "day two, seed 2")],
  remarks: ["kill: seen."],
};

test("a row that is measured again replaces the existing one, on whatever machine, and no other", () => {
  expect(withRows([here, elsewhere], piece, names, "replace")).toEqual([
    { ...here, rows: [piece.rows[0], here.rows[1]], remarks: ["kill: seen.", "fill: a tmpfs."] },
    { ...elsewhere, rows: [elsewhere.rows[1]] },
  ]);
});

test("a piece is added to the row of the same machine: its counts, the longest gap, the highest load", () => {
  const sum = row(
    "kill",
    ["15", "3,500", "1", "7", "50", "1"],
    "90 ms",
    "4.0",
    "9.5",
    "day one, seed 1; day two, seed 2",
  );
  expect(withRows([here], piece, names, "add")[0]?.rows).toEqual([sum, here.rows[1]]);
});

test("a piece of a row that another machine has measured is shown beside that row, in a table of its own", () => {
  expect(withRows([elsewhere], piece, names, "add")).toEqual([piece, elsewhere]);
});

test("a row that is measured as a whole takes the place of all its pieces", () => {
  expect(withRows(withRows([elsewhere], piece, names, "add"), piece, names, "replace")).toEqual([
    piece,
    { ...elsewhere, rows: [elsewhere.rows[1]] },
  ]);
});

test("tables are read as they were written", () => {
  const text = [here, elsewhere].map(tableText).join("\n\n");
  expect(parseTables(`\n${text}\n`)).toEqual([here, elsewhere]);
});
