import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createNodeClient, type NodeClientOptions } from "../../clients/typescript/src/node.ts";
import type { AttemptEvent } from "../../clients/typescript/src/observer.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

/** The TypeScript client's calls while real servers stop, freeze and die. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-typescript-faults-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(): Promise<SnowlaneProcess> {
  const server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "snowlane.db")}`] });
  onTestFinished(async () => void (await server.stop("SIGKILL")));
  return server;
}

function connect(endpoints: readonly string[], options: NodeClientOptions = {}) {
  const client = createNodeClient({ endpoints, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Calls one after the other by many callers, until `isOver`; every error is one too many. */
async function issue(client: ReturnType<typeof connect>, isOver: () => boolean): Promise<readonly bigint[]> {
  const ids: bigint[] = [];
  const callers = Array.from({ length: 16 }, async () => {
    while (!isOver()) ids.push(await client.nextId({ timeoutMs: 60_000 }));
  });
  await Promise.all(callers);
  return ids;
}

test("a server that stops as it should, and one that is killed, cost no call where another runs", async () => {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const servers = [await start(), await start()];
    let used: string | undefined;
    const observer = { onAttempt: ({ endpoint }: AttemptEvent) => void (used ??= endpoint) };
    const endpoints = servers.map(({ url }) => url);
    const client = connect(endpoints, { observer });
    let isOver = false;
    const issuing = issue(client, () => isOver);
    await client.nextIds(1_000);
    await servers.find(({ url }) => url === used)?.stop(signal);
    await client.nextIds(1_000);
    isOver = true;
    const ids = await issuing;
    expect(new Set(ids).size, signal).toBe(ids.length);
  }
});

test("a server that is frozen is left for another, and calls to it alone keep their deadline", async () => {
  const [frozen, other] = [await start(), await start()];
  const client = connect([frozen.url], { attemptTimeoutMs: 300 });
  await client.nextId();
  frozen.child.kill("SIGSTOP");
  onTestFinished(() => void frozen.child.kill("SIGCONT"));
  await expect(client.nextId({ timeoutMs: 1_000 })).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED" });
  const both = connect([frozen.url, other.url], { attemptTimeoutMs: 300, timeoutMs: 60_000 });
  for (let count = 0; count < 20; count++) await both.nextId();
  frozen.child.kill("SIGCONT");
  expect(await client.nextId({ timeoutMs: 60_000 })).toBeGreaterThan(0n);
});

test("a connection whose answers are lost is replaced within one call", async () => {
  const server = await start();
  const proxy = await TcpProxy.start(Number(new URL(server.url).port));
  onTestFinished(() => proxy.stop());
  const client = connect([`http://127.0.0.1:${proxy.port}`], { attemptTimeoutMs: 700 });
  const first = await client.nextId();
  proxy.mode = "deaf";
  const second = client.nextId({ timeoutMs: 60_000 });
  setTimeout(() => (proxy.mode = "open"), 1_000);
  expect(await second).toBeGreaterThan(first);
});

test("a stream goes on over another connection when its own is cut", async () => {
  const server = await start();
  const proxy = await TcpProxy.start(Number(new URL(server.url).port));
  onTestFinished(() => proxy.stop());
  const client = connect([`http://127.0.0.1:${proxy.port}`], { timeoutMs: 60_000 });
  const ids: bigint[] = [];
  let cutCount = 0;
  for await (const chunk of client.stream(300_000, { chunkSize: 1_000 })) {
    ids.push(...chunk);
    if (ids.length > 50_000 * (cutCount + 1) && cutCount < 3) {
      cutCount++;
      proxy.cut();
    }
  }
  expect([ids.length, new Set(ids).size, cutCount]).toEqual([300_000, 300_000, 3]);
});
