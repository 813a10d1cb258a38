/** A server whose surroundings are taken away and given back: descriptors, room on the disk, the reader of its log. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { once } from "node:events";
import { askHttp1 } from "../http2/http-call.ts";
import { findFreePort } from "./free-port.ts";
import { bundledSnowlane } from "./server-bundle.ts";
import type { SnowlaneProcess } from "./snowlane-process.ts";
import { until } from "./until.ts";

const json = { "content-type": "application/json" };

/** Asks for one ID over a connection of its own; gives the status. */
export async function callNextId(url: string): Promise<number> {
  return (await askHttp1(url, { path: "/snowlane.v1.IdService/NextId", headers: json, body: "{}" })).status;
}

/** A request that has a line in the log of refused calls. */
export async function callRefused(url: string): Promise<number> {
  return (await askHttp1(url, { path: "/healthz", method: "GET", headers: { host: "evil.example" } })).status;
}

/** How to start it. */
interface LoggingOptions {
  readonly storeFile: string;
  readonly args?: readonly string[];
  readonly stderr: number | "pipe";
  readonly stdout?: number | "ignore";
}

/**
 * Starts a server that writes its log of refused calls to a given descriptor or pipe, and resolves when it serves. Its
 * caller ends it.
 */
export async function startLoggingTo({ storeFile, args = [], stderr, stdout = "ignore" }: LoggingOptions) {
  const port = await findFreePort();
  const [command = "", ...program] = await bundledSnowlane();
  const address = `127.0.0.1:${port}`;
  const flags = ["serve", "--listen", address, "--log-calls", "refused", "--store", `sqlite:${storeFile}`, ...args];
  const child = spawn(command, [...program, ...flags], { stdio: ["ignore", stdout, stderr] });
  const url = `http://${address}`;
  const ends = once(child, "exit");
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    const [code, killed] = (await ends) as [number | null, NodeJS.Signals | null];
    return code ?? killed!;
  };
  const server: SnowlaneProcess = { child, address, url, log: [], stop };
  await until("it serves", async () => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`);
    return (await callNextId(url).catch(() => 0)) === 200;
  });
  return server;
}

/** Changes a limit of a process that runs. */
function limit(processId: number, limits: readonly string[]): void {
  execFileSync("prlimit", ["--pid", String(processId), ...limits]);
}

/** The surroundings that can be taken away. */
export const surroundings = ["descriptors", "disk", "log"] as const;

/** A pipe whose reader comes and goes. */
export class LogPipe {
  readonly #path: string;
  #reader: number | undefined;

  /** @param path - Of a file that does not exist yet. */
  constructor(path: string) {
    this.#path = path;
    execFileSync("mkfifo", [path]);
    this.open();
  }

  /** The end to write to, for a process; the caller closes it. */
  openWriter(): number {
    return openSync(this.#path, "w");
  }

  open(): void {
    this.#reader ??= openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
  }

  close(): void {
    if (this.#reader !== undefined) closeSync(this.#reader);
    this.#reader = undefined;
  }

  /** Takes what has been written; nothing where nobody reads. */
  read(): string {
    if (this.#reader === undefined) return "";
    const bytes = Buffer.alloc(65_536);
    try {
      return bytes.toString("utf8", 0, readSync(this.#reader, bytes));
    } catch (error) {
      // Nothing has been written since.
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return "";
      throw error;
    }
  }
}

/** Takes one of them from a server. */
export function takeAway(what: (typeof surroundings)[number], { child }: SnowlaneProcess, log: LogPipe): void {
  // Fewer than are open: nothing can be opened, and no connection accepted.
  if (what === "descriptors") limit(child.pid!, ["--nofile=8:"]);
  // Not a byte more into any file.
  else if (what === "disk") limit(child.pid!, ["--fsize=0:"]);
  else log.close();
}

/** Gives it back. */
export function giveBack(what: (typeof surroundings)[number], { child }: SnowlaneProcess, log: LogPipe): void {
  if (what === "descriptors") limit(child.pid!, ["--nofile=4096:"]);
  else if (what === "disk") limit(child.pid!, ["--fsize=unlimited:"]);
  else log.open();
}
