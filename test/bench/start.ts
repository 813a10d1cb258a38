/** How long `snowlane serve` takes from its start to the first ID over HTTP, and what an idle process weighs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../support/processes/free-port.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { residentMib } from "../support/processes/resident-memory.ts";
import type { Benchmark } from "./benchmark.ts";
import { interleave, median } from "./interleave.ts";

const programs: readonly { readonly name: string; readonly program: string; readonly flags: readonly string[] }[] = [
  { name: "bundle", program: "dist/main.js", flags: [] },
  { name: "bundle, --sequence-stores off", program: "dist/main.js", flags: ["--sequence-stores", "off"] },
  { name: "sources", program: "src/cli/main.ts", flags: [] },
];
const idleMs = 2_000;
const retryMs = 2;
const rounds = 10;

interface Measured {
  readonly firstIdMs: number;
  readonly idleMb: number;
}

function askForId(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request(
      {
        port,
        host: "127.0.0.1",
        method: "POST",
        path: "/snowlane.v1.IdService/NextId",
        headers: { "content-type": "application/json" },
      },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode === 200));
      },
    );
    call.once("error", () => resolve(false));
    call.end("{}");
  });
}

/** Starts a program, and measures until its first ID over HTTP and its memory at rest. */
export async function measureStart(program: string, more: readonly string[] = []): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const port = await findFreePort();
  const flags = ["--listen", `127.0.0.1:${port}`, "--store", `sqlite:${join(folder, "snowlane.db")}`];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [program, "serve", ...flags, ...more], { stdio: "ignore" });
  try {
    while (!(await askForId(port))) await sleep(retryMs);
    const firstIdMs = performance.now() - startedMs;
    await sleep(idleMs);
    return { firstIdMs, idleMb: residentMib(child.pid) };
  } finally {
    child.kill();
    await once(child, "exit");
    rmSync(folder, { recursive: true });
  }
}

/** Start-up and idle memory. */
export const startBenchmark: Benchmark = {
  name: "start",
  title: "Start and idle memory",
  about: [
    "The table shows the time from the start of the process to the first ID over HTTP, with a new store in an SQLite",
    `file, and then the memory of the process after ${idleMs / 1_000} s without a call. The bundle is the published`,
    `program; the sources run by type stripping, as in the tests. The programs take turns in ${rounds} rounds, after`,
    "one that warms up. A server without the service of sequences stands beside one whose sequences nobody uses: we",
    "want no difference beyond the noise.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const contestants = programs.map(({ name, program, flags }) => ({ name, run: () => measureStart(program, flags) }));
    const results = await interleave(contestants, rounds, log);
    const rows = contestants.map(({ name }) => {
      const found = results.get(name) ?? [];
      const times = found.map(({ firstIdMs }) => firstIdMs);
      const figures = [
        Math.min(...times),
        median(times),
        Math.max(...times),
        Math.max(...found.map(({ idleMb }) => idleMb)),
      ];
      return [name].concat(figures.map((figure) => figure.toFixed(0)));
    });
    return [
      {
        title: "To the first ID, and idle",
        columns: ["program", "ms, best round", "median round", "worst round", "idle, MB at most"],
        rows,
      },
    ];
  },
};
