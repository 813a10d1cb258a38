/** What `snowlane serve` weighs: just started, with idle connections, after load, and after all of them have gone. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { liveMemoryFlags, liveMib } from "../support/live-memory.ts";
import { Neighbour } from "../support/neighbour.ts";
import { residentMib } from "../support/resident-memory.ts";
import { runCommand } from "../support/run-command.ts";
import { startSnowlane } from "../support/snowlane-process.ts";
import type { Benchmark } from "./benchmark.ts";

const connectionsProgram = new URL("connections-process.ts", import.meta.url);
const connections = 10_000;
const connectionsEach = 5_000;
const calls = 100_000;
const callers = 8;
const settleMs = 3_000;

async function openConnections(port: number): Promise<readonly ChildProcess[]> {
  const holders: ChildProcess[] = [];
  for (let left = connections; left > 0; left -= connectionsEach) {
    const holder = fork(connectionsProgram, [String(port), String(Math.min(left, connectionsEach))]);
    await once(holder, "message");
    holders.push(holder);
  }
  return holders;
}

async function load(url: string): Promise<void> {
  const neighbours = Array.from({ length: callers }, () => new Neighbour(url));
  await Promise.all(neighbours.map((neighbour) => neighbour.served(calls / callers)));
  await Promise.all(neighbours.map((neighbour) => neighbour.stop()));
}

/** One row: what is resident and what is in use, at each step. */
async function measure(http2: string, log: (line: string) => void): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const server = await startSnowlane({
    program: [process.execPath, ...liveMemoryFlags, "dist/main.js"],
    args: [
      "--http2",
      http2,
      "--connections-max",
      "1000000",
      "--connections-per-second",
      "1000000",
      "--store",
      `sqlite:${folder}/snowlane.db`,
    ],
  });
  const figures: string[] = [];
  const note = async (what: string): Promise<void> => {
    await sleep(settleMs);
    const resident = residentMib(server.child.pid).toFixed(0);
    figures.push(`${resident} (${(await liveMib(server)).toFixed(0)})`);
    log(`${http2}, ${what}: ${figures.at(-1)}`);
  };
  try {
    await note("started");
    const holders = await openConnections(Number(server.address.split(":")[1]));
    await note("connections");
    await load(server.url);
    await note("connections and calls");
    for (const holder of holders) holder.kill();
    await note("all closed");
  } finally {
    await server.stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
  return [`--http2 ${http2}`, ...figures];
}

/** Memory of one process, for both kinds of HTTP/2. */
export const memoryBenchmark: Benchmark = {
  name: "memory",
  title: "Memory",
  about: [
    `MiB that one process holds of the system ${settleMs / 1_000} s after each step; in brackets what of it is in use: V8's heap and the buffers`,
    `outside of it after all garbage was collected. The connections are idle HTTP/2 connections, the calls are NextId over gRPC by`,
    `${callers} callers more. The steps follow one another in one process.`,
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const rows = [];
    for (const http2 of ["engine", "node"]) rows.push(await measure(http2, log));
    const columns = ["server", "just started", "10,000 idle connections", "and after 100,000 calls", "all closed"];
    return [{ title: "Resident, and in use", columns, rows }];
  },
};
