import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runCli } from "../support/processes/cli-outcome.ts";
import { measuringPrograms } from "../measure/programs.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** The programs of this repository that `npm run` starts. */
const scripted = Object.entries(scripts).flatMap(([name, command]) => {
  const path = /node_modules\/\.bin\/node (\S+\.ts)/.exec(command)?.[1];
  return path === undefined ? [] : [{ name, call: [path] }];
});
const programs = [
  ...scripted,
  ...measuringPrograms.map(({ name }) => ({ name: `measure -- ${name}`, call: ["test/measure/main.ts", name] })),
];

test("the scripts of package.json are found", () => {
  expect(programs.map(({ name }) => name)).toContain("simulate");
});

test("npm run measure lists every program of its folder with its minutes, and knows the benchmarks", async () => {
  const own = readdirSync("test/measure").filter((file) => !["main.ts", "programs.ts"].includes(file));
  expect(measuringPrograms.map(({ name }) => `${name}.ts`).toSorted()).toEqual(own.toSorted());
  const measure = (...args: readonly string[]) => runCli(args, { program: [process.execPath, "test/measure/main.ts"] });
  const { stdout } = await measure("--help");
  for (const { name, minutes } of measuringPrograms)
    expect(stdout.toString()).toMatch(new RegExp(`^  npm run measure -- ${name} +# +${minutes} min: \\w`, "m"));
  expect(await measure()).toMatchObject({ code: 2, stderr: expect.stringContaining("--help lists them.\n") });
  const benchmark = await measure("attacks", "--help");
  expect([benchmark.code, benchmark.stdout.toString()]).toEqual([0, expect.stringContaining("npm run bench")]);
});

describe.each(programs)("npm run $name", ({ call }) => {
  const run = (args: readonly string[]) =>
    runCli([...call.slice(1), ...args], { program: [process.execPath, call[0]!] });

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
