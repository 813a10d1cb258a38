import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNodeClient } from "../../clients/typescript/src/node.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";

/** The guide for disasters in docs/store-losses.md, step by step. */
async function serve(...args: readonly string[]): Promise<SnowlaneProcess> {
  // The notes of a host are lost with it.
  const server = await startSnowlane({ args, environment: { SNOWLANE_RESUME_DIR: temporaryFolder() } });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

async function idsOf({ address }: SnowlaneProcess, count: number): Promise<readonly bigint[]> {
  const client = new GrpcIdClient(address, "own");
  try {
    const ids: bigint[] = [];
    while (ids.length < count) ids.push(await client.nextId(30_000));
    return ids;
  } finally {
    client.close();
  }
}

function expectNoneTwice(...parts: readonly (readonly bigint[])[]): void {
  const ids = parts.flat();
  expect(new Set(ids).size).toBe(ids.length);
}

/** The datacenter of an ID in the default layout. */
const datacenterOf = (id: bigint): bigint => (id >> 17n) & 31n;

test("a host is lost: a server on another one takes a worker ID of its own, and the lost one may come back", async () => {
  const store = await startPostgres();
  onTestFinished(() => store.stop());
  const lost = await serve("--store", store.url, "--instance", "a");
  const before = await idsOf(lost, 500);
  await lost.stop("SIGKILL");
  const other = await serve("--store", store.url, "--instance", "b");
  const meanwhile = await idsOf(other, 500);
  const back = await serve("--store", store.url, "--instance", "a");
  const [goesOn, after] = await Promise.all([idsOf(other, 500), idsOf(back, 500)]);
  expectNoneTwice(before, meanwhile, goesOn, after);
});

test("the store is lost: with the line of the runbook, servers on a backup wait before they issue, and no ID comes twice", async () => {
  // This loss does not show by itself.
  const store = await startEtcd();
  onTestFinished(() => store.stop());
  const pinned = ["--datacenter-id", "1", "--worker-id", "5"];
  // Long enough that a busy machine renews in time, and that the backup still has a holder when it is served.
  const times = ["--window", "10s", "--window-max", "10s", "--renewal-period", "1s"];
  const args = ["--store", store.url, ...pinned, ...times];
  const first = await serve(...args);
  const before = await idsOf(first, 200);
  await store.backUp();
  const lost = await idsOf(first, 200);
  // Step 1.
  expect(await first.stop("SIGTERM")).toBe(0);
  // Step 2.
  await store.restore();
  // Step 3.
  const page = readFileSync("docs/store-losses.md", "utf8");
  const [, line = ""] = /`(snowlane workers quarantine --store URL [^`]*)`/.exec(page) ?? [];
  expect(line).not.toBe("");
  const programs = temporaryFolder();
  writeFileSync(join(programs, "snowlane"), `#!/bin/sh\nexec ${(await bundledSnowlane()).join(" ")} "$@"\n`);
  chmodSync(join(programs, "snowlane"), 0o755);
  const env = { PATH: [programs, process.env["PATH"]].join(delimiter) };
  await runCommand("sh", ["-e", "-c", line.replace("URL", `'${store.url}'`)], { env });
  // Step 5. In the backup the worker ID is still held, perhaps for longer than the quarantine.
  const second = await serve(...args, "--wait-for-worker-id", "1m");
  const waits = second.log.filter(({ message }) => String(message).startsWith("Waits before it can take a worker ID"));
  expect(waits.length).toBeGreaterThan(0);
  expectNoneTwice(before, lost, await idsOf(second, 200));
});

test("a region is lost: another one goes on under its own datacenter IDs, and so does a new store with new ones", async () => {
  const folder = temporaryFolder();
  const next = async (region: string, datacenterIds: string): Promise<readonly bigint[]> => {
    const store = ["--store", `sqlite:${join(folder, `${region}.db`)}`, "--datacenter-ids", datacenterIds];
    const { code, stdout, stderr } = await runCli(["next", "--count", "5000", ...store]);
    expect([code, stderr]).toEqual([0, ""]);
    return stdout.toString().trim().split("\n").map(BigInt);
  };
  const [lost, other] = await Promise.all([next("a", "0-7"), next("b", "8-15")]);
  const [rebuilt, goesOn] = await Promise.all([next("new-a", "16-23"), next("b", "8-15")]);
  expectNoneTwice(lost, other, rebuilt, goesOn);
  const datacenters = [lost, other, rebuilt, goesOn].map((ids) => ids.map((id) => Number(datacenterOf(id) / 8n)));
  expect(datacenters.map((found) => Array.from(new Set(found)))).toEqual([[0], [1], [2], [1]]);
});

test("a region is lost: a client of both regions goes on with the other one, which it takes for no other deployment", async () => {
  const folder = temporaryFolder();
  const regions = await Promise.all(
    ["0-7", "8-15"].map((datacenterIds) => {
      const store = `sqlite:${join(folder, `${datacenterIds}.db`)}`;
      return startSnowlane({ args: ["--store", store, "--datacenter-ids", datacenterIds] });
    }),
  );
  onTestFinished(async () => {
    await Promise.all(regions.map((region) => region.stop("SIGKILL")));
  });
  const endpoints = regions.map(({ url }) => url);
  const client = createNodeClient({ endpoints, timeoutMs: 60_000, attemptTimeoutMs: 30_000 });
  onTestFinished(() => client.close());
  const regionOf = (id: bigint): number => Number(datacenterOf(id) / 8n);
  const before = await client.nextIds(500);
  const used = regionOf(before[0]!);
  expect(new Set(before.map(regionOf))).toEqual(new Set([used]));
  await regions[used]!.stop("SIGKILL");
  const after = await client.nextIds(500);
  expect(new Set(after.map(regionOf))).toEqual(new Set([1 - used]));
  expectNoneTwice(before, after);
});
