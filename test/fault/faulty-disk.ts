import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../support/processes/run-command.ts";
import { preloadedLibrary } from "./preloaded-library.ts";

/** A disk below a server's store that can stall and fill up. */
export interface FaultyDisk {
  /** Where the store belongs. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The program that starts the server: it comes before the server's own command. */
  readonly launcher: readonly string[];
  /** From now on no sync comes back. */
  readonly stall: () => void;
  readonly unstall: () => void;
  /** Leaves not a byte. @param processId - Of the server that runs on it. */
  readonly fill: (processId: number) => void;
  readonly empty: (processId: number) => void;
}

/** How a disk fills up. */
export type FullDiskKind =
  /**
   * A small file system of its own; needs namespaces for mounts, as root or as any user where the kernel permits it.
   */
  | "tmpfs"
  /** Files cannot grow, by the same preloaded library that stalls syncs. Needs nothing. */
  | "preloaded";

/** The kind that this machine allows. */
export async function fullDiskKind(): Promise<FullDiskKind> {
  const [command, ...flags] = unshareCommand();
  const mount = ["sh", "-c", "mount -t tmpfs -o size=64k none /mnt"];
  return await runCommand(command!, [...flags, ...mount]).then(
    () => "tmpfs",
    () => "preloaded",
  );
}

/** Makes a disk in a new folder below `base`. */
export async function createFaultyDisk(base: string, kind: FullDiskKind): Promise<FaultyDisk> {
  const folder = join(base, "disk");
  mkdirSync(folder);
  const stalled = join(base, "stalled");
  const full = join(base, "full");
  const environment = {
    LD_PRELOAD: await preloadedLibrary("disk-faults"),
    FAULT_DISK_STALLED: stalled,
    FAULT_DISK_FULL: full,
    FAULT_DISK_FOLDER: `${folder}/`,
  };
  const syncs = { stall: () => writeFileSync(stalled, ""), unstall: () => rmSync(stalled, { force: true }) };
  if (kind === "preloaded") {
    const room = { fill: () => writeFileSync(full, ""), empty: () => rmSync(full, { force: true }) };
    return { folder, environment, launcher: [], ...syncs, ...room };
  }
  // The mount is the server's own: nobody else sees it but by its process, and it goes with it.
  const mount = `mount -t tmpfs -o size=512k none "$0" && exec "$@"`;
  const launcher = [...unshareCommand(), "sh", "-c", mount, folder];
  const filler = (processId: number): string => `/proc/${processId}/root${folder}/filler`;
  return {
    folder,
    environment,
    launcher,
    ...syncs,
    fill: (processId) => writeUntilFull(filler(processId)),
    empty: (processId) => rmSync(filler(processId), { force: true }),
  };
}

/** A disk below the data of a test's server that can fill up. */
export interface ServerDisk {
  /** Of the server: whatever it has in the folder for temporary files is on this disk. */
  readonly environment: Readonly<Record<string, string>>;
  readonly fill: () => void;
  readonly empty: () => void;
  /** Deletes its files. */
  readonly remove: () => void;
}

/** Makes a disk for a server that may run as another user. */
export async function createServerDisk(): Promise<ServerDisk> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-disk-"));
  chmodSync(folder, 0o755);
  const [library, full] = [join(folder, "disk-faults.so"), join(folder, "full")];
  // The cache may lie in a folder that is closed to the server's user.
  copyFileSync(await preloadedLibrary("disk-faults"), library);
  return {
    environment: { LD_PRELOAD: library, FAULT_DISK_FULL: full, FAULT_DISK_FOLDER: `${tmpdir()}/` },
    fill: () => writeFileSync(full, ""),
    empty: () => rmSync(full, { force: true }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The command before another that gives it mounts of its own: as root, or as any user where the kernel permits it. */
export function unshareCommand(): readonly string[] {
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  return ["unshare", ...user, "--mount"];
}

function writeUntilFull(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const page = Buffer.alloc(4_096); ; ) writeSync(file, page);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
}
