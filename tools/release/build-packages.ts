import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fetchPythonVenv } from "../../test/support/fetch/python-venv.ts";
import { mavenOfNewRepository } from "../../test/support/processes/java-client.ts";
import { prepareFrameworkBuilds } from "../../test/support/processes/java-frameworks.ts";
import { runCommand } from "../../test/support/processes/run-command.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { buildExecutable, packExecutable } from "./build-executable.ts";
import { frameworkModules } from "./publish-commands.ts";
import { linkPackedPages } from "./repository-links.ts";

/** The one package that builds a wheel. */
const pythonBuilder =
  "setuptools==84.2.1 --hash=sha256:ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2\n";

/** A clean checkout of a commit, and where its packages go. */
interface Build {
  readonly checkout: string;
  readonly target: string;
  readonly version: string;
  readonly commit: string;
  /** When the commit was made: the one time that packages may hold. */
  readonly commitTime: Date;
  /** A commit with the pages as packages have them, for archives that git makes. It has the same time. */
  readonly packedCommit: string;
  /** Tells what is built next. */
  readonly tell: (line: string) => void;
}

/** The parts of a release, each with what builds it. */
const builders = {
  npm: buildNode,
  executable: buildLinux,
  go: buildGo,
  java: buildJava,
  python: buildPython,
  php: buildPhp,
  rust: buildRust,
} as const satisfies Readonly<Record<string, (build: Build) => Promise<void>>>;

/** The names of all parts, in the order in which they are built. */
export const releaseParts: readonly string[] = Object.keys(builders);

/** Programs that a part calls beside those that every part has: Node, npm, git and tar. */
const neededPrograms: Readonly<Record<string, readonly string[]>> = {
  java: ["javac", "mvn"],
  python: ["python3"],
  rust: ["cargo"],
};

/** A line for each program that is not on PATH and that one of the parts calls, with what to do. */
export function missingPrograms(parts: readonly string[]): readonly string[] {
  const others = releaseParts.filter((part) => neededPrograms[part] === undefined).join(" ");
  const hint = `install it, or build others: npm run release -- --dry-run ${others}.`;
  return parts.flatMap((part) =>
    (neededPrograms[part] ?? [])
      .filter((program) => spawnSync("sh", ["-c", 'command -v "$0"', program]).status !== 0)
      .map((program) => `The part ${part} needs ${program}, which is not on PATH: ${hint}`),
  );
}

/**
 * Builds packages of the last commit of `root` from a clean checkout of it.
 *
 * @param options - `target` is an empty folder; `parts` are some of {@link releaseParts}.
 * @throws Error with the end of what a tool said.
 */
export async function buildPackages(
  options: Pick<Build, "target" | "version" | "tell"> & { readonly root: string; readonly parts: readonly string[] },
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-release-"));
  // A program that ends with this one may still write there.
  const tidyUp = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  // Also where Ctrl-C ends this process.
  process.once("exit", tidyUp);
  try {
    const checkout = join(folder, "checkout");
    await runCommand("git", ["clone", "--quiet", "--no-hardlinks", resolve(options.root), checkout]);
    const log = await runCommand("git", ["log", "-1", "--format=%H %ct"], { cwd: checkout });
    const [commit = "", seconds = ""] = log.trim().split(" ");
    linkPackedPages(checkout, options.version);
    const packedCommit = await commitAside(checkout, seconds);
    const build = { ...options, checkout, commit, commitTime: new Date(Number(seconds) * 1_000), packedCommit };
    // Installs what the lockfile names, bundles, and writes the types.
    await runCommand(process.execPath, ["tools/bootstrap.mjs", "--build"], { cwd: checkout });
    for (const [part, builder] of Object.entries(builders)) if (options.parts.includes(part)) await builder(build);
  } finally {
    process.off("exit", tidyUp);
    tidyUp();
  }
}

/** Commits what was changed in a checkout, on no branch; returns the commit, which is the same each time. */
async function commitAside(checkout: string, seconds: string): Promise<string> {
  const roles = ["AUTHOR", "COMMITTER"].map((role) => [
    [`GIT_${role}_NAME`, "npm run release"],
    [`GIT_${role}_EMAIL`, "release@localhost"],
    [`GIT_${role}_DATE`, `${seconds} +0000`],
  ]);
  const env = Object.fromEntries(roles.flat()) as Readonly<Record<string, string>>;
  const git = async (...args: readonly string[]): Promise<string> =>
    (await runCommand("git", args, { cwd: checkout, env })).trim();
  await git("add", "--all");
  return await git("commit-tree", await git("write-tree"), "-p", "HEAD", "-m", "Pages as packages have them");
}

async function buildNode(build: Build): Promise<void> {
  const { checkout, target, version, tell } = build;
  tell("npm packages");
  const node = resolve(checkout, "node_modules/.bin");
  const env = { PATH: `${node}:${process.env["PATH"]}` };
  const pack = ["pack", "--pack-destination", target, "--loglevel=error"];
  await runCommand("npm", [...pack, "--ignore-scripts"], { cwd: checkout, env });
  await runCommand("npm", [...pack, "--workspace", "@snowlane/client"], { cwd: checkout, env });
  // The server with the drivers of all stores, for places where nothing is installed: a container.
  const withDrivers = join(checkout, "with-drivers");
  await runCommand(process.execPath, ["tools/bundle.mjs", "--with-drivers", withDrivers], { cwd: checkout });
  await runCommand("npm", [...pack, "--ignore-scripts"], { cwd: withDrivers, env });
  for (const name of [`snowlane-${version}.tgz`, `snowlane-client-${version}.tgz`]) {
    const file = join(target, name);
    await runCommand(join(node, "publint"), ["run", file, "--strict"], { cwd: checkout, env });
    await runCommand(join(node, "attw"), [file, "--profile", "esm-only", "--no-color"], { cwd: checkout, env });
  }
  listBundled(build, "snowlane", checkout);
  listBundled(build, "snowlane-with-drivers", withDrivers);
}

/** Lists what a package contains of others, from the notices in a folder. */
function listBundled({ target, version, commit, commitTime }: Build, name: string, folder: string): void {
  const notices = readFileSync(join(folder, "THIRD_PARTY_NOTICES"), "utf8");
  const list = billOfMaterials({ name, version, commit, createTime: secondsOf(commitTime), notices });
  writeFileSync(join(target, `${name}-${version}.spdx.json`), list);
}

async function buildLinux(build: Build): Promise<void> {
  const { checkout, target, version, commitTime, tell } = build;
  tell("executable for Linux");
  const name = `snowlane-${version}-linux-x64`;
  const folder = join(checkout, "executable", name);
  await buildExecutable(checkout, folder);
  await packExecutable(folder, join(target, `${name}.tar.gz`), commitTime);
  listBundled(build, "snowlane-linux-x64", folder);
}

/** ISO 8601 without parts of a second. */
function secondsOf(time: Date): string {
  return time.toISOString().replace(".000", "");
}

/** As a module proxy has it: GOPROXY may name the folder `go`. */
async function buildGo({ checkout, target, version, commitTime, packedCommit, tell }: Build): Promise<void> {
  tell("Go module");
  const source = join(checkout, "clients/go");
  const folder = join(target, "go/snowlane.dev/go/@v");
  mkdirSync(folder, { recursive: true });
  const prefix = `snowlane.dev/go@v${version}/`;
  const archive = join(folder, `v${version}.zip`);
  const zip = ["archive", "--format=zip", `--prefix=${prefix}`, `--output=${archive}`, packedCommit];
  await runCommand("git", zip, { cwd: source });
  copyFileSync(join(source, "go.mod"), join(folder, `v${version}.mod`));
  const info = { Version: `v${version}`, Time: secondsOf(commitTime) };
  writeFileSync(join(folder, `v${version}.info`), `${JSON.stringify(info)}\n`);
  writeFileSync(join(folder, "list"), `v${version}\n`);
}

/** The client, the parent of the modules for frameworks, and each of these modules. */
async function buildJava({ checkout, target, version, commitTime, tell }: Build): Promise<void> {
  tell("Maven artifacts");
  // The modules need the client, which is installed in a repository of this build alone.
  const maven = mavenOfNewRepository(await prepareFrameworkBuilds(), join(checkout, "maven"));
  const time = `-Dproject.build.outputTimestamp=${secondsOf(commitTime)}`;
  // A release packs: the suite clients runs the tests of these sources.
  const source = join(checkout, "clients/java");
  await maven(source, [time, "-Dmaven.test.skip=true", "install"]);
  const frameworks = join(source, "frameworks");
  await maven(frameworks, [time, "-Dmaven.test.skip=true", "install"]);
  copyFileSync(join(frameworks, "pom.xml"), join(target, `snowlane-frameworks-${version}.pom`));
  const modules = frameworkModules.map((name) => [`snowlane-${name}`, join(frameworks, name)] as const);
  for (const [artifact, folder] of [["snowlane-client", source] as const, ...modules]) {
    const name = `${artifact}-${version}`;
    for (const part of ["", "-sources", "-javadoc"])
      copyFileSync(join(folder, `target/${name}${part}.jar`), join(target, `${name}${part}.jar`));
    copyFileSync(join(folder, "pom.xml"), join(target, `${name}.pom`));
  }
}

/** Packs the archive of sources again: setuptools writes the time of the build into it. */
const repack = `
import gzip, io, os, sys, tarfile
path, epoch = sys.argv[1], int(sys.argv[2])
packed = io.BytesIO()
with tarfile.open(path) as old, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
    for member in sorted(old.getmembers(), key=lambda member: member.name):
        member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
        member.mode = 0o755 if member.isdir() else 0o644
        member.pax_headers = {}
        new.addfile(member, old.extractfile(member) if member.isfile() else None)
with open(path, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as zipped:
    zipped.write(packed.getvalue())
`;

async function buildPython({ checkout, target, version, commitTime, tell }: Build): Promise<void> {
  tell("Python wheel and sdist");
  const python = await fetchPythonVenv("release", pythonBuilder);
  const epoch = String(commitTime.getTime() / 1_000);
  // build_sdist changes sys.argv.
  const program = "import sys; from setuptools.build_meta import *; to = sys.argv[1]; build_sdist(to); build_wheel(to)";
  const source = join(checkout, "python-sources");
  cpSync(join(checkout, "clients/python"), source, { recursive: true });
  const env = { SOURCE_DATE_EPOCH: epoch, PYTHONHASHSEED: "0" };
  await runCommand(python, ["-c", program, target], { cwd: source, env });
  await runCommand(python, ["-c", repack, join(target, `snowlane_client-${version}.tar.gz`), epoch]);
}

/** A folder that Composer reads, packed. */
async function buildPhp({ checkout, target, version, packedCommit, tell }: Build): Promise<void> {
  tell("PHP package");
  const name = `snowlane-client-php-${version}`;
  const files = ["composer.json", "autoload.php", "src", "LICENSE", "README.md"];
  const output = `--output=${join(target, name)}.tar.gz`;
  const pack = ["archive", "--format=tar.gz", `--prefix=${name}/`, output, packedCommit, ...files];
  await runCommand("git", pack, { cwd: join(checkout, "clients/php") });
}

/** As crates.io has it. Cargo gives each file one and the same time. */
async function buildRust({ checkout, target, version, tell }: Build): Promise<void> {
  tell("Rust crate");
  const source = join(checkout, "clients/rust");
  // Its page leads into the repository, which no commit of a branch has.
  const pack = ["package", "--quiet", "--locked", "--no-verify", "--allow-dirty"];
  await runCommand("cargo", pack, { cwd: source });
  copyFileSync(join(source, `target/package/snowlane-${version}.crate`), join(target, `snowlane-${version}.crate`));
}
