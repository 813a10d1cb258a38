import { withCacheLock } from "../fetch/user-cache.ts";
import { runCommand } from "./run-command.ts";

/** The bundle, which is what users run; {@link bundleServer} makes it. */
export const bundledProgram = "dist/main.js";

/** Brings dist/ up to date with the sources: what serves is what is tried. */
export async function bundleServer(): Promise<void> {
  await withCacheLock("bundle", async () => void (await runCommand(process.execPath, ["tools/bootstrap.mjs"])));
}
