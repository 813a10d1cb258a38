/**
 * `npm run soak -- --for 30m`: starts the built server with the HTTP/2 engine and calls it in every way, rightly and
 * wrongly, until the time is over. Every minute (`--every 5m`) all callers stand still, and a line says what the server
 * then holds. Exits with 1 where a call failed, an ID came twice, or memory, open files or timers have grown. `--write`
 * puts the outcome into docs/http2.md. Ctrl-C ends it early, in order.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/clock.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { bundleServer } from "../fault/fault-trial.ts";
import { soak, type SoakLook } from "./soak.ts";

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const attackPauseMs = 3_000;
/** A tenth. A server still compiles in the first minutes: a shorter run than this proves nothing about memory. */
const growthMax = 1.1;
const shortMs = 300_000;
const growthMaxShort = 2;
/** Lines of a table in the document. */
const rowsMax = 10;

const values = parse();
const durationMs = parseSpan("--for", values.for);
const lookEveryMs = parseSpan("--every", values.every);

function parse() {
  try {
    return parseArgs({
      options: {
        for: { type: "string", default: "10m" },
        every: { type: "string", default: "1m" },
        write: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function parseSpan(name: string, text: string): number {
  const [, count, unit = ""] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  const spanMs = Number(count) * (unitsMs[unit] ?? Number.NaN);
  return spanMs >= 1_000 ? spanMs : refuse(`${name} ${text} is no time span of a second or more.`);
}

function refuse(cause: string): never {
  process.stderr.write(`${cause}\nUsage: npm run soak -- [--for 30m] [--every 1m] [--write]\n`);
  process.exit(2);
}

const columns = ["time", "calls", "failed", "IDs", "repeated", "MiB in use", "MiB resident", "open files", "timers"];

function rowOf(look: SoakLook): readonly string[] {
  const { calls, failures, idCount, duplicates, liveMib, residentMib, openFiles, timers } = look;
  const seconds = Math.round(look.atMs / 1_000);
  const time = `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}`;
  const counts = [calls, failures, idCount, duplicates].map(String);
  return [time, ...counts, liveMib.toFixed(1), residentMib.toFixed(0), `${openFiles}`, `${timers}`];
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell) => cell.padStart(12)).join(" ")}\n`);
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
}

/** The first look, the last, and some between. */
function chosen(looks: readonly SoakLook[]): readonly SoakLook[] {
  const step = Math.max(1, Math.ceil((looks.length - 1) / (rowsMax - 1)));
  return looks.filter((_, index) => index === looks.length - 1 || index % step === 0);
}

function writeTable(looks: readonly SoakLook[], problems: readonly string[]): void {
  const document = new URL("../../docs/http2.md", import.meta.url);
  const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  const minutes = Math.round((looks.at(-1)?.atMs ?? 0) / 60_000);
  const outcome = problems.length === 0 ? "Nothing failed, nothing grew." : problems.join("; ");
  const about = `${day}, ${minutes} minutes, on ${machine()}, Node ${process.versions.node}. ${outcome}`;
  const table = markdownTable({ title: "", columns, rows: chosen(looks).map(rowOf) });
  const written = readFileSync(document, "utf8").replace(
    /(<!-- begin soak[^\n]*-->\n)[^]*?(<!-- end soak -->)/,
    (_, begin: string, end: string) => `${begin}\n${about}\n\n${table}\n\n${end}`,
  );
  writeFileSync(document, written);
}

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
await bundleServer();
const folder = mkdtempSync(join(tmpdir(), "snowlane-soak-"));
try {
  print(columns);
  const { looks, problems } = await soak({
    script: "dist/main.js",
    storeFile: join(folder, "snowlane.db"),
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
    signal: stop.signal,
  });
  if (values.write) writeTable(looks, problems);
  for (const problem of problems) process.stdout.write(`BROKEN: ${problem}\n`);
  if (problems.length === 0) process.stdout.write("Nothing failed, nothing grew.\n");
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
