import { expect, test } from "vitest";
import { runInProcess } from "./in-process.ts";

test.each([
  [["sql", "--dialect", "postgres"], "Did you mean postgresql?"],
  [["range", "--layout", "twiter", "--last", "1h"], "Did you mean twitter?"],
  [["-v"], "Did you mean --version?"],
  [["next", "--store", "sqlite://ids.db"], "Give sqlite:PATH, such as sqlite:ids.db"],
  [["next", "--store", "sqlite:////var/lib/ids.db"], "Give sqlite:PATH, such as sqlite:ids.db"],
  [["next", "--store", "postgresql+psycopg://a@h/db"], "Give a URL that begins with postgres://"],
] as const)("NEWCOMER 13 and 21: %j names what was meant", async (words, hint) => {
  const { code, stdout, stderr } = await runInProcess(words);
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(hint) as string });
});

test("NEWCOMER 18 and FIELD F11 (b): an interval that holds no ID is refused by the dates that were typed, with the layout's life", async () => {
  const reversed = await runInProcess(["range", "--from", "2026-11-22", "--to", "2026-11-21"]);
  expect(reversed.stderr).toContain(
    "The interval from 2026-11-22T00:00:00.000Z to 2026-11-21T00:00:00.000Z is empty or reversed.",
  );
  const late = await runInProcess(["range", "--from", "2100-01-01", "--to", "2100-01-02"]);
  expect(late.stderr).toContain(
    "holds no tick of the layout twitter, which has 2010-11-04T01:42:54.657Z to 2080-07-10",
  );
});
