import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";

const source = "/dev/urandom";

/**
 * Draws 128 random bits from the kernel, as 32 lower-case hex digits.
 *
 * Never from a generator whose state lives in this process: two clones of one process (a VM snapshot started twice)
 * would draw the same bits and take each other's writes for their own. The kernel's generator is re-seeded after a
 * restore. Where there is no such device (Windows), node:crypto has to do.
 */
export function kernelRandom128(): string {
  if (process.platform === "win32") return randomBytes(16).toString("hex");
  const bytes = Buffer.alloc(16);
  const file = openSync(source, "r");
  try {
    const length = readSync(file, bytes, 0, bytes.length, null);
    if (length !== bytes.length) throw new Error(`${source} gave ${length} bytes instead of ${bytes.length}`);
  } finally {
    closeSync(file);
  }
  return bytes.toString("hex");
}
