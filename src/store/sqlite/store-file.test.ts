import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StoreFile } from "./store-file.ts";

/** A file that holds no worker records: one counter. */
const format = {
  applicationId: 0x54455354,
  version: 3,
  tablesSql: "CREATE TABLE counter (used INTEGER NOT NULL) STRICT; INSERT INTO counter VALUES (0);",
};

let folder: string;
let path: string;
let opened: StoreFile[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  path = join(folder, "counter.db");
  opened = [];
});
afterEach(() => {
  for (const file of opened) file.close();
  rmSync(folder, { recursive: true });
});

function open(overrides: Partial<typeof format> = {}): StoreFile {
  const options = { path, busyTimeoutMs: 5_000, networkFileSystem: "refuse" } as const;
  const file = new StoreFile(options, { ...format, ...overrides });
  opened.push(file);
  return file;
}

/** Takes ten from the counter. @returns How many were used after that. */
function take(file: StoreFile): unknown {
  return file.use((open) => {
    open.write((database) => database.prepare("UPDATE counter SET used = used + 10").run().changes === 1);
    return open.read((database) => database.prepare("SELECT used FROM counter").get()?.["used"]);
  });
}

test("another kind of data than worker records has the same file, for several users", () => {
  const [one, other] = [open(), open()];
  expect([take(one), take(other), take(one)]).toEqual([10, 20, 30]);
  expect(one.use(({ life }) => life)).toEqual(other.use(({ life }) => life));
});

test("work that writes nothing leaves the revision as it is, and work that throws leaves no trace", () => {
  const file = open();
  take(file);
  copyFileSync(path, `${path}.copy`);
  expect(file.use((open) => open.write(() => false))).toBe(false);
  const fail = (): unknown =>
    file.use((open) =>
      open.write((database) => {
        database.exec("UPDATE counter SET used = 99");
        throw new Error("it was interrupted");
      }),
    );
  expect(fail).toThrow("it was interrupted");
  // The copy is as new as the file: nothing was lost.
  copyFileSync(`${path}.copy`, path);
  expect(take(file)).toBe(20);
});

test("an older copy shows, while the file is open and at the next start", () => {
  const file = open();
  take(file);
  const { identity } = file.use(({ life }) => life);
  copyFileSync(path, `${path}.copy`);
  take(file);
  copyFileSync(`${path}.copy`, path);
  expect(() => take(file)).toThrow("an older copy was put in its place (revision 1 after 2)");
  const next = open().use(({ life }) => life);
  expect(next.identity).not.toBe(identity);
  expect(next.emptyMeans).toBe("lost");
});

test("a file of another kind, or of another version, is refused", () => {
  take(open());
  expect(() => take(open({ applicationId: 1 }))).toThrow("another program");
  expect(() => take(open({ version: 4 }))).toThrow("format 3, not 4");
});

test("a file of one byte is refused, and left as it is (it was taken for an empty one)", () => {
  writeFileSync(path, "x");
  expect(() => take(open())).toThrow("is not a SQLite database");
  expect(readFileSync(path, "utf8")).toBe("x");
  // An empty file does not belong to another program.
  writeFileSync(path, "");
  const file = open();
  expect(take(file)).toBe(10);
  file.close();
  truncateSync(path, 1);
  expect(() => take(file)).toThrow("the file vanished");
});
