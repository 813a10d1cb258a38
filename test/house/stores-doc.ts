import { readFileSync } from "node:fs";

/** docs/stores.md, which tests hold to what it says. */
const storesDoc: string = readFileSync(new URL("../../docs/stores.md", import.meta.url), "utf8");

/** docs/sequences.md and its page of queries, likewise. */
export const sequencesDoc: string = ["sequences", "sequence-imports"]
  .map((name) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), "utf8"))
  .join("\n");

/** The code block of a page, docs/stores.md if none is given, that is below `<!-- NAME -->`. */
export function docBlock(name: string, page: string = storesDoc): string {
  const start = page.indexOf(`<!-- ${name} -->\n`);
  const block = start < 0 ? null : /```\w+\n([^]*?)```/.exec(page.slice(start));
  if (block === null) throw new Error(`the page has no block ${name}`);
  return block[1]!;
}
