import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openResumeFolder } from "./resume-folder.ts";
import type { ResumeJournal, ResumeRecord } from "./resume-record.ts";

const records = { namespace: "default", storeUrl: "etcd://127.0.0.1:2379" };
/** All records are looked at. */
const nobodys = (): boolean => false;
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "snowlane-"));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function open(of = records): ResumeJournal {
  const journal = openResumeFolder(root, of);
  if (journal === undefined) throw new Error("this machine has no ID of its own");
  return journal;
}

function record(journal: ResumeJournal, workerIndex = 5, localMarkMs = 1_000): ResumeRecord {
  return {
    place: journal.place,
    workerIndex,
    confirmedText: "confirmed",
    unansweredTexts: ["one", "two"],
    untilMs: 10_000,
    localMarkMs,
    incarnation: { identity: "a", startedMs: undefined, emptyMeans: "new" },
    layoutText: "layout",
  };
}

/** Ends the life of a journal in this process: its locks go, as they do with its process. */
function release(journal: ResumeJournal): void {
  journal.leave(5);
}

test("what was written last is recalled, once its process is gone", async () => {
  const journal = open();
  await journal.write(record(journal, 5, 1_000));
  await journal.write(record(journal, 5, 2_000));
  const other = open();
  expect(await other.recall(nobodys)).toEqual([]);
  release(journal);
  expect(await other.recall(nobodys)).toEqual([record(other, 5, 2_000)]);
});

test("the record of another instance is left alone, with its lock, for it may be starting at this moment", async () => {
  const journal = open();
  await journal.write(record(journal));
  release(journal);
  const [one, other] = [open(), open()];
  expect(await one.recall(() => true)).toEqual([]);
  expect(await other.recall(nobodys)).toHaveLength(1);
});

test("what was removed is not recalled", async () => {
  const journal = open();
  await journal.write(record(journal));
  await journal.remove(5);
  await journal.remove(5);
  expect(await open().recall(nobodys)).toEqual([]);
});

test("records of another store or namespace are not seen", async () => {
  const journal = open();
  await journal.write(record(journal));
  release(journal);
  expect(await open({ ...records, namespace: "other" }).recall(nobodys)).toEqual([]);
  expect(await open({ ...records, storeUrl: "etcd://127.0.0.1:2380" }).recall(nobodys)).toEqual([]);
});

test("a record of another boot, and one that is damaged, are removed", async () => {
  const journal = open();
  await journal.write({ ...record(journal), place: { ...journal.place, bootId: "earlier" } });
  await journal.write({ ...record(journal, 6) });
  journal.leave(5);
  journal.leave(6);
  const [folder] = readdirSync(root);
  writeFileSync(join(root, folder!, "worker-6.json"), "{");
  expect(await open().recall(nobodys)).toEqual([]);
  expect(readdirSync(join(root, folder!)).filter((name) => name.endsWith(".json"))).toEqual([]);
});

test("a half-written file that a crash left takes nothing from the record before it", async () => {
  const journal = open();
  await journal.write(record(journal));
  release(journal);
  const [folder] = readdirSync(root);
  writeFileSync(join(root, folder!, "worker-5.json.next"), '{"formatVersion":1,"pla');
  const again = open();
  expect(await again.recall(nobodys)).toHaveLength(1);
  await again.write(record(again, 5, 3_000));
  const names = readdirSync(join(root, folder!));
  expect(names.filter((name) => name.includes(".json"))).toEqual(["worker-5.json"]);
});

test("kill -9 frees a record, and nothing less does", async () => {
  const program = `
    import { openResumeFolder } from ${JSON.stringify(new URL("./resume-folder.ts", import.meta.url).href)};
    const journal = openResumeFolder(${JSON.stringify(root)}, ${JSON.stringify(records)});
    await journal.write({ ...${JSON.stringify({ ...record(open()), place: null })}, place: journal.place });
    console.log("written");
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  expect(await open().recall(nobodys)).toEqual([]);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await open().recall(nobodys)).toHaveLength(1);
});

test("a folder that cannot be made means that nothing is resumed", () => {
  writeFileSync(join(root, "plain"), "");
  chmodSync(root, 0o700);
  expect(openResumeFolder(join(root, "plain"), records)).toBeUndefined();
});
