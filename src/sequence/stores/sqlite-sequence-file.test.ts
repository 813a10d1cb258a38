import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { SequenceFile } from "./sqlite-sequence-file.ts";

test("a file of the first version gets what the second has, and keeps what it says of itself", () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  const path = join(folder, "sequences.db");
  const options = { path, busyTimeoutMs: 5_000, networkFileSystem: "refuse", namespace: "default" } as const;
  const first = new SequenceFile(options);
  const { database: row } = first.look([]);
  first.stop("a test", row!.revision);
  first.close();
  const database = new DatabaseSync(path);
  for (const column of ["store_id", "stripe_index", "stripe_count", "members"]) {
    database.exec(`ALTER TABLE snowlane_sequence_place DROP COLUMN ${column}`);
  }
  database.exec("PRAGMA user_version = 1");
  database.close();
  const file = new SequenceFile(options);
  onTestFinished(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });
  const member = { storeId: "", index: 0, count: 1, members: "" };
  expect(file.look([]).database).toMatchObject({ stopped: "a test", member });
});

test("a file of a newer version is refused", () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "sequences.db");
  const open = () =>
    new SequenceFile({ path, busyTimeoutMs: 5_000, networkFileSystem: "refuse", namespace: "default" } as const);
  const file = open();
  file.look([]);
  file.close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 3");
  database.close();
  expect(() => open().look([])).toThrow(
    expect.objectContaining({ reason: "INVALID_CONFIG", message: expect.stringContaining("(format 3, not 2)") }),
  );
});

test("a file that went back is opened again, and asked by statements of its own", () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  const path = join(folder, "sequences.db");
  const options = { path, busyTimeoutMs: 5_000, networkFileSystem: "refuse", namespace: "default" } as const;
  const file = new SequenceFile(options);
  onTestFinished(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });
  const { database: row, identity } = file.look([]);
  copyFileSync(path, `${path}.copy`);
  expect(file.stop("a test", row!.revision)).toBe(true);
  copyFileSync(`${path}.copy`, path);
  expect(() => file.look([])).toThrow("an older copy was put in its place");
  const again = file.look([]);
  expect(again.database).toEqual(row);
  expect(again.identity).not.toBe(identity);
});
