import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import {
  endsAt,
  idsOf,
  numbersThatAreNoIds,
  sqlLayouts,
  sqlOf,
  timesOf,
  timeText,
  valuesOfId,
} from "./sql-functions.ts";

test.each(sqlLayouts)("the expressions for SQLite read IDs of $name, and find those of a time", async (layout) => {
  const expressions = new Map(
    [...(await sqlOf("sqlite", layout)).matchAll(/^(.*) -- snowlane_(\w+)\((?:id|at)\)$/gm)].map(
      ([, expression = "", name = ""]) => [name, expression],
    ),
  );
  const database = new DatabaseSync(":memory:");
  const value = (name: string, argument: string): string | null => {
    const select = database.prepare(`SELECT ${expressions.get(name)} AS value FROM (SELECT ${argument})`);
    select.setReadBigInts(true);
    const found = select.get()?.["value"] ?? null;
    return found === null ? null : String(found);
  };
  for (const id of idsOf(layout)) {
    const expected = valuesOfId(layout, id);
    const names = [...expressions.keys()].filter((name) => !name.endsWith("_id") || name in expected);
    expect(new Set(names)).toEqual(new Set(Object.keys(expected)));
    for (const [name, text] of Object.entries(expected)) expect(value(name, `${id} AS id`), name).toBe(text);
  }
  for (const ms of timesOf(layout)) {
    const found = {
      first: value("first_id", `'${timeText(ms)}' AS at`),
      last: value("last_id", `'${timeText(ms)}' AS at`),
    };
    expect(found, timeText(ms)).toEqual(endsAt(layout, ms));
  }
  const names = [...expressions.keys()].filter((name) => !/^(?:is_id|first_id|last_id)$/.test(name));
  for (const id of [...numbersThatAreNoIds(layout), null])
    for (const name of names) expect(value(name, `${id} AS id`), `${name}(${id})`).toBe(null);
  for (const id of numbersThatAreNoIds(layout)) expect(value("is_id", `${id} AS id`)).toBe("0");
  database.close();
});
