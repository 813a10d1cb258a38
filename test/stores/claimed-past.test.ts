/**
 * Claims of the past on real stores: beside servers that are killed under load, and after the store's server was
 * started again.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/clock/clock.ts";
import { IdError } from "../../src/errors.ts";
import { claimPast, type ClaimPastOptions, PastClaim } from "../../src/library/claim-past.ts";
import { createLayout, decomposeId, ticksToMsDown } from "../../src/snowflake/layout.ts";
import { nsPerMs } from "../../src/snowflake/nanoseconds.ts";
import { IssueLogs } from "../fault/issue-logs.ts";
import type { LifeReports } from "../fault/fault-server.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { findZooKeeperLeader, startZooKeeper, startZooKeeperEnsemble } from "../support/servers/zookeeper-server.ts";
import type { GrantPieces, LoggedGrant } from "../support/worlds/grant-pieces.ts";
import { sized } from "../support/worlds/scale.ts";
import { churn } from "./churn.ts";

/** Of all stores together. */
const liveCount = sized(300_000, 10_000_000);
const pastCount = sized(30_000, 1_000_000);

/** Few worker IDs, so that servers and claims want the same. */
const layout = createLayout({
  name: "custom",
  epochMs: Date.UTC(2016, 0),
  tickNs: nsPerMs,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "worker", bits: 5 },
    { kind: "sequence", bits: 12 },
  ],
});

/** For it; a short window, so that dead ones become free. */
const serverArgs = [
  `--layout-fields=${layout.fields.map(({ kind, bits }) => `${kind}:${bits}`).join()}`,
  `--epoch=${new Date(layout.epochMs).toISOString()}`,
  "--window=2s",
  "--window-max=2s",
];
interface Store {
  readonly url: string;
  stop(): Promise<unknown>;
}

const sqlite = async (): Promise<Store> => ({
  url: `sqlite:${join(temporaryFolder(), "ids.db")}`,
  stop: async () => {},
});
const kinds = [
  { kind: "sqlite", start: sqlite },
  { kind: "postgres", start: (): Promise<Store> => startPostgres() },
  { kind: "mysql", start: (): Promise<Store> => startMysql() },
  { kind: "mariadb", start: (): Promise<Store> => startMariadb() },
  { kind: "etcd", start: (): Promise<Store> => startEtcd() },
  { kind: "zookeeper", start: (): Promise<Store> => startZooKeeper() },
];

/** A store whose server can be started again, or whose members can elect another leader. */
interface StoppedStore extends Store {
  startAgain(): Promise<void>;
}

async function stoppable(starting: Promise<TestServer>): Promise<StoppedStore> {
  const server = await starting;
  const startAgain = async (): Promise<void> => {
    await server.kill();
    await server.restart();
  };
  return { url: server.url, startAgain, stop: () => server.stop() };
}

async function ensemble(): Promise<StoppedStore> {
  const members = await startZooKeeperEnsemble();
  const leader = async (): Promise<TestServer> =>
    await vi.waitUntil(() => findZooKeeperLeader(members), { timeout: 120_000, interval: 100 });
  return {
    url: `zookeeper://${members.map(({ port }) => `127.0.0.1:${port}`).join()}`,
    startAgain: async () => {
      const first = await leader();
      await first.kill();
      await leader();
      await first.restart();
    },
    stop: () => Promise.all(members.map((member) => member.stop())),
  };
}

/** Those whose start may hide an older copy of the disk. */
const showing = [
  { kind: "postgres", start: () => stoppable(startPostgres()) },
  { kind: "mysql", start: () => stoppable(startMysql()) },
  { kind: "mariadb", start: () => stoppable(startMariadb()) },
  { kind: "zookeeper", start: ensemble },
];

/** The IDs of claims. */
class Claimed {
  readonly ids: bigint[] = [];
  readonly #pieces: GrantPieces;
  readonly #claims: { readonly owner: string; readonly ids: readonly bigint[] }[] = [];
  /** IDs that are later than their row by over a second, or earlier. */
  outsideCount = 0;

  constructor(pieces: GrantPieces) {
    this.#pieces = pieces;
  }

  /** Numbers rows that lie evenly in a claim. */
  number(claim: PastClaim, rowCount: number): void {
    const [fromMs, untilMs] = [claim.fromTime.getTime(), claim.toTime.getTime()];
    // Some room at the end, as an operator leaves it: rows may lag.
    const stepMs = (0.9 * (untilMs - fromMs)) / rowCount;
    const ids: bigint[] = [];
    for (let row = 0; row < rowCount; row += 1) {
      const atMs = Math.floor(fromMs + row * stepMs);
      const id = claim.idFor(new Date(atMs));
      const lagMs = ticksToMsDown(layout, decomposeId(layout, id).ticks) - atMs;
      if (lagMs < 0 || lagMs > 1_000) this.outsideCount += 1;
      ids.push(id);
    }
    this.add(ids, { workerId: claim.lanes[0]!.workerId, fromMs, untilMs });
  }

  /** Takes the IDs that were made of one claim. */
  add(ids: readonly bigint[], claim: Pick<LoggedGrant, "workerId" | "fromMs" | "untilMs">): void {
    const owner = `claim ${this.#claims.length}`;
    this.#claims.push({ owner, ids });
    this.#pieces.granted({
      ...claim,
      owner,
      how: "claimed",
      life: -1,
      instance: owner,
      generation: 0,
      atMs: claim.untilMs,
    });
    for (const id of ids) this.ids.push(id);
  }

  /** Of each claim the first ID that is not in it, in words. */
  findStrays(): readonly string[] {
    const strays = this.#claims.map(({ owner, ids }) => this.#pieces.findStray(owner, ids));
    return strays.filter((stray) => stray !== undefined);
  }
}

/** Claims on a store, and numbers rows of each claim, until that many are numbered. */
async function claimOn(store: string, rowsWanted: number, claimed: Claimed): Promise<void> {
  // In the whole size more rows a claim: each claim opens its store, which takes most of the time.
  const [rowCount, oldTurns] = [sized(250, 2_500), 10];
  // First hour by hour, the oldest first.
  let oldMs = Date.UTC(2020, 0, 1);
  for (let turn = 0; claimed.ids.length < rowsWanted; turn += 1) {
    const nowMs = systemClock.nowMs();
    // Then up to the present, where servers begin: these claims leave the worker IDs no older past.
    const [fromMs, toMs] = turn < oldTurns ? [oldMs, (oldMs += 3_600_000)] : [nowMs - 320, nowMs - 20];
    // One interval is claimed twice at once, as two operators do.
    const claims = await Promise.allSettled([claim(store, fromMs, toMs), claim(store, fromMs, toMs)]);
    for (const outcome of claims) {
      if (outcome.status === "fulfilled") claimed.number(outcome.value, rowCount);
      else await heed(outcome.reason);
    }
  }
}

function claim(store: string, fromMs: number, toMs: number): Promise<PastClaim> {
  return claimPast({ ...stated(store), from: new Date(fromMs), to: new Date(toMs) });
}

function stated(store: string): Pick<ClaimPastOptions, "store" | "knownSince" | "storeKeptUntil" | "reason"> {
  return { store, knownSince: "always", storeKeptUntil: "now", reason: "orders" };
}

/** Waits where no worker ID has its past free at present, or the store is busy. @throws What a claim must not meet. */
async function heed(error: unknown): Promise<void> {
  const mayPass = ["NO_FREE_WORKER_ID", "STORE_UNAVAILABLE", "STORE_WENT_BACK", "INVALID_TIME_RANGE"];
  if (!(error instanceof IdError) || !mayPass.includes(error.reason)) throw error;
  await sleep(100);
}

/** Back-fills by the command, and kills it while it numbers. */
async function killedBackfill(store: string, claimed: Claimed): Promise<void> {
  const [command = "", ...program] = await bundledSnowlane();
  const interval = ["--from", "2019-01-01", "--to", "2019-02-01", "--input-format", "lines"];
  const statements = ["--known-since", "always", "--store-kept-until", "now", "--reason", "dies"];
  const args = [...program, "backfill", "-", "--store", store, ...interval, ...statements];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  let [printed, said] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stdin.on("error", () => {});
  const feeding = setInterval(() => child.stdin.write("2019-01-15T12:00:00Z\n".repeat(1_000)), 1);
  const isDone = (): boolean => printed.includes("\n") || child.exitCode !== null;
  await vi.waitFor(() => expect(isDone()).toBe(true), { timeout: 120_000 });
  const ended = once(child, "exit");
  if (child.exitCode === null) child.kill("SIGKILL");
  await ended;
  clearInterval(feeding);
  // With no worker ID left, it has claimed nothing.
  if (printed === "") expect(said).toMatch(/worker ID|in the future|no clock/);
  const whole = printed.slice(0, printed.lastIndexOf("\n") + 1);
  const ids = [...whole.matchAll(/\t(\d+)\n/g)].map(([, id]) => BigInt(id!));
  const [first] = ids;
  if (first === undefined) return;
  const [fromMs, untilMs] = [Date.UTC(2019, 0, 1), Date.UTC(2019, 1, 1)];
  claimed.add(ids, { workerId: decomposeId(layout, first).workerId, fromMs, untilMs });
}

describe.each(kinds)("on $kind", ({ start }) => {
  test("servers that are killed under load and claims beside them repeat no ID, and none is outside of its claim", async () => {
    const store = await start();
    try {
      await (await startSnowlane({ args: ["--store", store.url, ...serverArgs] })).stop("SIGTERM");
      const logs = new IssueLogs(temporaryFolder(), layout);
      const claimed = new Claimed(logs.pieces);
      let isClaimed = false;
      const isOver = ({ idCount, killCount }: { idCount: number; killCount: number }): boolean =>
        isClaimed && killCount >= 4 && idCount >= liveCount / kinds.length;
      const beginLife = (instance: string): LifeReports => logs.beginLife(instance);
      const live = churn(store.url, { isOver, serverArgs, streamCount: 2, beginLife });
      const claiming = Promise.all([
        claimOn(store.url, pastCount / kinds.length, claimed),
        killedBackfill(store.url, claimed),
        killedBackfill(store.url, claimed),
      ]).finally(() => (isClaimed = true));
      const [{ received, killCount }] = await Promise.all([live, claiming]);
      expect(killCount).toBeGreaterThanOrEqual(4);
      expect(received.idCount).toBeGreaterThanOrEqual(liveCount / kinds.length);
      expect(claimed.ids.length).toBeGreaterThanOrEqual(pastCount / kinds.length);
      expect([claimed.outsideCount, claimed.findStrays(), logs.findOverlaps()]).toEqual([0, [], []]);
      received.addIds(claimed.ids, 0);
      expect(received.countRepeated()).toBe(0);
    } finally {
      await store.stop();
    }
  });
});

/** Starts a server on a store once, which makes its layout record, and starts the store's server again. */
async function serveAndStartAgain(store: StoppedStore): Promise<void> {
  await (await startSnowlane({ args: ["--store", store.url, ...serverArgs] })).stop("SIGTERM");
  await store.startAgain();
}

const year = { from: new Date("2020-01-01"), to: new Date("2021-01-01") };

/** What a claim came to, once there is no quarantine any more. */
async function claimOrRefusal(options: ClaimPastOptions): Promise<PastClaim | IdError> {
  const endMs = systemClock.monotonicMs() + 120_000;
  for (;;) {
    const came = await claimPast(options).catch((error: unknown) => {
      if (error instanceof IdError) return error;
      throw error;
    });
    if (came instanceof PastClaim || !came.message.includes("Claim again after")) return came;
    expect(systemClock.monotonicMs(), came.message).toBeLessThan(endMs);
    await sleep(100);
  }
}

describe.concurrent("after the server of the store was started again, which may be on an older copy of its disk", () => {
  test.each(showing)("$kind needs the statement that it kept all, dated after the start", async ({ start }) => {
    const store = await start();
    try {
      await serveAndStartAgain(store);
      const options = { ...year, store: store.url, knownSince: "always", reason: "orders" } as const;
      const refusal = await claimOrRefusal(options);
      expect(refusal).toMatchObject({ reason: "STORE_WENT_BACK" });
      expect((refusal as IdError).message).toContain("store-kept-until");
      const dated = { ...options, storeKeptUntil: new Date() };
      expect(await claimOrRefusal(dated)).toBeInstanceOf(PastClaim);
      // The statement is about the past: a later start is another matter.
      await store.startAgain();
      expect(await claimOrRefusal(dated)).toMatchObject({ reason: "STORE_WENT_BACK" });
      expect(await claimOrRefusal({ ...options, storeKeptUntil: "now" })).toBeInstanceOf(PastClaim);
    } finally {
      await store.stop();
    }
  });

  test("etcd needs no statement, for a start on an older copy shows there", async () => {
    const store = await stoppable(startEtcd());
    try {
      await serveAndStartAgain(store);
      const options = { ...year, store: store.url, knownSince: "always", reason: "orders" } as const;
      expect(await claimOrRefusal(options)).toBeInstanceOf(PastClaim);
    } finally {
      await store.stop();
    }
  });

  test("Redis takes no statement, and claims begin after its last start and the quarantine", async () => {
    const store = await stoppable(startRedis({ persistence: "every-write" }));
    try {
      await serveAndStartAgain(store);
      const options = { ...year, store: store.url, knownSince: "always", reason: "orders" } as const;
      const stated = await claimOrRefusal({ ...options, storeKeptUntil: "now" });
      expect(stated).toMatchObject({ reason: "INVALID_CONFIG" });
      const refusal = (await claimOrRefusal(options)) as IdError;
      expect(refusal).toMatchObject({ reason: "STORE_WENT_BACK" });
      const floorMs = Number(refusal.metadata["from_unix_ms"]);
      await vi.waitFor(() => expect(systemClock.nowMs()).toBeGreaterThan(floorMs + 1_000), { timeout: 60_000 });
      const [from, to] = [new Date(floorMs), new Date(floorMs + 500)];
      const below = { ...options, from: new Date(floorMs - 1), to };
      expect(await claimOrRefusal(below)).toMatchObject({ reason: "STORE_WENT_BACK" });
      const claim = (await claimOrRefusal({ ...options, from, to })) as PastClaim;
      expect(ticksToMsDown(claim.layout, decomposeId(claim.layout, claim.idFor(from)).ticks)).toBe(floorMs);
    } finally {
      await store.stop();
    }
  });
});
