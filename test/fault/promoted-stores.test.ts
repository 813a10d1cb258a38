import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";
import { startPostgresPair, startRedisTrio } from "./promoted-stores.ts";

const patience = { timeout: 120_000, interval: 200 };

const kinds = [
  { kind: "postgres", start: startPostgresPair, scheme: "postgres://postgres@", path: "/postgres", keeps: "all" },
  { kind: "redis", start: startRedisTrio, scheme: "redis://", path: "", keeps: "most" },
] as const;

test.each(kinds)(
  "$kind: each copy is promoted in turn, takes writes, and answers none without a copy of its own",

  async ({ start, scheme, path, keeps }) => {
    const { servers, ways, promote } = await start();
    onTestFinished(async () => void (await Promise.all([...servers, ...ways].map((end) => end.stop()))));
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join();
    const open = async (callTimeoutMs: number): Promise<RecordStore> => {
      const store = await openStore(`${scheme}${hosts}${path}`, { namespace: "default", callTimeoutMs });
      onTestFinished(() => store.close());
      return store;
    };
    const random = new SeededRandom(1);
    const store = await open(5_000);
    const read = async (): Promise<string | undefined> => (await store.read("worker-1").catch(() => {}))?.entry?.text;
    const write = async (value: string): Promise<void> => {
      const isWritten = async (): Promise<boolean> => {
        try {
          const { entry } = await store.read("worker-1");
          return entry?.text === value || (await store.compareAndSet("worker-1", entry, value)).kind === "applied";
        } catch {
          return false;
        }
      };
      await expect.poll(isWritten, patience).toBe(true);
    };

    await write("first");
    for (let round = 0; round <= servers.length; round += 1) {
      await promote(random);
      if (keeps === "all") await expect.poll(read, patience).toBe(round === 0 ? "first" : `after ${round - 1}`);
      await write(`after ${round}`);
    }

    const impatient = await open(1_500);
    const { entry } = await store.read("worker-1");
    for (const way of ways) {
      way.mode = "black-hole";
      way.cut();
    }
    await expect(impatient.compareAndSet("worker-1", entry, "alone")).rejects.toMatchObject({
      reason: "STORE_UNAVAILABLE",
    });
  },
);
