/** What an outage of all servers is to programs whose buffers keep a stock for it: the clients of all languages. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseId } from "../../src/snowflake/parse.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { buildClientPrograms } from "../interop/client-programs.ts";
import { type OutageTrialResult, runOutageTrial } from "../interop/outage-trial.ts";
import { findRepeatedId, readIdFiles } from "../support/processes/id-files.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import type { Benchmark } from "./benchmark.ts";
import { formatFigure } from "./report.ts";

const perSecond = 1_000;
const seconds = { before: 180, dead: 600, after: 60 };
const names: Readonly<Record<string, string>> = { typescript: "TypeScript", go: "Go", java: "Java", python: "Python" };

const createdMs = (id: bigint): number => parseId(layouts.twitter, id).createTimeMs;

/** The greatest age of an ID when it was taken, in seconds: the IDs were taken at an even rate, the first one fresh. */
function oldestSeconds(ids: BigUint64Array): number {
  const startMs = createdMs(ids[0] ?? 0n);
  let oldestMs = 0;
  for (const [index, id] of ids.entries()) {
    oldestMs = Math.max(oldestMs, startMs + (index * 1_000) / perSecond - createdMs(id));
  }
  return oldestMs / 1_000;
}

function rowOf({ language, files, count, failures, waits }: OutageTrialResult): readonly string[] {
  const oldest = Math.max(...files.map((file) => oldestSeconds(readIdFiles([file]))));
  const figures = [count, failures, waits].map((figure) => figure.toLocaleString("en-US"));
  return [names[language] ?? language, ...figures, formatFigure(oldest)];
}

/** Ten minutes without any server. */
export const outageBenchmark: Benchmark = {
  name: "outage",
  title: "Ten minutes without any server",
  about: [
    `A program in each language takes ${perSecond.toLocaleString("en-US")} IDs/s of a buffer with the option \`outage\` of`,
    `10 minutes, all against one server, for ${seconds.before + seconds.dead + seconds.after} s. The server is killed after`,
    `${seconds.before} s and comes back ${seconds.dead} s later. A call that finds no stock waits for it; those after the kill`,
    "are counted. The age of an ID is the time from its reservation to its use, to about a second.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
    try {
      const programs = await buildClientPrograms(folder);
      log(`${seconds.before + seconds.dead + seconds.after} s from now`);
      const args = ["--store", `sqlite:${join(folder, "snowlane.db")}`];
      const startServer = () => startSnowlane({ program: [process.execPath, "dist/main.js"], args });
      const results = await runOutageTrial({ programs, folder, startServer, perSecond, seconds });
      const columns = ["client", "IDs", "calls that failed", "calls that found no stock", "oldest ID when used, s"];
      const repeated = findRepeatedId(readIdFiles(results.flatMap(({ files }) => files)));
      const note = repeated === undefined ? "No ID came twice." : `**The ID ${repeated} came twice.**`;
      return [{ title: "1,000 IDs/s while the server is dead for 600 s", note, columns, rows: results.map(rowOf) }];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
