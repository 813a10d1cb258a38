/** An operator who reads one log and one `snowlane doctor`, under real faults: docs/fault-lines.md has all of them. */
import { expect, onTestFinished, test } from "vitest";
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

test.each([
  { store: "sqlite", fault: "on a full disk", reason: /: the disk is full; free some space/, todo: /ten seconds/ },
  { store: "postgres", fault: "read only", reason: /read.only/, todo: /Name the server that takes writes/ },
  { store: "mariadb", fault: "read only", reason: /read.only/, todo: /Name the server that takes writes/ },
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
    todo: /before the store takes writes/,
  },
  { store: "redis", fault: "killed", reason: /used: (read|connect) ECONN(RESET|REFUSED)/, todo: / Start it/ },
  { store: "etcd", fault: "out of space", reason: /used: etcdserver: .*space exceeded/, todo: /before the store/ },
])(
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
