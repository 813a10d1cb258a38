import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RecordStore, sameIncarnation, unlessRefused, type WriteAnswer } from "../../src/store/record-store.ts";
import { workerKey } from "../../src/lease/records/worker-record.ts";

/** One set of data, empty at first, on which a test opens as many handles as it likes. */
export interface StoreFixture {
  /** Opens a handle, as another process would. `namespace` is "default" unless given. */
  open(namespace?: string): Promise<RecordStore>;
  /** Removes the data; called after every handle was closed. */
  dispose(): Promise<void>;
}

/** Longest worker record, with every character that quoting could spoil. */
const longText = JSON.stringify({ text: `%s $1 :x ? ' " \\ / {} [] ; -- \`#${"x".repeat(420)}` });

/**
 * Declares the tests that every RecordStore must pass, against the real thing.
 *
 * @param name - Of the store, for the report.
 * @param createFixture - Makes empty data; called once a test.
 */
export function describeRecordStoreContract(name: string, createFixture: () => Promise<StoreFixture>): void {
  describe(`${name} keeps the record store contract`, () => {
    let fixture: StoreFixture;
    let handles: RecordStore[];
    const open = async (namespace?: string): Promise<RecordStore> => {
      const store = await fixture.open(namespace);
      handles.push(store);
      return store;
    };
    beforeEach(async () => {
      handles = [];
      fixture = await createFixture();
    });
    afterEach(async () => {
      await Promise.all(handles.map((store) => store.close()));
      await fixture.dispose();
    });

    describeRecords(open);
    describeMoments(open);
    describeLiveness(open);
    describeClosing(open);
  });
}

type Open = (namespace?: string) => Promise<RecordStore>;

function applied(answer: WriteAnswer): Extract<WriteAnswer, { kind: "applied" }> {
  if (answer.kind !== "applied") throw new Error(`the write was answered ${answer.kind}`);
  return answer;
}

function describeRecords(open: Open): void {
  test("an absent record reads as absent, and the list is empty", async () => {
    const store = await open();
    expect((await store.read("layout")).entry).toBeUndefined();
    expect((await store.list()).entries).toEqual([]);
  });

  test("a write that expects absence creates the record once", async () => {
    const store = await open();
    expect(applied(await store.compareAndSet("layout", undefined, "one")).entry).toMatchObject({
      key: "layout",
      text: "one",
    });
    expect((await store.compareAndSet("layout", undefined, "two")).kind).toBe("conflict");
    expect((await store.read("layout")).entry).toMatchObject({ key: "layout", text: "one" });
  });

  test("what a write answered is the next expected, and what was there before is not any more", async () => {
    const store = await open();
    const first = applied(await store.compareAndSet("worker-5", undefined, "one")).entry;
    const second = applied(await store.compareAndSet("worker-5", first, "two")).entry;
    expect((await store.compareAndSet("worker-5", first, "other")).kind).toBe("conflict");
    const third = applied(await store.compareAndSet("worker-5", second, "three")).entry;
    expect((await store.compareAndSet("worker-5", second, "other")).kind).toBe("conflict");
    expect((await store.read("worker-5")).entry?.text).toBe("three");
    expect(applied(await store.compareAndSet("worker-5", third, "four")).entry.text).toBe("four");
  });

  test("what was read or listed by another handle is an expected, too", async () => {
    const [one, other] = [await open(), await open()];
    await one.compareAndSet("worker-5", undefined, "one");
    const read = (await other.read("worker-5")).entry;
    expect(read?.text).toBe("one");
    expect((await other.compareAndSet("worker-5", read, "two")).kind).toBe("applied");
    const listed = (await one.list()).entries.find(({ key }) => key === "worker-5");
    expect(listed?.text).toBe("two");
    expect((await one.compareAndSet("worker-5", listed, "three")).kind).toBe("applied");
    expect((await other.compareAndSet("worker-5", listed, "four")).kind).toBe("conflict");
    expect((await other.read("worker-5")).entry?.text).toBe("three");
  });

  test("a conflict changes nothing", async () => {
    const store = await open();
    const first = applied(await store.compareAndSet("worker-5", undefined, "one")).entry;
    await store.compareAndSet("worker-5", first, "two");
    await store.compareAndSet("worker-5", first, "lost");
    await store.compareAndSet("worker-5", undefined, "lost");
    expect((await store.list()).entries.map(({ text }) => text)).toEqual(["two"]);
  });

  test("a write that expects a record where there is none is a conflict", async () => {
    const store = await open();
    const entry = applied(await store.compareAndSet("worker-5", undefined, "one")).entry;
    expect((await store.compareAndSet("worker-6", { ...entry, key: "worker-6" }, "two")).kind).toBe("conflict");
    expect((await store.read("worker-6")).entry).toBeUndefined();
  });

  test("of many writes that expect the same, exactly one is applied", async () => {
    const stores = [await open(), await open(), await open()] as const;
    let entry: Awaited<ReturnType<RecordStore["read"]>>["entry"];
    for (let round = 0; round < 5; round += 1) {
      const expected = entry;
      const texts = Array.from({ length: 24 }, (_, index) => `round ${round} writer ${index}`);
      const answers = await Promise.all(
        texts.map((text, index) => stores[index % stores.length]!.compareAndSet("worker-7", expected, text)),
      );
      const winners = answers.filter((answer) => answer.kind === "applied");
      expect(winners).toHaveLength(1);
      entry = (await stores[0].read("worker-7")).entry;
      expect(entry?.text).toBe(winners[0]!.entry.text);
    }
  });

  test("records of different keys do not disturb each other", async () => {
    const stores = [await open(), await open()] as const;
    const keys = Array.from({ length: 40 }, (_, index) => workerKey(index));
    await Promise.all(keys.map((key, index) => stores[index % 2]!.compareAndSet(key, undefined, `first ${key}`)));
    const entries = (await stores[0].list()).entries;
    const answers = await Promise.all(
      entries.map((entry, index) => stores[index % 2]!.compareAndSet(entry.key, entry, `second ${entry.key}`)),
    );
    expect(answers.map(({ kind }) => kind)).toEqual(keys.map(() => "applied"));
  });

  test("a text comes back byte for byte, and long", async () => {
    const store = await open();
    const entry = applied(await store.compareAndSet("worker-1", undefined, longText)).entry;
    expect((await store.read("worker-1")).entry?.text).toBe(longText);
    expect((await store.list()).entries.map(({ text }) => text)).toEqual([longText]);
    expect((await store.compareAndSet("worker-1", entry, "a")).kind).toBe("applied");
  });

  test("texts that differ in case or in a trailing space only are different", async () => {
    const store = await open();
    const first = applied(await store.compareAndSet("worker-1", undefined, "Ab")).entry;
    const second = applied(await store.compareAndSet("worker-1", first, "ab")).entry;
    expect((await store.compareAndSet("worker-1", first, "wrong")).kind).toBe("conflict");
    await store.compareAndSet("worker-1", second, "ab ");
    expect((await store.compareAndSet("worker-1", second, "wrong")).kind).toBe("conflict");
    expect((await store.read("worker-1")).entry?.text).toBe("ab ");
  });

  test("writing the text that is there already is applied, not a conflict", async () => {
    const store = await open();
    const first = applied(await store.compareAndSet("quarantine", undefined, "same")).entry;
    expect((await store.compareAndSet("quarantine", first, "same")).kind).toBe("applied");
  });

  test("records outlive the handle that wrote them", async () => {
    const writer = await open();
    await writer.compareAndSet("layout", undefined, "kept");
    await writer.close();
    expect((await (await open()).read("layout")).entry?.text).toBe("kept");
  });

  test("1,025 records are listed, each once", async () => {
    const store = await open();
    const keys = ["layout", ...Array.from({ length: 1_024 }, (_, index) => workerKey(index))];
    for (let start = 0; start < keys.length; start += 64) {
      await Promise.all(keys.slice(start, start + 64).map((key) => store.compareAndSet(key, undefined, `of ${key}`)));
    }
    const listed = (await store.list()).entries;
    expect(listed.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
    expect(listed.every(({ key, text }) => text === `of ${key}`)).toBe(true);
  });

  test("namespaces share nothing, also where one name begins with the other", async () => {
    const [one, other] = [await open("blue"), await open("blue-green")];
    await one.compareAndSet("layout", undefined, "of blue");
    expect((await other.list()).entries).toEqual([]);
    expect((await other.compareAndSet("layout", undefined, "of blue-green")).kind).toBe("applied");
    expect((await one.list()).entries.map(({ text }) => text)).toEqual(["of blue"]);
  });

  test("a write changes the record of its namespace and key alone, also beside records of the same text", async () => {
    const stores = [await open("blue"), await open("green")];
    for (const store of stores) {
      for (const key of ["worker-5", "worker-6"]) applied(await store.compareAndSet(key, undefined, "same"));
    }
    const [one, other] = stores;
    const { entry } = await one!.read("worker-5");
    expect(applied(await one!.compareAndSet("worker-5", entry, "next")).entry.text).toBe("next");
    const texts = stores.flatMap((store) =>
      ["worker-5", "worker-6"].map(async (key) => (await store.read(key)).entry?.text),
    );
    expect(await Promise.all(texts)).toEqual(["next", "same", "same", "same"]);
    expect((await one!.compareAndSet("worker-5", entry, "late")).kind).toBe("conflict");
    expect((await other!.list()).entries.map(({ text }) => text)).toEqual(["same", "same"]);
  });
}

function describeMoments(open: Open): void {
  test("every answer carries the moment: one incarnation, and a clock that does not fall", async () => {
    const [one, other] = [await open(), await open()];
    const moments = [await one.moment()];
    const created = unlessRefused(await one.compareAndSet("layout", undefined, "one"));
    moments.push(created.moment, unlessRefused(await other.compareAndSet("layout", undefined, "two")).moment);
    moments.push((await other.read("layout")).moment, (await one.list()).moment, await other.moment());
    const { incarnation } = moments[0]!;
    expect(incarnation.identity).toMatch(/^[ -~]{1,200}$/);
    for (const moment of moments) expect(sameIncarnation(moment.incarnation, incarnation)).toBe(true);
    const clocks = moments.map(({ clockMs }) => clockMs);
    if (clocks[0] === undefined) {
      expect(clocks.every((clockMs) => clockMs === undefined)).toBe(true);
    } else {
      expect(clocks.every(Number.isSafeInteger)).toBe(true);
      expect(clocks).toEqual(clocks.toSorted((left, right) => left! - right!));
    }
  });

  test("the defaults leave a TTL of at least the window, the lead and the clocks' error", async () => {
    const { timing, liveness } = await open();
    expect(timing.windowMs).toBeGreaterThan(2 * timing.renewalPeriodMs);
    if (liveness.kind === "ttl") expect(timing.ttlMs).toBeGreaterThanOrEqual(timing.windowMs + 3_000);
    else expect(timing.ttlMs).toBe(0);
  });
}

function describeLiveness(open: Open): void {
  test("where locks show whether a holder runs, a lock has one owner until it is given back or its owner is closed", async () => {
    const [one, other] = [await open(), await open()];
    if (one.liveness.kind !== "lock" || other.liveness.kind !== "lock") {
      expect([one.liveness.kind, other.liveness.kind]).toEqual(["ttl", "ttl"]);
      return;
    }
    expect(await one.liveness.tryLock("worker-1")).toBe(true);
    expect(await one.liveness.tryLock("worker-1")).toBe(true);
    expect(await other.liveness.tryLock("worker-1")).toBe(false);
    expect(await other.liveness.tryLock("worker-2")).toBe(true);
    await other.liveness.unlock("worker-1");
    expect(await other.liveness.tryLock("worker-1")).toBe(false);
    await one.liveness.unlock("worker-1");
    expect(await other.liveness.tryLock("worker-1")).toBe(true);
    await other.close();
    expect(await one.liveness.tryLock("worker-1")).toBe(true);
    expect(await one.liveness.tryLock("worker-2")).toBe(true);
  });
}

function describeClosing(open: Open): void {
  test("a closed store answers nothing but STORE_UNAVAILABLE, and closing twice is one closing", async () => {
    const store = await open();
    await store.close();
    await store.close();
    const unavailable = expect.objectContaining({ reason: "STORE_UNAVAILABLE" });
    await expect(store.read("layout")).rejects.toEqual(unavailable);
    await expect(store.list()).rejects.toEqual(unavailable);
    await expect(store.moment()).rejects.toEqual(unavailable);
    await expect(store.compareAndSet("layout", undefined, "one")).rejects.toEqual(unavailable);
  });
}
