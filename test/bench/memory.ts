/**
 * Measures what `snowlane serve` weighs: `node test/bench/memory.ts [connections]`, after `npm run build`. Prints the
 * resident memory when it has just started, with so many idle HTTP/2 connections, after load, and after all of them
 * have gone; for both kinds of HTTP/2. Connections are opened by processes of their own.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hello } from "../support/http2-wire.ts";
import { Neighbour } from "../support/neighbour.ts";
import { startSnowlane } from "../support/snowlane-process.ts";
import { residentMib } from "../support/resident-memory.ts";

const settleMs = 3_000;
const loadCalls = 100_000;
const connectionsEach = 5_000;

/** In a process of its own: opens connections that say hello and nothing more. */
async function holdConnections(port: number, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(hello);
    socket.once("data", () => socket.pause());
  }
  process.send!("open");
}

async function openConnections(port: number, count: number): Promise<readonly ChildProcess[]> {
  const holders: ChildProcess[] = [];
  for (let left = count; left > 0; left -= connectionsEach) {
    const holder = fork(import.meta.filename, ["hold", String(port), String(Math.min(left, connectionsEach))]);
    await once(holder, "message");
    holders.push(holder);
  }
  return holders;
}

async function load(url: string): Promise<void> {
  const neighbours = Array.from({ length: 8 }, () => new Neighbour(url));
  await Promise.all(neighbours.map((neighbour) => neighbour.served(loadCalls / neighbours.length)));
  await Promise.all(neighbours.map((neighbour) => neighbour.stop()));
}

async function measure(http2: string, count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const server = await startSnowlane({
    program: [process.execPath, "dist/main.js"],
    args: ["--http2", http2, "--connections-max", "1000000", "--store", `sqlite:${folder}/snowlane.db`],
  });
  const figures: string[] = [];
  const note = async (what: string): Promise<void> => {
    await sleep(settleMs);
    figures.push(`${what} ${residentMib(server.child.pid).toFixed(0)} MiB`);
  };
  try {
    await note("started");
    const holders = await openConnections(Number(server.address.split(":")[1]), count);
    await note(`${count} idle connections`);
    for (const holder of holders) holder.kill();
    await note("all closed");
    await load(server.url);
    await note(`after ${loadCalls} calls`);
  } finally {
    await server.stop("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${http2.padEnd(6)} ${figures.join("; ")}`);
}

const [command = "10000", port, count] = process.argv.slice(2);
if (command === "hold") {
  await holdConnections(Number(port), Number(count));
} else {
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`);
  for (const http2 of ["engine", "node"]) await measure(http2, Number(command));
}
