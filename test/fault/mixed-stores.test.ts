import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { lockFile } from "./mixed-stores.ts";

test("a lock of a stopped server leaves the thread running that continues servers (it was stopped, too)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-fault-"));
  const path = join(folder, "locked.db");
  const holder = new DatabaseSync(path);
  onTestFinished(() => {
    holder.close();
    rmSync(folder, { recursive: true });
  });
  holder.exec("CREATE TABLE record (key TEXT)");
  holder.exec("BEGIN IMMEDIATE");
  let wasContinued = false;
  setTimeout(() => {
    wasContinued = true;
    holder.exec("COMMIT");
  }, 100);
  expect(await lockFile(path, 0)).toBe("locked");
  expect(wasContinued).toBe(true);
});
