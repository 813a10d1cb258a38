import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { encodeWorkerRecord, parseWorkerRecord, workerKey } from "../../src/lease/records/worker-record.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { runSnowlane } from "../text/run-snowlane.ts";

const newStore = (): string => `sqlite:${join(temporaryFolder(), "ids.db")}`;

async function doctor(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await runSnowlane(["doctor", "--json", "--listen", "127.0.0.1:0", ...args]);
  const findings: readonly Record<string, string>[] = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  const levels = Object.fromEntries(findings.map(({ check, level }) => [check, level]));
  return { exitCode, stderr, stdout, findings, levels };
}

async function withStore<T>(url: string, work: (store: RecordStore) => Promise<T>): Promise<T> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

test("doctor finds nothing wrong on a new machine, and makes nothing", async () => {
  const folder = temporaryFolder();
  const { exitCode, findings, stderr } = await doctor("--store", `sqlite:${join(folder, "ids.db")}`);
  expect([exitCode, stderr]).toEqual([0, ""]);
  const checks = ["store", "times", "clock", "clock source", "clock sync", "open files", "address", "sequences"];
  expect(findings.map(({ check }) => check)).toEqual(checks);
  expect(existsSync(join(folder, "ids.db"))).toBe(false);
});

test("doctor tells of a store in use, and leaves every record as it was", async () => {
  const url = newStore();
  await runSnowlane(["next", "--store", url]);
  const list = () =>
    withStore(url, async (store) => (await store.list()).entries.map(({ key, text }) => key + text).toSorted());
  const before = await list();
  const { exitCode, levels, findings } = await doctor("--store", url);
  expect(exitCode).toBe(0);
  // Not the store: on a busy machine it may be slow enough to be warned of.
  const good = [
    "clock offset",
    "layout",
    "deployment",
    "privileges",
    "worker IDs",
    "back-fills",
    "layout's life",
    "clock",
    "address",
  ];
  expect(levels).toMatchObject(Object.fromEntries(good.map((check) => [check, "ok"])));
  const fingerprint = /"deploymentId":"([0-9a-f]{32})"/.exec(before.join())?.[1];
  const detail = `The fingerprint is ${fingerprint}. Another store with the same one repeats these IDs.`;
  expect(findings.find(({ check }) => check === "deployment")).toMatchObject({ detail });
  expect(await list()).toEqual(before);
  const table = await runSnowlane(["doctor", "--store", url, "--listen", "127.0.0.1:0"]);
  expect(table.stdout).toMatch(/^(ok|warn) +store {10}sqlite:.* answers in [\d.]+ ms \(median of 5\)\.\n/);
});

test("each finding that would keep serve from starting ends doctor with serve's own exit code, and names a hint", async () => {
  const url = newStore();
  await runSnowlane(["next", "--store", url]);
  const layout = await doctor("--store", url, "--layout", "discord");
  expect([layout.exitCode, layout.levels["layout"]]).toEqual([5, "fail"]);
  const down = await doctor("--store", "postgres://u:s3cret@127.0.0.1:1/x?passwordFile=/none");
  expect([down.exitCode, down.levels["store"]]).toEqual([expect.toBeOneOf([2, 4]), "fail"]);
  expect(down.stdout + down.stderr).not.toContain("s3cret");
  const tls = await doctor("--store", url, "--tls-cert", "/none.pem", "--tls-key", "/none.pem");
  expect([tls.exitCode, tls.levels["tls"]]).toEqual([2, "fail"]);
  await runSnowlane(["store", "copy", "--from", url, "--to", newStore()]);
  const moved = await doctor("--store", url);
  expect([moved.exitCode, moved.levels["layout"]]).toEqual([2, "fail"]);
  for (const { findings } of [layout, down, tls, moved]) {
    for (const { level, hint } of findings) expect(level === "ok" || (hint ?? "") !== "").toBe(true);
  }
  expect((await doctor("--store", url, "--layout", "none")).exitCode).toBe(2);
});

test("doctor knows an address that a Snowlane serves on from one that another program has", async () => {
  const url = newStore();
  const { address } = await runServer({ store: url });
  const ask = async (listen: string) => {
    const { exitCode, stdout } = await runSnowlane(["doctor", "--store", url, "--listen", listen]);
    return [exitCode, stdout];
  };
  expect(await ask(address)).toEqual([3, expect.stringMatching(/A Snowlane [\d.]+ \(worker ID \d+\/\d+\) serves on/)]);
  const other = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const { port } = other.address() as { readonly port: number };
  expect(await ask(`127.0.0.1:${port}`)).toEqual([3, expect.stringContaining("is in use")]);
});

test("doctor warns when three quarters of the worker IDs are in use, and fails when all are", async () => {
  const url = newStore();
  const layout = ["--layout-fields", "timestamp:41,worker:2,sequence:12", "--epoch", "2026-01-01"];
  await runSnowlane(["next", "--store", url, ...layout]);
  await hold(url, 2);
  expect((await doctor("--store", url, ...layout)).levels["worker IDs"]).toBe("ok");
  await hold(url, 3);
  const many = await doctor("--store", url, ...layout);
  expect([many.exitCode, many.levels["worker IDs"]]).toEqual([0, "warn"]);
  await hold(url, 4);
  const all = await doctor("--store", url, ...layout);
  expect([all.exitCode, all.levels["worker IDs"]]).toEqual([6, "fail"]);
});

test("doctor warns when back-fills of the whole past become few, where the layout has room for some", async () => {
  const url = newStore();
  const layout = ["--layout-fields", "timestamp:41,worker:6,sequence:12", "--epoch", "2026-01-01"];
  // Beside those that are made: its own, in the first seven eighths or so.
  await runSnowlane(["next", "--store", url, ...layout]);
  await hold(url, 40);
  expect((await doctor("--store", url, ...layout)).levels["back-fills"]).toBe("ok");
  await hold(url, 57);
  expect((await doctor("--store", url, ...layout)).levels["back-fills"]).toBe("warn");
});

/** Makes records of worker IDs from 0 on that look as if somebody held them for another hour. */
async function hold(url: string, count: number): Promise<void> {
  await withStore(url, async (store) => {
    const { entries } = await store.list();
    const { key, text } = entries.find((entry) => entry.key.startsWith("worker-"))!;
    const record = { ...parseWorkerRecord(key, text), token: "0".repeat(32), markMs: Date.now() + 3_600_000 };
    for (let index = 0; index < count; index += 1) {
      const standing = entries.find((entry) => entry.key === workerKey(index));
      await store.compareAndSet(workerKey(index), standing, encodeWorkerRecord(record));
    }
  });
}

test("doctor says whether the database of sequences gives values, and why it was stopped", async () => {
  const store = ["--store", `sqlite:${join(temporaryFolder(), "ids.db")}`];
  expect((await doctor(...store)).levels["sequences"]).toBe("ok");
  expect((await runSnowlane(["sequences", "create", "orders", ...store])).exitCode).toBe(0);
  expect((await doctor(...store)).findings.at(-1)).toMatchObject({ check: "sequences", level: "ok" });
  const stop = ["sequences", "stop", "--reason", "a backup is put back", ...store];
  expect((await runSnowlane(stop)).exitCode).toBe(0);
  const stopped = await doctor(...store);
  expect(stopped.findings.at(-1)).toMatchObject({
    level: "warn",
    detail: expect.stringContaining("a backup is put back"),
  });
  expect(stopped.exitCode).toBe(0);
  const away = await doctor(...store, "--sequence-stores", "postgres://u@127.0.0.1:1/x");
  expect(away.findings.at(-1)).toMatchObject({ level: "warn", hint: expect.stringContaining("--sequence-stores") });
  expect((await doctor(...store, "--sequence-stores", "off")).levels["sequences"]).toBeUndefined();
});
