import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { presetNames } from "../../src/snowflake/presets.ts";
import { runInProcess } from "../cli/in-process.ts";
import { findTool, type ToolName } from "../support/fetch/tools.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** The scripts of `snowlane completions`, each in the shell that it is for. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-completions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Words before the cursor, the last of them unfinished, and some of what is offered for it. */
const offers: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [[""], ["serve", "workers", "store", "completions"]],
  [["wor"], ["workers"]],
  [["store", ""], ["copy"]],
  [
    ["workers", ""],
    ["release", "quarantine"],
  ],
  [
    ["completions", ""],
    ["bash", "zsh", "fish"],
  ],
  [["serve", "--lis"], ["--listen"]],
  [["workers", "release", "--data"], ["--datacenter-id"]],
  [
    ["serve", "--rollback-policy", ""],
    ["advance", "reject", "wait", "logical", "reuse"],
  ],
  [["range", "--layout", ""], presetNames],
];
const flagsOfRange = ["--last", "--on", "--from", "--to", "--offset", "--json", "--layout", "--help"];

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await runInProcess(["completions", shell]);
    expect(code).toBe(0);
    writeFileSync(join(folder, shell), stdout);
  }
});

async function shell(name: ToolName, args: readonly string[]): Promise<string> {
  const { path, env } = await findTool(name);
  return await runCommand(path, args, { env: { ...env, HOME: folder, XDG_CONFIG_HOME: folder } });
}

test("bash offers commands, flags and values", async () => {
  const complete = `source ${join(folder, "bash")}
COMP_WORDS=(snowlane "$@"); COMP_CWORD=$#; _snowlane; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const offered = async (words: readonly string[]): Promise<readonly string[]> =>
    (await runCommand("bash", ["-c", complete, "bash", ...words])).trim().split("\n");
  for (const [words, some] of offers)
    expect(await offered(words), words.join(" ")).toEqual(expect.arrayContaining([...some]));
  expect(await offered(["range", "--"])).toEqual(expect.arrayContaining(flagsOfRange));
  expect(await offered(["serve", "--listen", ""])).toEqual([""]);
  expect(await offered(["serve", "--tls-cert", join(folder, "b")])).toEqual([join(folder, "bash")]);
});

test("zsh reads the script, and finds the same choices", async () => {
  await shell("zsh", ["-n", join(folder, "zsh")]);
  // Without its module for completion, which the last line registers with.
  const choices = `compdef() { : }; source ${join(folder, "zsh")}
_snowlane_choices "$(_snowlane_command "$1" "$2")" "$3"`;
  const offered = async (first: string, second: string, before: string): Promise<readonly string[]> =>
    (await shell("zsh", ["-f", "-c", choices, "zsh", first, second, before]))
      .split("\n")
      .map((line) => line.split("\t")[0] ?? "");
  expect(await offered("", "", "snowlane")).toEqual(expect.arrayContaining(["serve", "store", "doctor"]));
  expect(await offered("range", "", "range")).toEqual(expect.arrayContaining(flagsOfRange));
  expect(await offered("store", "copy", "copy")).toEqual(expect.arrayContaining(["--from", "--to"]));
  expect(await offered("range", "--layout", "--layout")).toEqual([...presetNames, ""]);
});

test("fish offers commands, flags and values", async () => {
  const offered = async (words: readonly string[]): Promise<readonly string[]> => {
    const code = `source ${join(folder, "fish")}; complete -C ${JSON.stringify(["snowlane", ...words].join(" "))}`;
    return (await shell("fish", ["--no-config", "-c", code])).split("\n").map((line) => line.split("\t")[0] ?? "");
  };
  for (const [words, some] of offers)
    expect(await offered(words), words.join(" ")).toEqual(expect.arrayContaining([...some]));
  expect(await offered(["range", "--"])).toEqual(expect.arrayContaining(flagsOfRange));
});

test("a shell that there is none of is refused in one line", async () => {
  for (const words of [["completions"], ["completions", "csh"], ["completions", "bash", "zsh"]]) {
    expect(await runInProcess(words)).toEqual({ code: 2, stdout: "", stderr: "Name one shell: bash, zsh, fish." });
  }
});
