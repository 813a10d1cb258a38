import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { openSqliteSequences } from "../../src/sequence/stores/sqlite.ts";
import { MemorySequences, memorySequenceStore } from "../support/worlds/memory-sequences.ts";
import { testSequenceStore } from "./sequence-store-contract.ts";

describe("sequences in SQLite", () => {
  testSequenceStore(async () => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-sequences-"));
    const options = { namespace: "default", callTimeoutMs: 20_000 };
    return {
      name: "sqlite",
      open: () => openSqliteSequences(`sqlite:${join(folder, "s.db")}`, options),
      close: async () => rmSync(folder, { recursive: true, force: true }),
    };
  });
});

describe("sequences in memory, as the simulation has them", () => {
  testSequenceStore(async () => {
    const database = new MemorySequences("system=1", () => Date.UTC(2027, 0, 1));
    return { name: "memory", open: async () => memorySequenceStore(() => database) };
  });
});
