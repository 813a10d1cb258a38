import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { SequenceFile } from "./sqlite-sequence-file.ts";

test("a file of the first version gets what later ones have, and keeps its place", () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  const path = join(folder, "sequences.db");
  const options = { path, busyTimeoutMs: 5_000, networkFileSystem: "refuse", namespace: "default" } as const;
  const first = new SequenceFile(options);
  const { database: row } = first.look([], "");
  first.stop({ reason: "a test", revision: row!.revision, emptiesStock: false, by: "server" });
  first.close();
  const database = new DatabaseSync(path);
  const added = ["store_id", "stripe_index", "stripe_count", "members", "epoch"];
  for (const column of [...added, "raised_revision", "raised_identity", "emptied_revision", "move_state"]) {
    database.exec(`ALTER TABLE snowlane_sequence_place DROP COLUMN ${column}`);
  }
  for (const column of ["epoch", "closed_before", "begun_count", "year_start", "late_max_ms"]) {
    database.exec(`ALTER TABLE snowlane_sequence DROP COLUMN ${column}`);
  }
  database.exec("ALTER TABLE snowlane_sequence_counter DROP COLUMN taken_count");
  for (const [namespace, name, ...periods] of [
    ["blue", "orders", "2024"],
    ["default", "bills", "2024", "2025", "2026"],
    ["default", "orders", "2026", "2027"],
  ]) {
    const fields = "1, 1, 9, 'strict', 0, 0, 'year', 'UTC', '', '', 0, 1, 1, 's'";
    database.exec(`INSERT INTO snowlane_sequence VALUES ('${namespace}', '${name}', ${fields})`);
    for (const periodKey of ["", ...periods]) {
      database.exec(`INSERT INTO snowlane_sequence_counter VALUES ('${namespace}', '${name}', '${periodKey}', 5, 'w')`);
    }
  }
  database.exec("DROP TABLE snowlane_sequence_witness; DROP TABLE snowlane_program");
  database.exec("PRAGMA user_version = 1");
  database.close();
  const file = new SequenceFile(options);
  onTestFinished(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });
  const member = { storeId: expect.stringMatching(/^[0-9a-f]{32}$/), index: 0, count: 1, members: "" };
  const look = file.look(
    ["bills", "orders"].map((name) => ({ name, periodKey: "" })),
    "",
  );
  expect(look.database).toMatchObject({ stopped: "a test", member });
  expect(look.sequences.get("bills")).toMatchObject({ begunCount: 3 });
  expect(look.sequences.get("orders")).toMatchObject({ begunCount: 2, closedBefore: "", epoch: 0 });
});

test("a namespace whose row another process made meanwhile keeps that row", () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  const path = join(folder, "sequences.db");
  const open = (namespace: string) =>
    new SequenceFile({ path, busyTimeoutMs: 5_000, networkFileSystem: "refuse", namespace } as const);
  const [first, second] = [open("first"), open("second")];
  onTestFinished(() => {
    for (const file of [first, second]) file.close();
    rmSync(folder, { recursive: true });
  });
  first.look([], "");
  const database = new DatabaseSync(path);
  database.exec(`CREATE TRIGGER meanwhile BEFORE INSERT ON snowlane_sequence_place BEGIN
    INSERT INTO snowlane_sequence_place (namespace, identity, stopped, revision, open_ms, raised_count, raised_until_ms,
      store_id) VALUES (new.namespace, new.identity, '', 1, 0, 0, 0, 'of the other process'); END`);
  database.close();
  expect(second.look([], "").database?.member.storeId).toBe("of the other process");
});

test("a file of a newer version is refused", () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "sequences.db");
  const open = () =>
    new SequenceFile({ path, busyTimeoutMs: 5_000, networkFileSystem: "refuse", namespace: "default" } as const);
  const file = open();
  file.look([], "");
  file.close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 5");
  database.close();
  expect(() => open().look([], "")).toThrow(
    expect.objectContaining({ reason: "INVALID_CONFIG", message: expect.stringContaining("(format 5, not 4)") }),
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
  const { database, identity } = file.look([], "");
  copyFileSync(path, `${path}.copy`);
  expect(file.stop({ reason: "a test", revision: database!.revision, emptiesStock: false, by: "server" })).toBe(true);
  copyFileSync(`${path}.copy`, path);
  expect(() => file.look([], "")).toThrow("an older copy was put in its place");
  const again = file.look([], "");
  expect(again.database).toEqual(database);
  expect(again.identity).not.toBe(identity);
});
