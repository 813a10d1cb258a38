/** Clusters of three, whose leader is frozen and killed, and of which two are gone, under two servers. */
import { expect, onTestFinished, test } from "vitest";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { findEtcdLeader, startEtcdCluster } from "../support/servers/etcd-server.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { findZooKeeperLeader, startZooKeeperEnsemble } from "../support/servers/zookeeper-server.ts";

const patience = { timeout: 100_000, interval: 100 };
/** Longer than elections on a busy machine. */
const windowMs = 240_000;

const clusters = [
  { kind: "etcd", start: startEtcdCluster, findLeader: findEtcdLeader },
  { kind: "zookeeper", start: startZooKeeperEnsemble, findLeader: findZooKeeperLeader },
] as const;

test.each(clusters)(
  "three members of $kind: a leader that is frozen or killed, and two that are gone, refuse no call",

  async ({ kind, start, findLeader }) => {
    const members = await start();
    onTestFinished(async () => void (await Promise.all(members.map((member) => member.stop()))));
    const storeUrl = `${kind}://${members.map(({ port }) => `127.0.0.1:${port}`).join()}`;
    const times = { windowMs, windowMaxMs: windowMs, renewalPeriodMs: 1_000, ttlMs: windowMs + 3_000 };
    const startWorker = () => IssuingWorker.start({ storeUrl, storeTimeoutMs: 3_000, ...times });
    const workers = [await startWorker(), await startWorker()];
    const renewed = () => workers.map(({ source }) => source.status().counters.renewed);
    const areRenewed = async (): Promise<void> => {
      const before = renewed();
      const haveGrown = (): boolean => renewed().every((count, place) => count > before[place]! + 1);
      await expect.poll(haveGrown, patience).toBe(true);
    };
    const leader = async (): Promise<TestServer> => {
      await expect.poll(() => findLeader(members).then((found) => found !== undefined), patience).toBe(true);
      return (await findLeader(members)) ?? (await leader());
    };

    const frozen = await leader();
    frozen.pause();
    await areRenewed();
    frozen.resume();

    const killed = await leader();
    await killed.kill();
    await areRenewed();
    await killed.restart();

    const [one, other] = members;
    await Promise.all([one!.kill(), other!.kill()]);
    const ambiguous = workers.map(({ source }) => source.status().counters.ambiguous);
    const haveAsked = (): boolean =>
      workers.every(({ source }, place) => source.status().counters.ambiguous > ambiguous[place]! + 1);
    await expect.poll(haveAsked, patience).toBe(true);
    // Each serves, and so counts as started, only when two do.
    await Promise.all([one!.restart(), other!.restart()]);
    await areRenewed();

    await Promise.all(workers.map((worker) => worker.stop()));
    expect(workers.map(({ failedCount }) => failedCount)).toEqual([0, 0]);
    expect(duplicatesOf(...workers.map(({ ids }) => ids))).toEqual([]);
    const ends = workers.flatMap(({ events }) =>
      events.flatMap((event) => (event.kind === "grant-ended" ? [event.end] : [])),
    );
    expect(ends).toEqual(["released", "released"]);
  },
);
