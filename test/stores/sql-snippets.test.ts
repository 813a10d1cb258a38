import mysql from "mysql2/promise";
import { Client } from "pg";
import { expect, test } from "vitest";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { sqlSnippets } from "../text/sql-snippets.ts";

const names = ["twitter", "sonyflake", "range"];
const createTable = "CREATE TABLE orders (id BIGINT)";

function textsOf(rows: readonly object[]): readonly object[] {
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, String(value)])));
}

function insertOf(ids: readonly bigint[]): string {
  return `INSERT INTO orders VALUES ${ids.map((id) => `(${id})`).join(", ")}`;
}

test("each snippet of docs/text-forms.md for PostgreSQL gives the time and the fields", async () => {
  const server = await startPostgres();
  const client = new Client({ connectionString: server.url });
  try {
    await client.connect();
    // A session far from UTC must read the same times.
    await client.query("SET TIME ZONE 'Asia/Kathmandu'");
    const snippets = sqlSnippets("postgresql");
    expect(snippets.map(({ name }) => name)).toEqual(names);
    for (const { sql, ids, rows } of snippets) {
      await client.query(createTable);
      await client.query(insertOf(ids));
      expect(textsOf((await client.query<object>(sql)).rows)).toEqual(rows);
      await client.query("DROP TABLE orders");
    }
  } finally {
    await client.end();
    await server.stop();
  }
});

test("each snippet of docs/text-forms.md for MySQL gives the time and the fields", async () => {
  const server = await startMariadb();
  const link = await mysql.createConnection({
    uri: server.url,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
  });
  try {
    await link.query("SET time_zone = '+05:45'");
    const snippets = sqlSnippets("mysql");
    expect(snippets.map(({ name }) => name)).toEqual(names);
    for (const { sql, ids, rows } of snippets) {
      await link.query(createTable);
      await link.query(insertOf(ids));
      const [found] = await link.query<mysql.RowDataPacket[]>(sql);
      expect(textsOf(found)).toEqual(rows);
      await link.query("DROP TABLE orders");
    }
  } finally {
    await link.end();
    await server.stop();
  }
});
