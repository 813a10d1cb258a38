import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeSqlLinkContract } from "../../../test/contract/sql-link-contract.ts";
import { startMariadb } from "../../../test/support/servers/mariadb-server.ts";
import { startMysql } from "../../../test/support/servers/mysql-server.ts";
import type { TestServer } from "../../../test/support/servers/test-server.ts";
import { isRefusedStatement, openMysqlDatabase, takesWrites } from "./mysql-link.ts";

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

test.each([1_036, 1_114, 1_142, 1_143, 1_205, 1_213, 1_290, 1_792, 1_836])("error %i refuses a statement", (errno) => {
  expect(isRefusedStatement({ errno })).toBe(true);
});

test.each([
  ["a storage engine that failed", 1_030],
  ["an error during a commit", 1_180],
  ["a query that was interrupted", 1_317],
  ["a binary log that could not be written", 1_598],
  ["a server that shuts down", 1_053],
  ["what no list names", 1_105],
])("%s leaves a write open, because a commit may have come before it", (_, errno) => {
  expect(isRefusedStatement({ errno })).toBe(false);
});

test.each([
  [0, true],
  ["OFF", true],
  [1, false],
  ["ON", false],
  ["NO_LOCK", false],
  ["NO_LOCK_NO_ADMIN", false],
  [undefined, false],
])(
  "read_only = %s says whether a server takes writes (MariaDB 12 says OFF, and was taken for a replica)",
  (value, expected) => {
    expect(takesWrites(value)).toBe(expected);
  },
);
