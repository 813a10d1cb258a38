import mysql from "mysql2/promise";
import { Client } from "pg";
import type { startMariadb } from "./mariadb-server.ts";
import type { startMysql } from "./mysql-server.ts";
import { startPostgres } from "./postgres-server.ts";

/**
 * Starts a PostgreSQL, opens a session on it, and ends both when `use` has ended.
 *
 * @param timeZone - Of the session: one far from UTC must read the same times.
 */
export async function withPostgresSession(timeZone: string, use: (client: Client) => Promise<void>): Promise<void> {
  const server = await startPostgres();
  const client = new Client({ connectionString: server.url });
  try {
    await client.connect();
    await client.query(`SET TIME ZONE '${timeZone}'`);
    await use(client);
  } finally {
    await client.end();
    await server.stop();
  }
}

/** The same for a MariaDB or a MySQL. Numbers and times come as text. */
export async function withMysqlSession(
  start: typeof startMariadb | typeof startMysql,
  utcOffset: string,
  use: (link: mysql.Connection) => Promise<void>,
): Promise<void> {
  const server = await start();
  const link = await mysql.createConnection({
    uri: server.url,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    multipleStatements: true,
  });
  try {
    await link.query(`SET time_zone = '${utcOffset}'`);
    await use(link);
  } finally {
    await link.end();
    await server.stop();
  }
}
