import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { runCommand } from "../support/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/snowlane-process.ts";
import { expectSampleLines, sampleNames } from "./sample-lines.ts";

const folder = resolve("clients/python");
const project = mkdtempSync(join(tmpdir(), "snowlane-python-"));
let server: SnowlaneProcess;
let python: string;

beforeAll(async () => {
  await runCommand("python3", ["--version"]).catch((cause: unknown) => {
    throw new Error("The tests of the Python client need Python 3.10 or later: install python3.", { cause });
  });
  python = await fetchPythonVenv("client", readFileSync(`${folder}/tests/requirements.txt`, "utf8"));
  server = await startSnowlane({ args: ["--store", `sqlite:${join(project, "snowlane.db")}`] });
}, 600_000);

afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(project, { recursive: true, force: true });
});

const run = (args: readonly string[]): Promise<string> =>
  runCommand(python, args, {
    cwd: folder,
    env: { PYTHONPATH: "src", PYTHONDONTWRITEBYTECODE: "1", SNOWLANE_URL: server.url },
  });

test("its own tests hold", { timeout: 900_000 }, async () => {
  await run(["-m", "pytest"]);
});

test("ruff and mypy find nothing", { timeout: 600_000 }, async () => {
  const requirements = readFileSync(`${folder}/tests/checkers-requirements.txt`, "utf8");
  const checkers = dirname(await fetchPythonVenv("checkers", requirements));
  const inFolder = { cwd: folder };
  await runCommand(join(checkers, "ruff"), ["check", "--quiet", "--no-cache", "."], inFolder);
  await runCommand(join(checkers, "ruff"), ["format", "--quiet", "--no-cache", "--diff", "."], inFolder);
  // With what the client is used with: numpy has types, and what has none counts as untyped.
  await runCommand(join(checkers, "mypy"), ["--cache-dir=/dev/null", "--python-executable", python], inFolder);
});

test.each(sampleNames)("the sample %s", { timeout: 300_000 }, async (name) => {
  expectSampleLines(name, await run([`samples/${name}.py`]));
});

test("five lines in an empty environment give an ID", { timeout: 600_000 }, async () => {
  const lines = readFileSync(join(folder, "samples", "quickstart.py"), "utf8").trim();
  expect(lines.split("\n").length).toBeLessThanOrEqual(5);
  writeFileSync(join(project, "quickstart.py"), lines.replace("IdClient()", `IdClient("${server.url}")`));
  // The lines of the README. The build leaves nothing behind in the sources.
  const quiet = ["--quiet", "--disable-pip-version-check"];
  const source = join(project, "source");
  await runCommand("cp", ["-r", folder, source]);
  const wheel = ["-m", "pip", "wheel", ...quiet, "--no-deps", "--wheel-dir", join(project, "dist"), source];
  await runCommand(python, wheel);
  await runCommand("python3", ["-m", "venv", join(project, "venv")]);
  const fresh = join(project, "venv", "bin", "python");
  const [archive = ""] = readdirSync(join(project, "dist"));
  expect(archive).toBe("snowlane_client-0.1.0-py3-none-any.whl");
  await runCommand(fresh, ["-m", "pip", "install", ...quiet, join(project, "dist", archive)]);
  expect(await runCommand(fresh, ["quickstart.py"], { cwd: project })).toMatch(/^\d{18,19}\n$/);
});
