import { createWriteStream, type WriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { CommandError, exitCodes } from "../exit-code.ts";

/**
 * Writes a file as a whole: under another name until it is complete. A run that dies leaves no file under the name that
 * was asked for.
 *
 * @param write - Writes to the stream, and does not end it.
 * @throws What `write` throws; CommandError where the file cannot be written.
 */
export async function writeWholeFile<T>(path: string, write: (out: WriteStream) => Promise<T>): Promise<T> {
  const temporary = `${path}.part-${process.pid}`;
  const out = createWriteStream(temporary, { flags: "wx", highWaterMark: 1 << 20, flush: true });
  const failed = new Promise<never>((_, reject) => {
    out.once("error", (error) => reject(unwritable(path, error)));
  });
  // It may fail before any code waits for it.
  failed.catch(() => {});
  try {
    const result = await Promise.race([write(out), failed]);
    out.end();
    await Promise.race([finished(out), failed]);
    await rename(temporary, path);
    return result;
  } catch (error) {
    out.destroy();
    await rm(temporary, { force: true });
    throw error;
  }
}

function unwritable(path: string, error: Error): CommandError {
  return new CommandError(`${path} cannot be written: ${error.message}. No file was left there.`, exitCodes.refused);
}
