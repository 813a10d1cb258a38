/**
 * The suite `stores`: `npm run test:stores`. With `--newest` it runs on newer versions of the servers, which are
 * fetched once, and prints a table of the results; `--write` puts the table into docs/stores.md.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/clock/clock.ts";
import { onOff } from "../src/config/setting-kinds.ts";
import { writeMarkedSection } from "../test/bench/marked-section.ts";
import { machine, markdownTable } from "../test/bench/report.ts";
import { insteadVariable } from "../test/support/fetch/tools.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { nameWithVersion, type StoreServer } from "../test/support/servers/server-version.ts";
import { type Run, runVitest, tell } from "./run-vitest.ts";

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
  call: "npm run test:stores --",
  summary: "Runs the tests of the stores on their real servers",
  options: {
    newest: onOff({ name: "newest", doc: "On newer versions of the servers, some of them of other makers." }),
    write: onOff({ name: "write", doc: "Puts the table of the newer versions into docs/stores.md." }),
  },
  examples: ["npm run test:stores", "npm run test:stores -- --newest --write"],
  run: async ({ newest, write }) => {
    if (!newest)
      return spawnSync(process.execPath, ["tools/run-suites.ts", "stores"], { stdio: "inherit" }).status ?? 1;
    const folder = mkdtempSync(join(tmpdir(), "snowlane-newest-"));
    const rows: (readonly string[])[] = [];
    const runs: Run[] = [];
    try {
      for (const [index, { instead, programs, command }] of matrix.entries()) {
        const env = { [insteadVariable]: pairsOf({ ...instead, ...programs }) };
        const names = await namesOf(instead);
        const run = runVitest("stores", command, join(folder, `${index}.json`), env);
        runs.push(run);
        const failed = run.failures.length;
        rows.push([names.join(", "), `${run.passed + failed}`, `${run.passed}`, `${failed}`]);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    for (const { failures } of runs) failures.forEach(tell);
    const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
    const text = `${day}, on ${machine()}, Node ${process.versions.node}.\n\n${markdownTable({ title: "", columns, rows })}`;
    process.stdout.write(`\n${text}\n`);
    if (write) writeMarkedSection("docs/stores.md", "newest", text);
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
