import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fetchOnce } from "../support/fetch/user-cache.ts";
import { runCommand } from "../support/processes/run-command.ts";

/**
 * Compiles a C file of this folder to a library for LD_PRELOAD, once for each of its texts.
 *
 * @param name - Without `.c`.
 * @throws Error if there is no gcc.
 */
export async function preloadedLibrary(name: "disk-faults" | "held-clock" | "power-loss"): Promise<string> {
  const source = new URL(`./${name}.c`, import.meta.url).pathname;
  const hash = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const folder = await fetchOnce(`${name}-${hash}`, async (target) => {
    const flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"];
    try {
      await runCommand("gcc", [...flags, "-o", join(target, `${name}.so`), source, "-ldl", "-lpthread"]);
    } catch (cause) {
      throw new Error(`A test needs gcc, and ${name}.c must compile. Install it: apt-get install gcc libc6-dev`, {
        cause,
      });
    }
  });
  return join(folder, `${name}.so`);
}
