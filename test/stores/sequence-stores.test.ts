import { afterAll, beforeAll, describe } from "vitest";
import { openSequenceStore } from "../../src/sequence/open-sequence-store.ts";
import { testSequenceStore } from "../contract/sequence-store-contract.ts";
import { testSequenceWrites } from "../contract/sequence-writes.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { startPgBouncer } from "../support/servers/pgbouncer-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { openSqlSession, runSql } from "../support/servers/run-sql.ts";
import type { TestServer } from "../support/servers/test-server.ts";

type Started = Pick<TestServer, "url" | "stop">;

const servers: readonly (readonly [kind: string, start: () => Promise<Started>])[] = [
  ["PostgreSQL", () => startPostgres()],
  ["PostgreSQL behind PgBouncer, in transaction mode", startPooled],
  ["PostgreSQL that is serializable", () => startPostgres(["-c", "default_transaction_isolation=serializable"])],
  ["MariaDB", () => startMariadb()],
  ["MariaDB that is serializable", () => startMariadb(["--transaction-isolation=SERIALIZABLE"])],
  ["MariaDB that reads what is committed", () => startMariadb(["--transaction-isolation=READ-COMMITTED"])],
  ["MySQL", () => startMysql()],
];

/** Of fewer connections than the stores of a test have. */
async function startPooled(): Promise<Started> {
  const server = await startPostgres();
  const pooler = await startPgBouncer(server, { poolSize: 5, clientsMax: 200 });
  return { url: pooler.url, stop: async () => void (await Promise.all([pooler.stop(), server.stop()])) };
}

describe.each(servers)("sequences in %s", (kind, start) => {
  let server: Started;
  let caseCount = 0;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
  });

  testSequenceStore(async () => {
    caseCount += 1;
    const namespace = `n${caseCount}`;
    return {
      name: "remote",
      open: () => openSequenceStore(server.url, { namespace, callTimeoutMs: 60_000 }),
      loseCounter: async ({ name, periodKey }) => {
        const where = `namespace = '${namespace}' AND name = '${name}' AND period_key = '${periodKey}'`;
        await runSql(server.url, `DELETE FROM snowlane_sequence_counter WHERE ${where}`);
      },
    };
  });

  // Isolation and poolers change no statement.
  if (!/ /.test(kind)) {
    testSequenceWrites(async () => {
      const session = await openSqlSession(server.url);
      return {
        open: (namespace) => openSequenceStore(server.url, { namespace, callTimeoutMs: 60_000 }),
        run: (statement) => session.run(statement),
        close: () => session.end(),
        // MySQL and MariaDB may wait for rows that they only scan.
        waitsForNone: kind === "PostgreSQL",
      };
    });
  }
});
