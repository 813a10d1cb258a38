/**
 * RESUME: the record that a process keeps on its own disk, so that it can start again while the store is down and
 * continue under the grant that it had.
 *
 * The record is ahead of use: no timestamp at or above its `localMarkMs` is issued before a higher one is durably
 * written. A restart begins at that mark, so it repeats nothing, no matter what its clock shows; and it issues only
 * below the `untilMs` that the store had confirmed.
 */
import * as v from "valibot";
import { Grant } from "../grant.ts";
import type { Incarnation } from "../../store/record-store.ts";
import type { LayoutRecord } from "../records/layout-record.ts";
import { parseLayoutRecord } from "../records/layout-slot.ts";
import { parseWorkerRecord, workerKey } from "../records/worker-record.ts";

/**
 * The machine, the boot and the store's records for which a resume record was written. All must be equal for a process
 * to continue from it.
 */
export interface ResumePlace {
  readonly namespace: string;
  /** The store's URL without credentials. */
  readonly storeUrl: string;
  readonly machineId: string;
  readonly bootId: string;
}

/** The content of a resume record. */
export interface ResumeRecord {
  readonly place: ResumePlace;
  readonly workerIndex: number;
  /** The text of R[w] as last confirmed. */
  readonly confirmedText: string;
  /** The texts of our writes without an answer, oldest first. */
  readonly unansweredTexts: readonly string[];
  /** hi: as confirmed, not as asked for. Unix milliseconds, exclusive. */
  readonly untilMs: number;
  /** No timestamp at or above it was issued when this was written: Unix milliseconds. */
  readonly localMarkMs: number;
  readonly incarnation: Incarnation;
  /** The text of the layout record that the store had. */
  readonly layoutText: string;
  /** The database of sequences that was compared with the note of the deployment; absent if none was compared. */
  readonly databaseId?: string | undefined;
}

/** Keeps resume records durably, one for each worker ID, each under a lock that dies with its process. */
export interface ResumeJournal {
  readonly place: ResumePlace;
  /**
   * Finds the records of earlier lives of this place whose lock is free, and takes their locks. Those that cannot be
   * read are removed.
   *
   * @param isAnothers - Returns whether a record is to be left alone: its lock is not even tried, because its own
   * process may be trying it at this moment.
   */
  recall(isAnothers: (record: ResumeRecord) => boolean): Promise<readonly ResumeRecord[]>;
  /** Leaves a recalled record in place for its owner, and gives its lock back. */
  leave(workerIndex: number): void;
  /**
   * Writes a record in place of the one before, so that it outlives a crash of the machine. The first write takes the
   * lock.
   *
   * @throws If the outcome is not certain: the old record may be there, or the new one.
   */
  write(record: ResumeRecord): Promise<void>;
  /**
   * Removes a record durably, and gives its lock back. Does nothing if there is no record. @throws If the record may
   * still exist.
   */
  remove(workerIndex: number): Promise<void>;
}

const unixMs = v.pipe(v.number(), v.safeInteger());
const schema = v.strictObject({
  formatVersion: v.literal(1),
  place: v.strictObject({ namespace: v.string(), storeUrl: v.string(), machineId: v.string(), bootId: v.string() }),
  workerIndex: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  confirmedText: v.string(),
  unansweredTexts: v.array(v.string()),
  untilMs: unixMs,
  localMarkMs: unixMs,
  incarnation: v.strictObject({
    identity: v.string(),
    startedMs: v.nullable(unixMs),
    emptyMeans: v.picklist(["new", "lost"]),
  }),
  layoutText: v.string(),
  databaseId: v.optional(v.string()),
});

/** Text of a resume record: one line of JSON. */
export function encodeResumeRecord(record: ResumeRecord): string {
  const { identity, startedMs, emptyMeans } = record.incarnation;
  const incarnation = { identity, startedMs: startedMs ?? null, emptyMeans };
  return JSON.stringify({ formatVersion: 1, ...record, incarnation });
}

/** Reads the text of a resume record; undefined for any other text. */
export function parseResumeRecord(text: string): ResumeRecord | undefined {
  try {
    const { formatVersion: _, incarnation, ...record } = v.parse(schema, JSON.parse(text));
    return { ...record, incarnation: { ...incarnation, startedMs: incarnation.startedMs ?? undefined } };
  } catch {
    return undefined;
  }
}

/** The grant that a resume record continues. */
export interface RecalledGrant {
  readonly grant: Grant;
  readonly layoutRecord: LayoutRecord;
}

/**
 * Makes the grant that a record continues: from its local mark up to what was confirmed.
 *
 * @param now - Wall and monotonic clock; nothing is confirmed yet, so the renewal is due at once.
 * @throws IdError INVALID_CONFIG if the texts in it are damaged.
 */
export function recallGrant(
  record: ResumeRecord,
  now: { readonly wallMs: number; readonly monotonicMs: number },
): RecalledGrant {
  const key = workerKey(record.workerIndex);
  const grant = new Grant({
    workerIndex: record.workerIndex,
    // The text in the store when the record was written; the store is read first: see Grant.isResolved.
    entry: { key, text: record.confirmedText },
    record: parseWorkerRecord(key, record.confirmedText),
    incarnation: record.incarnation,
    sinceMs: now.wallMs,
    fromMs: record.localMarkMs,
    untilMs: record.untilMs,
    sentAtMs: now.monotonicMs,
    isResumed: true,
  });
  for (const text of record.unansweredTexts) {
    const { writeId, markMs } = parseWorkerRecord(key, text);
    grant.unanswered.set(writeId, { text, markMs, sentAtMs: now.monotonicMs });
  }
  return { grant, layoutRecord: parseLayoutRecord(record.layoutText) };
}
