import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test, vi } from "vitest";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { openStatus } from "../../src/cli/server/remote-status.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { runServer } from "../support/processes/running-server.ts";
import { runInProcess } from "./in-process.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";

const plain = { NO_COLOR: "1" };

test("status shows a server to people and to programs", async () => {
  const { url } = await runServer({ datacenterId: "4", workerId: "7" });
  const ids = createClient(IdService, createGrpcTransport({ baseUrl: url }));
  const { runs } = await ids.reserveIds({ count: 600 });
  const issued = runs.reduce((sum, { count }) => sum + count, 0);
  const json = async () => JSON.parse((await runInProcess(["status", "--server", url, "--json"])).stdout);
  const total = async () => (await json()).samples.reduce((sum: number, { ids }: { ids: number }) => sum + ids, 0);
  await expect.poll(total).toBe(issued);
  const found = await json();
  expect(found).toMatchObject({
    server: url,
    serving: true,
    reason: "",
    phase: "holding",
    grant: { datacenterId: 4, workerId: 7, generation: 1, since: expect.stringMatching(/^20\d\d-.*Z$/) },
    store: { kind: "sqlite", reachable: true },
    waiting: 0,
  });
  expect(found.samples[0].index).toBe(1);
  // A busy server may have got its worker ID after its first second.
  expect(found.samples.at(-1)).toMatchObject({ windowLeftMs: expect.any(Number), leadMs: expect.any(Number) });
  const { code, stdout, stderr } = await runInProcess(["status", "--server", url], plain);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^state {3}serving\nserver {2}http:/);
  expect(stdout).toMatch(/\nworker {2}7 of datacenter 4, since 20\S+Z, generation 1\n/);
  expect(stdout).toMatch(/\nstore {3}sqlite, last answered \d+\.\d s ago\n/);
  expect(stdout).toMatch(/\nIDs +[\d.]+ +[\d.]+ +[\d.]+\n/);
});

test("status --watch --json prints each second's sample once, and goes on while the server is away", async () => {
  const { url, server } = await runServer();
  const [command = "", ...before] = await bundledSnowlane();
  const args = [...before, "status", "--server", url, "--watch", "--json"];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let problems = "";
  child.stderr.on("data", (chunk: Buffer) => (problems += chunk.toString()));
  const indexes: number[] = [];
  let rounds = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const { samples } = JSON.parse(line) as { readonly samples: readonly { readonly index: number }[] };
    indexes.push(...samples.map(({ index }) => index));
    rounds += 1;
    if (rounds >= 2 && indexes.length >= 2) break;
  }
  expect(indexes).toEqual(indexes.map((_, at) => at + 1));
  await server.stop();
  await vi.waitFor(() => expect(problems).toContain("snowlane: "), { timeout: 60_000 });
  const closed = once(child, "close");
  child.kill("SIGINT");
  expect(await closed).toEqual([0, null]);
});

// FIELD F1: each look went over the same dark connection, until the system gave that up after a quarter of an hour.
test("status --watch looks again over a new connection when one no longer carries anything", async () => {
  const { server } = await runServer();
  const proxy = await TcpProxy.start(server.address.port);
  onTestFinished(() => proxy.stop());
  const access = { url: `http://127.0.0.1:${proxy.port}`, tls: {}, authorization: undefined };
  const source = openStatus(access);
  expect(await source.look()).toMatchObject({ serving: true });
  proxy.swallow();
  await expect(source.look()).rejects.toThrow();
  expect(await source.look()).toMatchObject({ serving: true });
});

test("NEWCOMER 14: a server that is away is reported in one line, by the flag that was given", async () => {
  const { code, stdout, stderr } = await runInProcess(["status", "--server", "http://127.0.0.1:1"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toBe("No server answers at http://127.0.0.1:1. Start one with snowlane serve, or correct --server.");
});
