import { afterAll, beforeAll } from "vitest";
import { describeSqlLinkContract } from "../../../test/contract/sql-link-contract.ts";
import { startPostgres } from "../../../test/support/servers/postgres-server.ts";
import type { TestServer } from "../../../test/support/servers/test-server.ts";
import { openPostgresDatabase } from "./postgres-link.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

describeSqlLinkContract("PostgreSQL", async () => ({
  kind: "postgres",
  open: () => openPostgresDatabase(server.url, { callTimeoutMs: 30_000 }),
  run: ({ client }, sql) => client.query(sql),
}));
