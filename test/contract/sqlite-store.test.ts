import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import { describeRecordStoreContract } from "./record-store-contract.ts";

describeRecordStoreContract("the embedded SQLite store", async () => {
  const folder = await mkdtemp(join(tmpdir(), "snowlane-"));
  return {
    open: (namespace = "default") =>
      openSqliteStore(`sqlite:${join(folder, "snowlane.db")}`, { namespace, callTimeoutMs: 20_000 }),
    dispose: () => rm(folder, { recursive: true }),
  };
});
