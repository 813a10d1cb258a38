import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock, systemTimers } from "../../src/clock/clock.ts";
import { kernelRandom128 } from "../../src/kernel-random.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { moveStore } from "../../src/operator/store-move/move-store.ts";
import { listWorkers, type WorkerList } from "../../src/lease/worker-list.ts";
import { parseLayoutSlot } from "../../src/lease/records/layout-slot.ts";
import { recordKeys } from "../../src/lease/records/record-text.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { type RemoteStoreServer, remoteStoreKinds } from "../support/servers/remote-stores.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { runSnowlane, type SnowlaneRun } from "../text/run-snowlane.ts";

/**
 * What an operator does, on real servers, by the real command line; test/cli/operator.test.ts has the rest, on SQLite.
 */

const password = "s3cret";

/** Every line that a command prints is looked through: none may hold the password. */
/** Runs a command; the URL behind `--store` goes into the environment, because it has a password. */
async function run(...args: readonly string[]): Promise<SnowlaneRun> {
  const at = args.indexOf("--store");
  const environment: Record<string, string> = at < 0 ? {} : { SNOWLANE_STORE: args[at + 1]! };
  const rest = args.filter((_, index) => at < 0 || index < at || index > at + 1);
  const outcome = await runSnowlane(rest, "", environment);
  expect(outcome.stdout + outcome.stderr).not.toContain(password);
  return outcome;
}

interface SecretStore {
  readonly server: { readonly port: number };
  readonly url: string;
}

async function startSecretPostgres(): Promise<SecretStore> {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  return { server, url: server.url.replace("postgres@", `postgres:${password}@`) };
}

async function startSecretRedis(): Promise<SecretStore> {
  const args = ["--requirepass", password];
  const server = await startRedis({ persistence: "every-write", args });
  onTestFinished(() => server.stop());
  return { server, url: server.url.replace("//", `//:${password}@`) };
}

async function withStore<T>(url: string, work: (store: RecordStore) => Promise<T>): Promise<T> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function look(url: string): Promise<WorkerList> {
  return withStore(url, async (store) => listWorkers(store, await store.list(), systemClock.nowMs()));
}

/** Short, so that a dead server is soon seen to be dead; and long enough that a busy machine keeps them. */
const times = ["--window", "6s", "--window-max", "6s", "--renewal-period", "1s"];

async function serve(url: string) {
  const args = ["--store", url, "--datacenter-id", "1", "--worker-id", "3", ...times];
  const server = await startSnowlane({ args });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

const kinds: readonly (readonly [string, () => Promise<SecretStore>])[] = [
  ["postgres", startSecretPostgres],
  ["redis", startSecretRedis],
];

describe.each(kinds)("%s", (_kind, start) => {
  test("doctor, workers, release and quarantine tell the truth, and no password", async () => {
    const { url, server: store } = await start();
    const fresh = await run("doctor", "--store", url, "--listen", "127.0.0.1:0", "--json", ...times);
    expect([fresh.exitCode, fresh.stderr]).toEqual([0, ""]);
    expect(await withStore(url, async (opened) => (await opened.list()).entries)).toEqual([]);
    expect((await run("workers", "--store", url)).exitCode).toBe(2);

    const server = await serve(url);
    const listed = JSON.parse((await run("workers", "--store", url, "--json")).stdout);
    expect(listed).toMatchObject({ free: 1023, workers: [{ datacenterId: 1, workerId: 3, state: "held" }] });
    expect(listed.store).toContain(`:${store.port}`);
    const records = await withStore(url, async (opened) => (await opened.read(recordKeys.layout)).entry?.text);
    const seen = await run("doctor", "--store", url, "--listen", "127.0.0.1:0", "--json", ...times);
    const findings = seen.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(seen.exitCode).toBe(0);
    expect(findings.map(({ check, level }) => `${check} ${level}`)).toEqual(
      expect.arrayContaining(["clock offset ok", "layout ok", "privileges ok", "worker IDs ok"]),
    );
    expect(findings.find(({ check }) => check === "clock offset").detail).toMatch(/\d (ms|s) (ahead of|behind)/);
    expect(await withStore(url, async (opened) => (await opened.read(recordKeys.layout)).entry?.text)).toBe(records);
    const held = ["workers", "release", "--store", url, "--datacenter-id", "1", "--worker-id", "3", "--reason", "test"];
    expect((await run(...held)).exitCode).toBe(1);

    await server.stop("SIGKILL");
    await expect.poll(async () => (await look(url)).workers[0]?.state).toBe("expired");
    const { markMs } = (await look(url)).workers[0]!.record!;
    const released = await run(...held);
    expect([released.exitCode, released.stderr]).toEqual([0, expect.stringContaining("reason=test")]);
    expect((await look(url)).workers[0]).toMatchObject({ state: "released", record: { markMs } });
    expect((await run("workers", "quarantine", "--store", url, "--reason", "test", "--for", "10m")).exitCode).toBe(0);
    expect((await look(url)).quarantine).toMatchObject({ reason: "test" });
  });
});

test("a deployment moves from PostgreSQL to Redis and back: marks first, and each old home names the new one", async () => {
  const [postgres, redis] = [await startSecretPostgres(), await startSecretRedis()];
  const server = await serve(postgres.url);
  const copy = (from: SecretStore, to: SecretStore): Promise<SnowlaneRun> =>
    run("store", "copy", "--from", from.url, "--to", to.url);
  const held = await copy(postgres, redis);
  expect([held.exitCode, held.stderr]).toEqual([
    1,
    expect.stringMatching(/worker ID 1\/3 is held[^]*Nothing was changed/),
  ]);
  await run("next", "-n", "1000", "--server", server.url);
  await server.stop("SIGTERM");
  let markMs = (await look(postgres.url)).workers[0]!.record!.markMs;
  for (const [from, to] of [
    [postgres, redis],
    [redis, postgres],
  ] as const) {
    expect((await copy(from, to)).exitCode).toBe(0);
    const refused = await run("next", "--store", from.url);
    const where = expect.stringMatching(new RegExp(`was moved from this store to \\w+://127.0.0.1:${to.server.port}`));
    expect([refused.exitCode, refused.stderr]).toEqual([2, where]);
    const pinned = ["--datacenter-id", "1", "--worker-id", "3"];
    const next = await run("next", "--store", to.url, "--format", "csv", ...pinned);
    expect([next.exitCode, next.stderr]).toEqual([0, ""]);
    expect(Date.parse(next.stdout.split(/[\n,]/)[6]!)).toBeGreaterThanOrEqual(markMs);
    markMs = (await look(to.url)).workers[0]!.record!.markMs;
  }
  const { stdout } = await run("doctor", "--store", redis.url, "--listen", "127.0.0.1:0");
  expect(stdout).toContain("was moved from this store");
});

test("a namespace goes through every kind of store, and every record arrives as it was", async () => {
  const servers: RemoteStoreServer[] = [];
  for (const { start } of remoteStoreKinds) {
    const server = await start();
    onTestFinished(() => server.stop());
    servers.push(server);
  }
  const first = servers[0]!;
  for (let round = 0; round < 3; round += 1) {
    expect(
      (await runSnowlane(["next", "--store", first.url, "--worker-id", `${round}`, "--datacenter-id", "1"])).exitCode,
    ).toBe(0);
  }
  const workersOf = async (url: string): Promise<readonly string[]> => {
    const entries = await withStore(url, async (store) => (await store.list()).entries);
    return entries
      .filter(({ key }) => key.startsWith("worker-"))
      .map(({ key, text }) => `${key} ${text}`)
      .toSorted();
  };
  const before = await workersOf(first.url);
  expect(before).toHaveLength(3);
  for (const [index, to] of servers.slice(1).entries()) {
    const from = servers[index]!;
    const moved = await withStore(from.url, (source) => withStore(to.url, (target) => move(source, target)));
    expect(moved).toMatchObject({ kind: "moved", records: 3 });
    expect(await workersOf(to.url)).toEqual(before);
    const { entry } = await withStore(from.url, (store) => store.read(recordKeys.layout));
    expect(parseLayoutSlot(entry!.text)).toMatchObject({ kind: "move", move: { phase: "left", place: "the next" } });
  }
});

function move(source: RecordStore, target: RecordStore) {
  return moveStore({
    source: { store: source, place: "the one before" },
    target: { store: target, place: "the next" },
    clock: systemClock,
    timers: systemTimers,
    random128: kernelRandom128,
    report: () => {},
  });
}

test.each(remoteStoreKinds)("$kind: who only looks makes nothing", async ({ kind, start }) => {
  const server = await start();
  onTestFinished(() => server.stop());
  const makesPlaces = ["postgres", "mysql", "zookeeper"].includes(kind);
  for (let time = 0; time < 2; time += 1) {
    const store = await openStore(server.url, { namespace: "default", callTimeoutMs: 30_000, whereNew: "refuse" });
    const looked = await store.list().catch((error: unknown) => error);
    await store.close();
    if (makesPlaces) expect(looked).toMatchObject({ reason: "INVALID_CONFIG", metadata: { kept: "nothing" } });
    else expect(looked).toMatchObject({ entries: [] });
  }
});
