/** Servers under measurement: each a process of its own, whose CPU time and memory the system tells. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findTool } from "../support/fetch/tools.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { residentMb } from "../support/processes/resident-memory.ts";

/** Clock ticks of /proc a second: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;
const startTimeoutMs = 30_000;

/** A server that runs. */
export interface BenchServer {
  readonly name: string;
  readonly isOurs: boolean;
  readonly port: number;
  readonly processId: number;
  /** Processor time so far, of all its threads, in microseconds; in steps of 10 ms. */
  readonly cpuUs: () => number;
  /** The part of {@link cpuUs} that the kernel took for the process. */
  readonly kernelUs: () => number;
  readonly residentMb: () => number;
  readonly stop: () => Promise<void>;
}

/** What to start. `command` gets the port to listen on, on 127.0.0.1, and an empty folder. */
export interface BenchServerOptions {
  readonly name: string;
  readonly isOurs: boolean;
  readonly command: (port: number, folder: string) => readonly string[];
  /** Laid over this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a free one. */
  readonly port?: number;
}

/** Starts a server and waits until it takes connections. */
export async function startBenchServer(options: BenchServerOptions): Promise<BenchServer> {
  const { name, isOurs, command, env, port = await findFreePort() } = options;
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const [program = "", ...args] = command(port, folder);
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, ...env } });
  const ended = once(child, "exit");
  const processId = child.pid ?? 0;
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let waitedMs = 0; !(await takesConnections(port)); waitedMs += 20) {
    if (waitedMs > startTimeoutMs || child.exitCode !== null) throw new Error(`${name} does not start`);
    await sleep(20);
  }
  return {
    name,
    isOurs,
    port,
    processId,
    cpuUs: () => processorUs(processId),
    kernelUs: () => processorUs(processId, ["kernel"]),
    residentMb: () => residentMb(processId),
    stop,
  };
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** Where /proc/PID/stat has the processor time of a process, counted from its state on. */
const processorFields = { program: 11, kernel: 12 } as const;

/**
 * Processor time of a process so far, of all its threads, in microseconds; in steps of 10 ms.
 *
 * @param parts - Default: both, its own code's and the kernel's.
 */
export function processorUs(
  processId: number,
  parts: readonly (keyof typeof processorFields)[] = ["program", "kernel"],
): number {
  const fields = readFileSync(`/proc/${processId}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const ticks = parts.map((part) => Number(fields[processorFields[part]]));
  return (ticks.reduce((sum, one) => sum + one, 0) * 1e6) / ticksPerSecond;
}

/** The certificate and key of a TLS server. */
export interface ServerCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** Of an authority whose certificate every client has to show. Absent: no client shows any. */
  readonly clientCaFile?: string;
}

/**
 * Snowlane as it is installed, with a store of its own.
 *
 * @param flags - Default: none, so that it is measured as it is shipped.
 * @param program - Default: this checkout's bundle.
 * @param env - Laid over this process's environment.
 */
export function snowlane(
  name: string,
  flags: readonly string[] = [],
  program = "dist/main.js",
  env: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  const command = (port: number, folder: string) => serveCommand(program, port, folder, flags);
  return startBenchServer({ name, isOurs: true, env, command });
}

/** The command line of `snowlane serve` with its store in a folder. */
export function serveCommand(
  program: string,
  port: number,
  folder: string,
  flags: readonly string[],
): readonly string[] {
  const store = `sqlite:${join(folder, "snowlane.db")}`;
  const places = ["--listen", `127.0.0.1:${port}`, "--store", store];
  return [process.execPath, program, "serve", ...places, "--log-level", "warn", "--log-format", "json", ...flags];
}

/** A peer in Node; see peers/node-peer.ts. */
export function nodePeer(name: string, mode: "bare" | "bare-http1" | "connect" | "grpc-js"): Promise<BenchServer> {
  const command = (port: number): readonly string[] => [
    process.execPath,
    "test/bench/peers/node-peer.ts",
    mode,
    `${port}`,
  ];
  return startBenchServer({ name, isOurs: false, command });
}

/** A peer in Go; see peers/go. */
export function goPeer(
  program: string,
  name: string,
  mode: "grpc" | "connect",
  tls?: ServerCertificate,
): Promise<BenchServer> {
  const secure = tls === undefined ? [] : [tls.certFile, tls.keyFile, tls.clientCaFile ?? []].flat();
  return startBenchServer({
    name,
    isOurs: false,
    command: (port) => [program, mode, `127.0.0.1:${port}`, ...secure],
  });
}

/** An answer of NextId as it lies in a gRPC response: the prefix of a message of 9 bytes, field 1, fixed64. */
const cannedAnswer = Uint8Array.from([0, 0, 0, 0, 9, 0x09, 1, 2, 3, 4, 5, 6, 7, 8]);

/**
 * nghttpd, a server in C of those who wrote h2load, that answers every call of NextId with the same file: no gRPC, no
 * ID, no trailers. What its callers wait for is the floor of this machine and this client.
 */
export async function floorPeer(name: string): Promise<BenchServer> {
  const { path, env } = await findTool("nghttpd");
  const command = (port: number, folder: string): readonly string[] => {
    const service = join(folder, "snowlane.v1.IdService");
    mkdirSync(service);
    writeFileSync(join(service, "NextId"), cannedAnswer);
    return [path, "--no-tls", "--address", "127.0.0.1", "--htdocs", folder, `${port}`];
  };
  return startBenchServer({ name, isOurs: false, command, env });
}

/** Builds peers/go with the Go of this machine. */
export async function buildGoPeer(folder: string): Promise<string> {
  const program = join(folder, "peer");
  await runCommand("go", ["build", "-o", program, "."], { cwd: "test/bench/peers/go" });
  return program;
}

/** The frameworks of Rust beside ours. tonic runs on one thread, pajamax has one for each connection. */
export const rustPeers = ["tonic", "pajamax"] as const;

/**
 * Builds peers/rust where this machine has cargo, and starts the servers; an empty object where it has none. Cargo
 * fetches what Cargo.lock names.
 */
export async function startRustPeers(
  folder: string,
): Promise<Partial<Record<(typeof rustPeers)[number], BenchServer>>> {
  try {
    await runCommand("cargo", ["--version"]);
  } catch {
    return {};
  }
  const args = ["build", "--release", "--locked", "--target-dir", folder];
  await runCommand("cargo", args, { cwd: "test/bench/peers/rust" });
  const start = (name: string, peer: (typeof rustPeers)[number]): Promise<BenchServer> => {
    const command = (port: number) => [join(folder, "release", `${peer}-peer`), `127.0.0.1:${port}`];
    return startBenchServer({ name, isOurs: false, command });
  };
  return {
    tonic: await start("tonic, one thread (Rust)", "tonic"),
    pajamax: await start("pajamax, no limits (Rust)", "pajamax"),
  };
}
