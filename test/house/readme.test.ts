import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

/** Tests that the samples of README and docs/ work. */

const pages = execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && !path.startsWith("third_party/"));
const textOf = (path: string): string => readFileSync(path, "utf8");

test("the README's program prints an ID and the time that it carries", async () => {
  const code = blocksOf("README.md", "ts").find((block) => block.includes('from "snowlane"')) ?? "";
  const folder = temporaryFolder();
  const library = pathToFileURL(resolve("src/index.ts")).href;
  expect(code).toContain('from "snowlane"');
  const path = join(folder, "program.ts");
  writeFileSync(path, code.replace('from "snowlane"', `from "${library}"`));
  const output = await runCommand(process.execPath, [path], { cwd: folder });
  const [, id = "", time = ""] = /^(\d+)n (\S+)$/m.exec(output) ?? [];
  expect(BigInt(id)).toBeGreaterThan(2n ** 60n);
  expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
});

test("the README's curl line gets an ID in quotes", async () => {
  const line = blocksOf("README.md", "sh").find((block) => block.startsWith("curl "));
  const { address } = await runServer();
  const output = await runCommand("sh", ["-c", `${line!.trim().replace("127.0.0.1:7609", address)} --silent`]);
  expect(JSON.parse(output)).toEqual({ id: expect.stringMatching(/^\d{19}$/), deployment: expect.any(Number) });
});

test("every npm command that a page names is one of package.json", () => {
  const { scripts } = JSON.parse(textOf("package.json"));
  const named = pages.flatMap((path) =>
    [...textOf(path).matchAll(/npm (?:run ([a-z][a-z0-9:-]*)|(start|test)\b)/g)].map(([, run, plain]) => run ?? plain!),
  );
  expect(new Set(named)).toContain("bench");
  expect([...new Set(named)].filter((name) => scripts[name] === undefined)).toEqual([]);
});
