/**
 * How long `snowlane serve` takes from its start to the first ID over HTTP, what an idle process weighs, and how long a
 * health check takes: for each package.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../support/processes/free-port.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { residentMb } from "../support/processes/resident-memory.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { type Contestant, interleave, median } from "./interleave.ts";
import { installPackages, type ServerPackage } from "./server-packages.ts";

const withoutSequences = ["--sequence-stores", "off"];
const idleMs = 2_000;
const retryMs = 2;
const rounds = 10;
const timesOfCalls = ["health, ms", "Node alone, ms"];

interface Measured {
  readonly firstIdMs: number;
  readonly idleMb: number;
  /** Of `snowlane health`, a process of its own. */
  readonly healthMs: number;
  /** Of `node -e 0` in the same place: what no program of ours can be faster than. NaN where it cannot be called. */
  readonly nodeMs: number;
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await call();
  return performance.now() - startedMs;
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

/** Starts a program of Node, and measures until its first ID over HTTP and its memory at rest. */
export async function measureStart(program: string, more: readonly string[] = []): Promise<Measured> {
  const command = [process.execPath, program];
  const place = { command: () => command, stateFolder: (folder: string) => folder, node: [process.execPath] };
  return await measurePackage(place, more);
}

async function measurePackage(
  { command, stateFolder, node }: Omit<ServerPackage, "name" | "bytes">,
  more: readonly string[] = [],
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const port = await findFreePort();
  const [program = "", ...before] = command(folder);
  const flags = ["--listen", `127.0.0.1:${port}`, "--store", `sqlite:${join(stateFolder(folder), "snowlane.db")}`];
  const startedMs = performance.now();
  const child = spawn(program, [...before, "serve", ...flags, ...more], { stdio: "ignore" });
  try {
    while (!(await askForId(port))) await sleep(retryMs);
    const firstIdMs = performance.now() - startedMs;
    await sleep(idleMs);
    const idleMb = residentMb(child.pid);
    const health = [...before, "health", "--server", `http://127.0.0.1:${port}`];
    const healthMs = await timeOf(() => runCommand(program, health));
    const [alone, ...args] = node ?? [];
    const nodeMs = alone === undefined ? Number.NaN : await timeOf(() => runCommand(alone, [...args, "-e", "0"]));
    return { firstIdMs, idleMb, healthMs, nodeMs };
  } finally {
    child.kill();
    await once(child, "exit");
    rmSync(folder, { recursive: true });
  }
}

/** The most that a package may take to the first ID. The container is held against the npm package. */
const firstIdMaxMs = { "npm package": 300, executable: 450 } as const;
const containerExtraMs = 50;
const idleMaxMb = 100;
const healthMaxMs = 150;

type Results = ReadonlyMap<string, readonly Measured[]>;

function targetsTable(packages: readonly ServerPackage[], results: Results): Finding {
  const middle = (name: string, figure: keyof Measured): number =>
    median((results.get(name) ?? []).map((measured) => measured[figure]));
  const rows = packages.flatMap(({ name }) => {
    const maxMs = name === "container" ? middle("npm package", "firstIdMs") + containerExtraMs : firstIdMaxMs[name];
    return [
      target(`${name}: first ID`, middle(name, "firstIdMs"), maxMs, "ms"),
      target(`${name}: idle`, middle(name, "idleMb"), idleMaxMb, "MB"),
      target(`${name}: health check`, middle(name, "healthMs"), healthMaxMs, "ms"),
    ];
  });
  return { title: "Targets of the packages", columns: ["target", "found", "met"], rows };
}

function target(claim: string, found: number, limit: number, unit: string): readonly string[] {
  return [
    `${claim}, at most ${limit.toFixed(0)} ${unit}`,
    `${found.toFixed(unit === "MB" ? 1 : 0)} ${unit}`,
    found <= limit ? "yes" : "no",
  ];
}

/** Start-up and idle memory. */
export const startBenchmark: Benchmark = {
  name: "start",
  title: "Start and idle memory",
  about: [
    "The table shows the time from the start of the process to the first ID over HTTP, with a new store in an SQLite",
    `file, and then the memory of the process after ${idleMs / 1_000} s without a call. Health is a call of`,
    "`snowlane health` from its start to its end, and the last column a call of `node -e 0` in the same place: what Node",
    "and the place take by themselves. The npm package is unpacked into an empty folder. The container is",
    "the image of the Dockerfile, in a mount namespace with a read-only root. The sources run by type stripping, as in",
    `the tests. The programs take turns in ${rounds} rounds, after one that warms up. A server without the service of`,
    "sequences stands beside one whose sequences nobody uses: we want no difference beyond the noise.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-packages-"));
    const { packages, remove } = await installPackages(folder, log);
    try {
      const contestants: readonly Contestant<Measured>[] = [
        ...packages.map((installed) => ({ name: installed.name, run: () => measurePackage(installed) })),
        { name: "npm package, --sequence-stores off", run: () => measurePackage(packages[0]!, withoutSequences) },
        { name: "sources", run: () => measureStart("src/cli/main.ts") },
      ];
      const results = await interleave(contestants, rounds, log);
      const rows = contestants.map(({ name }) => {
        const found = results.get(name) ?? [];
        const times = found.map(({ firstIdMs }) => firstIdMs);
        const figures = [
          Math.min(...times),
          median(times),
          Math.max(...times),
          Math.max(...found.map(({ idleMb }) => idleMb)),
          median(found.map(({ healthMs }) => healthMs)),
          median(found.map(({ nodeMs }) => nodeMs)),
        ];
        return [name].concat(figures.map((figure) => (Number.isNaN(figure) ? "" : figure.toFixed(0))));
      });
      return [
        targetsTable(packages, results),
        {
          title: "To the first ID, idle, and a health check",
          columns: ["program", "ms, best round", "median round", "worst round", "idle, MB at most", ...timesOfCalls],
          rows,
        },
      ];
    } finally {
      remove();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
