import type { Readable } from "node:stream";

/** No text form is a tenth as long. Only the beginning of a longer line is kept, which is enough to refuse it. */
const lineLengthMax = 4_096;

/**
 * Reads lines, many at a time: the lines that one chunk of the stream ends. CR LF ends a line as LF does, and so does
 * the end of the stream.
 *
 * Holds one chunk, however long a line is. An asynchronous turn for each line would cost more than reading it.
 */
export async function* linesOf(stream: Readable): AsyncGenerator<readonly string[]> {
  stream.setEncoding("utf8");
  let rest = "";
  for await (const chunk of stream as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = (lines.pop() ?? "").slice(0, lineLengthMax);
    if (lines.length > 0) yield lines.map(withoutReturn);
  }
  if (rest !== "") yield [withoutReturn(rest)];
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
