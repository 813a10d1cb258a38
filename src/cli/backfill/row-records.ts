import { CommandError, exitCodes } from "../exit-code.ts";

/** A longer record is not a row: most likely a quote is missing. */
const recordLengthMax = 16_777_216;

/** A record of a file, as its bytes: each character is one byte. */
export interface RawRecord {
  readonly text: string;
  /** The line in which it begins, from 1. */
  readonly line: number;
}

/**
 * Reads records with their line ends, many at a time. Texts have one character a byte. With `isQuoted`, a line end
 * within quotes does not end a record.
 *
 * Holds one chunk and one record.
 *
 * @throws CommandError for a record that has no end.
 */
export async function* recordsOf(
  chunks: AsyncIterable<string>,
  isQuoted: boolean,
): AsyncGenerator<readonly RawRecord[]> {
  let rest = "";
  let line = 1;
  for await (const chunk of chunks) {
    const text = rest + chunk;
    const records: RawRecord[] = [];
    let start = 0;
    let lines = 0;
    let isOpen = false;
    for (let from = 0; ; ) {
      const end = text.indexOf("\n", from);
      if (end < 0) break;
      lines += 1;
      if (isQuoted) isOpen = isOpen !== hasOddQuotes(text, from, end);
      from = end + 1;
      if (isOpen) continue;
      records.push({ text: text.slice(start, from), line });
      line += lines;
      lines = 0;
      start = from;
    }
    rest = text.slice(start);
    if (rest.length > recordLengthMax) {
      const message = `Line ${line} has no end within ${recordLengthMax} bytes. Is a quote missing?`;
      throw new CommandError(message, exitCodes.refused);
    }
    if (records.length > 0) yield records;
  }
  if (rest !== "") yield [{ text: rest, line }];
}

function hasOddQuotes(text: string, from: number, end: number): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"', from); at >= 0 && at < end; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}
