import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const tracked = execFileSync("git", ["ls-files", "src", "test", "clients"], { encoding: "utf8" }).trim().split("\n");
const tests = tracked.filter((path) => path.endsWith(".test.ts"));

/** The lines of a text with their numbers. */
function linesOf(text: string): readonly { readonly line: string; readonly number: number }[] {
  return text.split("\n").map((line, index) => ({ line, number: index + 1 }));
}

/** What lets time pass, in any of the languages; `sleep(0)` lets others have their turn. */
const sleeps =
  /\b(?:time\.Sleep|Thread\.sleep|(?:time|asyncio)\.sleep)\((?!0\))|(?<![.\w])sleep\((?!0\))|setTimeout as |\bdelay\(systemTimers|[^.\w]setTimeout\(/;
/** The head of a loop that waits for a state: it has a condition. */
const loop = /\bwhile\b|\bfor (?!\()[^{]*;|\bfor \S+\.[^{]* \{$/;

/** The lines of a unit test that sleep, and not between two looks at a state. */
function sleepsIn(text: string): readonly number[] {
  const lines = linesOf(text);
  return lines
    .filter(({ line }) => sleeps.test(line.replaceAll(/"[^"]*"/g, '""')) && !/^\s*(?:\/\/|\*|#|def |func )/.test(line))
    .filter(({ number }) => !lines.slice(Math.max(0, number - 9), number).some(({ line }) => loop.test(line)))
    .map(({ number }) => number);
}

/** Its programs run in processes of their own: what they wait for shows in no clock of a test. */
const notOfUnits = /interop_?(?:program|session|fleet)|ScriptedServer\.java/i;

test("no unit test sleeps: a clock of its own moves, or it looks at a state again and again (two slept for a second)", () => {
  expect(sleepsIn("before();\nawait sleep(1_100);\nafter();")).toEqual([2]);
  for (const line of [
    'import { setTimeout as sleep } from "node:timers/promises";',
    "await delay(systemTimers, 1_200);",
    "await new Promise((resolve) => setTimeout(resolve, 50));",
    "\ttime.Sleep(50 * time.Millisecond)",
    "    time.sleep(0.05)",
    "        await asyncio.sleep(0.01)",
    "    Thread.sleep(10);",
  ])
    expect([line, sleepsIn(line)]).toEqual([line, [1]]);
  for (const text of [
    "await asyncio.sleep(0)",
    "while not condition():\n    time.sleep(0.001)",
    "while (!condition.getAsBoolean()) Thread.sleep(1);",
    "\tfor deadline := now(); !holds(); time.Sleep(100) {",
    "\tfor buffer.Stats().Waits < 1 {\n\t\ttime.Sleep(1)",
    'test("a buffer that nobody uses goes to sleep", () => {',
  ])
    expect([text, sleepsIn(text)]).toEqual([text, []]);
  const units = tracked.filter(
    (path) =>
      /^(?:src|clients\/typescript\/src)\/.*\.test\.ts$|^clients\/(?:go|python\/tests|java\/src\/test)\/.*(?:_test\.go|\.py|\.java)$/.test(
        path,
      ) && !notOfUnits.test(path),
  );
  expect(units.length).toBeGreaterThan(200);
  const found = units.flatMap((path) => sleepsIn(readFileSync(path, "utf8")).map((number) => `${path}:${number}`));
  expect(found).toEqual([]);
});

/** The names of tests in a text, each without what is in brackets. */
function namesIn(text: string): readonly string[] {
  return linesOf(text).flatMap(({ line }) => {
    const [, , name] = /^(?:\s*(?:test|it|describe)\b.*?|.*\)|\s*)\(?(["'`])(.{12,})\1(?:,|\)\()?/.exec(line) ?? [];
    return name === undefined ? [] : [name.replaceAll(/ \([^()]*\)/g, "")];
  });
}

/** What used to happen, said as if it held. */
const isPast =
  /\bused to (?!it\b)|\b(?:was|were|hung|held \w+|kept \w+ \w+) for ever\b|: (?:it|they) (?:was|were|had|did)\b/;

test("a test's name says what holds, and what used to happen in brackets alone (a green run said that requests hung)", () => {
  for (const code of [
    'test("two Host fields used to be answered by the first: %s", () => {',
    'test("a request over 64 kB hung for ever, for nobody gave credit", () => {',
    '  "leaves no lock: it was left behind",',
  ])
    expect(namesIn(code).filter((name) => isPast.test(name))).toHaveLength(1);
  const now = 'test("a request over 64 kB gets credit, and is answered (it hung for ever)", () => {';
  expect(namesIn(now).filter((name) => isPast.test(name))).toEqual([]);
  const others = tests.filter((path) => path !== "test/house/tidy-tests.test.ts");
  const found = others.flatMap((path) =>
    namesIn(readFileSync(path, "utf8"))
      .filter((name) => isPast.test(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(found).toEqual([]);
});
