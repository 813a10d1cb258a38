import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { suitesOf } from "../../tools/suites/changed-suites.ts";
import { describeMissing, machineNeeds } from "../../tools/suites/machine-needs.ts";
import { Progress } from "../../tools/suites/progress.ts";
import type { Run } from "../../tools/suites/run-vitest.ts";
import { filesToTryAgain, withSecondTry } from "../../tools/suites/second-try.ts";
import type { FileEnd, TestEnd } from "../../tools/suites/vitest-events.ts";
import { readTestSuites } from "../../tools/test-suites.ts";

const suites = readTestSuites().filter(({ budgetMinutes }) => budgetMinutes !== undefined);

const testEnd = (title: string, status: TestEnd["status"]): TestEnd => ({
  titles: [title],
  status,
  message: "",
  seconds: 1,
});
const fileEnd = (...tests: readonly TestEnd[]): FileEnd => ({
  kind: "file-end",
  file: "a.test.ts",
  seconds: 1,
  tests,
  errors: [],
});
const failure = (title: string) => ({ file: "a.test.ts", titles: [title], message: "late" });

test("changed files run the suites that they belong to, and core, which reads all files", () => {
  expect(suitesOf(["test/stores/losses.test.ts"], suites)).toEqual(["core", "stores"]);
  expect(suitesOf(["src/store/redis.ts", "src/text/uuid.ts"], suites)).toEqual(["core", "text", "stores"]);
  expect(suitesOf(["test/server/http.test.ts"], suites)).toEqual(["core", "http2"]);
  expect(suitesOf(["web/src/state.ts", "docs/page.md"], suites)).toEqual(["core", "docs", "web"]);
  expect(suitesOf(["README.md"], suites)).toEqual(["core"]);
  expect(suitesOf([], suites)).toEqual([]);
});

test("a changed file that belongs to no suite runs them all", () => {
  for (const file of ["proto/snowlane/v1/id_service.proto", "test/support/servers/test-server.ts", "package.json"])
    expect(suitesOf([file], suites), file).toEqual(suites.map(({ name }) => name));
});

test("CONTRIBUTING.md names each program that a suite needs of the machine", () => {
  const table = readFileSync("CONTRIBUTING.md", "utf8");
  for (const { name, suites: own } of machineNeeds) {
    for (const suite of own) {
      const row = table.split("\n").find((line) => line.startsWith(`| \`${suite}\` `));
      expect(row, `${name} of ${suite}`).toContain(name);
    }
  }
});

test("what is missing is said at once, with the suites that can do without", () => {
  const missing = machineNeeds.filter(({ name }) => name === "Go" || name === "gcc");
  expect(
    describeMissing(missing, ["core", "proof", "docs"]),
  ).toBe(`The tests need programs that this machine does not have:
  gcc                apt-get install gcc libc6-dev
                     for proof
  Go                 https://go.dev/dl/
                     for docs

The other suites can run: npm test -- core
`);
});

test("in a terminal each suite has one line, which is drawn again", () => {
  let shown = "";
  const terminal = { isTTY: true, columns: 120, write: (text: string) => void (shown += text) };
  const progress = new Progress(terminal, () => 0);
  progress.begin("core", 2);
  progress.begin("stores", 1);
  progress.take("core", fileEnd(testEnd("holds", "passed"), testEnd("is late", "failed")));
  expect(shown).toContain("\u001B[2A\u001B[Jcore: failed: a.test.ts > is late\n");
  const core = `core     ${"█".repeat(12)}${"░".repeat(12)} 1 of 2 files, 1 passed, 1 failed, 0.0 min\n`;
  const stores = `stores   ${"░".repeat(24)} 0 of 1 files, 0 passed, 0.0 min\n`;
  expect(shown.endsWith(core + stores)).toBe(true);
});

test("elsewhere there are plain lines", () => {
  let shown = "";
  const progress = new Progress({ write: (text: string) => void (shown += text) }, () => 0);
  progress.begin("core", 1);
  progress.tick();
  progress.take("core", fileEnd(testEnd("holds", "passed")));
  progress.end("core");
  expect(shown.split("\n")).toEqual([
    "core: begins, 1 files",
    "core     0 of 1 files, 0 passed, 0.0 min",
    "core     1 of 1 files, 1 passed, 0.0 min",
    "",
  ]);
});

test("only a test that was seen to pass at the second try is late", () => {
  const first: Run = { passed: 5, failures: [failure("a"), failure("b")], files: [] };
  const again = (...tests: readonly TestEnd[]): Run => ({ passed: 0, failures: [], files: [fileEnd(...tests)] });
  const both = withSecondTry(first, again(testEnd("a", "passed"), testEnd("b", "passed")));
  expect([both.passed, both.failures, both.late.length]).toEqual([7, [], 2]);
  const one = withSecondTry(first, again(testEnd("a", "passed"), testEnd("a", "failed"), testEnd("b", "passed")));
  expect([one.passed, one.failures]).toEqual([6, [failure("a")]]);
  expect(withSecondTry(first, { passed: 0, failures: [], files: [] }).failures).toEqual(first.failures);
});

test("there is no second try of four files, of the suite proof, or of what speaks of IDs that came twice", () => {
  const four = ["1", "2", "3", "4"].map((file) => ({ file, titles: ["holds"], message: "late" }));
  expect(filesToTryAgain("core", four)).toEqual([]);
  expect(filesToTryAgain("core", four.slice(1))).toEqual(["2", "3", "4"]);
  expect(filesToTryAgain("proof", [failure("a")])).toEqual([]);
  expect(filesToTryAgain("core", [{ ...failure("a"), message: "7 was issued twice" }])).toEqual([]);
  expect(filesToTryAgain("core", [{ file: "a.test.ts", titles: undefined, message: "late" }])).toEqual([]);
});
