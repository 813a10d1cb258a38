import { readFileSync } from "node:fs";
import { test } from "vitest";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { runCommand } from "../support/run-command.ts";

const folder = "clients/python";

test("the tests of the Python client hold", { retry: 3, timeout: 900_000 }, async () => {
  await runCommand("python3", ["--version"]).catch((cause: unknown) => {
    throw new Error("The tests of the Python client need Python 3.10 or later: install python3.", { cause });
  });
  const python = await fetchPythonVenv("client", readFileSync(`${folder}/tests/requirements.txt`, "utf8"));
  const env = { PYTHONPATH: "src", PYTHONDONTWRITEBYTECODE: "1" };
  await runCommand(python, ["-m", "pytest"], { cwd: folder, env });
});
