import {
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { SeededRandom } from "../support/worlds/seeded-random.ts";
import { preloadedLibrary } from "./preloaded-library.ts";
import { type NameChange, type PowerRecord, parsePowerRecords } from "./power-records.ts";

/** A disk writes this many bytes as one. */
const sectorBytes = 512;

/**
 * A machine whose power can be cut. Its processes see every write at once, as those of one kernel do; what they did not
 * sync is theirs until the cut, and afterwards a part of it is gone: sectors of files, lengths of files, and names that
 * were given, changed or removed. A sector may be left as any of the unsynced writes left it, or as it was before them.
 */
export class PowerSupply {
  /** The variables that each process of the machine needs. */
  readonly environment: Readonly<Record<string, string>>;
  /** The machine's disk. */
  readonly folder: string;
  readonly #journal: string;
  readonly #saved: string;

  private constructor(base: string, library: string) {
    this.folder = join(base, "disk");
    this.#journal = join(base, "power-journal");
    this.#saved = join(base, "power-saved");
    mkdirSync(this.folder);
    this.environment = {
      LD_PRELOAD: library,
      POWER_FOLDER: `${this.folder}/`,
      POWER_JOURNAL: this.#journal,
      POWER_SAVED: this.#saved,
    };
    this.settle();
  }

  /** @param base - An empty folder. */
  static async create(base: string): Promise<PowerSupply> {
    return new PowerSupply(base, await preloadedLibrary("power-loss"));
  }

  /** All that there is has reached the disk. No process may run. */
  settle(): void {
    writeFileSync(this.#journal, "");
    rmSync(this.#saved, { recursive: true, force: true });
    mkdirSync(this.#saved);
  }

  /** Takes back a part of what was not synced. All processes of the machine must have been killed. */
  undo(random: SeededRandom): void {
    const records = parsePowerRecords(readFileSync(this.#journal));
    this.#undoBytes(records, random);
    this.#undoNames(records, random);
    this.settle();
  }

  #undoBytes(records: readonly PowerRecord[], random: SeededRandom): void {
    for (const [inode, unsynced] of unsyncedChanges(records)) {
      const path = this.#findFile(inode, records);
      if (path === undefined) continue;
      const file = openSync(path, "r+");
      try {
        const keptUpTo = new Map<number, number>();
        const lengths = [...unsynced.map(({ sizeBefore }) => sizeBefore), statSync(path).size];
        for (let index = unsynced.length - 1; index >= 0; index -= 1) {
          const { offset, length, before } = unsynced[index]!;
          for (let at = offset; at < offset + length; ) {
            const sector = Math.floor(at / sectorBytes);
            const endAt = Math.min((sector + 1) * sectorBytes, offset + length);
            let kept = keptUpTo.get(sector);
            // Of n unsynced writes to a sector the first 0 to n are kept.
            if (kept === undefined) {
              kept = random.oneIn(2) ? unsynced.length : random.below(unsynced.length + 1);
              keptUpTo.set(sector, kept);
            }
            if (index >= kept) {
              const bytes = Buffer.alloc(endAt - at);
              before.subarray(at - offset, endAt - offset).copy(bytes);
              writeSync(file, bytes, 0, bytes.length, at);
            }
            at = endAt;
          }
        }
        ftruncateSync(file, random.oneIn(2) ? lengths.at(-1) : random.pick(lengths));
      } finally {
        closeSync(file);
      }
    }
  }

  /** Names of one folder that have to do with each other come back in order; others independently. */
  #undoNames(records: readonly PowerRecord[], random: SeededRandom): void {
    const unsynced = unsyncedNames(records);
    const groups = new Map<string, object>();
    for (const { path, other } of unsynced) {
      const group = groups.get(path) ?? {};
      groups.set(path, group);
      if (other !== "") groups.set(other, group);
    }
    const left = new Map<object, number>();
    for (const { path } of unsynced) left.set(groups.get(path)!, (left.get(groups.get(path)!) ?? 0) + 1);
    for (const [group, count] of left) left.set(group, random.oneIn(2) ? count : random.below(count + 1));
    for (const change of unsynced.toReversed()) {
      const group = groups.get(change.path)!;
      const count = left.get(group)!;
      if (count === 0) continue;
      left.set(group, count - 1);
      this.#undoName(change);
    }
  }

  #undoName({ kind, path, other, saved }: NameChange): void {
    if (kind === "created" || kind === "folder") rmSync(path, { recursive: true, force: true });
    if (kind === "renamed" && existsSync(other)) renameSync(other, path);
    const from = join(this.#saved, String(saved));
    const to = kind === "renamed" ? other : path;
    if (saved !== 0 && existsSync(dirname(to)) && !existsSync(to)) linkSync(from, to);
  }

  #findFile(inode: bigint, records: readonly PowerRecord[]): string | undefined {
    const places = records.flatMap((record) => {
      const kept = "saved" in record && record.saved !== 0 ? [join(this.#saved, String(record.saved))] : [];
      return "other" in record && record.other !== "" ? [record.path, record.other, ...kept] : [record.path, ...kept];
    });
    return [...new Set(places)].find((path) => existsSync(path) && statSync(path, { bigint: true }).ino === inode);
  }
}

type Change = Extract<PowerRecord, { kind: "changed" }>;

/** The changes of each file since its last sync, in order. */
function unsyncedChanges(records: readonly PowerRecord[]): ReadonlyMap<bigint, readonly Change[]> {
  const changes = new Map<bigint, Change[]>();
  for (const record of records) {
    if (record.kind === "synced") changes.delete(record.inode);
    if (record.kind !== "changed") continue;
    const before = changes.get(record.inode) ?? [];
    before.push(record);
    changes.set(record.inode, before);
  }
  return changes;
}

/** The changes of names since the last sync of their folder, in order. */
function unsyncedNames(records: readonly PowerRecord[]): readonly NameChange[] {
  let names: NameChange[] = [];
  for (const record of records) {
    if (record.kind === "synced") names = names.filter(({ parent }) => parent !== record.inode);
    if ("parent" in record) names.push(record);
  }
  return names;
}
