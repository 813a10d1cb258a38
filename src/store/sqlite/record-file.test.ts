import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IdError } from "../../errors.ts";
import { sqliteError } from "./sqlite-error.ts";
import { RecordFile } from "./record-file.ts";

let folder: string;
let path: string;
let opened: RecordFile[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  path = join(folder, "snowlane.db");
  opened = [];
});
afterEach(() => {
  for (const file of opened) file.close();
  rmSync(folder, { recursive: true });
});

function open(options: { namespace?: string; path?: string } = {}): RecordFile {
  const file = new RecordFile({
    path: options.path ?? path,
    namespace: options.namespace ?? "default",
    busyTimeoutMs: 5_000,
    networkFileSystem: "refuse",
  });
  opened.push(file);
  return file;
}

function write(file: RecordFile, key: string, next: string): boolean {
  const expected = file.read(key).records[0]?.text;
  return file.compareAndSet(key, expected, next).applied;
}

function failure(work: () => unknown): IdError {
  try {
    work();
  } catch (error) {
    if (error instanceof IdError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("a start", () => {
  test("makes the file, and one that is new beside no trace has lost nothing", () => {
    const { emptyMeans } = open().incarnation();
    expect(emptyMeans).toBe("new");
    expect(open().incarnation()).toEqual(opened[0]!.incarnation());
  });

  test("finds the same life again after a restart", () => {
    const before = open();
    write(before, "layout", "one");
    const incarnation = before.incarnation();
    before.close();
    expect(open().incarnation()).toEqual(incarnation);
  });

  test("takes a file that is new beside traces of an earlier one for a loss", () => {
    const before = open();
    const { identity } = before.incarnation();
    write(before, "layout", "one");
    before.close();
    rmSync(path);
    const after = open().incarnation();
    expect(after.emptyMeans).toBe("lost");
    expect(after.identity).not.toBe(identity);
  });

  test("sees that an older copy was put back while nobody ran", () => {
    const before = open();
    write(before, "layout", "one");
    copyFileSync(path, `${path}.copy`);
    write(before, "layout", "two");
    const { identity } = before.incarnation();
    before.close();
    copyFileSync(`${path}.copy`, path);
    const after = open();
    expect(after.incarnation().identity).not.toBe(identity);
    expect(after.incarnation().emptyMeans).toBe("lost");
    expect(after.read("layout").records[0]?.text).toBe("one");
    // Settled once: the next start finds the same life.
    expect(open().incarnation()).toEqual(after.incarnation());
  });

  test("takes the very copy that was current for no loss", () => {
    const before = open();
    write(before, "layout", "one");
    const incarnation = before.incarnation();
    before.close();
    copyFileSync(path, `${path}.copy`);
    rmSync(path);
    renameSync(`${path}.copy`, path);
    expect(open().incarnation()).toEqual(incarnation);
  });

  test("sees that a file was carried to another place, where others may have come further", () => {
    const before = open();
    write(before, "layout", "one");
    const { identity } = before.incarnation();
    before.close();
    const elsewhere = join(folder, "elsewhere.db");
    copyFileSync(path, elsewhere);
    expect(open({ path: elsewhere }).incarnation().identity).not.toBe(identity);
  });

  test("makes folders that are not there", () => {
    open({ path: join(folder, "a", "b", "snowlane.db") }).incarnation();
    expect(existsSync(join(folder, "a", "b", "snowlane.db.locks"))).toBe(true);
  });
});

describe("a start is refused, with what to do,", () => {
  test("for a file that is not a database", () => {
    writeFileSync(
      path,
      "hello, this is a diary and not a database, and long enough for a header of one hundred bytes ........",
    );
    const error = failure(() => open().read());
    expect(error).toMatchObject({
      reason: "INVALID_CONFIG",
      message: expect.stringContaining("not a SQLite database"),
    });
  });

  test("for another program's database, which is left as it is", () => {
    const other = new DatabaseSync(path);
    other.exec("PRAGMA journal_mode=WAL; CREATE TABLE mine (x)");
    other.close();
    const error = failure(() => open().read());
    expect(error).toMatchObject({ reason: "INVALID_CONFIG", message: expect.stringContaining("another program") });
    const again = new DatabaseSync(path);
    expect(again.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    again.close();
  });

  test("for another version's file", () => {
    const first = open();
    write(first, "layout", "one");
    first.close();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 2");
    database.close();
    expect(failure(() => open().read()).message).toContain("another version of Snowlane");
    const newer = new DatabaseSync(path);
    newer.exec("CREATE TABLE snowlane_program AS SELECT '2.0.0' AS version");
    newer.close();
    expect(failure(() => open().read()).message).toContain("was made by Snowlane 2.0.0 (format 2, not 1)");
  });

  test("for a damaged file", () => {
    const first = open();
    for (let record = 0; record < 200; record += 1) write(first, `worker-${record}`, "x".repeat(500));
    first.close();
    const handle = openSync(path, "r+");
    // The first page is left alone: it still looks like a database of ours.
    writeSync(handle, Buffer.alloc(100_000, 0x5a), 0, 100_000, 4_096);
    closeSync(handle);
    const error = failure(() => open().read());
    expect(error).toMatchObject({ reason: "INVALID_CONFIG", message: expect.stringContaining("damaged") });
  });

  test("for a folder that cannot be written", () => {
    const locked = join(folder, "locked");
    mkdirSync(locked);
    writeFileSync(join(folder, "plain"), "");
    chmodSync(locked, 0o500);
    // Root may write anywhere; a path below a plain file stops even root.
    const target = process.getuid?.() === 0 ? join(folder, "plain", "snowlane.db") : join(locked, "snowlane.db");
    expect(failure(() => open({ path: target }).read()).reason).toBe("INVALID_CONFIG");
  });

  test("for a path that is a folder", () => {
    mkdirSync(path);
    expect(failure(() => open().read()).reason).toBe("INVALID_CONFIG");
  });
});

describe("while it runs, the store", () => {
  test("is gone when its file is deleted, and comes back only with a file that somebody else puts there", () => {
    const file = open();
    write(file, "layout", "one");
    copyFileSync(path, `${path}.copy`);
    rmSync(path);
    expect(failure(() => file.read()).reason).toBe("STORE_WENT_BACK");
    expect(failure(() => file.read()).reason).toBe("STORE_UNAVAILABLE");
    expect(failure(() => file.compareAndSet("layout", "one", "two")).reason).toBe("STORE_UNAVAILABLE");
    expect(existsSync(path)).toBe(false);
    renameSync(`${path}.copy`, path);
    expect(file.read("layout").records[0]?.text).toBe("one");
  });

  test("is gone when its file is emptied or deleted and made again by a touch", () => {
    const file = open();
    write(file, "layout", "one");
    rmSync(path);
    writeFileSync(path, "");
    expect(failure(() => file.read()).reason).toBe("STORE_WENT_BACK");
    expect(failure(() => file.read()).reason).toBe("STORE_UNAVAILABLE");
  });

  test("is gone when another file takes its place", () => {
    const file = open();
    write(file, "layout", "one");
    const other = open({ path: join(folder, "other.db") });
    write(other, "layout", "of another");
    other.close();
    renameSync(join(folder, "other.db"), path);
    expect(failure(() => file.compareAndSet("layout", "one", "two")).reason).toBe("STORE_WENT_BACK");
    expect(file.read("layout").records[0]?.text).toBe("of another");
  });

  test("is gone when an older copy is written over it, into the same inode", () => {
    const file = open();
    write(file, "layout", "one");
    const { identity } = file.incarnation();
    copyFileSync(path, `${path}.copy`);
    write(file, "layout", "two");
    copyFileSync(`${path}.copy`, path);
    expect(failure(() => file.read()).reason).toBe("STORE_WENT_BACK");
    expect(file.incarnation().identity).not.toBe(identity);
    expect(file.read("layout").records[0]?.text).toBe("one");
  });

  test("answers no write with success whose file was replaced meanwhile", () => {
    const file = open();
    write(file, "layout", "one");
    copyFileSync(path, `${path}.copy`);
    const expected = file.read("layout").records[0]!.text;
    renameSync(`${path}.copy`, path);
    expect(failure(() => file.compareAndSet("layout", expected, "two")).reason).toBe("STORE_WENT_BACK");
    expect(file.read("layout").records[0]?.text).toBe("one");
  });

  test("is gone when the folder of its locks is deleted", () => {
    const file = open();
    write(file, "layout", "one");
    const { identity } = file.incarnation();
    rmSync(`${path}.locks`, { recursive: true });
    expect(failure(() => file.read()).reason).toBe("STORE_WENT_BACK");
    expect(file.incarnation().identity).not.toBe(identity);
  });

  test("learns from another process that it went back", () => {
    const [first, second] = [open(), open()];
    write(first, "layout", "one");
    second.read();
    copyFileSync(path, `${path}.copy`);
    write(first, "layout", "two");
    // The second has seen nothing of the loss itself.
    copyFileSync(`${path}.copy`, path);
    expect(failure(() => first.read()).reason).toBe("STORE_WENT_BACK");
    first.read();
    expect(failure(() => second.read()).reason).toBe("STORE_WENT_BACK");
    expect(second.incarnation()).toEqual(first.incarnation());
  });
});

describe("a lock", () => {
  test("has one owner, and is free when it is given back or its owner closes", () => {
    const [one, other] = [open(), open()];
    expect(one.tryLock("worker-1")).toBe(true);
    expect(one.tryLock("worker-1")).toBe(true);
    expect(other.tryLock("worker-1")).toBe(false);
    one.unlock("worker-1");
    expect(other.tryLock("worker-1")).toBe(true);
    other.close();
    expect(one.tryLock("worker-1")).toBe(true);
  });

  test("is of one namespace", () => {
    const [one, other] = [open({ namespace: "blue" }), open({ namespace: "green" })];
    expect(one.tryLock("worker-1")).toBe(true);
    expect(other.tryLock("worker-1")).toBe(true);
  });

  test("whose file was deleted ends its owner at the next write, so that two owners cannot both go on", () => {
    const [one, other] = [open(), open()];
    write(one, "worker-1", "one");
    expect(one.tryLock("worker-1")).toBe(true);
    rmSync(join(`${path}.locks`, "default.worker-1.lock"));
    expect(other.tryLock("worker-1")).toBe(true);
    expect(failure(() => one.compareAndSet("worker-1", "one", "two")).reason).toBe("STORE_WENT_BACK");
    expect(one.tryLock("worker-1")).toBe(false);
    expect(other.compareAndSet("worker-1", "one", "two").applied).toBe(true);
  });
});

test("a full disk is said to be one", () => {
  const database = new DatabaseSync(path);
  // A file that may not grow gives the same error as a full disk.
  database.exec("PRAGMA max_page_count = 2; CREATE TABLE t (x)");
  let cause: unknown;
  try {
    for (let row = 0; row < 100; row += 1) database.prepare("INSERT INTO t VALUES (?)").run("x".repeat(500));
  } catch (error) {
    cause = error;
  }
  database.close();
  expect(sqliteError(path, cause)).toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: expect.stringContaining("disk is full"),
  });
});
