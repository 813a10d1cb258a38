import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { workerKey } from "../../src/lease/records/worker-record.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { type RemoteStoreServer, remoteStoreKinds } from "../support/servers/remote-stores.ts";

/** The output of test/stores/acquire-many.ts. */
interface Acquired {
  readonly writes: number;
  readonly holders: readonly { readonly workerIndex: number; readonly ids: readonly string[] }[];
}

describe.each(remoteStoreKinds)("holders on $kind", ({ kind, start }) => {
  let server: RemoteStoreServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
  });

  test("64 in 4 processes acquire at once: 64 worker IDs, and at most 3 writes each on average", async () => {
    const processes = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ["test/stores/acquire-many.ts", server.url, "16"], {
        stdio: ["pipe", "pipe", "inherit"],
      }),
    );
    onTestFinished(() => {
      for (const child of processes) child.kill("SIGKILL");
    });
    const exits = processes.map((child) => once(child, "exit"));
    const lines = processes.map((child) => once(createInterface({ input: child.stdout }), "line"));
    const acquired = (await Promise.all(lines)).map(([line]) => JSON.parse(line as string) as Acquired);
    const holders = acquired.flatMap(({ holders }) => holders);
    expect(new Set(holders.map(({ workerIndex }) => workerIndex)).size).toBe(64);
    expect(duplicatesOf(...holders.map(({ ids }) => ids.map(BigInt)))).toEqual([]);
    expect(acquired.reduce((sum, { writes }) => sum + writes, 0)).toBeLessThanOrEqual(3 * 64);
    for (const { stdin } of processes) stdin.end();
    expect((await Promise.all(exits)).map(([code]) => code as unknown)).toEqual([0, 0, 0, 0]);
  });

  test.each(["frozen", "killed"] as const)("an outage within W - rho - 1 s is not noticed: %s", async (how) => {
    const worker = await startShort(server.url, `outage-${how}`, longWindowMs(kind));
    const { ambiguous } = worker.source.status().counters;
    if (how === "frozen") server.pause();
    else await server.kill();
    // It has asked, and was not answered.
    await expect.poll(() => worker.source.status().counters.ambiguous).toBeGreaterThan(ambiguous);
    if (how === "frozen") server.resume();
    else await server.restart();
    const untilMs = worker.source.status().grant!.untilMs;
    await expect.poll(() => worker.source.status().grant?.untilMs).toBeGreaterThan(untilMs);
    await worker.stop();
    expect(worker.failedCount).toBe(0);
    expect(duplicatesOf(worker.ids)).toEqual([]);
    expect(worker.events.filter(({ kind }) => kind === "grant-ended")).toMatchObject([{ end: "released" }]);
  });

  test("after an outage longer than the window it serves again, and no ID comes twice", async () => {
    const [one, other] = [await startShort(server.url, "long", 2_000), await startShort(server.url, "long", 2_000)];
    server.pause();
    await expect.poll(() => [one, other].map(({ failedCount }) => failedCount > 0)).toEqual([true, true]);
    server.resume();
    const isServing = ({ source }: IssuingWorker): boolean => source.state.kind === "serving";
    await expect.poll(() => [one, other].map(isServing)).toEqual([true, true]);
    await sleep(300);
    await Promise.all([one.stop(), other.stop()]);
    expect(duplicatesOf(one.ids, other.ids)).toEqual([]);
    expect(one.events).toContainEqual(expect.objectContaining({ kind: "grant-ended", end: "lapsed" }));
  });

  test("a start while all 1,024 worker IDs are held is refused at once, with what to do", async () => {
    const options = { storeUrl: server.url, namespace: "full", storeTimeoutMs: 30_000, ...shortWindow(kind) };
    const first = await IssuingWorker.start({ ...options, ttlMs: 3_600_000 });
    const { workerId, datacenterId } = first.source.status().grant!;
    const store = await openStore(server.url, { namespace: "full", callTimeoutMs: 60_000 });
    const taken = workerKey(datacenterId * 32 + workerId);
    const { entry } = await store.read(taken);
    const keys = Array.from({ length: 1_024 }, (_, index) => workerKey(index)).filter((key) => key !== taken);
    for (let start = 0; start < keys.length; start += 64) {
      const part = keys.slice(start, start + 64);
      await Promise.all(part.map((key) => store.compareAndSet(key, undefined, entry!.text)));
    }
    await store.close();
    await expect(IssuingWorker.start(options)).rejects.toMatchObject({
      reason: "NO_FREE_WORKER_ID",
      message: expect.stringMatching(/all 1024 are in use.*Stop a process/),
    });
    await first.stop();
  });

  test("what is given back is free for the next one at once", async () => {
    const pinned = { storeUrl: server.url, namespace: "pinned", datacenterId: 1, workerId: 5, storeTimeoutMs: 10_000 };
    const first = await IssuingWorker.start({ ...pinned, ...shortWindow(kind) });
    await first.stop();
    const second = await IssuingWorker.start({ ...pinned, ...shortWindow(kind) });
    await second.stop();
    expect(duplicatesOf(first.ids, second.ids)).toEqual([]);
    expect(second.events.find(({ kind }) => kind === "acquired")).toMatchObject({ workerId: 5, generation: 2 });
  });
});

function startShort(storeUrl: string, namespace: string, windowMs: number): Promise<IssuingWorker> {
  const ttlMs = windowMs + 3_000;
  // The longest window of the namespace decides how long a new one waits where a loss cannot be ruled out: Redis.
  const times = {
    windowMs,
    windowMaxMs: windowMs,
    ttlMs,
    renewalPeriodMs: Math.min(windowMs / 6, 1_000),
    storeTimeoutMs: 500,
  };
  return IssuingWorker.start({ storeUrl, namespace, ...times });
}

/**
 * Starting a server again takes its part of W - rho - 1 s. Redis starts at once; and there the first grant of a
 * namespace waits for the window.
 */
function longWindowMs(kind: string): number {
  return kind === "redis" ? 15_000 : 60_000;
}

function shortWindow(kind: string): { windowMs?: number; windowMaxMs?: number } {
  return kind === "redis" ? { windowMs: 1_000, windowMaxMs: 1_000 } : {};
}
