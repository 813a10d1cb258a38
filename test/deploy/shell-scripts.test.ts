/** Shell scripts, those of the repository and the one that the program writes for bash, read by shellcheck. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { runCommand } from "../support/processes/run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "snowlane-scripts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function check(...args: readonly string[]): Promise<string> {
  const { path, env } = await findTool("shellcheck");
  return await runCommand(path, args, { env });
}

test("shellcheck finds nothing wrong with the scripts of the repository", async () => {
  const shell = ["grep", "-lE", "^#!.*[/ ](ba|da)?sh\\b", "--", ".ci", "*.sh"];
  const files = execFileSync("git", shell, { encoding: "utf8" }).trim().split("\n");
  expect(files).toContain(".ci/run");
  expect(await check(...files)).toBe("");
});

test("nor with the completions of bash", async () => {
  const { code, stdout } = await runCli(["completions", "bash"]);
  expect(code).toBe(0);
  const script = join(folder, "snowlane.bash");
  writeFileSync(script, stdout);
  expect(await check("--shell=bash", script)).toBe("");
});

test("shellcheck finds a word that is split by mistake", async () => {
  const script = join(folder, "wrong.sh");
  writeFileSync(script, "#!/bin/sh\nls $1\n");
  await expect(check(script)).rejects.toThrow("SC2086");
});
