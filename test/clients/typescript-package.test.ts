import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/snowlane-process.ts";
import { expectSampleLines, sampleNames } from "./sample-lines.ts";

const root = process.cwd();
const project = mkdtempSync(join(tmpdir(), "snowlane-npm-"));
let server: SnowlaneProcess;

beforeAll(async () => {
  server = await startSnowlane({ args: ["--store", `sqlite:${join(project, "snowlane.db")}`] });
  // The lines of the README, with npm's cache and the pinned Node.
  await runCommand("npm", ["pack", "--workspace", "@snowlane/client", "--pack-destination", project], { cwd: root });
  writeFileSync(join(project, "package.json"), `${JSON.stringify({ type: "module", private: true })}\n`);
  const archive = readdirSync(project).find((name) => name.endsWith(".tgz"));
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await runCommand("npm", ["install", ...flags, `./${archive}`], { cwd: project });
  cpSync("clients/typescript/samples", join(project, "samples"), { recursive: true });
}, 600_000);

afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(project, { recursive: true, force: true });
});

const run = (file: string): Promise<string> =>
  runCommand(process.execPath, [file], { cwd: project, env: { SNOWLANE_URL: server.url } });

test("five lines in an empty project give an ID", { timeout: 300_000 }, async () => {
  const lines = readFileSync(join(project, "samples", "quickstart.ts"), "utf8");
  expect(lines.trim().split("\n")).toHaveLength(5);
  const ported = lines.replace("createNodeClient()", `createNodeClient({ endpoints: ["${server.url}"] })`);
  writeFileSync(join(project, "quickstart.ts"), ported);
  expect(await run("quickstart.ts")).toMatch(/^\d{18,19}n\n$/);
});

test.each(sampleNames)("the sample %s", { timeout: 300_000 }, async (name) => {
  expectSampleLines(name, await run(join("samples", `${name}.ts`)));
});

test("the types hold under the strictest settings, for Node and for a browser", { timeout: 300_000 }, async () => {
  const check = (name: string, files: readonly string[], options: Readonly<Record<string, unknown>>) => {
    const compilerOptions = {
      target: "es2022",
      module: "nodenext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      typeRoots: [join(root, "node_modules", "@types")],
      ...options,
    };
    writeFileSync(join(project, name), JSON.stringify({ compilerOptions, files }));
    return runCommand(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", name], { cwd: project });
  };
  const browser =
    'import { createWebClient } from "@snowlane/client/web";\nexport const ids = createWebClient({ endpoints: [] });\n';
  writeFileSync(join(project, "browser.ts"), browser);
  const samples = sampleNames.map((name) => `samples/${name}.ts`);
  // Connect's own types name types of the DOM, which Node's lack.
  await check("tsconfig.node.json", samples, { lib: ["es2022"], types: ["node"], skipLibCheck: true });
  const pages = ["browser.ts", "samples/browser/page.ts"];
  await check("tsconfig.browser.json", pages, { lib: ["es2022", "dom"], types: [], skipLibCheck: false });
});

test("publint finds nothing", { timeout: 300_000 }, async () => {
  const output = await runCommand(process.execPath, [
    "node_modules/publint/src/cli.js",
    "--strict",
    "clients/typescript",
  ]);
  expect(output).toContain("All good!");
});
