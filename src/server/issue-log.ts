import { closeSync, openSync, writeSync } from "node:fs";
import { IdError } from "../errors.ts";
import type { IdRun } from "../snowflake/run.ts";
import type { IdSource, ReservedIds, ReserveRequest } from "../worker/id-source.ts";

/** Bytes of a record: the first ID in 8, the count in 4, the stride's binary logarithm in 4; the highest byte first. */
export const issueRecordBytes = 16;

/**
 * A file that holds each run of IDs before any caller has one of them. An ID that is not in it was not issued, also
 * after kill -9 (but not after a power cut, because nothing is synced).
 *
 * Whole records are appended, so several servers may write one file. IDs whose record cannot be written are not given
 * out; the call fails with the system's error. docs/adr/0023 says what the log is for.
 */
export interface IssueLog {
  /** Wraps a source so that each run is logged before it is given out. */
  readonly before: (source: IdSource) => IdSource;
  readonly close: () => void;
}

/** @throws IdError INVALID_CONFIG if the file cannot be opened. */
export function openIssueLog(path: string): IssueLog {
  let file: number;
  try {
    file = openSync(path, "a", 0o600);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The issue log ${path} cannot be opened: ${reason}`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { setting: "issue_log", value: path }, cause });
  }
  return { before: (source) => new LoggingSource(source, file), close: () => closeSync(file) };
}

class LoggingSource implements IdSource {
  readonly #inner: IdSource;
  readonly #file: number;

  constructor(inner: IdSource, file: number) {
    this.#inner = inner;
    this.#file = file;
  }

  get layout(): IdSource["layout"] {
    return this.#inner.layout;
  }

  get reserveCountMax(): number {
    return this.#inner.reserveCountMax;
  }

  get risingSpan(): number {
    return this.#inner.risingSpan;
  }

  get state(): IdSource["state"] {
    return this.#inner.state;
  }

  tryNext(): bigint | undefined {
    const id = this.#inner.tryNext();
    if (id !== undefined) this.#write([{ firstId: id, count: 1, stride: this.#inner.layout.stride }]);
    return id;
  }

  reserve(request: ReserveRequest): ReservedIds | Promise<ReservedIds> {
    const drawn = this.#inner.reserve(request);
    return drawn instanceof Promise ? drawn.then((ids) => this.#note(ids)) : this.#note(drawn);
  }

  onStateChange(listener: Parameters<IdSource["onStateChange"]>[0]): () => void {
    return this.#inner.onStateChange(listener);
  }

  status(): ReturnType<IdSource["status"]> {
    return this.#inner.status();
  }

  #note(ids: ReservedIds): ReservedIds {
    this.#write(ids.runs);
    return ids;
  }

  #write(runs: readonly IdRun[]): void {
    const records = Buffer.allocUnsafe(runs.length * issueRecordBytes);
    let at = 0;
    for (const { firstId, count, stride } of runs) {
      at = records.writeBigUInt64BE(firstId, at);
      at = records.writeUInt32BE(count, at);
      // A stride is a power of two: the weight of the sequence's lowest bit.
      at = records.writeUInt32BE(stride.toString(2).length - 1, at);
    }
    const written = writeSync(this.#file, records);
    if (written !== records.length) throw new Error(`The issue log took ${written} of ${records.length} bytes.`);
  }
}
