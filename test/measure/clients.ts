/**
 * `npm run measure -- clients`: lets the connection of each client go dark, by call and by buffer, and prints how many
 * calls failed and how long one waited. `--write` puts the table into docs/reports/clients.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock/clock.ts";
import { onOff } from "../../src/config/setting-kinds.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { callInTheDark, type DarkKind, type DarkOutcome, takeInTheDark } from "../clients/conformance/dark.ts";
import { Lane } from "../clients/conformance/lane.ts";
import type { World } from "../clients/conformance/world.ts";
import { buildClientPrograms, type ClientProgram } from "../interop/client-programs.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runProgram } from "../support/processes/run-program.ts";

interface DarkRow {
  readonly name: string;
  readonly measure: (world: World) => Promise<DarkOutcome>;
}

const kinds: Readonly<Record<DarkKind, string>> = {
  swallowed: "a proxy swallows the connection",
  frozen: "the server freezes behind a balancer",
  dropped: "the network drops the packets",
};

const darkRows: readonly DarkRow[] = Object.entries(kinds).flatMap(([kind, name]) => [
  { name: `single calls, ${name}`, measure: (world) => callInTheDark(world, kind as DarkKind) },
  { name: `a buffer at 200 IDs/s, ${name}`, measure: (world) => takeInTheDark(world, kind as DarkKind) },
]);

const options = { write: onOff({ name: "write", doc: "Puts the table into docs/reports/clients.md." }) };

await runProgram({
  call: "npm run measure -- clients",
  summary: "Measures what dark connections cost each client",
  options,
  examples: ["npm run measure -- clients --write"],
  run: async ({ write }) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-clients-"));
    try {
      const programs = await buildClientPrograms(folder);
      const table = await darkTable(programs);
      process.stdout.write(`${table}\n`);
      const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
      const about = `${day}, on ${machine()}, ${await versions()}.`;
      if (write) writeMarkedSection("docs/reports/clients.md", "dark", `${about}\n\n${table}`);
      return 0;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** What the programs run on. */
async function versions(): Promise<string> {
  const go = (await runCommand("go", ["env", "GOVERSION"])).trim().replace("go", "Go ");
  const [java = ""] = (await runCommand("java", ["--version"])).split("\n");
  const python = (await runCommand("python3", ["--version"])).trim();
  return `Node ${process.versions.node}, ${go}, ${java.replace(/^openjdk (\S+).*$/, "Java $1")}, ${python}`;
}

async function darkTable(programs: readonly ClientProgram[]): Promise<string> {
  const rows: (readonly string[])[] = [];
  for (const { name, measure } of darkRows) {
    const cells: string[] = [];
    for (const { call } of programs) {
      const lane = new Lane(call);
      const { failures, waitMaxMs } = await lane.inWorld(measure);
      await lane.end();
      cells.push(`${failures} failed, ${(waitMaxMs / 1_000).toFixed(1)} s`);
    }
    rows.push([name, ...cells]);
    process.stdout.write(`| ${[name, ...cells].join(" | ")} |\n`);
  }
  return markdownTable({ title: "", columns: ["what happens", ...programs.map(({ language }) => language)], rows });
}
