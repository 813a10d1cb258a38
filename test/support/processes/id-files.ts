import { readFileSync } from "node:fs";

/** Reads files of IDs, 8 bytes big-endian each, into one array. */
export function readIdFiles(paths: readonly string[]): BigUint64Array {
  const files = paths.map((path) => readFileSync(path));
  const bytes = files.reduce((sum, { length }) => sum + length, 0);
  if (bytes % 8 !== 0) throw new Error(`${paths.join(", ")} do not hold whole IDs.`);
  const all = Buffer.alloc(bytes);
  let at = 0;
  for (const file of files) at += file.copy(all, at);
  all.swap64();
  return new BigUint64Array(all.buffer, all.byteOffset, bytes / 8);
}

/** Gives an ID that is there more than once, if there is one; sorts the array. */
export function findRepeatedId(ids: BigUint64Array): bigint | undefined {
  ids.sort();
  for (let index = 1; index < ids.length; index++) if (ids[index] === ids[index - 1]) return ids[index];
  return undefined;
}
