import { globSync } from "node:fs";

/** Where a slip can repeat an ID: the protocol, the generator, and the hot methods with the way of their bytes. */
const patterns = [
  "src/lease/**/*.ts",
  "src/snowflake/*.ts",
  "src/worker/*.ts",
  "src/service/hot/*.ts",
  "src/server/call/hot-calls.ts",
  "src/http2/output-buffer.ts",
  "src/http2/send-scheduler.ts",
];

/** The sources of which mutants are made, in order. */
export function mutatedFiles(): readonly string[] {
  return globSync(patterns)
    .filter((path) => !path.endsWith(".test.ts"))
    .toSorted();
}

/**
 * The tests that are to notice a slip in a source, in stages: most slips are noticed by the first, which is quick. Its
 * own test, then those of its folder, then those of the folders above it.
 */
export function testStages(file: string): readonly (readonly string[])[] {
  const own = file.replace(/\.ts$/, ".test.ts");
  const folder = file.slice(0, file.indexOf("/", "src/".length));
  const above = ["src/lease", "src/snowflake"].includes(folder) ? ["src/worker", "test/property"] : [];
  return [globSync(own), [folder], above].filter((stage) => stage.length > 0);
}
