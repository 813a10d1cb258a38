/** Connections that do nothing, held by processes of their own: one process may not have as many sockets. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

const program = new URL("connections-process.ts", import.meta.url);
const connectionsEach = 5_000;

/** For a server that takes as many as a benchmark opens. */
export const unlimitedConnections = ["--connections-max", "1000000", "--connections-per-second", "1000000"] as const;

/** Opens that many connections of HTTP/2, and returns the processes that hold them. */
export async function openConnections(port: number, count: number): Promise<ChildProcess[]> {
  const holders: ChildProcess[] = [];
  for (let left = count; left > 0; left -= connectionsEach) {
    const holder = fork(program, [String(port), String(Math.min(left, connectionsEach))]);
    await once(holder, "message");
    holders.push(holder);
  }
  return holders;
}
