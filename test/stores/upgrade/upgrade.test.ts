import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { recordKeys } from "../../../src/lease/records/record-text.ts";
import { workerKey } from "../../../src/lease/records/worker-record.ts";
import { claimPast } from "../../../src/library/claim-past.ts";
import { decomposeId, ticksToMsDown } from "../../../src/snowflake/layout.ts";
import { openStore } from "../../../src/store/open-store.ts";
import type { RecordStore } from "../../../src/store/record-store.ts";
import { GrpcIdClient } from "../../support/processes/grpc-id-client.ts";
import { runCommand } from "../../support/processes/run-command.ts";
import { temporaryFolder } from "../../support/processes/running-server.ts";
import { type SnowlaneProcess, startSnowlane } from "../../support/processes/snowlane-process.ts";
import { startPostgres } from "../../support/servers/postgres-server.ts";

/**
 * The package as `npm pack` made it of the first build whose readers are tolerant. It stays as it is, so that every
 * later build is run beside it.
 */
const olderPackage = "test/stores/upgrade/snowlane-0.1.0.tgz";

type Version = "older" | "present";

const rounds = 2;
const slots = [0, 1] as const;
const times = ["--window", "1500ms", "--renewal-period", "300ms"];
const note = { note: "of a later version" };

/** The program of the older version, and the flags that it alone takes. */
interface OlderVersion {
  readonly main: string;
  readonly args: readonly string[];
}

/** A worker ID that servers of both versions take from each other. */
class Slot {
  readonly ids: bigint[] = [];
  readonly #workerId: number;
  readonly #args: readonly string[];
  readonly #older: OlderVersion;
  #server: SnowlaneProcess | undefined;
  #isOver = false;
  readonly #load: Promise<void>;

  constructor(workerId: number, args: readonly string[], older: OlderVersion) {
    this.#workerId = workerId;
    this.#args = args;
    this.#older = older;
    this.#load = this.#call();
  }

  async start(version: Version): Promise<void> {
    const pin = ["--worker-id", `${this.#workerId}`, "--datacenter-id", "1", "--instance", `slot-${this.#workerId}`];
    const common = [...this.#args, ...pin];
    const { main, args } = this.#older;
    const older = { args: [...common, ...args], program: [process.execPath, main] };
    const server = await startSnowlane(version === "older" ? older : { args: common });
    onTestFinished(() => void server.child.kill("SIGKILL"));
    this.#server = server;
  }

  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop("SIGKILL");
  }

  async more(count: number): Promise<void> {
    const enough = this.ids.length + count;
    while (this.ids.length < enough) await sleep(10);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#load;
    await this.kill();
  }

  /** Asks for one ID after the other, of the server that runs. */
  async #call(): Promise<void> {
    let asked: SnowlaneProcess | undefined;
    let client: GrpcIdClient | undefined;
    while (!this.#isOver) {
      if (this.#server !== asked) {
        client?.close();
        asked = this.#server;
        client = asked && new GrpcIdClient(asked.address, "own");
      }
      try {
        if (client === undefined) await sleep(10);
        else this.ids.push(await client.nextId(2_000));
      } catch {
        // It was killed, or has no worker ID at the moment.
        await sleep(10);
      }
    }
    client?.close();
  }
}

/** Unpacks the older version. @returns Its program. */
async function unpackOlder(): Promise<string> {
  const folder = temporaryFolder();
  await runCommand("tar", ["-xzf", olderPackage, "-C", folder]);
  // The drivers of the stores, which a user installs beside the package.
  symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
  return join(folder, "package/dist/main.js");
}

const stores = [
  {
    name: "sqlite",
    ofOlder: [],
    start: async () => ({ url: `sqlite:${join(temporaryFolder(), "ids.db")}`, stop: async () => {} }),
  },
  // The older version keeps 33 s where no other time to live is given; the present one, the window and 3 s.
  { name: "postgres", ofOlder: ["--ttl", "4500ms"], start: () => startPostgres() },
];

test.each(stores)(
  "servers of an older and of this version take worker IDs from each other under kill -9, and repeat no ID: $name",

  async ({ start, ofOlder }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const older = { main: await unpackOlder(), args: ofOlder };
    const both = slots.map((workerId) => new Slot(workerId, ["--store", server.url, ...times], older));
    const store = await openStore(server.url, { namespace: "default", callTimeoutMs: 30_000 });
    onTestFinished(() => store.close());
    const versionOf = (slot: number, round: number): Version => ((slot + round) % 2 === 0 ? "older" : "present");
    // Each version makes a record that the other one takes over first.
    await Promise.all(both.map((at, slot) => at.start(versionOf(slot, 0))));
    await addNote(store, recordKeys.incarnation);
    for (let round = 1; round <= rounds; round += 1) {
      await Promise.all(
        both.map(async (at, slot) => {
          await at.more(200);
          await at.kill();
          // What a version after both would have added.
          if (round === 1) await addNote(store, workerKey(indexOf(slot)));
          await at.start(versionOf(slot, round));
        }),
      );
    }
    for (const at of both) await at.more(200);
    await Promise.all(both.map((at) => at.end()));
    const ids = both.flatMap((slot) => slot.ids);
    expect(ids.length).toBeGreaterThanOrEqual(2 * (rounds + 1) * 200);
    expect(ids.length - new Set(ids).size).toBe(0);
    for (const slot of slots) {
      const { entry } = await store.read(workerKey(indexOf(slot)));
      const record = JSON.parse(entry!.text);
      expect(record).toMatchObject(note);
      // On a busy machine a server may lose its worker ID between two kills, and take it again.
      expect(record.generation).toBeGreaterThan(rounds);
    }
    expect(JSON.parse((await store.read(recordKeys.incarnation)).entry!.text)).toMatchObject(note);
  },
);

test("an older version begins above what this one claimed of the past, and keeps its worker ID from claims", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const older = { main: await unpackOlder(), args: [] };
  const [live, later] = slots.map((workerId) => new Slot(workerId, ["--store", store, ...times], older));
  await live!.start("older");
  await live!.more(10);
  const one = { datacenterIds: [1], workerIds: { first: 1, last: 1 } };
  const stated = { store, ...one, knownSince: "always", reason: "beside an older version" } as const;
  const from = new Date("2020-01-01");
  const claim = await claimPast({ ...stated, from, to: new Date() });
  const endMs = claim.toTime.getTime();
  const claimed = Array.from({ length: 4_096 }, (_, row) => claim.idFor(new Date(endMs - 100 + Math.floor(row / 50))));
  await later!.start("older");
  await later!.more(200);
  const again = claimPast({ ...stated, from: new Date(endMs), to: new Date() });
  await expect(again).rejects.toMatchObject({ reason: "NO_FREE_WORKER_ID" });
  await Promise.all([live!.end(), later!.end()]);
  const ids = [...claimed, ...live!.ids, ...later!.ids];
  expect(new Set(ids).size).toBe(ids.length);
  const laterMs = later!.ids.map((id) => ticksToMsDown(claim.layout, decomposeId(claim.layout, id).ticks));
  expect(Math.min(...laterMs)).toBeGreaterThanOrEqual(endMs);
});

/** Datacenter 1 of the default layout, which has five bits for the worker. */
function indexOf(workerId: number): number {
  return 32 + workerId;
}

async function addNote(store: RecordStore, key: string): Promise<void> {
  const { entry } = await store.read(key);
  const text = JSON.stringify({ ...JSON.parse(entry!.text), ...note });
  expect((await store.compareAndSet(key, entry, text)).kind).toBe("applied");
}
