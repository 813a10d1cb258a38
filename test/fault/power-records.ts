/** The journal that power-loss.c writes. */

/** A name that was given, changed or removed. */
export interface NameChange {
  readonly kind: "created" | "unlinked" | "renamed" | "folder";
  readonly path: string;
  /** Of a rename: the new name; otherwise empty. */
  readonly other: string;
  /** The folder's inode. */
  readonly parent: bigint;
  /** The number under which the file that lost the name is kept; 0: there was none. */
  readonly saved: number;
}

/** What a process did, in the order in which all processes did it. */
export type PowerRecord =
  | NameChange
  | { readonly kind: "opened" | "synced"; readonly path: string; readonly inode: bigint }
  | {
      readonly kind: "changed";
      readonly path: string;
      readonly inode: bigint;
      readonly offset: number;
      readonly length: number;
      /** The bytes from `offset` on; fewer than `length` where the file ended before. */
      readonly before: Buffer;
      readonly sizeBefore: number;
    };

const kinds = ["", "opened", "created", "changed", "synced", "unlinked", "renamed", "folder"] as const;
const headBytes = 64;

/** Parses the journal; a record that was being written when the power was cut is left out. */
export function parsePowerRecords(bytes: Buffer): readonly PowerRecord[] {
  const records: PowerRecord[] = [];
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const word = (index: number): number => bytes.readUInt32LE(at + index * 4);
    const [pathLength, otherLength, dataLength] = [word(1), word(2), word(3)];
    const nextAt = at + headBytes + pathLength + otherLength + dataLength;
    if (nextAt > bytes.length) break;
    const long = (index: number): bigint => bytes.readBigInt64LE(at + 16 + index * 8);
    const [inode, parent, offset, length, sizeBefore, saved] = [0, 1, 2, 3, 4, 5].map(long) as [
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
    ];
    const pathAt = at + headBytes;
    const path = bytes.toString("utf8", pathAt, pathAt + pathLength);
    const other = bytes.toString("utf8", pathAt + pathLength, pathAt + pathLength + otherLength);
    const kind = kinds[word(0)];
    if (kind === "opened" || kind === "synced") records.push({ kind, path, inode });
    else if (kind === "changed") {
      const before = bytes.subarray(nextAt - dataLength, nextAt);
      const [from, count, size] = [Number(offset), Number(length), Number(sizeBefore)];
      records.push({ kind, path, inode, offset: from, length: count, before, sizeBefore: size });
    } else if (kind !== undefined && kind !== "") {
      records.push({ kind, path, other, parent, saved: Number(saved) });
    }
    at = nextAt;
  }
  return records;
}
