/**
 * `npm run measure -- newest-servers`: runs the suite `stores` on newer versions of the servers, which are fetched
 * once, and prints a table of the results; `--write` puts the table into docs/evidence/stores.md.
 */
import { systemClock } from "../../src/clock/clock.ts";
import { onOff } from "../../src/config/setting-kinds.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { insteadVariable } from "../support/fetch/tools.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { nameWithVersion, type StoreServer } from "../support/servers/server-version.ts";
import { type Run, runVitest, tell } from "../../tools/suites/run-vitest.ts";

interface Matrix {
  /** The tool that takes the place of each server. */
  readonly instead: Partial<Record<StoreServer, string>>;
  /** And of programs that go with a server. */
  readonly programs?: Readonly<Record<string, string>>;
  /** Of vitest: which tests run. */
  readonly command: readonly string[];
}

const servers = "test/support/servers";

/** All tests run on the first; on the second those run that start one of its servers. */
const matrix: readonly Matrix[] = [
  {
    instead: {
      postgres: "postgres18",
      mariadb: "mysql9",
      redis: "redis8",
      etcd: "etcd35",
      zookeeper: "zookeeper39",
    },
    programs: { pg_dump: "pg_dump18" },
    command: ["run"],
  },
  {
    instead: { redis: "valkey9", etcd: "etcd36" },
    command: ["related", "--run", `${servers}/redis-server.ts`, `${servers}/etcd-server.ts`],
  },
];

const columns = ["servers", "tests", "passed", "failed"];

await runProgram({
  call: "npm run measure -- newest-servers",
  summary: "Runs the tests of the stores on newer versions of their servers, some of them of other makers",
  options: { write: onOff({ name: "write", doc: "Puts the table into docs/evidence/stores.md." }) },
  examples: ["npm run measure -- newest-servers", "npm run measure -- newest-servers --write"],
  run: async ({ write }) => {
    const rows: (readonly string[])[] = [];
    const runs: Run[] = [];
    for (const { instead, programs, command } of matrix) {
      const env = { [insteadVariable]: pairsOf({ ...instead, ...programs }) };
      const names = await namesOf(instead);
      const run = await runVitest({ suite: "stores", command, env });
      runs.push(run);
      const failed = run.failures.length;
      rows.push([names.join(", "), `${run.passed + failed}`, `${run.passed}`, `${failed}`]);
    }
    for (const { failures } of runs) failures.forEach(tell);
    const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
    const text = `${day}, on ${machine()}, Node ${process.versions.node}.\n\n${markdownTable({ title: "", columns, rows })}`;
    process.stdout.write(`\n${text}\n`);
    if (write) writeMarkedSection("docs/evidence/stores.md", "newest", text);
    return runs.every(({ failures }) => failures.length === 0) ? 0 : 1;
  },
});

function pairsOf(instead: Readonly<Record<string, string>>): string {
  return Object.entries(instead)
    .map(([name, other]) => `${name}=${other}`)
    .join(" ");
}

/** The servers with their versions, which are fetched here where they are not yet there. */
async function namesOf(instead: Matrix["instead"]): Promise<readonly string[]> {
  process.env[insteadVariable] = pairsOf(instead);
  try {
    return await Promise.all(Object.keys(instead).map((name) => nameWithVersion(name as StoreServer)));
  } finally {
    Reflect.deleteProperty(process.env, insteadVariable);
  }
}
