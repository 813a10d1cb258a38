import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The rows below the first row of a page's table that begins so, each as its cells. */
function rowsOf(path: string, head: string): readonly (readonly string[])[] {
  const [, below = ""] = readFileSync(path, "utf8").split(head);
  const table = below.split("\n\n")[0]!;
  const rows = [...table.matchAll(/^\| (.*) \|$/gm)].map(([, row = ""]) => row);
  return rows.filter((row) => !row.startsWith("---")).map((row) => row.split(" | "));
}

/** A cell without the targets of its links. */
const plain = (cell = ""): string => cell.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");

test("every line of the table of losses has its test on the page of evidence", () => {
  const head = "| store | loss |";
  const losses = rowsOf("docs/store-losses.md", head).map(([store, loss]) => [store, plain(loss)]);
  const evidence = rowsOf("docs/evidence/stores.md", head);
  expect(losses.length).toBeGreaterThan(10);
  expect(evidence.map(([store, loss]) => [store, plain(loss)])).toEqual(losses);
  expect(evidence.filter(([, , tests = ""]) => !tests.includes("[test]("))).toEqual([]);
});
