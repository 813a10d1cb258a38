/**
 * The parts of Node that the protocol's code imports, for a worker of a browser: tools/bundle-page.mjs puts this file
 * in place of `node:crypto` and `node:os`.
 */

/** A hash of 64 bits. Its only use here is to tell apart the lives of a simulated store. */
export function createHash(_algorithm: string): { update(text: string): { digest(form: "hex"): string } } {
  return {
    update: (text) => ({ digest: () => [0x811c9dc5, 0x01000193].map((start) => fnv(text, start)).join("") }),
  };
}

/** FNV-1a, 32 bits. */
function fnv(text: string, start: number): string {
  let hash = start;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** A simulated process is given its clocks, and never asks for this one. */
export function uptime(): number {
  throw new Error("A simulated process read the clock of the machine.");
}
