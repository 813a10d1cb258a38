import { statfsSync, statSync } from "node:fs";

/** Identifies a file by device and inode, which are known without opening it. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

/**
 * Finds which file is at a path. Never opens it: closing a file that SQLite has open in this process drops SQLite's
 * locks without an error (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 *
 * @returns undefined if there is none.
 */
export function identifyFile(path: string): (FileIdentity & { readonly size: bigint }) | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && { device: stat.dev, inode: stat.ino, size: stat.size };
}

/** Whether a file is still at its path. */
export function standsAt(path: string, file: FileIdentity): boolean {
  const there = identifyFile(path);
  return there !== undefined && there.device === file.device && there.inode === file.inode;
}

/**
 * Magic numbers of file systems whose locks do not work across machines, or cannot be trusted: statfs(2),
 * linux/magic.h.
 */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x01021997, "9P"],
  [0x65735546, "FUSE"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x5346414f, "AFS"],
  [0x73757245, "Coda"],
  [0x7461636f, "OCFS2"],
  [0x01161970, "GFS2"],
]);

/**
 * The name of the network file system that a folder is on; undefined if it is on another kind, or if the platform does
 * not report it.
 */
export function networkFileSystem(folder: string): string | undefined {
  // On other platforms the numbers have other meanings.
  if (process.platform !== "linux") return undefined;
  return networkFileSystems.get(statfsSync(folder).type >>> 0);
}
