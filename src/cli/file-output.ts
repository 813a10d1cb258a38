import { fstatSync, writeSync } from "node:fs";
import { Writable } from "node:stream";

/**
 * Standard output that writes all or fails, where it is a file. Node's own stream treats a write that a full disk cut
 * short as complete, so a command would succeed with only a part of its output.
 */
export function openFileOutput(file: number): Writable | undefined {
  if (!fstatSync(file).isFile()) return undefined;
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      try {
        for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
