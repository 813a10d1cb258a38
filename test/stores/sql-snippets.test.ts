import type mysql from "mysql2/promise";
import { expect, test } from "vitest";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { withMysqlSession, withPostgresSession } from "../support/servers/sql-session.ts";
import { sqlSnippets } from "../text/sql-snippets.ts";

const names = ["twitter", "sonyflake", "range"];
const createTable = "CREATE TABLE orders (id BIGINT)";

function textsOf(rows: readonly object[]): readonly object[] {
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, String(value)])));
}

function insertOf(ids: readonly bigint[]): string {
  return `INSERT INTO orders VALUES ${ids.map((id) => `(${id})`).join(", ")}`;
}

test("each snippet of docs/text-forms.md for PostgreSQL gives the time and the fields", () =>
  withPostgresSession("Asia/Kathmandu", async (client) => {
    const snippets = sqlSnippets("postgresql");
    expect(snippets.map(({ name }) => name)).toEqual(names);
    for (const { sql, ids, rows } of snippets) {
      await client.query(createTable);
      await client.query(insertOf(ids));
      expect(textsOf((await client.query<object>(sql)).rows)).toEqual(rows);
      await client.query("DROP TABLE orders");
    }
  }));

test("each snippet of docs/text-forms.md for MySQL gives the time and the fields", () =>
  withMysqlSession(startMariadb, "+05:45", async (link) => {
    const snippets = sqlSnippets("mysql");
    expect(snippets.map(({ name }) => name)).toEqual(names);
    for (const { sql, ids, rows } of snippets) {
      await link.query(createTable);
      await link.query(insertOf(ids));
      const [found] = await link.query<mysql.RowDataPacket[]>(sql);
      expect(textsOf(found)).toEqual(rows);
      await link.query("DROP TABLE orders");
    }
  }));
