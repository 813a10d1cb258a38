/**
 * Runs tests with another text of one source: the file's path is in `SNOWLANE_PATCHED`, and `SNOWLANE_PATCHED_TEXT`
 * says where the text is. Called by run-mutated.ts.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const { SNOWLANE_PATCHED: file, SNOWLANE_PATCHED_TEXT: textPath } = process.env;
if (file === undefined || textPath === undefined)
  throw new Error("SNOWLANE_PATCHED and SNOWLANE_PATCHED_TEXT are needed.");
const code = readFileSync(textPath, "utf8");

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  plugins: [
    {
      name: "mutant",
      enforce: "pre",
      transform: (_, path) => (path.endsWith(`/${file}`) ? { code, map: null } : null),
    },
  ],
  // Otherwise transformed files would be kept from run to run, with the mutant of another run in them.
  test: {
    include: ["src/**/*.test.ts", "test/{property,contract,stores}/**/*.test.ts"],
    pool: "forks",
    // Threads load the text, too, which Node reads from their files.
    execArgv: ["--import", new URL("../clients/conformance/patched-source.mjs", import.meta.url).href],
    fsModuleCache: false,
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 240_000,
  },
});
