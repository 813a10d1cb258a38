import { expect, test } from "vitest";
import { storesDoc } from "../house/stores-doc.ts";

test("every line of the table of losses names its test", () => {
  const lines = storesDoc.slice(storesDoc.indexOf("| store | loss |"), storesDoc.indexOf("The rows that say"));
  const rows = lines.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| store"));
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter((row) => !row.includes("[test]("))).toEqual([]);
});
