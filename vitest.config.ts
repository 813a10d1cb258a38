import { defineConfig } from "vitest/config";
import { readTestSuites } from "./tools/test-suites.ts";

/** The server's own tests run in two suites: in `core` as the server is shipped, in `http2` with node:http2. */
const env: Readonly<Record<string, Readonly<Record<string, string>>>> = { http2: { SNOWLANE_TEST_HTTP2: "node" } };

/** One project a suite, as the table of CONTRIBUTING.md has them: `npm test -- core` runs one alone. */
export default defineConfig({
  test: {
    projects: readTestSuites().map(({ name, files }) => ({
      test: {
        name,
        include: [...files],
        env: env[name] ?? {},
        // These limits end a test that hangs; a test that is slow on a busy machine stays below them.
        testTimeout: 180_000,
        hookTimeout: 240_000,
      },
    })),
    passWithNoTests: false,
    maxWorkers: 2,
    maxConcurrency: 2,
  },
});
