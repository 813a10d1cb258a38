import { randomBytes } from "node:crypto";
import { openSync, readSync } from "node:fs";
import { IdError } from "./errors.ts";

const source = "/dev/urandom";
/** Stays open, because a process may have no descriptor left when its next renewal is due. */
let file: number | undefined;

/**
 * Draws 128 random bits from the kernel, as 32 lower-case hex digits.
 *
 * Never from a generator whose state lives in this process: two clones of one process (a VM snapshot started twice)
 * would draw the same bits and mistake each other's writes for their own. The kernel's generator is re-seeded after a
 * restore. If there is no such device (Windows), node:crypto is used.
 *
 * @throws IdError STORE_UNAVAILABLE if the device cannot be opened or read: the caller tries again.
 */
export function kernelRandom128(): string {
  if (process.platform === "win32") return randomBytes(16).toString("hex");
  const bytes = Buffer.alloc(16);
  try {
    file ??= openSync(source, "r");
    const length = readSync(file, bytes, 0, bytes.length, null);
    if (length !== bytes.length) throw new Error(`it gave ${length} bytes instead of ${bytes.length}`);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    const message = `${source} cannot be read (${problem}), and no write to the store is sent without its random bits.`;
    throw new IdError("STORE_UNAVAILABLE", message, { cause, metadata: { path: source, problem } });
  }
  return bytes.toString("hex");
}
