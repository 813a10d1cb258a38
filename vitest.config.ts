import { defineConfig } from "vitest/config";

/**
 * One project a suite: `npm test core` runs one alone. tools/run-suites.ts gives the order and the time that each may
 * take.
 */
const suites = {
  core: {
    include: ["src/**/*.test.ts", "test/*.test.ts", "test/{property,server,cli,contract}/**/*.test.ts"],
    exclude: ["src/text/**", "src/http2/**", "src/worker/stores/!(sqlite)*.test.ts"],
  },
  text: { include: ["src/text/**/*.test.ts", "test/{text,vectors}/**/*.test.ts"] },
  proof: { include: ["test/{simulation,model,fault}/**/*.test.ts"] },
  stores: { include: ["src/worker/stores/!(sqlite)*.test.ts", "test/stores/**/*.test.ts"] },
  // Not in npm test: it builds a kube-apiserver first.
  kube: { include: ["test/kube/**/*.test.ts"] },
  clients: { include: ["clients/typescript/**/*.test.ts", "test/{interop,clients}/**/*.test.ts"] },
  http2: {
    // The server's own tests once more, with the engine of src/http2 below: core runs them with node:http2.
    include: ["src/http2/**/*.test.ts", "test/{http2,conformance,server,soak}/**/*.test.ts"],
    env: { SNOWLANE_TEST_HTTP2: "engine" },
  },
};

export default defineConfig({
  test: {
    projects: Object.entries(suites).map(([name, suite]) => ({
      test: {
        name,
        include: suite.include,
        exclude: ["**/node_modules/**", ...("exclude" in suite ? suite.exclude : [])],
        env: "env" in suite ? suite.env : {},
        // Only what hangs ends by these: a busy machine is no failure.
        testTimeout: 180_000,
        hookTimeout: 240_000,
      },
    })),
    passWithNoTests: false,
    maxWorkers: 2,
    maxConcurrency: 2,
  },
});
