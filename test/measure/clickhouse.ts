/**
 * `npm run measure -- clickhouse --python VENV/bin/python`: runs the functions of `snowlane sql --dialect clickhouse`
 * in a real ClickHouse, which the Python package chdb holds. It is in no suite, because chdb takes almost a gigabyte of
 * disk: make a virtual environment with `pip install chdb` first, and run this after a change of the dialect.
 */
import { spawnSync } from "node:child_process";
import { text } from "../../src/config/setting-kinds.ts";
import { withFallback } from "../../src/config/setting.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { endsAt, idsOf, sqlLayouts, sqlOf, timesOf, timeText, valuesOfId } from "../text/sql-functions.ts";

/** Reads one query a line as JSON, and writes each answer as JSON. */
const session = `
import json, sys
from chdb import session
database = session.Session()
for line in sys.stdin:
    print(json.dumps(str(database.query(json.loads(line), "JSONEachRow"))), flush=True)
`;

interface Step {
  readonly sql: string;
  readonly about: string;
  /** The row that is expected; absent for a statement. */
  readonly row?: Readonly<Record<string, string | null>>;
}

async function steps(): Promise<readonly Step[]> {
  const all: Step[] = [];
  for (const layout of sqlLayouts) {
    const script = (await sqlOf("clickhouse", layout)).replaceAll(/^--.*$/gm, "");
    for (const statement of script.split(";")) {
      if (statement.trim() !== "") all.push({ sql: statement, about: layout.name });
    }
    for (const id of idsOf(layout)) {
      const row = valuesOfId(layout, id);
      const columns = Object.keys(row).map((name) => `toString(snowlane_${name}(toInt64(${id}))) AS ${name}`);
      all.push({ sql: `SELECT ${columns.join(", ")}`, about: `${layout.name} ${id}`, row });
    }
    for (const ms of timesOf(layout)) {
      const at = `'${timeText(ms)}'`;
      const sql = `SELECT toString(snowlane_first_id(${at})) AS first, toString(snowlane_last_id(${at})) AS last`;
      all.push({ sql, about: `${layout.name} ${timeText(ms)}`, row: endsAt(layout, ms) });
    }
  }
  return all;
}

await runProgram({
  call: "npm run measure -- clickhouse",
  summary: "Runs the functions of snowlane sql --dialect clickhouse in a real ClickHouse",
  options: {
    python: withFallback(text({ name: "python", placeholder: "PROGRAM", doc: "A Python that has chdb." }), "python3"),
  },
  examples: ["npm run measure -- clickhouse --python venv/bin/python"],
  run: async ({ python }) => {
    const all = await steps();
    const input = all.map(({ sql }) => `${JSON.stringify(sql)}\n`).join("");
    const { status, stdout, stderr } = spawnSync(python, ["-c", session], {
      input,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    const answers = stdout.trimEnd().split("\n");
    const wrong = all.flatMap(({ about, row }, index) => {
      const answer = answers[index] === undefined ? "" : String(JSON.parse(answers[index])).trim();
      if (row === undefined || isSame(answer, row)) return [];
      return [`${about}: ${answer || "no answer"} instead of ${JSON.stringify(row)}`];
    });
    for (const line of wrong.slice(0, 10)) process.stdout.write(`${line}\n`);
    if (status !== 0) process.stdout.write(stderr.slice(-2_000));
    const asked = all.filter(({ row }) => row !== undefined).length;
    process.stdout.write(`${asked - wrong.length} of ${asked} rows are right\n`);
    return wrong.length === 0 && status === 0 ? 0 : 1;
  },
});

function isSame(answer: string, row: Readonly<Record<string, string | null>>): boolean {
  if (answer === "") return false;
  const found: Readonly<Record<string, string | null>> = JSON.parse(answer);
  return Object.entries(row).every(([name, value]) => (found[name] ?? null) === value);
}
