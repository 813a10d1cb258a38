import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { runByOwnLoader } from "./own-loader.ts";
import { cacheFolder, fetchOnce, isFetched, progress, withCacheLock } from "./user-cache.ts";

/** A package of Debian 12. Its dependencies are those that this machine lacks, at the archive's version. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** Of the amd64 file, in hex. For all other packages apt checks the archive's signed index alone. */
  readonly sha256: string;
  /** Of Debian's unstable release instead. All that it needs comes with it, the C library, too. */
  readonly unstable?: {
    /** Patterns of the paths of those programs that are started, below `usr`: they are run by that C library. */
    readonly programs: readonly string[];
  };
}

/** Lists of packages, and what is taken to be installed. */
type Lists = "apt" | "apt-unstable";

const unstableSource =
  "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main\n";

/**
 * Unpacks a Debian package and what it needs into the cache, without root and without installing anything.
 *
 * Debian's archive keeps one version of a package; when the pinned one has gone, the one that took its place is used
 * and a line says so.
 *
 * @returns The folder that stands for `/`.
 */
export function fetchDebianPackage(debianPackage: DebianPackage): Promise<string> {
  const { unstable } = debianPackage;
  const lists = unstable === undefined ? "apt" : "apt-unstable";
  return fetchOnce(folderName(debianPackage), (folder) =>
    // One at a time: they share the package lists.
    withCacheLock(lists, async () => {
      await unpack(lists, debianPackage, folder);
      if (unstable !== undefined) runByOwnLoader(folder, unstable.programs);
    }),
  );
}

/** Whether {@link fetchDebianPackage} finds it in the cache. */
export function isDebianPackageFetched(debianPackage: DebianPackage): boolean {
  return isFetched(folderName(debianPackage));
}

function folderName({ name, version }: DebianPackage): string {
  return `debian-${name}-${version}`;
}

async function unpack(lists: Lists, wanted: DebianPackage, folder: string): Promise<void> {
  await updateLists(lists, 86_400_000);
  const archives = join(folder, ".archives");
  mkdirSync(archives);
  try {
    await download(lists, await resolve(lists, wanted), archives);
  } catch {
    // The lists may name files that the archive has replaced since.
    await updateLists(lists, 0);
    await download(lists, await resolve(lists, wanted), archives);
  }
  for (const file of readdirSync(archives)) {
    const path = join(archives, file);
    // apt writes the colon of a version as %3a.
    if (file.startsWith(`${wanted.name}_${wanted.version.replace(":", "%3a")}_`)) checkSum(wanted, path);
    await runCommand("dpkg-deb", ["--extract", path, folder]);
  }
  rmSync(archives, { recursive: true });
}

/** `name=version` of the package and of each package that it needs and that is not installed here. */
async function resolve(lists: Lists, { name, version }: DebianPackage): Promise<string[]> {
  let plan: string;
  try {
    plan = await simulateInstall(lists, `${name}=${version}`);
  } catch {
    plan = await simulateInstall(lists, name);
    progress(`Debian's archive does not have ${name} ${version} any more; its present version is taken.`);
  }
  // For example: Inst redis-tools [5:7.0.15-1~deb12u9] (5:7.0.15-1~deb12u10 Debian:12/stable [amd64])
  return [...plan.matchAll(/^Inst (\S+) (?:\[[^\]]*\] )?\((\S+) /gm)].map(([, name, version]) => `${name}=${version}`);
}

function simulateInstall(lists: Lists, target: string): Promise<string> {
  return aptGet(lists, ["install", "--simulate", "--reinstall", "--no-install-recommends", target]);
}

async function download(lists: Lists, packages: readonly string[], folder: string): Promise<void> {
  await aptGet(lists, ["download", ...packages], folder);
}

/** Brings the package lists of the cache up to date, unless they are younger than `ageMaxMs`. */
async function updateLists(lists: Lists, ageMaxMs: number): Promise<void> {
  const apt = join(cacheFolder(), lists);
  const marker = join(apt, ".updated");
  if (existsSync(marker) && Date.now() - statSync(marker).mtimeMs < ageMaxMs) return;
  mkdirSync(join(apt, "state", "lists", "partial"), { recursive: true });
  mkdirSync(join(apt, "cache", "archives", "partial"), { recursive: true });
  if (lists === "apt-unstable") {
    writeFileSync(join(apt, "sources.list"), unstableSource);
    writeFileSync(join(apt, "status"), "");
  }
  await aptGet(lists, ["update"]);
  writeFileSync(marker, "");
}

/**
 * Runs apt-get with lists of our own, so that an ordinary user can. The packages of this machine count as installed,
 * except for the unstable release.
 */
function aptGet(lists: Lists, args: readonly string[], cwd?: string): Promise<string> {
  const apt = join(cacheFolder(), lists);
  const ofRelease =
    lists === "apt"
      ? ["Dir::State::status=/var/lib/dpkg/status"]
      : [
          `Dir::State::status=${join(apt, "status")}`,
          `Dir::Etc::sourcelist=${join(apt, "sources.list")}`,
          "Dir::Etc::sourceparts=/dev/null",
        ];
  const settings = [
    `Dir::State=${join(apt, "state")}`,
    ...ofRelease,
    `Dir::Cache=${join(apt, "cache")}`,
    "Debug::NoLocking=1",
    "APT::Sandbox::User=root",
    "Acquire::Languages=none",
  ];
  return runCommand("apt-get", ["-q", ...settings.flatMap((setting) => ["-o", setting]), ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { LC_ALL: "C" },
  });
}

function checkSum(wanted: DebianPackage, path: string): void {
  if (!path.endsWith("_amd64.deb") && !path.endsWith("_all.deb")) return;
  const found = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (found === wanted.sha256) return;
  throw new Error(`${wanted.name} ${wanted.version} has the SHA-256 ${found} instead of ${wanted.sha256}.`);
}
