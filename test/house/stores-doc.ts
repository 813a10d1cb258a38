import { readFileSync } from "node:fs";

/** docs/stores.md, which tests hold to what it says. */
export const storesDoc: string = readFileSync(new URL("../../docs/stores.md", import.meta.url), "utf8");

/** The code block of docs/stores.md that stands below `<!-- NAME -->`. */
export function docBlock(name: string): string {
  const start = storesDoc.indexOf(`<!-- ${name} -->\n`);
  const block = start < 0 ? null : /```\w+\n([^]*?)```/.exec(storesDoc.slice(start));
  if (block === null) throw new Error(`docs/stores.md has no block ${name}`);
  return block[1]!;
}
