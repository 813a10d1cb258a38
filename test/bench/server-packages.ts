/** The server as a release has it: the npm package, the executable and the container. */
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildExecutable, packExecutable } from "../../tools/release/build-executable.ts";
import { ownVersion } from "../../tools/versions.ts";
import { confinedProgram, makeVolume } from "../support/containers/confined-program.ts";
import { ImageBuilder } from "../support/containers/image-builder.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** A server that is installed from a package. */
export interface ServerPackage {
  readonly name: "npm package" | "executable" | "container";
  /** The command before the arguments, for a server whose state goes into a new folder. */
  readonly command: (folder: string) => readonly string[];
  /** The path of that folder as the server sees it. */
  readonly stateFolder: (folder: string) => string;
  /** Node in the same place, without a program of ours; undefined for the executable, which runs no other. */
  readonly node: readonly string[] | undefined;
  /** Of the packed file of npm, of the executable itself, or of all files of the image. */
  readonly bytes: number;
}

/**
 * Builds and installs the packages into a folder.
 *
 * @param log - Is told which package is left out, and why: a container needs root and buildah.
 * @returns The packages, the packed file of npm, and what removes the rest of them.
 */
export async function installPackages(
  folder: string,
  log: (line: string) => void,
): Promise<{ readonly packages: readonly ServerPackage[]; readonly archive: string; readonly remove: () => void }> {
  const archive = join(folder, `snowlane-${ownVersion()}.tgz`);
  const packages = [await installNpm(folder, archive), await installExecutable(folder)];
  try {
    const builder = await ImageBuilder.start();
    const image = await builder.buildServer();
    packages.push({
      name: "container",
      command: (state) => confinedProgram({ ...image, volume: makeVolume(state, image.config) }),
      stateFolder: () => "/var/lib/snowlane",
      node: confinedProgram({ ...image, config: { ...image.config, Entrypoint: ["node"] } }),
      bytes: bytesBelow(image.root),
    });
    return { packages, archive, remove: () => builder.remove() };
  } catch (error) {
    log(`Without the container: ${error instanceof Error ? error.message : String(error)}`);
    return { packages, archive, remove: () => undefined };
  }
}

function bytesBelow(root: string): number {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

async function installNpm(folder: string, archive: string): Promise<ServerPackage> {
  await runCommand("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder]);
  // The package brings no other along, so to unpack it is to install it.
  await runCommand("tar", ["-xzf", archive, "-C", folder]);
  const program = [process.execPath, join(folder, "package/dist/main.js")];
  const place = { command: () => program, stateFolder: (state: string) => state, node: [process.execPath] };
  return { name: "npm package", ...place, bytes: statSync(archive).size };
}

async function installExecutable(folder: string): Promise<ServerPackage> {
  const built = join(folder, "built", "executable");
  mkdirSync(built, { recursive: true });
  await buildExecutable(".", built);
  const archive = join(folder, "executable.tar.gz");
  await packExecutable(built, archive, new Date());
  await runCommand("tar", ["-xzf", archive, "-C", folder]);
  const program = join(folder, "executable/snowlane");
  const place = { command: () => [program], stateFolder: (state: string) => state, node: undefined };
  return { name: "executable", ...place, bytes: statSync(program).size };
}
