import { DatabaseSync } from "node:sqlite";
import { revisionPath } from "../../src/store/sqlite/sqlite-paths.ts";
import { parseWorkerKey, readWorkerSlot } from "../../src/lease/records/worker-record.ts";

/**
 * The marks of the workers in an embedded store. No write is under way meanwhile, so each was confirmed, unless its
 * process was killed before.
 */
export function readMarks(path: string): readonly { readonly workerId: number; readonly markMs: number }[] {
  const beside = new DatabaseSync(revisionPath(path), { timeout: 30_000 });
  // Not for reading alone: a process that was killed may have left a journal, which only a writer can play back.
  const database = new DatabaseSync(path, { timeout: 30_000 });
  try {
    // A server locks it around each write.
    beside.exec("BEGIN IMMEDIATE");
    const entries = database.prepare("SELECT key, text FROM record").all() as { key: string; text: string }[];
    return entries.flatMap(({ key, text }) => {
      const workerId = parseWorkerKey(key);
      if (workerId === undefined) return [];
      const slot = readWorkerSlot({ key, text });
      return slot.kind === "record" ? [{ workerId, markMs: slot.record.markMs }] : [];
    });
  } finally {
    database.close();
    beside.close();
  }
}
