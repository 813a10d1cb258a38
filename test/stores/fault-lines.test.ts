/** An operator who reads one log and one `snowlane doctor`, under real faults: docs/reports/fault-lines.md has all. */
import { expect, onTestFinished, test } from "vitest";
import { sized } from "../support/worlds/scale.ts";
import { type FaultLines, readFaultLines } from "./fault-lines.ts";
import { stagedFaults } from "./fault-stages.ts";

/** Injects one of the faults of the page. */
async function read(store: string, fault: string): Promise<FaultLines> {
  const staged = stagedFaults.find((each) => each.store === store && each.fault === fault);
  if (staged === undefined) throw new Error(`no fault of ${store} is called ${fault}`);
  const stage = await staged.set();
  onTestFinished(() => stage.stop());
  return await readFaultLines(stage);
}

const faults = [
  { store: "sqlite", fault: "on a full disk", reason: /: the disk is full; free some space/, todo: /ten seconds/ },
  { store: "postgres", fault: "read only", reason: /read.only/, todo: /Name the server that takes writes/ },
  { store: "mariadb", fault: "read only", reason: /read.only/, todo: /Name the server that takes writes/ },
  { store: "mysql", fault: "read only", reason: /read.only/, todo: /Name the server that takes writes/ },
  {
    store: "postgres",
    fault: "on a full disk during a backup",
    reason: /refuses to be written: could not extend file .*No space left on device/,
    todo: /Free space on its disk/,
  },
  {
    store: "mariadb",
    fault: "its binary log on a full disk",
    reason: /no answer to a write within 1 s|still open on it/,
    todo: /a full disk/,
  },
  {
    store: "redis",
    fault: "out of memory",
    reason: /written: OOM [^:]+memory > .maxmemory.(?!\. script)/,
    todo: /Raise its maxmemory/,
  },
  {
    store: "redis",
    fault: "killed",
    // The last is of a call that was under way when it was killed.
    reason: /used: ((read|connect) ECONN(RESET|REFUSED)|Socket closed unexpectedly)/,
    todo: / Start it/,
  },
  {
    store: "mariadb",
    fault: "a second server of the URL takes writes, too",
    reason: /^Several servers of the mysql store take writes: 127[^ ]+ and 127[^ ]+\. Nothing is granted/,
    todo: /Fence the old primary/,
  },
  {
    store: "postgres",
    fault: "its primary killed, and later its standby promoted",
    reason: /it is a standby and takes no writes|ECONN(RESET|REFUSED)|terminated unexpectedly/,
    todo: /promote/,
  },
  { store: "etcd", fault: "out of space", reason: /used: etcdserver: .*space exceeded/, todo: /etcdctl alarm disarm/ },
];
/** A database and a server in memory; `npm run all -- fault-lines` injects the faults of all stores. */
const faultsHere = new Set(["postgres, read only", "redis, killed"]);

test.each(
  sized(
    faults.filter(({ store, fault }) => faultsHere.has(`${store}, ${fault}`)),
    faults,
  ),
)(
  "$store, $fault: one log and one doctor say what happened, until when, and what to do",
  async ({ store, fault, reason, todo }) => {
    const { during, doctor, after } = await read(store, fault);
    const told = (event: string): readonly string[] =>
      [...during, ...after].filter((line) => line["event"] === event).map(({ message }) => String(message));
    expect(told("store-problem")[0]).toMatch(reason);
    // The store is named beside it, and nothing is a stack.
    expect(told("store-problem")[0]).toMatch(/ \(\w+:.*\)\.$/);
    expect(told("window-half-gone")).toEqual([expect.stringMatching(/IDs can be given out for \d\.\d s more/)]);
    expect(told("grant-ended")).toEqual([expect.stringMatching(/the window ended.*Calls wait, or are refused, until/)]);
    // A database whose commits waited for a disk answers, and then waits for the commits before.
    expect(told("store-answers-again").at(-1)).toMatch(/again, .* after it began to fail/);
    expect(told("store-answers-again").length).toBeLessThanOrEqual(fault.includes("binary log") ? 3 : 1);
    const failed = doctor.filter(({ level }) => level === "fail");
    expect(failed.map(({ detail }) => detail)).toEqual([expect.stringMatching(reason)]);
    expect(`${failed[0]!.detail} ${failed[0]!.hint}`).toMatch(todo);
  },
  300_000,
);

const emptied = ["postgres, emptied by TRUNCATE", "redis, emptied by FLUSHALL"];

test.each(sized(emptied.slice(0, 1), emptied))(
  "%s: the log says what is lost and until when nothing is granted, and doctor the same",
  async (name) => {
    const [store = "", fault = ""] = name.split(", ");
    const { during, doctor, after } = await read(store, fault);
    const told = (event: string): readonly string[] =>
      [...during, ...after].filter((line) => line["event"] === event).map(({ message }) => String(message));
    expect(told("grant-ended")).toEqual([expect.stringMatching(/No longer holds its worker ID: .*Calls wait/)]);
    const [lost] = told("quarantine-written");
    expect(lost).toMatch(/^The store lost data \(.*\): no window is granted before 20\d\d-.*Z \(\w+:/);
    const untilText = /before (\S+Z)/.exec(lost!)![1]!;
    // Doctor looks after the server has written its mark, or sees a store without records.
    const says = doctor.map(({ check, detail }) => `${check}: ${detail}`).join("\n");
    expect(says).toMatch(/^(quarantine: The store is under quarantine until 20|layout: )/m);
    const granted = after.find((line) => line["event"] === "acquired");
    expect(Number(granted!["fromMs"])).toBeGreaterThanOrEqual(Date.parse(untilText));
  },
  300_000,
);

test("mariadb, its clock 40 s behind: the log names it before the window is over, and doctor fails", async () => {
  const { during, doctor } = await read("mariadb", "its clock 40 s behind");
  const told = during.map(({ event, level, message }) => `${String(level)} ${String(event)}: ${String(message)}`);
  const places = ["error clock-off: ", "warn clock-offset: ", "warn window-half-gone: ", "warn grant-ended: "].map(
    (beginning) => told.findIndex((line) => line.startsWith(beginning)),
  );
  const [off, offset, half, end] = places;
  expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
  expect(Math.max(off!, offset!)).toBeLessThan(half!);
  expect(half).toBeLessThan(end!);
  expect(told[off!]).toMatch(/it is \d+\.\d s ahead of it, so the window cannot be renewed as it should/);
  expect(told[offset!]).toMatch(/This machine's clock is \d+\.\d s ahead of the store's/);
  expect(told[end!]).toMatch(/the store's clock is \d+\.\d s behind, so that renewals could not move its end/);
  const failed = doctor.filter(({ level }) => level === "fail");
  expect(failed.map(({ check, detail }) => `${check}: ${detail}`)).toEqual([
    expect.stringMatching(/^clock offset: This machine's clock is \d+\.\d s ahead of the store's/),
  ]);
});
