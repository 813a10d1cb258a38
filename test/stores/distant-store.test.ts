import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runCli } from "../support/processes/cli-outcome.ts";
import { IssuingWorker } from "../support/processes/issuing-worker.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { withPort } from "../support/servers/remote-stores.ts";
import type { TestServer } from "../support/servers/test-server.ts";

const patience = { timeout: 90_000, interval: 100 };
/** Each way, so that a round trip takes twice as long. */
const delayMs = 150;

describe.each([
  ["PostgreSQL", startPostgres],
  ["Redis", startRedis],
] as const)("a round trip of 300 ms to %s:", (_name, start) => {
  let server: TestServer;
  let proxy: TcpProxy;
  beforeAll(async () => {
    server = await start();
    proxy = await TcpProxy.start(server.port);
    proxy.delayMs = delayMs;
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });

  test("a server starts with the default time limit, renews, and comes back after its connection was cut", async () => {
    const worker = await IssuingWorker.start({ storeUrl: withPort(server, proxy.port), renewalPeriodMs: 1_000 });
    onTestFinished(() => worker.stop());
    const renewed = (): number => worker.source.status().counters.renewed;
    await expect.poll(renewed, patience).toBeGreaterThan(2);
    proxy.cut();
    const before = renewed();
    await expect.poll(() => renewed() + worker.source.status().counters.acquired, patience).toBeGreaterThan(before + 3);
  });

  test("doctor finds that serve works, and that it does not with a shorter time limit", async () => {
    const doctor = (...args: readonly string[]) =>
      runCli(["doctor", "--listen", "127.0.0.1:0", "--store", withPort(server, proxy.port), ...args]);
    expect((await doctor()).code).toBe(0);
    const short = await doctor("--store-timeout", "250ms");
    expect([short.code, short.stdout.toString()]).toEqual([4, expect.stringContaining("no answer within 0.25 s")]);
  });
});

test("a server whose time limit is shorter than connecting takes starts, because nothing is lost by waiting", async () => {
  const server = await startMariadb();
  onTestFinished(() => server.stop());
  const proxy = await TcpProxy.start(server.port);
  onTestFinished(() => proxy.stop());
  // Connecting takes three and a half trips of 800 ms or more, and a call three at most.
  proxy.delayMs = 400;
  const times = { renewalPeriodMs: 1_000, storeTimeoutMs: 2_600 };
  const worker = await IssuingWorker.start({ storeUrl: withPort(server, proxy.port), ...times });
  onTestFinished(() => worker.stop());
  await expect.poll(() => worker.source.status().counters.renewed, patience).toBeGreaterThan(2);
});
