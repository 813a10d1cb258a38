import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { fetchOnce } from "./user-cache.ts";

/**
 * Makes a Python virtual environment in the cache, with the Python of this machine; returns the path of its
 * interpreter.
 *
 * @param name - For the folder's name and messages.
 * @param requirements - Text of a requirements file: every package, with `==` and `--hash`. Another text is another
 * environment.
 */
export async function fetchPythonVenv(name: string, requirements: string): Promise<string> {
  const digest = createHash("sha256").update(requirements).digest("hex").slice(0, 12);
  const folder = await fetchOnce(`venv-${name}-${digest}`, async (folder) => {
    const file = join(folder, "requirements.txt");
    await runCommand("python3", ["-m", "venv", folder]);
    writeFileSync(file, requirements);
    const install = ["-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", file];
    await runCommand(join(folder, "bin", "python"), install);
  });
  return join(folder, "bin", "python");
}
