import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memoryFolder = "/dev/shm";
const gib = 2 ** 30;
/** Bytes that must be free in it; a run was seen to need 2 GiB. */
const spaceMin = 6 * gib;
/** Bytes of memory that must be free, since the programs of the tests need some, too. */
const memoryMin = 12 * gib;

/**
 * Makes the folder of all temporary files of a run, which goes when this process ends. It is in memory where there is
 * enough of it, since the tests make hundreds of databases, each of which begins as a copy of a thousand files.
 */
export function makeTemporaryFolder(): string {
  const folder = makeInMemory() ?? mkdtempSync(join(tmpdir(), "snowlane-run-"));
  // A database server runs as another user.
  chmodSync(folder, 0o755);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a folder in memory from which programs can be run; undefined where that is not possible. */
function makeInMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    if (bavail * bsize < spaceMin || process.availableMemory() < memoryMin) return undefined;
    const folder = mkdtempSync(join(memoryFolder, "snowlane-run-"));
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    const { status } = spawnSync(program);
    rmSync(status === 0 ? program : folder, { recursive: true });
    return status === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}
