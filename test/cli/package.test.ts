import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/run-command.ts";

/** The package as npm packs it, in an empty project: what a user of the library and of the command gets. */

const root = process.cwd();
const project = mkdtempSync(join(tmpdir(), "snowlane-package-"));
const environment = {
  // The pinned Node before the system's: npm and npx run what they find.
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  XDG_STATE_HOME: project,
};
const timeoutMs = 300_000;

beforeAll(async () => {
  await runCommand(process.execPath, ["tools/bootstrap.mjs", "--build"]);
  const pack = ["pack", "--ignore-scripts", "--pack-destination", project, "--loglevel=error"];
  await runCommand("npm", pack, { cwd: root });
  writeFileSync(join(project, "package.json"), `${JSON.stringify({ type: "module", private: true })}\n`);
  const archive = readdirSync(project).find((name) => name.endsWith(".tgz"));
  const install = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", `./${archive}`];
  await runCommand("npm", install, { cwd: project, env: environment });
}, 600_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

test("it brings nothing else along", () => {
  expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["snowlane"]);
});

test("npx snowlane next prints an ID", { timeout: timeoutMs }, async () => {
  const output = await runCommand("npx", ["--offline", "snowlane", "next"], { cwd: project, env: environment });
  expect(output).toMatch(/^\d{19}\n$/);
});

const program = `import { layouts, openWorker, parseId, SnowflakeGenerator } from "snowlane";

const generator = new SnowflakeGenerator({ layout: layouts.twitter, random: Math.random });
const nowMs: number = Date.now();
generator.grant({ datacenterId: 1, workerId: 2, fromMs: nowMs, untilMs: nowMs + 60_000 }, nowMs);
const id: bigint | undefined = generator.tryNext(nowMs, () => performance.now());
const { datacenterId, workerId } = parseId(layouts.twitter, id ?? 0n);
console.log(datacenterId, workerId);

const { twitter: layout } = layouts;
const options = { storeUrl: "sqlite:ids.db", namespace: "default", layout, instance: "a", version: "1" };
const worker = await openWorker(options);
const { runs } = await worker.source.reserve({ count: 10, priority: "unary" });
const count: number = runs.reduce((sum, run) => sum + run.count, 0);
console.log(count);
await worker.close(3_000);
`;

test("the library issues in process, and its types hold under the strictest settings", {
  timeout: timeoutMs,
}, async () => {
  writeFileSync(join(project, "program.ts"), program);
  const compilerOptions = {
    target: "es2024",
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules", "@types")],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  await runCommand(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: project });
  const output = await runCommand(process.execPath, ["program.ts"], { cwd: project, env: environment });
  expect(output).toBe("1 2\n10\n");
});

test("publint finds nothing", { timeout: timeoutMs }, async () => {
  const output = await runCommand(process.execPath, ["node_modules/publint/src/cli.js", "--strict"]);
  expect(output).toContain("All good!");
});
