import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { encodeWorkerRecord, parseWorkerRecord, workerKey } from "../../src/lease/records/worker-record.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { runSnowlane, type SnowlaneRun } from "../text/run-snowlane.ts";

const newStore = (): string => `sqlite:${join(temporaryFolder(), "ids.db")}`;

/** A server on a store, pinned to a worker ID; gone when the test is over. */
async function serve(store: string, workerId = 3, args: readonly string[] = []) {
  const server = await startSnowlane({
    args: ["--store", store, "--datacenter-id", "1", "--worker-id", String(workerId), ...args],
  });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

async function listJson(store: string): Promise<Readonly<Record<string, never>>> {
  const { stdout, exitCode, stderr } = await runSnowlane(["workers", "--store", store, "--json"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test("workers lists the holders, from the store and from a server, for people and for programs", async () => {
  const store = newStore();
  const server = await serve(store);
  const list = await listJson(store);
  expect(list).toMatchObject({ store, namespace: "default", workerIds: 1024, free: 1023, quarantine: null });
  expect(list).toMatchObject({ neverHeld: 1023, wholePast: 1023 });
  const holder = { processId: server.child.pid, instance: expect.stringContaining(":") };
  expect(list["workers"]).toMatchObject([{ datacenterId: 1, workerId: 3, state: "held", generation: 1, holder }]);
  const remote = await runSnowlane(["workers", "--server", server.url, "--json"]);
  expect(JSON.parse(remote.stdout)).toMatchObject({
    server: server.url,
    free: 1023,
    workers: [{ workerId: 3, holder }],
  });
  const table = await runSnowlane(["workers", "--server", server.url]);
  expect(table.stdout).toMatch(/^datacenter +worker +state +left +mark .*\n1 +3 +held +\d+\.\d s /);
  expect(table.stdout).toContain("1 held; 1023 of 1024 worker IDs are free.");
  expect(table.stdout).toContain("1023 were never held, and the past of 1023 is entirely unused");
  expect(await server.stop("SIGTERM")).toBe(0);
  expect((await listJson(store))["workers"]).toMatchObject([{ state: "released" }]);
});

test("workers makes no store where there is none, and says so", async () => {
  const folder = temporaryFolder();
  const absent = await runSnowlane(["workers", "--store", `sqlite:${join(folder, "ids.db")}`]);
  expect([absent.exitCode, absent.stderr]).toEqual([4, expect.stringContaining("there is no file")]);
  expect(existsSync(join(folder, "ids.db"))).toBe(false);
  const store = newStore();
  await runSnowlane(["next", "--store", store]);
  const other = await runSnowlane(["workers", "--store", store, "--namespace", "other"]);
  expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining("Namespace other")]);
  const down = await runSnowlane(["workers", "--server", "http://127.0.0.1:1"]);
  expect([down.exitCode, down.stderr]).toEqual([1, expect.stringContaining("No server answers")]);
});

test("workers --watch looks again until it is told to stop", async () => {
  const store = newStore();
  await runSnowlane(["next", "--store", store]);
  const args = ["src/cli/main.ts", "workers", "--store", store, "--watch", "--json"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let lines = 0;
  for await (const chunk of child.stdout) {
    lines += String(chunk).split("\n").length - 1;
    if (lines >= 2) break;
  }
  const closed = once(child, "close");
  child.kill("SIGINT");
  expect(await closed).toEqual([0, null]);
});

test("release takes no worker ID from a living holder, and gives back that of a dead one with its mark", async () => {
  const store = newStore();
  const release = (...args: readonly string[]): Promise<SnowlaneRun> =>
    runSnowlane(["workers", "release", "--store", store, "--datacenter-id", "1", "--worker-id", "3", ...args]);
  const server = await serve(store);
  const held = await release("--reason", "try");
  expect([held.exitCode, held.stderr]).toEqual([1, expect.stringContaining("is held by")]);
  await server.stop("SIGKILL");
  const [before] = (await listJson(store))["workers"] as unknown as readonly { mark: string }[];
  const done = await release("--reason", "its host is gone");
  expect([done.exitCode, done.stdout]).toEqual([0, expect.stringContaining(before!.mark)]);
  expect(done.stderr).toMatch(
    /An operator gave an expired worker ID back datacenterId=1 workerId=3 reason="its host is gone"/,
  );
  const again = await release("--reason", "twice");
  expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining("nothing was changed")]);
  const [after] = (await listJson(store))["workers"] as unknown as readonly { mark: string }[];
  expect(after).toMatchObject({ mark: before!.mark });
});

test("release and quarantine say what is missing or out of range, and change nothing", async () => {
  const store = newStore();
  await runSnowlane(["next", "--store", store]);
  const before = await listJson(store);
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["release"], /--worker-id[^]*--reason/],
    [["release", "--worker-id", "1", "--reason", "x"], /--datacenter-id/],
    [["release", "--worker-id", "32", "--datacenter-id", "0", "--reason", "x"], /0 to 31/],
    [["quarantine"], /--reason/],
    [["quarantine", "--reason", "x", "--for", "12s"], /at least|too short/],
    [["quarantine", "--reason", "x", "--until", "2999-01-01"], /too long/],
    [["quarantine", "--reason", "x", "--for", "1m", "--until", "2999-01-01"], /not both/],
  ];
  for (const [args, problem] of wrong) {
    const { exitCode, stderr } = await runSnowlane(["workers", ...args, "--store", store]);
    expect([exitCode, stderr], args.join(" ")).toEqual([2, expect.stringMatching(problem)]);
  }
  const never = ["release", "--worker-id", "31", "--datacenter-id", "31", "--reason", "x", "--store", store];
  expect((await runSnowlane(["workers", ...never])).exitCode).toBe(0);
  const after = await listJson(store);
  expect([after["workers"], after["quarantine"]]).toEqual([before["workers"], before["quarantine"]]);
});

test("quarantine holds new grants back, shows, and leaves holders alone", async () => {
  const store = newStore();
  const server = await serve(store);
  const quarantine = (...args: readonly string[]): Promise<SnowlaneRun> =>
    runSnowlane(["workers", "quarantine", "--store", store, ...args]);
  const done = await quarantine("--reason", "restored from 03:00", "--for", "10m");
  expect([done.exitCode, done.stderr]).toEqual([0, expect.stringContaining('reason="restored from 03:00"')]);
  expect(await listJson(store)).toMatchObject({
    free: 0,
    quarantine: { reason: "restored from 03:00" },
    workers: [{ state: "held" }],
  });
  expect((await runSnowlane(["next", "--server", server.url])).exitCode).toBe(0);
  expect((await quarantine("--reason", "again")).stdout).toContain("nothing was changed");
  const args = ["src/cli/main.ts", "serve", "--listen", "127.0.0.1:0", "--store", store, "--log-format", "json"];
  const late = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void late.kill("SIGKILL"));
  let log = "";
  for await (const chunk of late.stderr) if (/quarantine/.test((log += String(chunk)))) break;
  expect(log).toContain("restored from 03:00");
  expect(log).not.toContain("Serves IDs");
});

test("a store that is bound to datacenters grants of no other, to no later process either", async () => {
  const store = newStore();
  const next = (...args: readonly string[]): Promise<SnowlaneRun> =>
    runSnowlane(["next", "--format", "csv", "--store", store, ...args]);
  const datacenterOf = ({ stdout }: SnowlaneRun): number => Number(stdout.split("\n")[1]!.split(",")[2]);
  expect([2, 3]).toContain(datacenterOf(await next("--datacenter-ids", "2-3")));
  expect([2, 3]).toContain(datacenterOf(await next()));
  expect(datacenterOf(await next("--datacenter-id", "3"))).toBe(3);
  const outside = await next("--datacenter-id", "4");
  expect([outside.exitCode, outside.stderr]).toEqual([2, expect.stringContaining("bound to 2,3")]);
  const other = await next("--datacenter-ids", "2-4");
  expect([other.exitCode, other.stderr]).toEqual([5, expect.stringContaining("datacenterIds")]);
  expect((await listJson(store))["workerIds"]).toBe(64);
  for (const args of [
    ["--datacenter-ids", "2-40"],
    ["--datacenter-ids", "x"],
    ["--datacenter-ids", "1", "--layout", "sonyflake"],
  ]) {
    expect((await next(...args)).exitCode, args.join(" ")).toBe(2);
  }
});

test("a store that is bound to a range of worker IDs grants no other, to no later process either", async () => {
  const store = newStore();
  const next = (...args: readonly string[]): Promise<SnowlaneRun> =>
    runSnowlane(["next", "--format", "csv", "--store", store, "--layout", "leaf", ...args]);
  const workerOf = ({ stdout }: SnowlaneRun): number => Number(stdout.split("\n")[1]!.split(",")[3]);
  expect([1_022, 1_023]).toContain(workerOf(await next("--worker-ids", "1022-1023")));
  expect([1_022, 1_023]).toContain(workerOf(await next()));
  expect(workerOf(await next("--worker-id", "1023"))).toBe(1_023);
  const outside = await next("--worker-id", "1021");
  expect([outside.exitCode, outside.stderr]).toEqual([2, expect.stringContaining("bound to 1022-1023")]);
  const other = await next("--worker-ids", "1021-1023");
  expect([other.exitCode, other.stderr]).toEqual([
    5,
    expect.stringContaining("workerIds is 1021-1023 here and 1022-1023"),
  ]);
  expect((await listJson(store))["workerIds"]).toBe(2);
  for (const args of [
    ["--worker-ids", "1023-1022"],
    ["--worker-ids", "1000-1024"],
    ["--worker-ids", "0-3,7"],
    ["--worker-ids", "1022-1023", "--worker-id", "7"],
  ]) {
    expect((await next(...args)).exitCode, args.join(" ")).toBe(2);
  }
  const withDatacenters = await runSnowlane(["next", "--store", newStore(), "--worker-ids", "0-3"]);
  expect([withDatacenters.exitCode, withDatacenters.stderr]).toEqual([2, expect.stringContaining("--datacenter-ids")]);
});

test("store copy moves a deployment: servers go on at the target, and the source names it", async () => {
  const [from, to] = [newStore(), newStore()];
  const copy = (...args: readonly string[]): Promise<SnowlaneRun> =>
    runSnowlane(["store", "copy", "--from", from, "--to", to, ...args]);
  const server = await serve(from);
  await runSnowlane(["next", "-n", "1000", "--server", server.url]);
  const held = await copy();
  expect([held.exitCode, held.stderr]).toEqual([
    1,
    expect.stringMatching(/worker ID 1\/3 is held[^]*Nothing was changed/),
  ]);
  await server.stop("SIGKILL");
  const before = ((await listJson(from))["workers"] as unknown as readonly { mark: string }[])[0]!;
  const done = await copy();
  expect([done.exitCode, done.stdout]).toEqual([0, expect.stringContaining("with 1 mark")]);
  const refused = await runSnowlane(["serve", "--listen", "127.0.0.1:0", "--store", from]);
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringContaining(`was moved from this store to ${to}`),
  ]);
  const moved = await serve(to);
  expect((await listJson(to))["workers"]).toMatchObject([{ workerId: 3, generation: 2, state: "held" }]);
  const { stdout } = await runSnowlane(["next", "--server", moved.url, "--format", "csv"]);
  expect(stdout.split(/[\n,]/)[6]! >= before.mark).toBe(true);
  expect((await copy()).stdout).toContain("nothing is left to do");
  expect((await copy("--abandon")).exitCode).toBe(2);
});

test("store copy that was killed half-way lets nobody start, and the next run finishes it", async () => {
  const { from, to } = await interruptedCopy();
  for (const store of [from, to]) {
    const { exitCode, stderr } = await runSnowlane(["next", "--store", store]);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/is being moved|is not finished/)]);
  }
  expect((await runSnowlane(["store", "copy", "--from", from, "--to", to])).exitCode).toBe(0);
  expect((await listJson(to))["workers"]).toHaveLength(301);
  expect((await runSnowlane(["next", "--store", to])).exitCode).toBe(0);
});

test("store copy that was killed half-way can be taken back: the source serves again, the target never", async () => {
  const { from, to } = await interruptedCopy();
  const taken = await runSnowlane(["store", "copy", "--from", from, "--to", to, "--abandon"]);
  expect([taken.exitCode, taken.stdout]).toEqual([0, expect.stringContaining("was undone")]);
  expect((await runSnowlane(["next", "--store", from])).exitCode).toBe(0);
  const { exitCode, stderr } = await runSnowlane(["next", "--store", to]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("was abandoned")]);
});

/** Two stores between which a copy was killed. A copy that was faster than the kill is tried again. */
async function interruptedCopy(): Promise<{ readonly from: string; readonly to: string }> {
  for (;;) {
    const [from, to] = [newStore(), newStore()];
    await runSnowlane(["next", "--store", from]);
    await addRecords(from, 300);
    const child = spawn(process.execPath, ["src/cli/main.ts", "store", "copy", "--from", from, "--to", to]);
    onTestFinished(() => void child.kill("SIGKILL"));
    const closed = once(child, "close");
    for await (const chunk of child.stderr) if (String(chunk).includes("gives back")) break;
    child.kill("SIGKILL");
    const [, signal] = await closed;
    if (signal === "SIGKILL") return { from, to };
  }
}

/** Copies the only worker record to as many further worker IDs, as if they had been held and given back. */
async function addRecords(url: string, count: number): Promise<void> {
  const store = await openStore(url, { namespace: "default", callTimeoutMs: 30_000 });
  const { entries } = await store.list();
  const { key, text } = entries.find((entry) => entry.key.startsWith("worker-"))!;
  const record = parseWorkerRecord(key, text);
  const keys = Array.from({ length: count + 1 }, (_, index) => workerKey(index)).filter((other) => other !== key);
  for (const other of keys.slice(0, count)) await store.compareAndSet(other, undefined, encodeWorkerRecord(record));
  await store.close();
}
