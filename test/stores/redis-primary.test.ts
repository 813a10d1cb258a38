import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { docBlock } from "../house/stores-doc.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { askRedis, follow, promote, startReplicable } from "../support/servers/redis-replicas.ts";
import { startRedisSentinel } from "../support/servers/redis-sentinel.ts";
import type { TestServer } from "../support/servers/test-server.ts";

const patience = { timeout: 90_000, interval: 100 };

/** A primary and its replica. */
async function startPair(): Promise<readonly [primary: TestServer, replica: TestServer]> {
  const [primary, replica] = await Promise.all([startReplicable(), startReplicable()]);
  await follow([replica], primary);
  return [primary, replica];
}

/** The URL of servers in this order. */
function urlOf(servers: readonly TestServer[], query = ""): string {
  return `redis://${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}${query}`;
}

async function open(url: string): Promise<RecordStore> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 10_000 });
  onTestFinished(() => store.close());
  return store;
}

/** Issues IDs, unless told otherwise with a window shorter than Redis's own, so that each quarantine is short. */
async function issue(storeUrl: string, windowMs = 3_000): Promise<IssuingWorker> {
  return IssuingWorker.start({ storeUrl, windowMs, windowMaxMs: windowMs, renewalPeriodMs: 500 });
}

test("a replica that is first in the URL of Redis is skipped", async () => {
  const [primary, replica] = await startPair();
  const store = await open(urlOf([replica, primary], "?replicas=1"));
  const { kind } = await store.compareAndSet("worker-1", undefined, "text");
  expect(kind).toBe("applied");
  expect((await store.list()).entries.map(({ text }) => text)).toEqual(["text"]);
});

test("where no server takes us, one sentence names each of them with its reason", async () => {
  const [primary, replica] = await startPair();
  const problemOf = async (url: string): Promise<unknown> => (await open(url)).read("worker-1").catch((error) => error);
  const first = `127.0.0.1:${replica.port}: it is a replica and takes no writes`;
  expect(await problemOf(urlOf([replica]))).toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: expect.stringMatching(`^The redis store cannot be used: ${first}\\. Name the primary`),
  });
  await primary.kill();
  expect(await problemOf(urlOf([replica, primary]))).toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: `The redis store cannot be used: ${first}; connect ECONNREFUSED 127.0.0.1:${primary.port}.`,
  });
});

test("a refused write of Redis is reported in a sentence with one full stop", async () => {
  const server = await startReplicable(["--maxmemory", "1"]);
  expect(await (await open(server.url)).compareAndSet("worker-1", undefined, "text")).toMatchObject({
    kind: "refused",
    error: {
      reason: "STORE_UNAVAILABLE",
      message: expect.stringMatching(
        /^The redis store refuses to be written: OOM [^.:]+\. Raise its maxmemory, [^.]+\.$/,
      ),
    },
  });
});

test("an old primary that is first in the URL without its replicas is skipped, because its writes reach no majority", async () => {
  const [primary, replica] = await startPair();
  const cutOff = await startReplicable();
  const store = await open(urlOf([cutOff, primary], "?replicas=1"));
  expect((await store.compareAndSet("worker-1", undefined, "text")).kind).toBe("applied");
  expect(await askRedis(cutOff.port, "DBSIZE")).toContain(":0");
  await replica.kill();
  await expect(open(urlOf([cutOff], "?replicas=1")).then((alone) => alone.moment())).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: expect.stringContaining("it has 0 of the 1 replicas that make a majority"),
  });
});

test("servers go on after a failover that left the old primary first in the URL, and after a reset of all connections", async () => {
  const [primary, replica] = await startPair();
  const worker = await issue(urlOf([primary, replica], "?replicas=1"));
  await promote(replica, [primary]);
  for (const { port } of [primary, replica]) await askRedis(port, "CLIENT KILL TYPE normal SKIPME yes");
  await expectToGoOn(worker);
  // What a restart of a proxy or of the network does, long after the failover.
  await askRedis(replica.port, "CLIENT KILL TYPE normal SKIPME yes");
  await expectToGoOn(worker);
  await worker.stop();
  expect(duplicatesOf(worker.ids)).toEqual([]);
});

/** Waits for a grant that is confirmed from now on, and for IDs of it. */
async function expectToGoOn(worker: IssuingWorker): Promise<void> {
  const renewed = (): number => {
    const { counters } = worker.source.status();
    return counters.renewed + counters.acquired;
  };
  const before = renewed();
  await expect.poll(renewed, patience).toBeGreaterThan(before + 2);
  const count = worker.ids.length;
  await expect.poll(() => worker.ids.length, patience).toBeGreaterThan(count + 20);
}

test("a sentinel fails over: servers go on, also when the old primary is back as a replica and first in their URL", async () => {
  const [primary, replica] = await startPair();
  const lines = ["sentinel failover-timeout primary 10000"];
  const sentinel = await startRedisSentinel({ primaryPort: primary.port, quorum: 1, lines });
  await expect.poll(() => askRedis(sentinel.port, "SENTINEL replicas primary"), patience).toContain(`${replica.port}`);
  const [bySentinel, byUrl] = await Promise.all([issue(sentinel.url), issue(urlOf([primary, replica], "?replicas=1"))]);
  await primary.kill();
  await expectToGoOn(bySentinel);
  await primary.restart();
  await expect.poll(() => askRedis(primary.port, "INFO replication"), patience).toContain("role:slave");
  await askRedis(replica.port, "CLIENT KILL TYPE normal SKIPME yes");
  await expectToGoOn(bySentinel);
  await expectToGoOn(byUrl);
  await Promise.all([bySentinel.stop(), byUrl.stop()]);
  expect(duplicatesOf(bySentinel.ids, byUrl.ids)).toEqual([]);
});

test("a window of 20 s outlasts a failover by Sentinel: no call is refused", async () => {
  const [primary, replica] = await startPair();
  const sentinel = await startRedisSentinel({ primaryPort: primary.port, quorum: 1 });
  await expect.poll(() => askRedis(sentinel.port, "SENTINEL replicas primary"), patience).toContain(`${replica.port}`);
  const worker = await issue(sentinel.url, 20_000);
  await primary.kill();
  await expectToGoOn(worker);
  await worker.stop();
  expect(worker.failedCount).toBe(0);
  expect(worker.source.status().counters).toMatchObject({ acquired: 1, lapsed: 0, lost: 0 });
  expect(duplicatesOf(worker.ids)).toEqual([]);
});

test("a stale sentinel that names a replica is skipped", async () => {
  const [old, next] = await startPair();
  // Two would have to agree, and each is alone: both keep to what they were told first.
  const stale = await startRedisSentinel({ primaryPort: old.port, quorum: 2 });
  await promote(next, [old]);
  const fresh = await startRedisSentinel({ primaryPort: next.port, quorum: 2 });
  const named = (sentinel: TestServer): Promise<string> =>
    askRedis(sentinel.port, "SENTINEL get-master-addr-by-name primary");
  const store = await open(urlOf([stale, fresh], "?sentinel=primary"));
  expect((await store.compareAndSet("worker-1", undefined, "text")).kind).toBe("applied");
  expect([await named(stale), await named(fresh)]).toEqual([
    expect.stringContaining(`${old.port}`),
    expect.stringContaining(`${next.port}`),
  ]);
});

test("a sentinel that does not know the name says so", async () => {
  const primary = await startReplicable();
  const sentinel = await startRedisSentinel({ primaryPort: primary.port, quorum: 1 });
  await expect((await open(urlOf([sentinel], "?sentinel=other"))).moment()).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: expect.stringContaining("the sentinel knows no primary of this name"),
  });
});

test("sentinels with a password, or with the user of docs/stores.md, take us, and others are refused", async () => {
  const primary = await startReplicable(["--requirepass", "primary-secret"]);
  const sentinel = await startRedisSentinel({
    primaryPort: primary.port,
    quorum: 1,
    lines: ["sentinel auth-pass primary primary-secret", "requirepass change-me"],
  });
  const made = await askRedis(
    sentinel.port,
    `AUTH change-me\r\n${docBlock("privileges: redis sentinel").replace("change-me-too", "user-secret").trim()}`,
  );
  expect(made).toMatch(/^[+]OK\r\n[+]OK/);
  const folder = temporaryFolder();
  const passwordFile = (secret: string): string => {
    writeFileSync(join(folder, secret), `${secret}\n`);
    return `sentinelPasswordFile=${encodeURIComponent(join(folder, secret))}`;
  };
  const ask = async (query: string) => {
    const url = `redis://:primary-secret@127.0.0.1:${sentinel.port}?sentinel=primary${query}`;
    return (await open(url)).compareAndSet("worker-1", undefined, "text");
  };
  expect((await ask(`&${passwordFile("change-me")}`)).kind).toBe("applied");
  expect((await ask(`&sentinelUser=snowlane&${passwordFile("user-secret")}`)).kind).toBe("conflict");
  for (const query of ["", `&${passwordFile("guessed")}`, `&sentinelUser=snowlane&${passwordFile("change-me")}`]) {
    await expect(ask(query)).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
  }
});

test.for([
  ["redis://h?sentinelPasswordFile=/x", "sentinelPasswordFile needs sentinel="],
  ["redis://h?sentinel=primary&sentinelUser=u", "sentinelUser needs sentinelPasswordFile="],
])("%s is refused: its parameter %s", async ([url, message]) => {
  await expect(open(url!)).rejects.toMatchObject({
    reason: "INVALID_CONFIG",
    message: expect.stringContaining(message!),
  });
});

test("Redis Cluster is refused with a sentence, and so is a sentinel that the URL takes for a server", async () => {
  // By default its second port is the first and 10,000 more, which may be the port of any outgoing connection.
  const clusterPort = `${await findFreePort()}`;
  const cluster = await startReplicable(["--cluster-enabled", "yes", "--cluster-port", clusterPort]);
  await expect((await open(cluster.url)).moment()).rejects.toMatchObject({
    reason: "INVALID_CONFIG",
    message: expect.stringMatching(/^The redis store cannot be used: it is a Redis Cluster, .*Use a primary/),
  });
  await expect((await open(`${cluster.url}/1`)).moment()).rejects.toMatchObject({ reason: "INVALID_CONFIG" });
  const sentinel = await startRedisSentinel({ primaryPort: (await startReplicable()).port, quorum: 1 });
  await expect((await open(urlOf([sentinel]))).moment()).rejects.toMatchObject({
    reason: "INVALID_CONFIG",
    message: expect.stringContaining("it is a sentinel. Add sentinel= and the name of the primary"),
  });
});
