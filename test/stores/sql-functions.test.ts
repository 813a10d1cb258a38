import type mysql from "mysql2/promise";
import { expect, test } from "vitest";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startMysql } from "../support/servers/mysql-server.ts";
import { withMysqlSession, withPostgresSession } from "../support/servers/sql-session.ts";
import {
  endsAt,
  idsOf,
  numbersThatAreNoIds,
  sqlLayouts,
  sqlOf,
  timesOf,
  timeText,
  valuesOfId,
} from "../text/sql-functions.ts";

/** Runs a query in the database; returns its one row, each value as text or null. */
type Ask = (sql: string) => Promise<Readonly<Record<string, string | null>>>;

interface Database {
  /** Makes the functions. */
  readonly run: (sql: string) => Promise<unknown>;
  readonly ask: Ask;
  /** Writes a time of the functions as text. */
  readonly timeOf: (expression: string) => string;
}

/** Tries every layout. */
async function tryLayouts(dialect: string, { run, ask, timeOf }: Database): Promise<void> {
  for (const layout of sqlLayouts) {
    await run(await sqlOf(dialect, layout));
    for (const id of idsOf(layout)) {
      const expected = valuesOfId(layout, id);
      const columns = Object.keys(expected).map((name) => {
        const call = `snowlane_${name}(${id})`;
        if (name === "is_id") return `CASE WHEN ${call} THEN 1 ELSE 0 END AS ${name}`;
        return `${name === "time" ? timeOf(call) : call} AS ${name}`;
      });
      expect(await ask(`SELECT ${columns.join(", ")}`), `${layout.name} ${id}`).toEqual(expected);
    }
    for (const ms of timesOf(layout)) {
      const at = `'${timeText(ms)}${dialect === "postgresql" ? "Z" : ""}'`;
      const found = await ask(`SELECT snowlane_first_id(${at}) AS first, snowlane_last_id(${at}) AS last`);
      expect(found, `${layout.name} ${timeText(ms)}`).toEqual(endsAt(layout, ms));
    }
    const names = Object.keys(valuesOfId(layout, idsOf(layout)[0]!)).filter((name) => name !== "is_id");
    for (const id of [...numbersThatAreNoIds(layout), null]) {
      const calls = names.map((name) => `snowlane_${name}(${id}) AS ${name}`);
      const parts = await ask(`SELECT ${calls.join(", ")}`);
      expect(new Set(Object.values(parts)), `${layout.name} ${id}`).toEqual(new Set([null]));
    }
    for (const id of numbersThatAreNoIds(layout))
      expect(await ask(`SELECT CASE WHEN snowlane_is_id(${id}) THEN 1 ELSE 0 END AS is_id`)).toEqual({ is_id: "0" });
  }
}

function textsOf(row: object | undefined): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    Object.entries(row ?? {}).map(([name, value]) => [name, value === null ? null : String(value)]),
  );
}

test("the functions for PostgreSQL read IDs of every layout, and find those of a time", () =>
  withPostgresSession("America/New_York", (client) =>
    tryLayouts("postgresql", {
      run: (sql) => client.query(sql),
      ask: async (sql) => textsOf((await client.query<object>(sql)).rows[0]),
      timeOf: (expression) => `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`,
    }),
  ));

test.each([
  ["MySQL", startMysql],
  ["MariaDB", startMariadb],
] as const)("the functions for %s read IDs of every layout, and find those of a time", (_, start) =>
  withMysqlSession(start, "+05:45", (link) =>
    tryLayouts("mysql", {
      run: (sql) => link.query(sql),
      ask: async (sql) => textsOf((await link.query<mysql.RowDataPacket[]>(sql))[0][0]),
      timeOf: (expression) => `DATE_FORMAT(${expression}, '%Y-%m-%d %H:%i:%s.%f')`,
    }),
  ),
);

test("FIELD F8: an open end of an interval is the end of the layout's life, as PostgreSQL's infinity", () =>
  withPostgresSession("America/New_York", async (client) => {
    for (const layout of sqlLayouts) {
      await client.query(await sqlOf("postgresql", layout));
      const { rows } = await client.query<object>(
        `SELECT snowlane_first_id('-infinity') AS first, snowlane_last_id('infinity') AS last,
          snowlane_first_id('infinity') AS none, snowlane_last_id('-infinity') AS nothing`,
      );
      const { first } = endsAt(layout, layout.epochMs);
      const { last } = endsAt(layout, layout.endMs);
      expect(textsOf(rows[0]), layout.name).toEqual({ first, last, none: null, nothing: null });
    }
  }));
