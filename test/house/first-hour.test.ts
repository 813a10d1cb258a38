import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";

/** What people meet in their first hour, and read on a page that no other test runs. */

const textOf = (path: string): string => readFileSync(path, "utf8");

test("NEWCOMER 4: the chart's values say the default of drainTimeout that the setting has", () => {
  const [, wanted] = /### drainTimeout\n[\s\S]*?\nDefault: `(\w+)`/.exec(textOf("docs/configuration.md")) ?? [];
  const [, said] = /the setting drainTimeout, (\w+) by default/.exec(textOf("deploy/helm/snowlane/values.yaml")) ?? [];
  expect(wanted).toMatch(/^\d+s$/);
  expect(said).toBe(wanted);
});

test("NEWCOMER 15: the lowest Node is named where the README installs, and where the library begins", () => {
  const { engines } = JSON.parse(textOf("package.json")) as { readonly engines: { readonly node: string } };
  const lowest = `${engines.node.slice(2)} or later`;
  expect(/## Install\n[\s\S]*?```/.exec(textOf("README.md"))?.[0]).toContain(`Node ${lowest}`);
  expect(/^[\s\S]*?```/.exec(textOf("docs/library.md"))?.[0]).toContain(lowest);
});

test("NEWCOMER 16: the library's program runs in the file that its page names, in a folder of CommonJS, and an ID goes out as text", async () => {
  const page = textOf("docs/library.md");
  const [, ending = ""] = /goes into a file that ends in `(\.\w+)`/.exec(page) ?? [];
  const [, answer = ""] = /`res\.json\((\{.*?\})\)`/.exec(page) ?? [];
  const folder = temporaryFolder();
  const library = pathToFileURL(resolve("src/index.ts")).href;
  const [code = ""] = blocksOf("docs/library.md", "ts");
  const sends = `console.log(JSON.stringify(${answer}));\n`;
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }');
  writeFileSync(join(folder, `app${ending}`), code.replace('from "snowlane"', `from "${library}"`) + sends);
  const output = await runCommand(process.execPath, [`app${ending}`], { cwd: folder });
  const [, id, time = ""] = /^(\d+)n (\S+)$/m.exec(output) ?? [];
  expect(id).toMatch(/^\d{19}$/);
  expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
  expect(output).toContain(`{"id":"${id}"}`);
});
