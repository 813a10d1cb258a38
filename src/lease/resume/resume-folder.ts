/** Resume records as files in a folder of this machine. */
import { createHash } from "node:crypto";
import { accessSync, constants, readFileSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { makeFolder } from "../../store/make-folder.ts";
import {
  encodeResumeRecord,
  parseResumeRecord,
  type ResumeJournal,
  type ResumePlace,
  type ResumeRecord,
} from "./resume-record.ts";

const recordPattern = /^worker-(\d+)\.json$/;

/**
 * Opens the folder for one namespace of one store.
 *
 * @param root - The folder for all resume records of this machine's user, for example `~/.local/state/snowlane/resume`.
 * @returns undefined where the boots of a machine cannot be distinguished, or the folder cannot be made or written:
 * then no grant can be resumed.
 */
export function openResumeFolder(
  root: string,
  records: { readonly namespace: string; readonly storeUrl: string },
): ResumeJournal | undefined {
  const machineId = readId("/etc/machine-id");
  const bootId = readId("/proc/sys/kernel/random/boot_id");
  // A container may have no machine ID; the boot ID alone, 128 random bits of the kernel, distinguishes machines as
  // well.
  if (bootId === "") return undefined;
  const place: ResumePlace = { ...records, machineId, bootId };
  const name = createHash("sha256").update(`${place.namespace}\n${place.storeUrl}`).digest("hex").slice(0, 32);
  const folder = join(root, name);
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    return undefined;
  }
  return new ResumeFolder(folder, place);
}

/**
 * See {@link ResumeJournal}. Opens a lock file only through SQLite: opening and closing it in any other way would drop
 * the lock.
 */
export class ResumeFolder implements ResumeJournal {
  readonly place: ResumePlace;
  readonly #folder: string;
  /**
   * By worker index. Kept here because a DatabaseSync without a reference is garbage-collected, and its lock is gone.
   */
  readonly #locks = new Map<number, DatabaseSync>();

  constructor(folder: string, place: ResumePlace) {
    this.#folder = folder;
    this.place = place;
  }

  async recall(isAnothers: (record: ResumeRecord) => boolean): Promise<readonly ResumeRecord[]> {
    const records: ResumeRecord[] = [];
    for (const name of await readdir(this.#folder)) {
      const workerIndex = Number(recordPattern.exec(name)?.[1] ?? Number.NaN);
      if (Number.isNaN(workerIndex)) continue;
      const seen = await this.#read(workerIndex);
      if ((seen !== undefined && isAnothers(seen)) || !this.#lock(workerIndex)) continue;
      // Only a record that is read under the lock is valid.
      const record = await this.#read(workerIndex);
      if (record === undefined) await this.remove(workerIndex);
      else records.push(record);
    }
    return records;
  }

  async write(record: ResumeRecord): Promise<void> {
    if (!this.#lock(record.workerIndex))
      throw new Error(`the lock of the resume record of worker ${record.workerIndex} cannot be taken`);
    const path = this.#path(record.workerIndex);
    const next = `${path}.next`;
    // Not synced: after a power cut no record is valid, because it is of another boot; and after a kill the kernel
    // still has it.
    await writeFile(next, encodeResumeRecord(record), { mode: 0o600 });
    await rename(next, path);
  }

  async remove(workerIndex: number): Promise<void> {
    // A process without the lock has no record here.
    if (!this.#lock(workerIndex)) return;
    await rm(this.#path(workerIndex), { force: true });
    this.leave(workerIndex);
  }

  leave(workerIndex: number): void {
    this.#locks.get(workerIndex)?.close();
    this.#locks.delete(workerIndex);
  }

  /** undefined if the record is damaged, gone, or of another place or boot. */
  async #read(workerIndex: number): Promise<ResumeRecord | undefined> {
    const text = await readFile(this.#path(workerIndex), "utf8").catch(() => "");
    const record = parseResumeRecord(text);
    return record?.workerIndex === workerIndex && this.#isHere(record.place) ? record : undefined;
  }

  #isHere(place: ResumePlace): boolean {
    return (Object.keys(this.place) as (keyof ResumePlace)[]).every((field) => place[field] === this.place[field]);
  }

  #path(workerIndex: number): string {
    return join(this.#folder, `worker-${workerIndex}.json`);
  }

  #lock(workerIndex: number): boolean {
    if (this.#locks.has(workerIndex)) return true;
    // An import would fail under an older Node before src/library/refuse-older-node.ts can say what is wrong.
    const sqlite = process.getBuiltinModule("node:sqlite");
    const database = new sqlite.DatabaseSync(join(this.#folder, `worker-${workerIndex}.lock`), { timeout: 0 });
    try {
      database.exec("BEGIN EXCLUSIVE");
    } catch {
      database.close();
      return false;
    }
    this.#locks.set(workerIndex, database);
    return true;
  }
}

function readId(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
