import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sqlSnippets } from "./sql-snippets.ts";

test("each snippet of docs/text-forms.md for SQLite gives the time and the fields", () => {
  const snippets = sqlSnippets("sqlite");
  expect(snippets.map(({ name }) => name)).toEqual(["twitter", "sonyflake", "range"]);
  for (const { sql, ids, rows } of snippets) {
    const database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE orders (id BIGINT)");
    const insert = database.prepare("INSERT INTO orders VALUES (?)");
    for (const id of ids) insert.run(id);
    const select = database.prepare(sql);
    select.setReadBigInts(true);
    const found = select
      .all()
      .map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, String(value)])));
    expect(found).toEqual(rows);
    database.close();
  }
});
