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
const isMutant = (path: string): boolean => path.endsWith(`/${file}`);

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  plugins: [
    {
      name: "mutant",
      enforce: "pre",
      transform: (_, path) => (isMutant(path) ? { code, map: null } : null),
      // Vitest keeps the other files from run to run, transformed: that is half of the time of a run.
      configureVitest: ({ defineCacheKeyGenerator }) => defineCacheKeyGenerator(({ id }) => !isMutant(id) && null),
    },
  ],
  test: {
    include: ["src/**/*.test.ts", "test/{property,contract,stores}/**/*.test.ts"],
    pool: "forks",
    // Threads load the text, too, which Node reads from their files.
    execArgv: ["--import", new URL("../clients/conformance/patched-source.mjs", import.meta.url).href],
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 240_000,
  },
});
