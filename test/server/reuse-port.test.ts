import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createNodeClient } from "../../clients/typescript/src/node.ts";
import { presetLayout } from "../../src/snowflake/presets.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const timeoutMs = 300_000;
const layout = presetLayout("twitter");

/** Servers of one address and one store. */
async function start(listen: string, store: string, instance: string): Promise<SnowlaneProcess> {
  const args = ["--store", store, "--reuse-port", "--instance", instance];
  const server = await startSnowlane({ args, listen });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

/** One call over a connection of its own: its ID, or how the call failed. */
async function callOnce(url: string): Promise<bigint | string> {
  const client = createNodeClient({ endpoints: [url], retryMax: 0, timeoutMs: 60_000, attemptTimeoutMs: 60_000 });
  try {
    return await client.nextId();
  } catch (error) {
    return String(error);
  } finally {
    client.close();
  }
}

test("servers on one port share the connections, each with a worker ID of its own", {
  timeout: timeoutMs,
}, async () => {
  const listen = `127.0.0.1:${await findFreePort()}`;
  const store = `sqlite:${join(temporaryFolder(), "snowlane.db")}`;
  const servers = [await start(listen, store, "a"), await start(listen, store, "b")];
  expect(new Set(servers.map(({ url }) => url)).size).toBe(1);
  const workerIds = new Set<string>();
  // The chance that one of two gets none of 100 is nothing.
  for (let count = 0; count < 100; count++) {
    const { datacenterId, workerId } = parseId(layout, BigInt(await callOnce(servers[0]!.url)));
    // Two servers have the same worker ID within their datacenters once in 32 times.
    workerIds.add(`${datacenterId}/${workerId}`);
  }
  expect(workerIds.size).toBe(2);
});

test("a stop loses no call on a connection that was accepted, and clients retry the others", {
  timeout: timeoutMs,
}, async () => {
  const listen = `127.0.0.1:${await findFreePort()}`;
  const store = `sqlite:${join(temporaryFolder(), "snowlane.db")}`;
  await start(listen, store, "stays");
  const url = `http://${listen}`;
  const over = new AbortController();
  const ids: bigint[] = [];
  // These keep their connections, and open others when a server ends one.
  const keeping = Array.from({ length: 16 }, async () => {
    const client = createNodeClient({ endpoints: [url], timeoutMs: 60_000 });
    onTestFinished(() => client.close());
    while (!over.signal.aborted) ids.push(await client.nextId());
  });
  const failures: string[] = [];
  let onceCount = 0;
  const single = Array.from({ length: 4 }, async () => {
    for (; !over.signal.aborted; onceCount++) {
      const outcome = await callOnce(url);
      if (typeof outcome === "string") failures.push(outcome);
    }
  });
  for (let round = 0; round < 3; round++) {
    const leaving = await start(listen, store, "leaves");
    await sleep(300);
    expect(await leaving.stop("SIGTERM")).toBe(0);
  }
  over.abort();
  await Promise.all([...keeping, ...single]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(onceCount).toBeGreaterThan(50);
  // The kernel resets connections that nobody had accepted when the port closed, and no others.
  for (const failure of failures) expect(failure).toMatch(/ECONNRESET|socket hang up|closed the connection/);
  expect(failures.length).toBeLessThan(onceCount / 10);
});

test("a port is shared only by servers with names, and only where all of them say so", {
  timeout: timeoutMs,
}, async () => {
  const nameless = await runCli(["serve", "--reuse-port"]);
  expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringMatching(/--reuse-port.*--instance/s)]);
  const listen = `127.0.0.1:${await findFreePort()}`;
  const folder = temporaryFolder();
  const alone = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "a.db")}`], listen });
  onTestFinished(() => void alone.child.kill("SIGKILL"));
  const store = `sqlite:${join(folder, "b.db")}`;
  const flags = ["--store", store, "--reuse-port", "--instance", "b", "--log-level", "debug"];
  const second = await runCli(["serve", "--listen", listen, ...flags]);
  expect([second.code, second.stderr]).toEqual([3, expect.stringContaining("is in use")]);
  // It had its worker ID already: a server that binds the port earlier gets connections that it cannot answer.
  expect(second.stderr).toContain("Holds a worker ID");
});
