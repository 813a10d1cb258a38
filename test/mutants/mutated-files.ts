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

/** A pattern of the tests on one kind of server: other kinds and settings run the same statements. */
const onServer = {
  PostgreSQL: "^(?!.*(MySQL|MariaDB|PgBouncer|serializable))",
  MariaDB: "^(?!.*(MySQL|PostgreSQL|serializable|what is committed))",
} as const;

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
  if (folder === "src/sequence") stages.push(...sqlStages(file));
  return stages.filter(({ tests }) => tests.length > 0);
}

/** Tests of sequences on a file, and then on a server. */
function sequenceStages(server: keyof typeof onServer): readonly TestStage[] {
  const pattern = onServer[server];
  const onFile = [
    "test/contract/sequence-writes",
    "test/contract/sequence-stores",
    "src/sequence/stores/sqlite-sequence-file",
  ];
  const others = ["sequence-evidence", "sequence-faults", "sequence-copy", "upgrade/sequences-upgrade"];
  return [
    { tests: onFile.map((name) => `${name}.test.ts`) },
    { tests: ["test/stores/sequence-stores.test.ts"], pattern },
    { tests: others.map((name) => `test/stores/${name}.test.ts`), pattern },
  ];
}

/**
 * The sources whose statements the parts `sql-takes` and `sql-changes` try: all that sequences ask a database. The
 * database that a deployment notes is a record of its worker store, so the statements of records are among them.
 */
export const sqlFiles: readonly string[] = [
  ...["migrations", "mysql", "postgres", "sqlite-sequence-file", "statements"].map(
    (name) => `src/sequence/stores/${name}.ts`,
  ),
  ...["mysql", "postgres", "sqlite/record-file"].map((name) => `src/store/${name}.ts`),
];

/** The stages for a slip in one of {@link sqlFiles}. */
export function sqlStages(file: string): readonly TestStage[] {
  const own = file.replace(/\.ts$/, ".test.ts");
  const server = file.endsWith("/mysql.ts") ? "MariaDB" : "PostgreSQL";
  if (file.startsWith("src/store/sqlite/")) return [{ tests: [own, "test/contract/sqlite-store.test.ts"] }];
  if (file.startsWith("src/store/")) return [{ tests: [own], pattern: onServer[server] }];
  const stages = sequenceStages(server);
  return file.includes("/sqlite-") ? stages.slice(0, 1) : stages;
}
