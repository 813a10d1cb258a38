import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readMarkedSection } from "../bench/marked-section.ts";
import { buildClientPrograms, type ClientProgram } from "../interop/client-programs.ts";
import { phpCall } from "../support/fetch/php.ts";
import { rubyCall } from "../support/fetch/ruby.ts";
import { buildRustProgram } from "../support/processes/rust-client.ts";
import { cases, conforms, scoreProgram, scoreToText } from "./conformance/score.ts";
import { BrokenRule, TooLate } from "./conformance/world.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { sized } from "../support/worlds/scale.ts";

const folder = mkdtempSync(join(tmpdir(), "snowlane-conformance-"));
let programs: readonly ClientProgram[];

beforeAll(async () => {
  programs = await buildClientPrograms(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(["typescript", "go", "java", "python"])("the client in %s holds every case", async (language) => {
  const { call } = programs.find((program) => program.language === language)!;
  const score = await scoreProgram(call);
  const others = score.verdicts.filter(({ result }) => result !== "held").map(({ case: { name } }) => name);
  expect(others, scoreToText(score)).toEqual([]);
});

const thinPrograms = "test/clients/conformance";

/** The cases of which thin clients hold each within a second or two. */
const quickRules = new Set(["attempts 1", "attempts 3", "attempts 5", "attempts 8", "attempts 10", "attempts 14"]);
const quickCases = cases.filter(({ rule }) => quickRules.has(rule));

test.each([
  ["Ruby", async () => [...(await rubyCall()), `${thinPrograms}/thin-program.rb`]],
  ["PHP", async () => [...(await phpCall()), "clients/php/tests/conformance-program.php"]],
  ["Rust", async () => [await buildRustProgram()]],
] as const)("the thin client in %s conforms: it holds all cases but those that it leaves out", async (_, callOf) => {
  const chosen = sized(quickCases, cases);
  const score = await scoreProgram(await callOf(), chosen);
  const others = score.verdicts.filter(({ result }) => result !== "held");
  expect(others.map(({ case: { name }, result }) => `${name} ${result}`).toSorted(), scoreToText(score)).toEqual(
    score.hello.leavesOut
      .filter((name) => chosen.some((one) => one.name === name))
      .map((name) => `${name} left out`)
      .toSorted(),
  );
  expect(conforms(score)).toBe(true);
});

test("a thin client that takes the IDs of any deployment is seen", async () => {
  const text = readFileSync(`${thinPrograms}/thin-client.rb`, "utf8");
  const check = "    raise mismatch(endpoint, number) if number != @deployment\n";
  expect(text).toContain(check);
  writeFileSync(join(folder, "thin-client.rb"), text.replace(check, ""));
  copyFileSync(`${thinPrograms}/thin-program.rb`, join(folder, "thin-program.rb"));
  const chosen = cases.filter(({ rule }) => rule === "attempts 14");
  const { verdicts } = await scoreProgram([...(await rubyCall()), join(folder, "thin-program.rb")], chosen);
  const broken = verdicts.filter(({ result }) => result === "broken").map(({ case: { name } }) => name);
  expect(broken).toEqual(["another-deployment-later"]);
});

test("the cases have names of their own, and each is in the contract with its rule and its law", () => {
  const names = cases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const contract = readFileSync("docs/internals/client-contract.md", "utf8");
  for (const { rule, name, law, isNeeded } of cases)
    expect(contract).toContain(`| ${rule} | \`${name}\` | ${law}${isNeeded ? "" : " May be left out."} |\n`);
});

test("no cell of the measured table of dark connections is above the bounds of the contract", () => {
  const rows = [...readMarkedSection("docs/reports/clients.md", "dark").matchAll(/^\| (single calls|a buffer).*$/gm)];
  expect(rows).toHaveLength(6);
  for (const [row, kind] of rows) {
    const cells = [...row.matchAll(/(\d+) failed, ([\d.]+) s/g)];
    expect(cells).toHaveLength(4);
    for (const [, failed, seconds] of cells)
      expect([row, failed, Number(seconds) < (kind === "a buffer" ? 2 : 5)]).toEqual([row, "0", true]);
  }
});

const verdict = (result: "held" | "broken" | "left out", isNeeded: boolean) => ({
  case: { rule: "attempts 1", name: "one", law: "A law.", isNeeded, run: () => Promise.resolve() },
  result,
  how: "",
});

test.each([
  ["held", true, true],
  ["broken", false, false],
  ["left out", true, false],
  ["left out", false, true],
] as const)("a client with a rule that is %s, needed: %s, conforms: %s", (result, isNeeded, expected) => {
  const hello = { language: "x", leavesOut: [] };
  expect(conforms({ hello, verdicts: [verdict("held", true), verdict(result, isNeeded)] })).toBe(expected);
});

/** Answers every command, with nothing to see. */
const idle = `require("readline").createInterface({ input: process.stdin }).on("line", () => console.log(
  '{"language":"x","leavesOut":[],"results":[]}'))`;

test.each([
  ["is late three times and then in time", [TooLate, TooLate, TooLate], "held", 4],
  ["is late each time", [TooLate, TooLate, TooLate, TooLate, TooLate], "broken", 4],
  ["breaks a rule otherwise", [BrokenRule], "broken", 1],
  ["is late once and then breaks a rule otherwise", [TooLate, BrokenRule], "broken", 2],
] as const)("a client that %s is judged as that", async (_, errors, result, expectedRounds) => {
  let rounds = 0;
  const run = (): Promise<void> => {
    const Wrong = errors[rounds++];
    return Wrong === undefined ? Promise.resolve() : Promise.reject(new Wrong("x"));
  };
  const one = { rule: "attempts 1", name: "one", law: "A law.", isNeeded: true, run };
  const { verdicts } = await scoreProgram([process.execPath, "-e", idle], [one]);
  expect([verdicts[0]?.result, rounds]).toEqual([result, expectedRounds]);
});

test("the program prints the table, and its exit code says whether the client conforms", async () => {
  const program = [process.execPath, "test/clients/conformance/main.ts"];
  const { call } = programs.find(({ language }) => language === "typescript")!;
  const conforming = await runCli(["--only", "stays", ...call], { program });
  expect([conforming.code, conforming.stdout.toString()]).toEqual([
    0,
    expect.stringMatching(/^typescript: 1 of 1 held\n$/m),
  ]);
  const ended = await runCli(["--only", "stays", "true"], { program });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("The program ended at the command hello") });
});
