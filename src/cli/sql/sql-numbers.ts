import { choice } from "../../config/setting-kinds.ts";
import type { Settings } from "../../config/setting.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";

const head = `-- Gapless numbers: each is taken in the transaction of the document that it is for, so a rollback gives it back.
-- Writers of one series wait for each other until COMMIT: take the number last.`;

/**
 * The table, and the statement of each database that takes a number. docs/adr/0203 says why the table is the caller's.
 */
const texts = {
  postgresql: `${head}
CREATE TABLE IF NOT EXISTS snowlane_number (
  series text NOT NULL, period text NOT NULL, last_number bigint NOT NULL, PRIMARY KEY (series, period));

CREATE OR REPLACE FUNCTION snowlane_next_number(series text, period text) RETURNS bigint LANGUAGE sql AS $$
  INSERT INTO snowlane_number AS n VALUES ($1, $2, 1)
    ON CONFLICT ON CONSTRAINT snowlane_number_pkey DO UPDATE SET last_number = n.last_number + 1
    RETURNING n.last_number $$;

-- BEGIN; INSERT INTO invoice (number, ...) VALUES (snowlane_next_number('invoice', '2026'), ...); COMMIT;
`,
  mysql: `${head}
CREATE TABLE IF NOT EXISTS snowlane_number (
  series VARCHAR(63) NOT NULL, period VARCHAR(10) NOT NULL, last_number BIGINT NOT NULL, PRIMARY KEY (series, period))
  ENGINE = InnoDB;

-- MySQL refuses such a function beside a binary log, so run these two statements in your transaction:
-- START TRANSACTION;
INSERT INTO snowlane_number (series, period, last_number) VALUES ('invoice', '2026', LAST_INSERT_ID(1))
  ON DUPLICATE KEY UPDATE last_number = LAST_INSERT_ID(last_number + 1);
SELECT LAST_INSERT_ID();
-- INSERT INTO invoice (number, ...) VALUES (that number, ...); COMMIT;
`,
  sqlite: `${head}
CREATE TABLE IF NOT EXISTS snowlane_number (
  series TEXT NOT NULL, period TEXT NOT NULL, last_number INTEGER NOT NULL, PRIMARY KEY (series, period)) STRICT;

-- SQLite has no functions, so run this statement in your transaction, which begins with BEGIN IMMEDIATE:
INSERT INTO snowlane_number (series, period, last_number) VALUES ('invoice', '2026', 1)
  ON CONFLICT DO UPDATE SET last_number = last_number + 1 RETURNING last_number;
-- INSERT INTO invoice (number, ...) VALUES (that number, ...); COMMIT;
`,
} as const;

const dialects = ["postgresql", "mysql", "sqlite"] as const satisfies readonly (keyof typeof texts)[];
const options = {
  dialect: choice({ name: "dialect", words: dialects, doc: "The database; mysql is for MariaDB as well. Required." }),
};

/** `snowlane sql numbers`. */
export const sqlNumbers: Command<Settings, typeof options> = {
  name: "sql numbers",
  summary: "Prints a table and a statement for gapless numbers, in your own transaction; docs/sequences.md says when",
  settings: {},
  options,
  examples: ["snowlane sql numbers --dialect postgresql | psql shop"],
  check: (_, { dialect }) =>
    dialect === undefined ? [{ place: "--dialect", hint: `one of ${dialects.join(", ")}` }] : [],
  run: async ({ options: { dialect = "postgresql" }, stdout }) => {
    stdout.write(texts[dialect]);
    return exitCodes.done;
  },
};
