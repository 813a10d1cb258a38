import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBareClone, runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { expectSampleLines, makeSampleSequences, sampleNames } from "./sample-lines.ts";

const root = process.cwd();
const project = mkdtempSync(join(tmpdir(), "snowlane-npm-"));
const clone = mkdtempSync(join(tmpdir(), "snowlane-clone-"));
let server: SnowlaneProcess;

beforeAll(async () => {
  server = await startSnowlane({ args: ["--store", `sqlite:${join(project, "snowlane.db")}`] });
  await makeSampleSequences(server.url);
  await makeBareClone(clone);
  writeFileSync(join(project, "package.json"), `${JSON.stringify({ type: "module", private: true })}\n`);
  const places = { "/path/to/project": project };
  const env = { npm_config_prefer_offline: "true" };
  await runReadmeBlock("clients/typescript/README.md", 0, { cwd: clone, places, env });
  cpSync("clients/typescript/samples", join(project, "samples"), { recursive: true });
});

afterAll(async () => {
  await server.stop("SIGTERM");
  for (const folder of [project, clone]) rmSync(folder, { recursive: true, force: true });
});

const run = (file: string): Promise<string> =>
  runCommand(process.execPath, [file], { cwd: project, env: { SNOWLANE_URL: server.url } });

test("five lines in an empty project give an ID", async () => {
  const lines = readFileSync(join(project, "samples", "quickstart.ts"), "utf8");
  expect(lines.trim().split("\n")).toHaveLength(5);
  const ported = lines.replace("createNodeClient()", `createNodeClient({ endpoints: ["${server.url}"] })`);
  writeFileSync(join(project, "quickstart.ts"), ported);
  expect(await run("quickstart.ts")).toMatch(/^\d{18,19}n\n$/);
});

test.each(sampleNames)("the sample %s", async (name) => {
  expectSampleLines(name, await run(join("samples", `${name}.ts`)));
});

test("an unsupported Node is one sentence", async () => {
  // The version alone is that of another Node.
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });';
  const attempt = "try { createNodeClient(); } catch (error) { console.log(String(error)); }";
  const code = `import { createNodeClient } from "@snowlane/client/node";\n${attempt}\n`;
  writeFileSync(join(project, "older-node.mjs"), code);
  const output = await runCommand(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(older)}`, "older-node.mjs"],
    { cwd: project },
  );
  expect(output).toBe("TypeError: @snowlane/client needs Node 22 or later; this is 20.20.2.\n");
});

test("the types hold under the strictest settings, for Node and for a browser", async () => {
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

test("what it depends on is named by ranges, so that a project has each package once", () => {
  const manifest = readFileSync(join(project, "node_modules/@snowlane/client/package.json"), "utf8");
  const { dependencies } = JSON.parse(manifest) as { readonly dependencies: Readonly<Record<string, string>> };
  expect(Object.keys(dependencies)).not.toEqual([]);
  for (const [name, range] of Object.entries(dependencies)) expect(range, name).toMatch(/^\^\d/);
});

test("publint and are-the-types-wrong find nothing in the packed file", async () => {
  const [archive = ""] = globSync(join(project, "snowlane-client-*.tgz"));
  const bin = (name: string): string => resolve("node_modules/.bin", name);
  expect(await runCommand(bin("publint"), ["run", archive, "--strict"])).toContain("All good!");
  await runCommand(bin("attw"), [archive, "--profile", "esm-only"]);
});
