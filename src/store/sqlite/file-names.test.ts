import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isMountPoint, realPathOf } from "./file-names.ts";
import { RecordFile } from "./record-file.ts";

let folder: string;
let path: string;
let opened: RecordFile[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  mkdirSync(join(folder, "a"));
  mkdirSync(join(folder, "b"));
  path = join(folder, "a", "ids.db");
  opened = [];
});
afterEach(() => {
  for (const file of opened) file.close();
  rmSync(folder, { recursive: true });
});

function open(storePath: string): RecordFile {
  const options = { busyTimeoutMs: 5_000, networkFileSystem: "refuse" } as const;
  const file = new RecordFile({ path: storePath, namespace: "default", ...options });
  opened.push(file);
  return file;
}

test("a file with two hard links is refused (kill -9 of a process at one name undid writes that were answered at the other)", () => {
  const file = open(path);
  expect(file.compareAndSet("layout", undefined, "one").applied).toBe(true);
  const other = join(folder, "b", "ids.db");
  linkSync(path, other);
  expect(() => open(other).read()).toThrow(/b\/ids\.db has 2 hard links, so processes may open it by different names/);
  expect(existsSync(`${other}.locks`)).toBe(false);
  // The process that has it open continues, and a start even under the first name is refused until one link is left.
  expect(file.read("layout").records[0]?.text).toBe("one");
  expect(() => open(path).read()).toThrow(/has 2 hard links/);
  rmSync(other);
  expect(open(path).read("layout").records[0]?.text).toBe("one");
});

test("a socket is refused, as a device is (/dev/null got a journal and a folder of locks beside it)", async () => {
  const socket = join(folder, "a", "socket");
  const server = createServer().listen(socket);
  await once(server, "listening");
  expect(() => open(socket).read()).toThrow(/socket is not a file\. Choose another --store/);
  expect(existsSync(`${socket}.locks`)).toBe(false);
  server.close();
});

test("a symbolic link leads to one folder of locks (there were two, and two processes held one worker ID)", () => {
  const file = open(path);
  expect(file.tryLock("worker-1")).toBe(true);
  const link = join(folder, "b", "ids.db");
  symlinkSync("../a/ids.db", link);
  const linked = open(link);
  expect(linked.tryLock("worker-1")).toBe(false);
  expect(linked.incarnation()).toEqual(file.incarnation());
  expect(existsSync(`${link}.locks`)).toBe(false);
});

test("a symbolic link that leads to another file under a running process is a loss", () => {
  const link = join(folder, "current.db");
  symlinkSync(path, link);
  const file = open(link);
  file.compareAndSet("layout", undefined, "one");
  const { identity } = file.incarnation();
  const other = open(join(folder, "b", "ids.db"));
  other.compareAndSet("layout", undefined, "of another");
  symlinkSync(join(folder, "b", "ids.db"), `${link}.new`);
  renameSync(`${link}.new`, link);
  expect(() => file.read()).toThrow(/leads to another file now/);
  expect(file.read("layout").records[0]?.text).toBe("of another");
  expect(file.incarnation().identity).not.toBe(identity);
});

test("a path is resolved as far as it is there: over links to folders, and a link whose file a start has yet to make", () => {
  symlinkSync("a", join(folder, "linked"));
  expect(realPathOf(join(folder, "linked", "ids.db"))).toBe(path);
  expect(realPathOf(join(folder, "linked", "deep", "ids.db"))).toBe(join(folder, "a", "deep", "ids.db"));
  symlinkSync(join("..", "linked", "ids.db"), join(folder, "b", "ids.db"));
  expect(realPathOf(join(folder, "b", "ids.db"))).toBe(path);
  open(join(folder, "b", "ids.db")).read();
  expect(existsSync(`${path}.locks`)).toBe(true);
});

test("links that lead in a circle are refused, for an operator has to change them", () => {
  symlinkSync("other.db", join(folder, "one.db"));
  symlinkSync("one.db", join(folder, "other.db"));
  expect(() => open(join(folder, "one.db")).read()).toThrow(expect.objectContaining({ reason: "INVALID_CONFIG" }));
});

test("a mount point is found by its whole path, with the escapes of proc_pid_mountinfo(5)", () => {
  const mountInfo = [
    "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
    "41 22 254:0 /srv/ids.db /data/ids.db rw,relatime shared:1 - ext4 /dev/vda rw",
    "42 22 254:0 /srv/ids.db /data/my\\040ids\\134.db rw,relatime - ext4 /dev/vda rw",
    "",
  ].join("\n");
  expect(isMountPoint("/data/ids.db", mountInfo)).toBe(true);
  expect(isMountPoint("/data/my ids\\.db", mountInfo)).toBe(true);
  expect(isMountPoint("/data/ids", mountInfo)).toBe(false);
  expect(isMountPoint("/srv/ids.db", mountInfo)).toBe(false);
  expect(isMountPoint("", "")).toBe(false);
});
