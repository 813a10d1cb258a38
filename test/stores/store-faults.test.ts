import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { Entry, RecordStore, WriteAnswer } from "../../src/store/record-store.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type RemoteStoreServer, remoteStoreKinds, withPort } from "../support/servers/remote-stores.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";

const unavailable = expect.objectContaining({ reason: "STORE_UNAVAILABLE" });

describe.each(remoteStoreKinds)("a $kind store", ({ start }) => {
  let server: RemoteStoreServer;
  const handles: RecordStore[] = [];
  let namespaces = 0;

  /** Opens a store on a namespace of its own, or on the one given. */
  async function open({ url = server.url, namespace = `n${(namespaces += 1)}`, callTimeoutMs = 1_000 } = {}) {
    const store = await openStore(url, { namespace, callTimeoutMs });
    handles.push(store);
    return store;
  }

  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await Promise.all(handles.map((store) => store.close()));
    await server.stop();
  });

  test("that is frozen ends every call in STORE_UNAVAILABLE, and answers again when it thaws", async () => {
    const [connected, fresh] = [await open(), await open()];
    const entry = await created(connected);
    server.pause();
    try {
      await expect(connected.compareAndSet("worker-1", entry, "new")).rejects.toEqual(unavailable);
      await expect(connected.read("worker-1")).rejects.toEqual(unavailable);
      await expect(Promise.all([connected.list(), connected.moment()])).rejects.toEqual(unavailable);
      await expect(fresh.moment()).rejects.toEqual(unavailable);
    } finally {
      server.resume();
    }
    await goesOnFromWhatStands(connected, ["old", "new"]);
    await answered(() => fresh.moment());
  });

  test("that is killed ends every call in STORE_UNAVAILABLE, and has kept its records when it starts again", async () => {
    const store = await open();
    const entry = await created(store);
    await server.kill();
    try {
      await expect(store.compareAndSet("worker-1", entry, "new")).rejects.toEqual(unavailable);
      await expect(store.read("worker-1")).rejects.toEqual(unavailable);
    } finally {
      await server.restart();
    }
    await goesOnFromWhatStands(store, ["old"]);
  });

  test("that was restarted while nobody called answers the next call, not only the one after it", async () => {
    const store = await open({ callTimeoutMs: 30_000 });
    await answered(() => store.moment());
    await server.kill();
    await server.restart();
    await answered(() => store.moment());
    await store.moment();
  });

  test("whose answer is lost leaves a write ambiguous, and a read tells that it landed", async () => {
    const proxy = await TcpProxy.start(server.port);
    try {
      const namespace = "lost-answer";
      const store = await open({ url: withPort(server, proxy.port), namespace, callTimeoutMs: 1_000 });
      const direct = await open({ namespace, callTimeoutMs: 30_000 });
      const entry = await created(store);
      proxy.mode = "deaf";
      await expect(store.compareAndSet("worker-1", entry, "new")).rejects.toEqual(unavailable);
      // ZooKeeper and Kubernetes read before they write: that answer is lost first, and nothing was written.
      const standing = (await direct.read("worker-1")).entry?.text;
      expect(["old", "new"]).toContain(standing);
      proxy.mode = "open";
      proxy.cut();
      await goesOnFromWhatStands(store, [standing!]);
    } finally {
      await proxy.stop();
    }
  });

  test("that is cut off, and one whose packets vanish, is STORE_UNAVAILABLE until the network is back", async () => {
    const proxy = await TcpProxy.start(server.port);
    try {
      const store = await open({ url: withPort(server, proxy.port) });
      const entry = await created(store);
      proxy.mode = "black-hole";
      await expect(store.compareAndSet("worker-1", entry, "new")).rejects.toEqual(unavailable);
      await expect(store.read("worker-1")).rejects.toEqual(unavailable);
      proxy.mode = "open";
      proxy.cut();
      await goesOnFromWhatStands(store, ["old"]);
    } finally {
      await proxy.stop();
    }
  });

  // FIELD F1: a primary that froze behind a pooler or a balancer, which leads new connections to its successor.
  test("whose connections go dark while new ones work fails the calls on them, and answers the next in time", async () => {
    const proxy = await TcpProxy.start(server.port);
    try {
      const store = await open({ url: withPort(server, proxy.port) });
      const entry = await created(store);
      proxy.swallow();
      await expect(store.compareAndSet("worker-1", entry, "new")).rejects.toEqual(unavailable);
      await goesOnFromWhatStands(store, ["old"]);
    } finally {
      await proxy.stop();
    }
  });

  test("that is slow is waited for", async () => {
    const proxy = await TcpProxy.start(server.port);
    proxy.delayMs = 50;
    try {
      const store = await open({ url: withPort(server, proxy.port), callTimeoutMs: 30_000 });
      const { entry } = applied(await store.compareAndSet("worker-1", undefined, "one"));
      expect((await store.compareAndSet("worker-1", entry, "two")).kind).toBe("applied");
      expect((await store.list()).entries.map(({ text }) => text)).toEqual(["two"]);
    } finally {
      await proxy.stop();
    }
  });

  test("that is frozen holds up neither a close nor the end of the process", async () => {
    const store = await open({ callTimeoutMs: 60_000 });
    await answered(() => store.moment());
    server.pause();
    try {
      const waiting = expect(store.read("worker-1")).rejects.toEqual(unavailable);
      await store.close();
      await waiting;
      expect(await runCommand(process.execPath, ["test/stores/ask-and-end.ts", server.url])).toBe(
        "STORE_UNAVAILABLE\n",
      );
    } finally {
      server.resume();
    }
  });
});

/** What a call answers, tried again while the store finds its feet: after a restart, or with a cold cache. */
async function answered<T>(call: () => Promise<T>): Promise<T> {
  let answer: { readonly value: T } | undefined;
  await expect
    .poll(
      async () => {
        answer = { value: await call() };
        return true;
      },
      { timeout: 60_000, interval: 50 },
    )
    .toBe(true);
  return answer!.value;
}

/**
 * The record holds one of `texts`, whole; a write that expects it is applied, and one that expects another is not. A
 * write whose call was given up may still land in between: then what is there is looked at again.
 */
async function goesOnFromWhatStands(store: RecordStore, texts: readonly string[]): Promise<void> {
  const stale: Entry = { key: "worker-1", text: "never written" };
  expect((await answered(() => store.compareAndSet("worker-1", stale, "wrong"))).kind).toBe("conflict");
  const seen: (string | undefined)[] = [];
  const kind = await answered(async () => {
    const { entry } = await store.read("worker-1");
    if (entry?.text === "next") return "applied";
    seen.push(entry?.text);
    const answer = await store.compareAndSet("worker-1", entry, "next");
    if (answer.kind === "conflict") throw new Error("another write landed first");
    return answer.kind;
  });
  expect(kind).toBe("applied");
  for (const text of seen) expect(texts).toContain(text);
  expect((await answered(() => store.read("worker-1"))).entry?.text).toBe("next");
}

/** Makes the record `old`. A busy machine may be late with the answer: then it is there already. */
async function created(store: RecordStore): Promise<Entry> {
  return answered(async () => {
    await store.compareAndSet("worker-1", undefined, "old");
    const { entry } = await store.read("worker-1");
    if (entry?.text !== "old") throw new Error("it is not there yet");
    return entry;
  });
}

function applied(answer: WriteAnswer): Extract<WriteAnswer, { kind: "applied" }> {
  if (answer.kind !== "applied") throw new Error(`the write was answered ${answer.kind}`);
  return answer;
}
