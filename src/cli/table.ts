/** Writes rows under a head, each column as wide as its widest cell. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  return [head, ...rows]
    .map((row) => {
      const cells = row.map((cell, column) => cell.padEnd(widths[column]!));
      return `${cells.join("  ").trimEnd()}\n`;
    })
    .join("");
}
