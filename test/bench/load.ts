/** Load from outside: h2load and ghz, each a process of its own. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../support/fetch/tools.ts";
import { runCommand } from "../support/processes/run-command.ts";
import type { BenchServer } from "./bench-server.ts";

/** The outcome of one load. */
export interface LoadResult {
  readonly callsPerSecond: number;
  /** Processor time of the server for one call. */
  readonly cpuUs: number;
  /** The part of {@link cpuUs} that the kernel took for the server. */
  readonly kernelUs: number;
  /** Latencies in milliseconds, rising; empty where only throughput was measured. */
  readonly latenciesMs: readonly number[];
}

/** The content type of a protocol, and whether its messages have gRPC's prefix. */
const protocols = {
  gRPC: { contentType: "application/grpc", isPrefixed: true },
  "gRPC-Web": { contentType: "application/grpc-web+proto", isPrefixed: true },
  "Connect, binary": { contentType: "application/proto", isPrefixed: false },
  "Connect, JSON": { contentType: "application/json", isPrefixed: false },
} as const;

/** Calls through h2load, the same bytes each time. */
export interface H2load {
  readonly connections: number;
  /** Calls at once on a connection; 1 over HTTP/1.1. */
  readonly streams: number;
  readonly calls: number;
  /** Default: NextId. */
  readonly method?: string;
  /** With its package. Default: snowlane.v1.IdService. */
  readonly service?: string;
  /** Default: gRPC. */
  readonly protocol?: keyof typeof protocols;
  /** Default: HTTP/2. */
  readonly version?: "HTTP/1.1" | "HTTP/2";
  /** The request message. */
  readonly message?: readonly number[];
  readonly tls?: boolean;
  /** Further fields of the requests. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Open loop: calls begin at this rate, whether earlier ones were answered or not; up to `streams` a connection. */
  readonly perSecond?: number;
  /**
   * With `perSecond`: connections open this many milliseconds after one another. h2load wakes up for a connection every
   * 10 ms, counted from when it opened, and begins at once all calls that are due: this is what spreads them. Together
   * within the second that a tail leaves out.
   */
  readonly openEachMs?: number;
}

/** Runs h2load against a server. */
export async function runH2load(server: BenchServer, load: H2load, folder: string): Promise<LoadResult> {
  const { path, env } = await findTool("h2load");
  const { message = [], protocol = "gRPC", service = "snowlane.v1.IdService", method = "NextId" } = load;
  const { contentType, isPrefixed } = protocols[protocol];
  const bytes = Buffer.from([...(isPrefixed ? [0, 0, 0, 0, message.length] : []), ...message]);
  // Named after its content: two loads at once share a folder.
  const body = join(folder, `body-${bytes.toString("hex")}`);
  writeFileSync(body, bytes);
  const url = `${load.tls === true ? "https" : "http"}://127.0.0.1:${server.port}`;
  const callLog = join(folder, "calls");
  const paced = load.perSecond === undefined ? [] : ["--rps", `${load.perSecond / load.connections}`];
  const spread = load.openEachMs === undefined ? [] : ["-r", "1", `--rate-period=${load.openEachMs}ms`];
  const logged = load.perSecond === undefined ? [] : ["--log-file", callLog];
  const args = [
    "-c",
    `${load.connections}`,
    "-m",
    `${load.streams}`,
    "-n",
    `${load.calls}`,
    ...paced,
    ...spread,
    ...logged,
    ...(load.version === "HTTP/1.1" ? ["--h1"] : []),
    "-d",
    body,
    "-H",
    `content-type: ${contentType}`,
    ...(protocol === "gRPC" ? ["-H", "te: trailers"] : []),
    ...Object.entries(load.headers ?? {}).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
    `${url}/${service}/${method}`,
  ];
  // h2load adds to a log that is there.
  rmSync(callLog, { force: true });
  const costs = costsOf(server);
  const output = await runCommand(path, args, { env });
  const { cpuUs, kernelUs } = costs(load.calls);
  const rate = /finished in [^,]+, ([\d.]+) req\/s/.exec(output)?.[1];
  const succeeded = Number(/(\d+) succeeded/.exec(output)?.[1]);
  if (rate === undefined || succeeded !== load.calls) throw new Error(`${server.name} failed under h2load:\n${output}`);
  const openingMs = load.connections * (load.openEachMs ?? 0);
  const latenciesMs = load.perSecond === undefined ? [] : readLatencies(callLog, openingMs);
  return { callsPerSecond: Number(rate), cpuUs, kernelUs, latenciesMs };
}

/** Begins to count a server's processor time; what it returns tells that of one call. */
export function costsOf(server: BenchServer): (calls: number) => Pick<LoadResult, "cpuUs" | "kernelUs"> {
  const [cpuUs, kernelUs] = [server.cpuUs(), server.kernelUs()];
  return (calls) => ({ cpuUs: (server.cpuUs() - cpuUs) / calls, kernelUs: (server.kernelUs() - kernelUs) / calls });
}

/**
 * Latencies of h2load's log, rising, but for those of its first second, and of its end where connections end one after
 * another. A line: µs of the start, status, µs it took.
 */
function readLatencies(path: string, endingMs: number): number[] {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  const calls = lines.map((line) => {
    const [startUs = Number.NaN, status, tookUs = Number.NaN] = line.split("\t").map(Number);
    if (status !== 200) throw new Error(`h2load logged a call that failed: ${line}`);
    return { startUs, tookUs };
  });
  const firstUs = calls.reduce((least, { startUs }) => Math.min(least, startUs), Number.POSITIVE_INFINITY);
  const lastUs = calls.reduce((most, { startUs }) => Math.max(most, startUs), 0);
  const counted = calls.filter(({ startUs }) => startUs >= firstUs + 1e6 && startUs <= lastUs - endingMs * 1_000);
  return counted.map(({ tookUs }) => tookUs / 1_000).toSorted((a, b) => a - b);
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
  const costs = costsOf(server);
  const report = JSON.parse(await runCommand(ghz, args)) as GhzReport;
  const { cpuUs, kernelUs } = costs(load.calls);
  const failed = report.details.filter(({ status }) => status !== "OK").length;
  if (failed > 0) throw new Error(`${server.name}: ${failed} calls failed under ghz`);
  const latenciesMs = report.details.map(({ latency }) => latency / 1e6).toSorted((a, b) => a - b);
  return { callsPerSecond: report.rps, cpuUs, kernelUs, latenciesMs };
}

/** The value below which a share of rising values lies. */
export function percentile(rising: readonly number[], share: number): number {
  return rising[Math.min(rising.length - 1, Math.floor(rising.length * share))] ?? Number.NaN;
}
