import { afterAll, beforeAll, describe } from "vitest";
import { describeRecordStoreContract } from "../../test/contract/record-store-contract.ts";
import { startMariadb } from "../../test/support/servers/mariadb-server.ts";
import { startMysql } from "../../test/support/servers/mysql-server.ts";
import type { TestServer } from "../../test/support/servers/test-server.ts";
import { openMysqlStore } from "./mysql.ts";

describe.each([
  ["MariaDB", startMariadb],
  ["MySQL", startMysql],
])("on a real %s", (name, start) => {
  let server: TestServer;
  let fixtures = 0;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
  });

  describeRecordStoreContract(name, async () => {
    fixtures += 1;
    const prefix = `f${fixtures}-`;
    return {
      open: (namespace = "default") =>
        openMysqlStore(server.url, { namespace: prefix + namespace, callTimeoutMs: 30_000 }),
      dispose: async () => {},
    };
  });
});
