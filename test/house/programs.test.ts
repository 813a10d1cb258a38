import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runCli } from "../support/processes/cli-outcome.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** The programs of this repository that `npm run` starts. */
const programs = Object.entries(scripts).flatMap(([name, command]) => {
  const path = /node_modules\/\.bin\/node (\S+\.ts)/.exec(command)?.[1];
  return path === undefined ? [] : [{ name, path }];
});

test("the scripts of package.json are found", () => {
  expect(programs.map(({ name }) => name)).toContain("simulate");
});

describe.each(programs)("npm run $name", ({ path }) => {
  const run = (args: readonly string[]) => runCli(args, { program: [process.execPath, path] });

  test("tells with --help how it is called, and with an unknown option in one line that there is none", async () => {
    const [help, unknown] = await Promise.all([run(["--help"]), run(["--nothing-of-the-kind"])]);
    expect([help.code, help.stderr, help.stdout.toString()]).toEqual([0, "", expect.stringContaining("Usage: npm ")]);
    expect([unknown.code, unknown.stdout.toString()]).toEqual([2, ""]);
    expect(unknown.stderr).toMatch(/^--nothing-of-the-kind: There is no such flag\. See npm [^\n]* --help\.\n$/);
  });

  test("refuses a word that it does not know", async () => {
    const { code, stderr } = await run(["nothing-of-the-kind"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^nothing-of-the-kind: [^\n]+\n$/)]);
  });
});
