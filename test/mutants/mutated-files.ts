import { globSync } from "node:fs";

/**
 * Where a slip can repeat an ID or a value: the protocol, the generator, the hot methods with the way of their bytes,
 * sequences, and the stores.
 */
const patterns = [
  "src/lease/**/*.ts",
  "src/snowflake/*.ts",
  "src/worker/*.ts",
  "src/service/hot/*.ts",
  "src/server/call/hot-calls.ts",
  "src/http2/output-buffer.ts",
  "src/http2/send-scheduler.ts",
  "src/sequence/**/*.ts",
  "src/store/**/*.ts",
];

/** Tests of one stage, and a pattern of those that are run; absent = all of them. */
export interface TestStage {
  readonly tests: readonly string[];
  readonly pattern?: string;
}

/** On one server of each dialect: MySQL and other settings of both run the same statements. */
const onTwoServers = "^(?!.*(MySQL|PgBouncer|serializable|what is committed))";

/** The sources of which mutants are made, in order. */
export function mutatedFiles(): readonly string[] {
  return globSync(patterns)
    .filter((path) => !path.endsWith(".test.ts"))
    .toSorted();
}

/**
 * The tests that are to notice a slip in a source, in stages: most slips are noticed by the first, which is quick. Its
 * own test, then those of its folder, then those of the folders above it. Slips of stores are then tried on real
 * servers.
 */
export function testStages(file: string): readonly TestStage[] {
  const own = file.replace(/\.ts$/, ".test.ts");
  const folder = file.slice(0, file.indexOf("/", "src/".length));
  const above = ["src/lease", "src/snowflake"].includes(folder) ? ["src/worker", "test/property"] : [];
  const stages: TestStage[] = [{ tests: globSync(own) }, { tests: [folder] }, { tests: above }];
  if (folder === "src/sequence") stages.push(...sequenceStages);
  return stages.filter(({ tests }) => tests.length > 0);
}

const sequenceStages: readonly TestStage[] = [
  { tests: ["test/contract/sequence-stores.test.ts", "test/simulation/sequence-simulation.test.ts"] },
  { tests: ["test/stores/sequence-stores.test.ts"], pattern: onTwoServers },
  {
    tests: ["sequence-evidence", "sequence-faults", "sequence-copy", "upgrade/sequences-upgrade"].map(
      (name) => `test/stores/${name}.test.ts`,
    ),
    pattern: onTwoServers,
  },
];

/** The sources whose statements `npm run all -- sql-mutants` tries: all that sequences ask a database. */
export const sqlFiles: readonly string[] = ["migrations", "mysql", "postgres", "statements"].map(
  (name) => `src/sequence/stores/${name}.ts`,
);

/** Their tests, in stages: a file's database first, then those of servers. */
export const sqlStages: readonly TestStage[] = [
  { tests: ["test/contract/sequence-stores.test.ts"] },
  ...sequenceStages.slice(1),
];
