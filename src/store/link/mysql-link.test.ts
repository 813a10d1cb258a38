import { afterAll, beforeAll } from "vitest";
import { describeSqlLinkContract } from "../../../test/contract/sql-link-contract.ts";
import { startMariadb } from "../../../test/support/servers/mariadb-server.ts";
import type { TestServer } from "../../../test/support/servers/test-server.ts";
import { openMysqlDatabase } from "./mysql-link.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startMariadb();
});
afterAll(async () => {
  await server.stop();
});

describeSqlLinkContract("MariaDB", async () => ({
  kind: "mysql",
  open: () => openMysqlDatabase(server.url, { callTimeoutMs: 30_000 }),
  run: ({ client }, sql) => client.query(sql),
}));
