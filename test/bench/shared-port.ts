/** Measures how many calls several servers answer that share one port of a machine. */
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../support/processes/free-port.ts";
import { type BenchServer, serveCommand, startBenchServer } from "./bench-server.ts";
import type { Finding } from "./benchmark.ts";
import { median } from "./interleave.ts";
import { type H2load, type LoadResult, runH2load } from "./load.ts";
import { formatFigure } from "./report.ts";

const rounds = 5;
/** Enough that the system's hash gives each server about half of them. */
const connections = 32;
const parse = {
  method: "Parse",
  protocol: "Connect, JSON",
  message: [...Buffer.from('{"id":"1890000000000000000"}')],
} as const;
const loads = [
  { name: "NextId", load: { connections, streams: 8, calls: 500_000 } },
  { name: "Parse", load: { connections, streams: 2, calls: 15_000, ...parse } },
] as const;
/** A server binds the port once it has its worker ID, and the first one takes connections before. */
const bindMs = 3_000;

function serve(instance: string, port: number, folder: string): Promise<BenchServer> {
  const command = () => serveCommand("dist/main.js", port, folder, ["--reuse-port", "--instance", instance]);
  return startBenchServer({ name: instance, isOurs: true, port, command });
}

/** Calls a second, and what each costs each server. */
async function measure(servers: readonly BenchServer[], load: H2load, folder: string): Promise<readonly string[]> {
  const run = (): Promise<LoadResult> => runH2load(servers[0]!, load, folder);
  await run();
  const rates: number[] = [];
  const before = servers.map((server) => server.cpuUs());
  for (let round = 0; round < rounds; round++) rates.push((await run()).callsPerSecond);
  const costs = servers.map((server, index) => (server.cpuUs() - before[index]!) / (rounds * load.calls));
  return [formatFigure(median(rates)), costs.map(formatFigure).join(" + ")];
}

/** @param folder - An empty one, for the store that they share. */
export async function measureSharedPort(folder: string, log: (line: string) => void): Promise<Finding> {
  const port = await findFreePort();
  const servers: BenchServer[] = [];
  const rows: string[][] = [];
  try {
    for (const instance of ["a", "b"]) {
      servers.push(await serve(instance, port, folder));
      await sleep(bindMs);
      const figures: string[] = [];
      for (const { load } of loads) figures.push(...(await measure(servers, load, folder)));
      rows.push([String(servers.length), ...figures]);
      log(`${servers.length} on one port`);
    }
    return {
      title: "Servers on one port (--reuse-port)",
      note: [
        "By h2load from 32 connections. The servers share this machine's two cores with h2load, which needs as much of",
        "them for NextId as the servers do, so that a second server takes its time. Of Parse by Connect, in JSON, the server",
        "has almost all the work.",
      ].join("\n"),
      columns: ["servers", ...loads.flatMap(({ name }) => [`${name}, calls/s`, "µs a call, by server"])],
      rows,
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
