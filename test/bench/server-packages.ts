/** The server as a release has it: the npm package, the executable and the container. */
import { mkdirSync } from "node:fs";
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
}

/**
 * Builds and installs the packages into a folder.
 *
 * @param log - Is told which package is left out, and why: a container needs root and buildah.
 * @returns The packages, and what removes the rest of them.
 */
export async function installPackages(
  folder: string,
  log: (line: string) => void,
): Promise<{ readonly packages: readonly ServerPackage[]; readonly remove: () => void }> {
  const packages = [await installNpm(folder), await installExecutable(folder)];
  try {
    const builder = await ImageBuilder.start();
    const image = await builder.buildServer();
    packages.push({
      name: "container",
      command: (state) => confinedProgram({ ...image, volume: makeVolume(state, image.config) }),
      stateFolder: () => "/var/lib/snowlane",
      node: confinedProgram({ ...image, config: { ...image.config, Entrypoint: ["node"] } }),
    });
    return { packages, remove: () => builder.remove() };
  } catch (error) {
    log(`Without the container: ${error instanceof Error ? error.message : String(error)}`);
    return { packages, remove: () => undefined };
  }
}

async function installNpm(folder: string): Promise<ServerPackage> {
  await runCommand("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder]);
  // The package brings no other along, so to unpack it is to install it.
  await runCommand("tar", ["-xzf", join(folder, `snowlane-${ownVersion()}.tgz`), "-C", folder]);
  const program = [process.execPath, join(folder, "package/dist/main.js")];
  return { name: "npm package", command: () => program, stateFolder: (state) => state, node: [process.execPath] };
}

async function installExecutable(folder: string): Promise<ServerPackage> {
  const built = join(folder, "built", "executable");
  mkdirSync(built, { recursive: true });
  await buildExecutable(".", built);
  const archive = join(folder, "executable.tar.gz");
  await packExecutable(built, archive, new Date());
  await runCommand("tar", ["-xzf", archive, "-C", folder]);
  const program = [join(folder, "executable/snowlane")];
  return { name: "executable", command: () => program, stateFolder: (state) => state, node: undefined };
}
