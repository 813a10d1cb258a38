/** Load from outside: h2load and ghz, each a process of its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/run-command.ts";
import type { BenchServer } from "./bench-server.ts";

/** What one load came to. */
export interface LoadResult {
  readonly callsPerSecond: number;
  /** Processor time of the server for one call. */
  readonly cpuUs: number;
  /** Latencies in milliseconds, rising; empty where only throughput was measured. */
  readonly latenciesMs: readonly number[];
}

/** Calls through h2load: gRPC over HTTP/2, the same bytes each time. */
export interface H2load {
  readonly connections: number;
  readonly streams: number;
  readonly calls: number;
  readonly method?: string;
  /** The request message. */
  readonly message?: readonly number[];
  readonly tls?: boolean;
}

/** Runs h2load against a server. */
export async function runH2load(server: BenchServer, load: H2load, folder: string): Promise<LoadResult> {
  const { path, env } = await findTool("h2load");
  const message = load.message ?? [];
  const body = join(folder, `body-${message.length}`);
  writeFileSync(body, Uint8Array.from([0, 0, 0, 0, message.length, ...message]));
  const url = `${load.tls === true ? "https" : "http"}://127.0.0.1:${server.port}`;
  const args = [
    "-c",
    `${load.connections}`,
    "-m",
    `${load.streams}`,
    "-n",
    `${load.calls}`,
    "-d",
    body,
    "-H",
    "content-type: application/grpc",
    "-H",
    "te: trailers",
    `${url}/snowlane.v1.IdService/${load.method ?? "NextId"}`,
  ];
  const beforeUs = server.cpuUs();
  const output = await runCommand(path, args, { env });
  const cpuUs = (server.cpuUs() - beforeUs) / load.calls;
  const rate = /finished in [^,]+, ([\d.]+) req\/s/.exec(output)?.[1];
  const succeeded = Number(/(\d+) succeeded/.exec(output)?.[1]);
  if (rate === undefined || succeeded !== load.calls) throw new Error(`${server.name} failed under h2load:\n${output}`);
  return { callsPerSecond: Number(rate), cpuUs, latenciesMs: [] };
}

/** Calls through ghz, which is grpc-go: deadlines on all, so that no two requests have the same header block. */
export interface Ghz {
  readonly calls: number;
  /** In flight at once; with `perSecond` the most that may pile up. */
  readonly concurrency: number;
  readonly connections: number;
  /** Open loop: calls begin at this rate, whether earlier ones were answered or not. */
  readonly perSecond?: number;
}

interface GhzReport {
  readonly rps: number;
  readonly details: readonly { readonly latency: number; readonly status: string }[];
}

/** Runs ghz against a server. */
export async function runGhz(server: BenchServer, ghz: string, load: Ghz): Promise<LoadResult> {
  const rate = load.perSecond === undefined ? [] : ["--async", "--rps", `${load.perSecond}`];
  const args = [
    "--insecure",
    "--protoset",
    "proto/released.binpb",
    "--call",
    "snowlane.v1.IdService/NextId",
    "-d",
    "{}",
    "-n",
    `${load.calls}`,
    "-c",
    `${load.concurrency}`,
    "--connections",
    `${load.connections}`,
    "--timeout",
    "20s",
    "-O",
    "json",
    ...rate,
    `127.0.0.1:${server.port}`,
  ];
  const beforeUs = server.cpuUs();
  const report = JSON.parse(await runCommand(ghz, args)) as GhzReport;
  const cpuUs = (server.cpuUs() - beforeUs) / load.calls;
  const failed = report.details.filter(({ status }) => status !== "OK").length;
  if (failed > 0) throw new Error(`${server.name}: ${failed} calls failed under ghz`);
  const latenciesMs = report.details.map(({ latency }) => latency / 1e6).toSorted((a, b) => a - b);
  return { callsPerSecond: report.rps, cpuUs, latenciesMs };
}

/** The value below which a share of rising values lies. */
export function percentile(rising: readonly number[], share: number): number {
  return rising[Math.min(rising.length - 1, Math.floor(rising.length * share))] ?? Number.NaN;
}
