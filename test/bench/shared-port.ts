/** Measures how many calls several servers answer that share one port of a machine. */
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../support/processes/free-port.ts";
import { type BenchServer, serveCommand, startBenchServer } from "./bench-server.ts";
import type { Finding } from "./benchmark.ts";
import { median } from "./interleave.ts";
import { runH2load } from "./load.ts";
import { formatFigure } from "./report.ts";

const rounds = 5;
/** So many that the system's hash gives each server about half of them. */
const load = { connections: 32, streams: 8, calls: 500_000 };
/** A server binds the port once it has its worker ID, and the first one takes connections before. */
const bindMs = 3_000;

function serve(instance: string, port: number, folder: string): Promise<BenchServer> {
  const command = () => serveCommand("dist/main.js", port, folder, ["--reuse-port", "--instance", instance]);
  return startBenchServer({ name: instance, isOurs: true, port, command });
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
      await runH2load(servers[0]!, load, folder);
      const rates: number[] = [];
      const before = servers.map((server) => server.cpuUs());
      for (let round = 0; round < rounds; round++) {
        rates.push((await runH2load(servers[0]!, load, folder)).callsPerSecond);
      }
      const costs = servers.map((server, index) => (server.cpuUs() - before[index]!) / (rounds * load.calls));
      rows.push([String(servers.length), formatFigure(median(rates)), costs.map(formatFigure).join(" + ")]);
      log(`${servers.length} on one port`);
    }
    return {
      title: "Servers on one port (--reuse-port)",
      note: [
        "NextId by h2load from 32 connections of 8 calls at once. The servers share this machine's two cores with",
        "h2load, which takes up to one of them, so that two servers cannot answer twice as many calls here.",
      ].join("\n"),
      columns: ["servers", "calls/s", "µs of processor a call, by server"],
      rows,
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
