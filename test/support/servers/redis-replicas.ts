import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { startRedis } from "./redis-server.ts";
import type { TestServer } from "./test-server.ts";

const patience = { timeout: 90_000, interval: 100 };

/** Starts a Redis that may have replicas or become one; it is stopped when the test ends. */
export async function startReplicable(args: readonly string[] = []): Promise<TestServer> {
  const server = await startRedis({
    persistence: "every-write",
    args: ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", ...args],
  });
  onTestFinished(() => server.stop());
  return server;
}

/** Makes servers replicas of a primary; returns when they are in step with it. */
export async function follow(replicas: readonly TestServer[], primary: TestServer): Promise<void> {
  for (const { port } of replicas) await askRedis(port, `REPLICAOF 127.0.0.1 ${primary.port}`);
  for (const { port } of replicas) {
    await expect.poll(() => askRedis(port, "INFO replication"), patience).toMatch(/master_link_status:up/);
  }
}

/** Makes a replica the primary, as an operator or a sentinel does when the primary is gone. */
export async function promote(replica: TestServer, others: readonly TestServer[]): Promise<void> {
  await askRedis(replica.port, "REPLICAOF NO ONE");
  await follow(others, replica);
}

/**
 * Runs a command on a port of 127.0.0.1, and returns the reply as it is on the wire. It ends its side of the connection
 * at once, because a sentinel knows no QUIT.
 */
export async function askRedis(port: number, command: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.end(`${command}\r\n`);
  return await text(socket);
}
