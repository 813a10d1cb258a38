import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { runInProcess } from "./in-process.ts";

test("old periods are counted by a dry run, go by the command, and the newest two stay", async () => {
  const path = join(temporaryFolder(), "s.db");
  const run = (...words: readonly string[]) => runInProcess(["sequences", ...words, "--store", `sqlite:${path}`]);
  await run("create", "plain");
  await run("create", "yearly", "--period", "year");
  await run("create", "daily", "--period", "day");
  const database = new DatabaseSync(`${path}.sequences`);
  for (const key of ["2019", "2020", "2021", "2022"]) {
    database.exec(`INSERT INTO snowlane_sequence_counter VALUES ('default', 'yearly', '${key}', 5, 'w', 5)`);
  }
  database.close();
  const plan = await run("prune", "--all", "--before", "2021-05-01", "--dry-run");
  expect(plan).toMatchObject({ code: 0, stderr: "" });
  expect(plan.stdout).toMatch(/^NAME +FIRST PERIOD KEPT +WOULD GO\ndaily +2021-05-01 +0\nyearly +2021 +2\n$/);
  expect((await run("prune", "yearly", "--before", "2021-05-01")).stdout).toMatch(/GONE\nyearly +2021 +2\n$/);
  const newest = await run("prune", "yearly", "--before", "2022-01-01");
  expect(newest).toMatchObject({ code: 1, stdout: expect.stringContaining("none: 2021 is one of the newest two") });
  const soon = `${new Date().getUTCFullYear() + 1}-01-01`;
  expect(await run("prune", "yearly", "--before", soon)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has not begun for two days"),
  });
  expect((await run("prune", "plain", "--before", "2021-01-01")).stderr).toContain("has no periods");
  expect((await run("prune", "gone", "--before", "2021-01-01")).stderr).toContain("no sequence gone");
  for (const [words, hint] of [
    [["prune", "yearly"], "Give a date"],
    [["prune", "yearly", "--before", "yesterday"], "a date such as"],
    [["prune", "--before", "2021-01-01"], "Give the name"],
    [["prune", "yearly", "--all", "--before", "2021-01-01"], "not both"],
  ] as const) {
    expect(await run(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) });
  }
});
