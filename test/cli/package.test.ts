import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { billOfMaterials } from "../../tools/release/bill-of-materials.ts";
import { ownVersion } from "../../tools/versions.ts";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** The package as npm packs it, in an empty project: what a user of the library and of the command gets. */

const root = process.cwd();
const project = mkdtempSync(join(tmpdir(), "snowlane-package-"));
const environment = {
  // The pinned Node before the system's: npm and npx run what they find.
  PATH: [dirname(process.execPath), resolve("node_modules/.bin"), process.env["PATH"]].join(delimiter),
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
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

test("it brings nothing else along", () => {
  expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["snowlane"]);
});

/** What somebody who reads the licences must find: in the order of the file. */
const bundledPackages = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "@connectrpc/connect-web",
  // One tracer and its exporter, with their parts.
  "@opentelemetry/api",
  "@opentelemetry/core",
  "@opentelemetry/exporter-trace-otlp-proto",
  "@opentelemetry/otlp-exporter-base",
  "@opentelemetry/otlp-transformer",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/semantic-conventions",
  "lit-html",
  "uplot",
  "valibot",
];

test("its notices name each package whose code it contains, with that package's copyright", () => {
  const notices = readFileSync(join(project, "node_modules/snowlane/THIRD_PARTY_NOTICES"), "utf8");
  const sections = notices.split(/^-{100}$/m).slice(1);
  expect(sections.map((section) => section.trim().split(" ")[0])).toEqual(bundledPackages);
  for (const section of sections) expect(section).toMatch(/Copyright/);
  // protobuf's second licence is in the head of only one file.
  expect(notices).toContain("Neither the name of Google Inc.");
});

test("the list of what is bundled names every package of the notices, with its version and licence", () => {
  const notices = readFileSync(join(project, "node_modules/snowlane/THIRD_PARTY_NOTICES"), "utf8");
  const release = {
    name: "snowlane",
    version: ownVersion(),
    commit: "0".repeat(40),
    createTime: "2026-01-01T00:00:00Z",
    notices,
  };
  const { packages, relationships } = JSON.parse(billOfMaterials(release)) as {
    readonly packages: readonly { readonly name: string; readonly versionInfo: string }[];
    readonly relationships: readonly object[];
  };
  const locked = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  expect(packages.map(({ name, versionInfo }) => `${name} ${versionInfo}`)).toEqual([
    `snowlane ${ownVersion()}`,
    ...bundledPackages.map((name) => `${name} ${locked.packages[`node_modules/${name}`]?.version}`),
  ]);
  expect(relationships).toHaveLength(packages.length);
});

test("the packed file has at most 1.36 MB with the page, its simulation and the tracer, and 180 kB of docs", () => {
  expect(readdirSync(join(project, "node_modules/snowlane/dist/page"))).toContain("index.html");
  expect(statSync(join(project, `snowlane-${ownVersion()}.tgz`)).size).toBeLessThan(1_360_000 + 180_000);
});

/** Everything that the packed file may hold. */
const packedFiles = [
  /^(LICENSE|README\.md|CHANGELOG\.md|THIRD_PARTY_NOTICES|package\.json)$/,
  /^dist\/(main|index|sqlite-thread|sqlite-sequence-thread)\.js$/,
  /^dist\/chunks\/[\w-]+\.js$/,
  /^dist\/types\/[\w/-]+\.d\.ts$/,
  /^dist\/page\/(manifest\.json|(index\.html|favicon\.svg|openapi\.json|assets\/[\w-]+\.(js|css|svg|txt))(\.br|\.gz)?)$/,
  /^docs\/[\w-]+\.md$/,
  /^proto\/snowlane\/v1\/\w+\.proto$/,
];

test("it holds what is run and read, with ordinary modes: no test, no map, and no path of the machine that built it", async () => {
  const listed = await runCommand("tar", ["-tzvf", join(project, `snowlane-${ownVersion()}.tgz`)]);
  const files = listed
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/));
  const paths = files.map((columns) => columns.at(-1)!.replace(/^package\//, ""));
  expect(paths.filter((path) => !packedFiles.some((pattern) => pattern.test(path)) || /test/.test(path))).toEqual([]);
  for (const pattern of packedFiles)
    expect(
      paths.some((path) => pattern.test(path)),
      String(pattern),
    ).toBe(true);
  for (const [index, [mode]] of files.entries())
    expect(mode, paths[index]).toBe(paths[index] === "dist/main.js" ? "-rwxr-xr-x" : "-rw-r--r--");
  const texts = paths.map((path) => readFileSync(join(project, "node_modules/snowlane", path), "utf8"));
  expect(
    paths.filter((_, index) => texts[index]!.includes(root) || texts[index]!.includes("sourceMappingURL")),
  ).toEqual([]);
});

test("of Node's own modules it reads what it uses alone: a later Node may warn of the rest", () => {
  const chunks = join(project, "node_modules/snowlane/dist/chunks");
  const texts = readdirSync(chunks).map((name) => readFileSync(join(chunks, name), "utf8"));
  const reads = texts.flatMap((text) =>
    Array.from(text.matchAll(/^const (\S+) = builtin(?:\$\d+)?\.\w+;$/gm), ([, name = ""]) => ({ text, name })),
  );
  expect(reads.map(({ name }) => name)).toContain("readFileSync");
  // Such a line has the name twice.
  expect(reads.filter(({ text, name }) => text.split(name).length <= 3).map(({ name }) => name)).toEqual([]);
  expect(texts.filter((text) => /\} = process\.getBuiltinModule/.test(text))).toEqual([]);
});

test("NEWCOMER 17: its help names the folder of the pages, and every page that it names is there", async () => {
  const node = { cwd: project, env: environment };
  const help = await runCommand("npx", ["snowlane", "serve", "--help-all"], node);
  const folder = join(project, "node_modules/snowlane/docs");
  expect(help).toContain(`Pages of docs/ are in ${folder}.`);
  const pages = [...help.matchAll(/docs\/([\w-]+\.md)/g)].map(([, page = ""]) => page);
  expect(pages.length).toBeGreaterThan(5);
  expect(pages.filter((page) => !readdirSync(folder).includes(page))).toEqual([]);
});

test("it is installed without a script of its own", () => {
  const { scripts } = JSON.parse(readFileSync(join(project, "node_modules/snowlane/package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
});

test("the lines of docs/install.md install it into an empty folder, and give an ID", {
  timeout: timeoutMs,
}, async () => {
  const folder = join(project, "empty");
  mkdirSync(folder);
  const archive = `snowlane-${ownVersion()}.tgz`;
  copyFileSync(join(project, archive), join(folder, archive));
  // A free port: a server on this machine may have the default one.
  const listen = { SNOWLANE_LISTEN: "127.0.0.1:0" };
  const env = { ...environment, ...listen, npm_config_prefer_offline: "true", npm_config_loglevel: "error" };
  const output = await runReadmeBlock("docs/install.md", 0, { cwd: folder, env });
  expect(output).toMatch(/^\d{19}$/m);
  expect(output).toMatch(/^ok +store/m);
});

test("the README's lines install it and serve IDs until Ctrl-C", { timeout: timeoutMs }, async () => {
  const folder = join(project, "served");
  mkdirSync(folder);
  const archive = `snowlane-${ownVersion()}.tgz`;
  copyFileSync(join(project, archive), join(folder, archive));
  const lines = blocksOf("README.md", "sh").find((block) => block.includes("npx snowlane serve")) ?? "";
  const env = { ...process.env, ...environment, npm_config_prefer_offline: "true", npm_config_loglevel: "error" };
  const served = { SNOWLANE_LISTEN: "127.0.0.1:0", SNOWLANE_LOG_FORMAT: "json", SNOWLANE_STORE: "sqlite:served.db" };
  // As a group of its own, because Ctrl-C reaches the shell, npx and the server.
  const shell = spawn("sh", ["-e", "-c", lines], { cwd: folder, detached: true, env: { ...env, ...served } });
  const ended = once(shell, "close");
  onTestFinished(() => {
    if (shell.exitCode === null && shell.signalCode === null) process.kill(-shell.pid!, "SIGKILL");
  });
  let printed = "";
  const serving = Promise.withResolvers<string>();
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      // The message with a line for curl is for a terminal alone; the log is for everybody.
      const [, address] = /"Serves IDs".*"address":"([^"]+)"|"address":"([^"]+)".*"Serves IDs"/.exec(printed) ?? [];
      if (address !== undefined) serving.resolve(address);
    });
  }
  void ended.then(() => serving.reject(new Error(printed)));
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const answer = await fetch(`http://${await serving.promise}/snowlane.v1.IdService/NextId`, post);
  expect(await answer.json()).toEqual({ id: expect.stringMatching(/^\d{19}$/), deployment: expect.any(Number) });
  process.kill(-shell.pid!, "SIGINT");
  await ended;
  expect(printed).toMatch(/"message":"(Stopped|Stops)/);
});

test("it starts without node:sqlite, so that an older Node is refused in one sentence", async () => {
  // What an older Node does not have cannot be in what the command loads before it looks at the version.
  const main = join(project, "node_modules/snowlane/dist/main.js");
  const output = await runCommand(process.execPath, ["--no-experimental-sqlite", main, "--version"]);
  expect(output.trim()).toBe(ownVersion());
});

test("a new bundle can be called at once: npx calls the file itself", () => {
  expect(statSync("dist/main.js").mode & 0o111).toBe(0o111);
});

test("npx snowlane next prints an ID", { timeout: timeoutMs }, async () => {
  const output = await runCommand("npx", ["--offline", "snowlane", "next"], { cwd: project, env: environment });
  expect(output).toMatch(/^\d{19}\n$/);
});

test("npx snowlane serve refuses to serve everybody who reaches it, said by nobody, in one line", {
  timeout: timeoutMs,
}, async () => {
  const call = ["--offline", "snowlane", "serve", "--listen", "0.0.0.0:0", "--store", "sqlite:refused.db"];
  const env = { ...environment, npm_config_loglevel: "error" };
  const failed = runCommand("npx", call, { cwd: project, env });
  await expect(failed).rejects.toThrow(/left with 2:\nsnowlane: [^\n]*--auth none[^\n]*$/);
});

const program = `import { IdError, openSnowlane, Snowflake, type Snowlane } from "snowlane";

const byHand = new Snowflake({ workerId: 2, datacenterId: 1 });
const id: bigint = byHand.next();

const ids: Snowlane = await openSnowlane({ store: "sqlite:ids.db" });
const { datacenterId, workerId } = ids.parse(id);
console.log(datacenterId, workerId);
const first: bigint = await ids.nextId();
const more: bigint[] = await ids.nextIds(10);
console.log(new Set([id, first, ...more]).size);
await ids.close();

await openSnowlane().catch((error: unknown) => console.log(error instanceof IdError && error.reason));
{
  await using again = await openSnowlane({ store: "sqlite:ids.db", layout: "twitter" });
  console.log(typeof again.nextId());
}
`;

test("the library issues in process, and its types hold under the strictest settings", {
  timeout: timeoutMs,
}, async () => {
  writeFileSync(join(project, "program.ts"), program);
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024"],
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
  expect(output).toBe("1 2\n12\nINVALID_CONFIG\nbigint\n");
});

test("the library's types name no package, because the package installs none, and no file that nobody reaches is among them", () => {
  const entry = join(project, "node_modules/snowlane/dist/types/index.d.ts");
  const named: string[] = [];
  const reached = new Set([entry]);
  // A set gives also what is added while it is read.
  for (const path of reached) {
    for (const [, name = ""] of readFileSync(path, "utf8").matchAll(/\b(?:from |import\(|import )"([^"]+)"/g)) {
      if (name.startsWith(".")) reached.add(join(dirname(path), name.replace(/\.[jt]s$/, ".d.ts")));
      else named.push(name);
    }
  }
  expect(reached.size).toBeGreaterThan(20);
  // Three of four files were types that nobody could import.
  const types = readdirSync(dirname(entry), { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  expect(types.map((file) => join(file.parentPath, file.name)).toSorted()).toEqual([...reached].toSorted());
  expect(named.filter((name) => !name.startsWith("node:"))).toEqual([]);
});

test("publint and are-the-types-wrong find nothing in the packed file", { timeout: timeoutMs }, async () => {
  const archive = join(project, `snowlane-${ownVersion()}.tgz`);
  const output = await runCommand("publint", ["run", archive, "--strict"], { env: environment });
  expect(output).toContain("All good!");
  await runCommand("attw", [archive, "--profile", "esm-only"], { env: environment });
});
