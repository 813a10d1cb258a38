/**
 * Runs the code blocks of pages that are marked: ```sh run, and ```ts run for whole programs of the library. The
 * ```text output behind one is what it must print.
 *
 * A block that ends with another code says so: ```sh run exits 5. In an output, … stands for any text. Port 7619 stands
 * for a free one, and a page that calls 127.0.0.1:7609 finds a server there, as after `npm start`.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { sequencesReady } from "../support/processes/sequences-ready.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

interface Block {
  readonly line: number;
  readonly language: string;
  readonly code: string;
  readonly exitCode: number;
  readonly output: string | undefined;
}

/** A program that a block leaves behind holds its output open. */
const blockTimeoutMs = 60_000;
const blockPattern = /^```(sh|ts) run(?: exits (\d+))?\n([\s\S]*?)^```\n(?:\n```text output\n([\s\S]*?)^```\n)?/gm;

function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(blockPattern)].map(
    ({ index, 1: language = "", 2: exitCode = "0", 3: code = "", 4: output }) => ({
      line: page.slice(0, index).split("\n").length,
      language,
      code,
      exitCode: Number(exitCode),
      output,
    }),
  );
}

/** The output of a page as a pattern of whole text. */
function pattern(output: string): RegExp {
  const parts = output.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join("[^]*?")}$`);
}

/** Starts the server that a reader has at 127.0.0.1:7609, and gives its port. */
async function serve(folder: string): Promise<string> {
  const server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "server.db")}`] });
  onTestFinished(async () => {
    await server.stop("SIGTERM");
  });
  await sequencesReady(server.url);
  return new URL(server.url).port;
}

/** Runs the blocks of one page in its order, in one folder, as a reader does. */
async function runBlocks(blocks: readonly Block[]): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const has = (text: string): boolean => blocks.some(({ code }) => code.includes(text));
  const ownPort = String(await findFreePort());
  const servedPort = has("127.0.0.1:7609") ? await serve(folder) : "";
  const grpcurl = has("grpcurl ") ? [dirname((await findTool("grpcurl")).path)] : [];
  const program = join(folder, "snowlane");
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${resolve("src/cli/main.ts")} "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    ...process.env,
    PATH: [folder, ...grpcurl, process.env["PATH"]].join(delimiter),
    XDG_STATE_HOME: folder,
    npm_lifecycle_event: "",
  };
  const library = pathToFileURL(resolve("src/index.ts")).href;
  return blocks.flatMap(({ line, language, code, exitCode, output }) => {
    const placed = code.replaceAll("7619", ownPort).replaceAll("127.0.0.1:7609", `127.0.0.1:${servedPort}`);
    // Through a file: in a substitution, sh knows none of its jobs.
    const script = `trap 'jobs -p > jobs; kill $(cat jobs) 2> /dev/null || :' EXIT\n${placed}`;
    writeFileSync(join(folder, "program.ts"), code.replace('from "snowlane"', `from "${library}"`));
    const [command, args] = language === "ts" ? [process.execPath, ["program.ts"]] : ["sh", ["-euc", script]];
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: folder,
      env,
      encoding: "utf8",
      timeout: blockTimeoutMs,
    });
    const problems: string[] = [];
    if (status !== exitCode) problems.push(`line ${line}: exits ${status} instead of ${exitCode}: ${stderr}`);
    if (output !== undefined && !pattern(output.trimEnd()).test(stdout.trimEnd()))
      problems.push(`line ${line}: prints\n${stdout}`);
    return problems;
  });
}

const pages = globSync(["*.md", "docs/**/*.md", "clients/*/README.md", "examples/**/*.md"])
  .map((path) => [path, blocksOf(readFileSync(path, "utf8"))] as const)
  .filter(([, blocks]) => blocks.length > 0);

test("there are pages with blocks to run", () => {
  expect(pages.map(([path]) => path)).toContain("docs/migrating.md");
});

test.each(pages)("the blocks of %s run and print what it shows", async (_path, blocks) => {
  expect(await runBlocks(blocks)).toEqual([]);
});

describe("the check itself", () => {
  const check = (page: string): Promise<readonly string[]> => runBlocks(blocksOf(page));

  test.each([
    ["a command that fails", "```sh run\nfalse\n```\n", /line 1: exits 1 instead of 0/],
    [
      "a command that fails beside a program that goes on",
      "```sh run\nsleep 300 &\nfalse\n```\n",
      /exits 1 instead of 0/,
    ],
    ["another exit code", "text\n\n```sh run exits 2\ntrue\n```\n", /line 3: exits 0 instead of 2/],
    ["another output", "```sh run\necho a\n```\n\n```text output\nb\n```\n", /line 1: prints\na/],
    ["a longer output", "```sh run\necho a; echo b\n```\n\n```text output\na\n```\n", /prints\na\nb/],
    ["a program that throws", "```ts run\nthrow new Error();\n```\n", /line 1: exits 1 instead of 0/],
    ["an unset variable", "```sh run\necho $nothing\n```\n", /exits [12] instead of 0/],
  ])("it reports %s", async (_name, page, message) => {
    expect((await check(page)).join("\n")).toMatch(message);
  });

  test("it takes an output with text left out", async () => {
    expect(await check("```sh run\necho 1 2 3; echo 4\n```\n\n```text output\n1 … 3\n…\n```\n")).toEqual([]);
  });
});
