import type { Paint, Tone } from "./paint.ts";

/** A cell: its text, and its tone where it has one. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** Writes rows under a head, each column as wide as its widest cell. A cell with a tone is painted. */
export function tableOf(head: readonly string[], rows: readonly (readonly Cell[])[], paint?: Paint): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => textOf(row[column]!).length)));
  return [head, ...rows]
    .map((row) => {
      const cells = row.map((cell, column) => {
        const isLast = column === row.length - 1;
        const padding = isLast ? "" : " ".repeat(widths[column]! - textOf(cell).length);
        const text = typeof cell === "string" || paint === undefined ? textOf(cell) : paint(cell.tone, cell.text);
        return text + padding;
      });
      return `${cells.join("  ").trimEnd()}\n`;
    })
    .join("");
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}
