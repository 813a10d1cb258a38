import { afterAll, beforeAll, describe } from "vitest";
import { describeSqlLinkContract } from "../../../test/contract/sql-link-contract.ts";
import { startMariadb } from "../../../test/support/servers/mariadb-server.ts";
import { startMysql } from "../../../test/support/servers/mysql-server.ts";
import type { TestServer } from "../../../test/support/servers/test-server.ts";
import { openMysqlDatabase } from "./mysql-link.ts";

describe.each([
  ["MariaDB", startMariadb],
  ["MySQL", startMysql],
])("on a real %s", (name, start) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
  });

  describeSqlLinkContract(name, async () => ({
    kind: "mysql",
    open: () => openMysqlDatabase(server.url, { callTimeoutMs: 30_000 }),
    run: ({ client }, sql) => client.query(sql),
  }));
});
