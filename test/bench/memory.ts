/** What `snowlane serve` weighs: just started, with idle connections, after load, and after all of them have gone. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { liveMemoryFlags, liveMb } from "../support/processes/live-memory.ts";
import { Neighbour } from "../support/http2/neighbour.ts";
import { residentMb } from "../support/processes/resident-memory.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { openConnections, unlimitedConnections } from "./idle-connections.ts";

const connections = 10_000;
const callers = 8;
/** Fewer calls: over node:http2 100,000 would take minutes. */
const callsMs = 15_000;
const settleMs = 3_000;

/** Calls from a few callers more. Returns how many were answered. */
async function load(url: string): Promise<number> {
  const neighbours = Array.from({ length: callers }, () => new Neighbour(url));
  await sleep(callsMs);
  await Promise.all(neighbours.map((neighbour) => neighbour.stop()));
  const reports = neighbours.map((neighbour) => neighbour.report());
  const [failure] = reports.flatMap(({ failures }) => failures);
  if (failure !== undefined) throw new Error(`A call failed: ${failure}`);
  return reports.reduce((sum, { calls }) => sum + calls, 0);
}

/** MB that are resident and that are in use, after each step. */
interface Measured {
  readonly name: string;
  readonly steps: readonly { readonly resident: number; readonly inUse: number }[];
  readonly calls: number;
}

async function measure(http2: string, log: (line: string) => void): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const server = await startSnowlane({
    program: [process.execPath, ...liveMemoryFlags, "dist/main.js"],
    args: ["--http2", http2, ...unlimitedConnections, "--store", `sqlite:${folder}/snowlane.db`],
  });
  const steps: { readonly resident: number; readonly inUse: number }[] = [];
  const note = async (what: string): Promise<void> => {
    await sleep(settleMs);
    const resident = residentMb(server.child.pid);
    const step = { resident, inUse: await liveMb(server) };
    steps.push(step);
    log(`${http2}, ${what}: ${cell(step)}`);
  };
  try {
    await note("started");
    const holders = await openConnections(Number(server.address.split(":")[1]), connections);
    await note("connections");
    const calls = await load(server.url);
    await note(`connections and ${count(calls)} calls`);
    for (const holder of holders) holder.kill();
    await note("all closed");
    return { name: `--http2 ${http2}`, steps, calls };
  } finally {
    await server.stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

const count = (calls: number): string => calls.toLocaleString("en-US");

function cell({ resident, inUse }: Measured["steps"][number]): string {
  return `${resident.toFixed(0)} (${inUse.toFixed(0)})`;
}

function target(claim: string, found: number, limit: number): readonly string[] {
  return [`${claim}: below ${limit} MB`, `${found.toFixed(1)} MB`, found < limit ? "yes" : "no"];
}

/** The targets of the engine. */
function targetsTable({ steps: [started, connected] }: Measured): Finding {
  const rows = [
    target("just started", started?.resident ?? Number.NaN, 100),
    target(`${count(connections)} idle connections`, connected?.resident ?? Number.NaN, 300),
  ];
  return { title: "Targets", columns: ["target", "found", "met"], rows };
}

/** Memory of one process, for both kinds of HTTP/2. */
export const memoryBenchmark: Benchmark = {
  name: "memory",
  title: "Memory",
  about: [
    `Each figure is the MB that one process holds of the system ${settleMs / 1_000} s after each step. The figure in`,
    "brackets is the part in use: V8's heap and the buffers outside of it after all garbage was collected. The",
    `connections are idle HTTP/2 connections. The calls are NextId over gRPC by ${callers} more callers for`,
    `${callsMs / 1_000} s. The steps follow one another in one process.`,
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const engine = await measure("engine", log);
    const node = await measure("node", log);
    const columns = [
      "server",
      "just started",
      `${count(connections)} idle connections`,
      "and after calls",
      "all closed",
      "calls",
    ];
    const rows = [engine, node].map(({ name, steps, calls }) => [name].concat(steps.map(cell), count(calls)));
    return [targetsTable(engine), { title: "Resident, and in use", columns, rows }];
  },
};
