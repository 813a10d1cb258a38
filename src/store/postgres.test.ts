import { afterAll, beforeAll } from "vitest";
import { describeRecordStoreContract } from "../../test/contract/record-store-contract.ts";
import { startPostgres } from "../../test/support/servers/postgres-server.ts";
import type { TestServer } from "../../test/support/servers/test-server.ts";
import { openPostgresStore } from "./postgres.ts";

let server: TestServer;
let fixtures = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

describeRecordStoreContract("PostgreSQL", async () => {
  fixtures += 1;
  const prefix = `f${fixtures}-`;
  return {
    open: (namespace = "default") =>
      openPostgresStore(server.url, { namespace: prefix + namespace, callTimeoutMs: 30_000 }),
    dispose: async () => {},
  };
});
