/**
 * A client with servers that answer as a test says. docs/adr/0223 says what is tested by them, and what by the
 * conformance program.
 */
import { onTestFinished } from "vitest";
import { ScriptedIdServer } from "../../../test/support/processes/scripted-id-server.ts";
import type { SnowlaneError } from "../src/errors.ts";
import type { IdClient } from "../src/id-client.ts";
import { createNodeClient, type NodeClientOptions } from "../src/node.ts";

/** A server that is stopped with the test. */
export async function startServer(firstId?: bigint): Promise<ScriptedIdServer> {
  const server = await new ScriptedIdServer(firstId).start();
  onTestFinished(() => server.kill());
  return server;
}

/** A client of some servers, which is closed with the test. */
export function connect(servers: readonly ScriptedIdServer[], options: NodeClientOptions = {}): IdClient {
  const client = createNodeClient({ endpoints: servers.map(({ url }) => url), ...options });
  onTestFinished(() => client.close());
  return client;
}

/** The error that a call ends with. */
export async function errorOf(work: Promise<unknown>): Promise<SnowlaneError> {
  try {
    await work;
  } catch (error) {
    return error as SnowlaneError;
  }
  throw new Error("It did not fail.");
}

/** All IDs of a stream. */
export async function collect(stream: AsyncIterable<readonly bigint[]>): Promise<bigint[]> {
  const ids: bigint[] = [];
  for await (const chunk of stream) ids.push(...chunk);
  return ids;
}

/** An ID above 2^53. */
export const big = 2n ** 62n + 1n;
