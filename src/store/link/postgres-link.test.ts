import { afterAll, beforeAll, expect, test } from "vitest";
import { describeSqlLinkContract } from "../../../test/contract/sql-link-contract.ts";
import { startPostgres } from "../../../test/support/servers/postgres-server.ts";
import type { TestServer } from "../../../test/support/servers/test-server.ts";
import { isRefusedStatement, openPostgresDatabase } from "./postgres-link.ts";

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

test.each([
  ["a server that is read only", "25006"],
  ["a privilege that is missing", "42501"],
  ["a full disk", "53100"],
  ["no memory", "53200"],
  ["a lock that was not had", "55P03"],
  ["a conflict with another transaction", "40001"],
  ["a deadlock", "40P01"],
])("%s refuses a statement, and leaves it open where the session ended with it", (_, code) => {
  expect(isRefusedStatement({ severity: "ERROR", code })).toBe(true);
  // A pooler also reports FATAL errors, and may do so after the server has committed.
  for (const severity of ["FATAL", "PANIC", undefined]) expect(isRefusedStatement({ severity, code })).toBe(false);
});

test.each([
  ["a statement that was cancelled", "57014"],
  ["a server that shuts down", "57P01"],
  ["a protocol that a pooler broke off", "08P01"],
  ["a completion that is unknown", "40003"],
  ["what no list names", "XX000"],
])("%s leaves a write open", (_, code) => {
  expect(isRefusedStatement({ severity: "ERROR", code })).toBe(false);
});
