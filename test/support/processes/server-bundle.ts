import { withCacheLock } from "../fetch/user-cache.ts";
import { runCommand } from "./run-command.ts";

/** The bundle, which is what users run; {@link bundleServer} makes it. */
export const bundledProgram = "dist/main.js";

/** Environment variable: the bundle was made before this run, and stays as it is. */
export const bundledVariable = "SNOWLANE_TEST_BUNDLED";

let isBundled: Promise<void> | undefined;

/** The program of the bundle with this Node, brought up to date before it is first used. */
export async function bundledSnowlane(): Promise<readonly string[]> {
  await (isBundled ??= bundleServer());
  return [process.execPath, bundledProgram];
}

/** Brings dist/ up to date with the sources: what serves is what is tried. */
export async function bundleServer(): Promise<void> {
  if (process.env[bundledVariable] === "1") return;
  await withCacheLock("bundle", async () => void (await runCommand(process.execPath, ["tools/bootstrap.mjs"])));
}
