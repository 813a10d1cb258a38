/**
 * `npm run measure -- soak --for 30m`: starts the built server with the HTTP/2 engine and calls it in every way,
 * rightly and wrongly, until the time is over. Every minute (`--every 5m`) all callers stand still, and a line says
 * what the server then holds. Exits with 1 where a call failed, an ID came twice, or memory, open files or timers have
 * grown. `--write` puts the outcome into docs/http2.md. Ctrl-C ends it early, in order.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock/clock.ts";
import { duration, onOff } from "../../src/config/setting-kinds.ts";
import { withFallback } from "../../src/config/setting.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { bundledProgram, bundleServer } from "../support/processes/server-bundle.ts";
import { soak, type SoakLook, type SoakResult } from "../soak/soak.ts";

const attackPauseMs = 3_000;
/** A tenth. A server still compiles in the first minutes: a shorter run than this proves nothing about memory. */
const growthMax = 1.1;
const shortMs = 300_000;
const growthMaxShort = 2;
/** Lines of a table in the document. */
const rowsMax = 10;

const span = { minMs: 1_000, maxMs: 30 * 86_400_000 };
const options = {
  for: withFallback(duration({ name: "for", doc: "How long it goes on.", ...span }), 600_000),
  every: withFallback(duration({ name: "every", doc: "From one look at the server to the next.", ...span }), 60_000),
  write: onOff({ name: "write", doc: "Puts the outcome into docs/http2.md." }),
};

const columns = ["time", "calls", "failed", "IDs", "repeated", "MB in use", "MB resident", "open files", "timers"];

function rowOf(look: SoakLook): readonly string[] {
  const { calls, failures, idCount, duplicates, liveMb, residentMb, openFiles, timers } = look;
  const seconds = Math.round(look.atMs / 1_000);
  const time = `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}`;
  const counts = [calls, failures, idCount, duplicates].map(String);
  return [time, ...counts, liveMb.toFixed(1), residentMb.toFixed(0), `${openFiles}`, `${timers}`];
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell) => cell.padStart(12)).join(" ")}\n`);
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
}

await runProgram({
  call: "npm run measure -- soak",
  summary: "Calls a server with the HTTP/2 engine in every way, and looks at what it holds",
  options,
  examples: ["npm run measure -- soak --for 30m", "npm run measure -- soak --for 72h --every 10m --write"],
  run: async (chosen) => {
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    await bundleServer();
    const folder = mkdtempSync(join(tmpdir(), "snowlane-soak-"));
    try {
      const result = await run(chosen.for, chosen.every, join(folder, "snowlane.db"), stop.signal);
      if (chosen.write) writeTable(result);
      for (const problem of result.problems) process.stdout.write(`BROKEN: ${problem}\n`);
      if (result.problems.length === 0) process.stdout.write("Nothing failed, nothing grew.\n");
      return result.problems.length === 0 ? 0 : 1;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

async function run(durationMs: number, lookEveryMs: number, storeFile: string, signal: AbortSignal) {
  print(columns);
  return await soak({
    script: bundledProgram,
    storeFile,
    durationMs,
    lookEveryMs,
    attacks: "quick and slow",
    attackPauseMs,
    growthMax: durationMs < shortMs ? growthMaxShort : growthMax,
    onLook: (look) => {
      clearLine();
      print(rowOf(look));
    },
    onFailure: (text) => {
      clearLine();
      process.stderr.write(`${new Date(systemClock.nowMs()).toISOString()} ${text}\n`);
    },
    onProgress: (line) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${line}`);
    },
    signal,
  });
}

/** The first look, the last, and some between. */
function chosenLooks(looks: readonly SoakLook[]): readonly SoakLook[] {
  const step = Math.max(1, Math.ceil((looks.length - 1) / (rowsMax - 1)));
  return looks.filter((_, index) => index === looks.length - 1 || index % step === 0);
}

function writeTable({ looks, problems }: SoakResult): void {
  const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  const minutes = Math.round((looks.at(-1)?.atMs ?? 0) / 60_000);
  const outcome = problems.length === 0 ? "Nothing failed, nothing grew." : problems.join("; ");
  const about = `${day}, ${minutes} minutes, on ${machine()}, Node ${process.versions.node}. ${outcome}`;
  const table = markdownTable({ title: "", columns, rows: chosenLooks(looks).map(rowOf) });
  writeMarkedSection("docs/http2.md", "soak", `${about}\n\n${table}`);
}
