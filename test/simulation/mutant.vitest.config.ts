/**
 * Runs tests of the sources with one rule of the protocol removed: `SNOWLANE_MUTANT=NAME vitest run --config
 * test/simulation/mutant.vitest.config.ts FILE`. Its tests are expected to fail: see mutants.test.ts.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { mutants, patched } from "./mutants.ts";

const mutant = mutants.find(({ name }) => name === process.env["SNOWLANE_MUTANT"]);
if (mutant === undefined) throw new Error(`There is no mutant ${process.env["SNOWLANE_MUTANT"]}.`);

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  plugins: [
    {
      name: "mutant",
      enforce: "pre",
      transform: (text, path) => (path.endsWith(`/${mutant.file}`) ? { code: patched(text, mutant), map: null } : null),
    },
  ],
  // What was transformed is kept from run to run otherwise, with the mutant of another run in it.
  test: { include: ["src/**/*.test.ts"], fsModuleCache: false, maxWorkers: 1, testTimeout: 180_000 },
});
