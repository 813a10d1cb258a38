/**
 * `npm run measure -- soak --for 30m`: starts the built server with the HTTP/2 engine and calls it in every way,
 * rightly and wrongly, until the time is over. Every minute (`--every 5m`) all callers stand still, and a line says
 * what the server then holds. Exits with 1 where a call failed, an ID came twice, or memory, open files or timers have
 * grown. `--write` puts the outcome into docs/evidence/http2.md. Ctrl-C ends it early, in order.
 *
 * With `--surroundings` its descriptors, its disk and the reader of its log are taken away and given back at random
 * instead, and callers keep their connections; the outcome goes into docs/evidence/operations.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock/clock.ts";
import { duration, integer, onOff } from "../../src/config/setting-kinds.ts";
import { withFallback } from "../../src/config/setting.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { bundledProgram, bundleServer } from "../support/processes/server-bundle.ts";
import { soak, type SoakLook, type SoakResult } from "../soak/soak.ts";
import { soakSurroundings, type SurroundingsLook } from "../soak/surroundings-soak.ts";
import { surroundings } from "../support/processes/surroundings.ts";

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
  surroundings: onOff({ name: "surroundings", doc: "Takes descriptors, disk and the log's reader away at random." }),
  seed: withFallback(integer({ name: "seed", min: 0, max: 2 ** 31 - 1, doc: "Of what is taken away, and when." }), 1),
  write: onOff({ name: "write", doc: "Puts the outcome into docs/evidence/http2.md, or docs/evidence/operations.md." }),
};

const columns = ["time", "calls", "failed", "IDs", "repeated", "MB in use", "MB resident", "open files", "timers"];
const takenColumns = ["time", "calls", "failed", "IDs", "repeated", ...surroundings, "renewals", "lost lines"];

function timeOf(atMs: number): string {
  const seconds = Math.round(atMs / 1_000);
  return `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}`;
}

function rowOf(look: SoakLook): readonly string[] {
  const { calls, failures, idCount, duplicates, liveMb, residentMb, openFiles, timers } = look;
  const counts = [calls, failures, idCount, duplicates].map(String);
  return [timeOf(look.atMs), ...counts, liveMb.toFixed(1), residentMb.toFixed(0), `${openFiles}`, `${timers}`];
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
  examples: [
    "npm run measure -- soak --for 30m",
    "npm run measure -- soak --surroundings --for 30m",
    "npm run measure -- soak --for 72h --every 10m --write",
  ],
  run: async (chosen) => {
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    await bundleServer();
    const folder = mkdtempSync(join(tmpdir(), "snowlane-soak-"));
    try {
      if (chosen.surroundings) return await runSurroundings(chosen, folder, stop.signal);
      const result = await run(chosen.for, chosen.every, join(folder, "snowlane.db"), stop.signal);
      if (chosen.write) writeTable(result);
      return exitCodeOf(result.problems, "Nothing failed, nothing grew.");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

function exitCodeOf(problems: readonly string[], otherwise: string): 0 | 1 {
  for (const problem of problems) process.stdout.write(`BROKEN: ${problem}\n`);
  if (problems.length === 0) process.stdout.write(`${otherwise}\n`);
  return problems.length === 0 ? 0 : 1;
}

function rowOfTaken({ atMs, calls, failures, idCount, duplicates, taken, renewals, lostLines }: SurroundingsLook) {
  const counts = [
    calls,
    failures,
    idCount,
    duplicates,
    ...surroundings.map((what) => taken[what]),
    renewals,
    lostLines,
  ];
  return [timeOf(atMs), ...counts.map(String)];
}

async function runSurroundings(
  { for: durationMs, every: lookEveryMs, seed, write }: { for: number; every: number; seed: number; write: boolean },
  folder: string,
  signal: AbortSignal,
): Promise<0 | 1> {
  print(takenColumns);
  const { looks, problems } = await soakSurroundings({
    folder,
    durationMs,
    lookEveryMs,
    seed,
    onLook: (look) => print(rowOfTaken(look)),
    onFailure: (text) => void process.stderr.write(`${new Date(systemClock.nowMs()).toISOString()} ${text}\n`),
    signal,
  });
  const outcome = problems.length === 0 ? "No call failed." : problems.join("; ");
  if (write) {
    const table = markdownTable({ title: "", columns: takenColumns, rows: chosenLooks(looks).map(rowOfTaken) });
    writeMarkedSection(
      "docs/evidence/operations.md",
      "soak",
      `${aboutRun(looks, `Seed ${seed}. ${outcome}`)}\n\n${table}`,
    );
  }
  return exitCodeOf(problems, outcome);
}

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
function chosenLooks<Look>(looks: readonly Look[]): readonly Look[] {
  const step = Math.max(1, Math.ceil((looks.length - 1) / (rowsMax - 1)));
  return looks.filter((_, index) => index === looks.length - 1 || index % step === 0);
}

/** The first sentences of an outcome: when and where. */
function aboutRun(looks: readonly { readonly atMs: number }[], outcome: string): string {
  const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  const minutes = Math.round((looks.at(-1)?.atMs ?? 0) / 60_000);
  return `${day}, ${minutes} minutes, on ${machine()}, Node ${process.versions.node}. ${outcome}`;
}

function writeTable({ looks, problems }: SoakResult): void {
  const outcome = problems.length === 0 ? "Nothing failed, nothing grew." : problems.join("; ");
  const table = markdownTable({ title: "", columns, rows: chosenLooks(looks).map(rowOf) });
  writeMarkedSection("docs/evidence/http2.md", "soak", `${aboutRun(looks, outcome)}\n\n${table}`);
}
