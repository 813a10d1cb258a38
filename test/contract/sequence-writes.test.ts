import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe } from "vitest";
import { openSqliteSequences } from "../../src/sequence/stores/sqlite.ts";
import { testSequenceWrites } from "./sequence-writes.ts";

describe("sequences in SQLite", () => {
  testSequenceWrites(async () => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-sequences-"));
    const path = join(folder, "s.db");
    let session: DatabaseSync | undefined;
    return {
      open: (namespace) => openSqliteSequences(`sqlite:${path}`, { namespace, callTimeoutMs: 60_000 }),
      run: async (statement) => {
        if (session === undefined) {
          session = new DatabaseSync(`${path}.sequences`, { timeout: 60_000, readBigInts: true });
          session.exec("PRAGMA synchronous = OFF");
        }
        return session.prepare(statement).all();
      },
      close: async () => {
        session?.close();
        rmSync(folder, { recursive: true, force: true });
      },
      // A transaction that writes has the file to itself.
      waitsForNone: false,
    };
  });
});
