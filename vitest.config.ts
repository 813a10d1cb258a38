import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/suites/longest-first.ts";
import { readTestSuites } from "./tools/test-suites.ts";

refuseOlderNode();

/** The server's own tests run in two suites: in `core` as the server is shipped, in `http2` with node:http2. */
const env: Readonly<Record<string, Readonly<Record<string, string>>>> = { http2: { SNOWLANE_TEST_HTTP2: "node" } };

/** One project a suite, as the table of CONTRIBUTING.md has them: `npm test -- core` runs one alone. */
export default defineConfig({
  test: {
    projects: readTestSuites().map(({ name, files, waits }, index) => ({
      test: {
        name,
        include: [...files],
        env: env[name] ?? {},
        // These limits end a test that hangs. One that is slow stays below them: on a machine of one busy core, or on a
        // new machine, where the first test that needs a tool waits until it is there.
        testTimeout: 1_800_000,
        hookTimeout: 1_800_000,
        // One second is vitest's own bound, which a busy machine does not keep.
        expect: { poll: { timeout: 60_000 } },
        // Most tests wait for another process now and then.
        maxWorkers: waits ? 6 : 3,
        maxConcurrency: waits ? 6 : 2,
        // Vitest asks for this where the numbers of workers differ.
        sequence: { groupOrder: index },
      },
    })),
    sequence: { sequencer: LongestFirst },
    passWithNoTests: false,
  },
});

/** In one sentence: what an older Node makes of the tests is an error of syntax. */
function refuseOlderNode(): void {
  const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly engines: { node: string } };
  const [wantedMajor = 0, wantedMinor = 0] = engines.node.replace(/^\D+/, "").split(".").map(Number);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  const call = ["npx vitest", ...process.argv.slice(2)].join(" ");
  process.stderr.write(`The tests need Node ${engines.node}, and this is ${process.versions.node}: run ${call}\n`);
  process.exit(1);
}
