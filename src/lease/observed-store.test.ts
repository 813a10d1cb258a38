import { describe, expect, test } from "vitest";
import { FaultyStore } from "../../test/support/worlds/faulty-store.ts";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { MemoryDatabase } from "../../test/support/worlds/memory-store.ts";
import type { RecordStore } from "../store/record-store.ts";
import { ObservedStore } from "./observed-store.ts";

function observed() {
  const time = new ManualTime();
  const database = new MemoryDatabase();
  const faulty = new FaultyStore(database.open());
  const said: string[] = [];
  const store = new ObservedStore(faulty, time, {
    onMoment: () => {},
    onOlderPosition: () => said.push("older"),
    onProblem: (during, { message }) => said.push(`${during}: ${message}`),
    onRecovery: (forMs) => said.push(`recovered after ${forMs} ms`),
  });
  /** Writes the present text again, and reads it if no answer comes, as renewals do. */
  const renew = async (): Promise<void> => {
    const { entry } = await store.read("worker-0");
    await store.compareAndSet("worker-0", entry, "next").catch(() => store.read("worker-0"));
  };
  return { time, faulty, store, said, renew };
}

test.each([{ readsMayBeUndone: true }, { readsMayBeUndone: false }, {}])(
  "an observed store is of the kind that it observes, and its reads count unless that one says otherwise: %j",
  (said) => {
    const store = new MemoryDatabase().open();
    const { kind, durability, liveness, timing } = store;
    const bare: RecordStore = {
      ...said,
      kind,
      durability,
      liveness,
      timing,
      moment: () => store.moment(),
      list: () => store.list(),
      read: (key) => store.read(key),
      compareAndSet: (key, expected, next) => store.compareAndSet(key, expected, next),
      close: () => store.close(),
    };
    const nothing = { onMoment: () => {}, onOlderPosition: () => {}, onProblem: () => {}, onRecovery: () => {} };
    const observedStore = new ObservedStore(bare, new ManualTime(), nothing);
    expect(observedStore).toMatchObject({ kind: "memory", readsMayBeUndone: said.readsMayBeUndone ?? false });
  },
);

describe("a store that is read but cannot be written", () => {
  test("as on a full disk, is reported once when it begins and once when it ends, however often it is tried", async () => {
    const { faulty, store, said, renew } = observed();
    faulty.fault = ({ kind }) => (kind === "compareAndSet" ? "lost" : "none");
    for (let round = 0; round < 50; round += 1) await renew();
    expect(said).toEqual([expect.stringMatching(/^compareAndSet: /)]);
    expect(store.problem).toMatchObject({ reason: "STORE_UNAVAILABLE" });
    faulty.fault = () => "none";
    await renew();
    expect([said.length, said.at(-1), store.problem]).toEqual([2, "recovered after 0 ms", undefined]);
  });

  test("is not taken for broken for ever where nobody writes any more", async () => {
    const { time, faulty, store, said } = observed();
    faulty.fault = () => "lost";
    await expect(store.compareAndSet("worker-0", undefined, "next")).rejects.toThrow();
    faulty.fault = () => "none";
    await store.read("worker-0");
    expect(said).toHaveLength(1);
    await time.run(31_000);
    await store.read("worker-0");
    expect([said.at(-1), store.problem]).toEqual(["recovered after 31000 ms", undefined]);
  });

  test("and a write that finds a conflict has not written: only one that is applied ends it", async () => {
    const { faulty, store, said } = observed();
    await store.compareAndSet("worker-0", undefined, "first");
    faulty.fault = ({ kind }) => (kind === "compareAndSet" ? "lost" : "none");
    await expect(store.compareAndSet("worker-1", undefined, "next")).rejects.toThrow();
    faulty.fault = () => "none";
    expect(await store.compareAndSet("worker-0", undefined, "other")).toMatchObject({ kind: "conflict" });
    expect(said).toHaveLength(1);
    await store.compareAndSet("worker-1", undefined, "next");
    expect(said.at(-1)).toBe("recovered after 0 ms");
  });
});

test("a store that fails in two ways in turn is reported once for each", async () => {
  const { store, said, faulty } = observed();
  const messages = ["no route", "refused"];
  let calls = 0;
  faulty.read = async () => {
    throw new Error(messages[calls++ % 2]);
  };
  for (let round = 0; round < 10; round += 1) await expect(store.read("worker-0")).rejects.toThrow();
  expect(said).toHaveLength(2);
});

describe("a position of the store's log", () => {
  async function positions(): Promise<readonly string[]> {
    const { faulty, store, said } = observed();
    const answer = (log: string, at: bigint) => {
      faulty.moment = async () => ({
        clockMs: undefined,
        incarnation: { identity: "system=1", startedMs: undefined, emptyMeans: "new" },
        position: { log, at },
      });
      return store.moment();
    };
    await answer("one", 7n);
    await answer("one", 7n);
    await answer("two", 3n);
    expect(said).toEqual([]);
    await answer("two", 2n);
    await answer("two", 2n);
    await answer("two", 5n);
    return said;
  }

  test("that is lower than an earlier one is reported once; equal ones, and those of another log, are not", async () => {
    expect(await positions()).toEqual(["older"]);
  });

  test("that is lower than one which came after the call was sent tells nothing", async () => {
    const { faulty, store, said } = observed();
    const waiting: ((at: bigint) => void)[] = [];
    faulty.moment = () =>
      new Promise((resolve) =>
        waiting.push((at) =>
          resolve({
            clockMs: undefined,
            incarnation: { identity: "system=1", startedMs: undefined, emptyMeans: "new" },
            position: { log: "one", at },
          }),
        ),
      );
    const calls = [store.moment(), store.moment()];
    waiting[1]!(9n);
    waiting[0]!(8n);
    await Promise.all(calls);
    expect(said).toEqual([]);
    const later = store.moment();
    waiting[2]!(8n);
    await later;
    expect(said).toEqual(["older"]);
  });
});
