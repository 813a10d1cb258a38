import { closeSync, createReadStream, openSync, readSync } from "node:fs";
import type { Readable } from "node:stream";
import { issueRecordBytes } from "../../server/issue-log.ts";
import type { TextCodec } from "../../text/text-codec.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { fieldsOf } from "../backfill/row-format.ts";
import { linesOf } from "../ids/line-splitter.ts";
import { IdError } from "../../errors.ts";

/** Receives what a file holds. Places are line numbers, or the numbers of an issue log's records, from 1 on. */
export interface AuditReader {
  /** Called where a file begins, with its name. */
  begin(name: string): void;
  id(id: bigint, place: number): void;
  unreadable(text: string, place: number): void;
}

/** How the lines of a text are read. */
export interface ColumnRules {
  /** Reads each text as an ID of the chosen layout. */
  readonly codec: TextCodec;
  /** Unix milliseconds: a text of an ID from more than a day later is not read as one. */
  readonly nowMs: number;
  /** Name or number of the column that has the IDs; undefined: the whole line, or the first column. */
  readonly column: string | undefined;
}

/** Reads one file: an issue log, or lines of text. @throws CommandError if it cannot be read. */
export async function readFileIds(path: string, rules: ColumnRules, reader: AuditReader): Promise<void> {
  reader.begin(path);
  try {
    if (isIssueLog(path)) await readIssueLog(path, reader);
    else await readColumn(createReadStream(path), rules, reader);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`, exitCodes.refused);
  }
}

/** A record of an issue log has three zero bytes before its last byte; a text has none. */
function isIssueLog(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const record = Buffer.alloc(issueRecordBytes);
    const length = readSync(file, record, 0, record.length, 0);
    return length === issueRecordBytes && record.readUIntBE(12, 3) === 0;
  } finally {
    closeSync(file);
  }
}

async function readIssueLog(path: string, reader: AuditReader): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  let record = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.length - (bytes.length % issueRecordBytes);
    for (let at = 0; at < end; at += issueRecordBytes) readRecord(bytes, at, ++record, reader);
    rest = bytes.subarray(end);
  }
  if (rest.length > 0) reader.unreadable(`${rest.length} bytes of a record of ${issueRecordBytes}`, record + 1);
}

function readRecord(bytes: Buffer, at: number, record: number, reader: AuditReader): void {
  const [count, strideBits] = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12)];
  if (count === 0 || strideBits > 62 || bytes[at]! > 127) {
    reader.unreadable(bytes.toString("hex", at, at + issueRecordBytes), record);
    return;
  }
  const stride = 1n << BigInt(strideBits);
  let id = bytes.readBigUInt64BE(at);
  for (let index = 0; index < count; index++, id += stride) reader.id(id, record);
}

/** Reads lines: an ID in any text form, or the column of CSV or of texts with tabs. Empty lines are skipped. */
export async function readColumn(
  stream: Readable,
  { codec, nowMs, column }: ColumnRules,
  reader: AuditReader,
): Promise<void> {
  let index = column !== undefined && /^\d+$/.test(column) ? Number(column) - 1 : 0;
  let isNameSought = column !== undefined && !/^\d+$/.test(column);
  let place = 0;
  for await (const lines of linesOf(stream)) {
    for (const line of lines) {
      place++;
      if (line === "") continue;
      const text = place === 1 ? line.replace(/^\uFEFF/, "") : line;
      if (isNameSought) {
        index = columnsOf(text).findIndex((name) => name.trim() === column);
        isNameSought = false;
        if (index < 0) throw new CommandError(noColumn(column, text), exitCodes.usage);
        continue;
      }
      const cell = (columnsOf(text)[index] ?? "").trim();
      const id = readId(cell, codec, nowMs);
      if (id !== undefined) reader.id(id, place);
      // A line with the names of columns is not a lost ID.
      else if (place > 1 || /\d/.test(cell)) reader.unreadable(cell === "" ? text : cell, place);
    }
  }
}

function columnsOf(line: string): readonly string[] {
  if (line.includes("\t")) return line.split("\t");
  return fieldsOf(line) ?? [line];
}

function noColumn(column: string | undefined, line: string): string {
  const names = columnsOf(line).map((name) => JSON.stringify(name.trim().slice(0, 40)));
  return `The first line has no column ${JSON.stringify(column)}; it has ${names.slice(0, 20).join(", ")}.`;
}

const idEnd = 1n << 63n;

function readId(text: string, codec: TextCodec, nowMs: number): bigint | undefined {
  if (/^\d{1,19}$/.test(text)) {
    const id = BigInt(text);
    return id < idEnd ? id : undefined;
  }
  try {
    return codec.read(text, { nowMs }).id;
  } catch (error) {
    if (error instanceof IdError) return undefined;
    throw error;
  }
}
