import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runServer } from "../support/processes/running-server.ts";

/** Tests that the samples of README and docs/ work. */

const pages = execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && !path.startsWith("third_party/"));
const textOf = (path: string): string => readFileSync(path, "utf8");

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
