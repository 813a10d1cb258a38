import { MemoryDatabase, type MemoryDatabaseOptions } from "../support/worlds/memory-store.ts";
import { describeRecordStoreContract, type StoreFixture } from "./record-store-contract.ts";

function createFixture(options: MemoryDatabaseOptions): StoreFixture {
  const databases = new Map<string, MemoryDatabase>();
  return {
    open: async (namespace = "default") => {
      const database = databases.get(namespace) ?? new MemoryDatabase(options);
      databases.set(namespace, database);
      return database.open();
    },
    dispose: async () => {},
  };
}

describeRecordStoreContract("a memory store with a clock", async () =>
  createFixture({ clockMs: () => 1_700_000_000_000 }),
);
describeRecordStoreContract("a memory store with locks", async () =>
  createFixture({ liveness: "lock", timing: { ttlMs: 0 } }),
);
