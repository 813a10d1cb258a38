/** The position of a store's log: lower after an older copy was put back, though the store has its old name. */
import { expect, onTestFinished, test } from "vitest";
import { ObservedStore } from "../../src/lease/observed-store.ts";
import { systemClock } from "../../src/clock/clock.ts";
import { openStore } from "../../src/store/open-store.ts";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { startZooKeeper } from "../support/servers/zookeeper-server.ts";

test.each([
  { name: "etcd", start: () => startEtcd() },
  { name: "a standalone ZooKeeper", start: () => startZooKeeper() },
])(
  "an older data folder of $name shows to a process that runs, and nothing else shows as one",
  async ({ start }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const inner = await openStore(server.url, { namespace: "default", callTimeoutMs: 60_000 });
    onTestFinished(() => inner.close());
    const seen: string[] = [];
    const store = new ObservedStore(inner, systemClock, {
      onMoment: ({ position }) => void (position === undefined && seen.push("no position")),
      onOlderPosition: () => seen.push("older"),
      onProblem: () => {},
      onRecovery: () => {},
    });
    const call = async (): Promise<void> => {
      const { entry } = await store.read("worker-1");
      await store.compareAndSet("worker-1", entry, `text ${Math.random()}`);
      await store.compareAndSet("worker-1", undefined, "conflict");
      await store.list();
      await store.moment();
    };
    const whenItAnswers = { timeout: 90_000, interval: 100 };
    await call();
    await server.backUp();
    for (let round = 0; round < 5; round += 1) await call();
    await server.restart();
    await expect
      .poll(
        () =>
          call().then(
            () => true,
            () => false,
          ),
        whenItAnswers,
      )
      .toBe(true);
    expect(seen).toEqual([]);
    await server.restore();
    await expect
      .poll(
        () =>
          store.moment().then(
            () => seen,
            () => [],
          ),
        whenItAnswers,
      )
      .toEqual(["older"]);
  },
  240_000,
);
