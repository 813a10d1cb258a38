/** How a database numbers its own rows. All numbers are 64-bit integers. */
import type { TimeUnit } from "./row-time.ts";

/** The databases that can number their own rows. */
export const backfillDialectNames = ["postgresql", "mysql", "mariadb", "sqlite"] as const;

/** One of {@link backfillDialectNames}. */
export type BackfillDialectName = (typeof backfillDialectNames)[number];

/** The texts from which the statements of a back-fill are put together, as SQL. Names are quoted. */
interface BackfillSql {
  /** The name of the table whose rows get IDs. */
  readonly table: string;
  /** The name of the column that identifies its rows. */
  readonly key: string;
  /** The name of the column that takes the IDs. */
  readonly id: string;
  /** Unix microseconds of a row's time. */
  readonly us: string;
  /** The zone of times without an offset: a text in quotes. */
  readonly zone: string;
  /** Yields a row if the database cannot do what was asked, such as reading a zone; absent = it always can. */
  readonly obstacle: string | undefined;
  /** Names the claim: a text in quotes, the same whenever the text is run. */
  readonly claim: string;
  /** Why the past was claimed: a text in quotes. */
  readonly reason: string;
  /** Converts the time of a row in microseconds to its tick, counted from the first tick of the claim. */
  readonly tickOf: (us: string) => string;
  /** The slots of one tick. */
  readonly capacity: string;
  /** The first moment of the claim, Unix microseconds, inclusive. */
  readonly fromUs: string;
  /** Its end, Unix microseconds, exclusive. */
  readonly untilUs: string;
  /** The slots of the claim. */
  readonly slotCount: string;
  /** The most ticks by which an ID may be later than its row. */
  readonly lagMaxTicks: string;
  /** Converts a slot to its ID. */
  readonly idOf: (slot: string) => string;
}

/** How a database writes a back-fill. */
export interface BackfillDialect {
  readonly title: string;
  readonly quote: (name: string) => string;
  readonly divide: (dividend: string, divisor: string) => string;
  /** Keeps the planner from looking rows up by the index of a column; absent where the planner never does. */
  readonly hidden?: (column: string) => string;
  /** Unix microseconds of a time in `unit`, or in the database's own form; a time without an offset is in `zone`. */
  readonly unixUs: (column: string, unit: TimeUnit, zone: string) => string;
  /** See {@link BackfillSql.obstacle}; undefined where every zone can be read. */
  readonly zoneObstacle?: (zone: string) => string | undefined;
  readonly statements: (sql: BackfillSql, dialect: BackfillDialect) => string;
}

const doubled = (quote: string) => (name: string) => `${quote}${name.replaceAll(quote, quote + quote)}${quote}`;
/** A text in quotes. */
export const sqlText = (text: string): string => `'${text.replaceAll("'", "''").replaceAll("\\", "/")}'`;

function unixUsOfNumber(column: string, unit: Exclude<TimeUnit, "iso">, divide: BackfillDialect["divide"]): string {
  const factors = {
    s: `(${column}) * 1000000`,
    ms: `(${column}) * 1000`,
    us: `(${column})`,
    ns: divide(`(${column})`, "1000"),
  };
  return factors[unit];
}

const slash: BackfillDialect["divide"] = (dividend, divisor) => `(${dividend}) / ${divisor}`;
const div: BackfillDialect["divide"] = (dividend, divisor) => `(${dividend}) DIV ${divisor}`;

/** The slots of the rows that have no ID yet: the same rule as in src/snowflake/past-numbers.ts, in closed form. */
function slotsOf(sql: BackfillSql, number: (order: string) => string): string {
  return `    SELECT k, tick, n + max(tick * ${sql.capacity} - n) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) AS slot
    FROM (
${numberedRows(sql, number)}
    ) AS numbered_`;
}

/** The rows that have no ID yet, with their ticks, and numbered from 0 in the order of the rule. */
function numberedRows(
  { table, key, id, us, tickOf, fromUs, untilUs }: BackfillSql,
  number: (order: string) => string,
): string {
  return `      SELECT k, tick, ${number("ORDER BY tick, k")} - 1 AS n
      FROM (
        SELECT ${key} AS k, ${tickOf("us_")} AS tick
        FROM (SELECT ${key}, ${id}, ${us} AS us_ FROM ${table}) AS timed_
        WHERE ${id} IS NULL AND ${key} IS NOT NULL AND us_ >= ${fromUs} AND us_ < ${untilUs}
      ) AS row_`;
}

/** How many rows make a block: see {@link slotsByBlocks}. */
const blockRows = 256;

/**
 * The same as {@link slotsOf} for MariaDB, which reads all rows before a row to find the greatest value. So this takes
 * the greatest within each block, then the greatest of all blocks so far at the last row of each, and carries that to
 * the next block.
 */
function slotsByBlocks(sql: BackfillSql, number: (order: string) => string): string {
  const last = blockRows - 1;
  return `    SELECT k, tick, n + greatest(inside_, first_value(ends_) OVER (PARTITION BY (n + 1) DIV ${blockRows} ORDER BY n)) AS slot
    FROM (
    SELECT k, tick, n, inside_, max(inside_) OVER (PARTITION BY CASE n % ${blockRows} WHEN ${last} THEN -1 ELSE n END ORDER BY n) AS ends_
    FROM (
    SELECT k, tick, n, max(tick * ${sql.capacity} - n) OVER (PARTITION BY n DIV ${blockRows} ORDER BY n) AS inside_
    FROM (
${numberedRows(sql, number)}
    ) AS numbered_
    ) AS block_
    ) AS blocks_`;
}

/** One row for the claim, and a second one, which the primary key refuses, where the rows cannot be numbered. */
function claimRow({ table, key, claim, reason, obstacle }: BackfillSql): string {
  const twice = `EXISTS (SELECT 1 FROM ${table} WHERE ${key} IS NOT NULL GROUP BY ${key} HAVING count(*) > 1)`;
  const broken = obstacle === undefined ? twice : `${twice} OR ${obstacle}`;
  return `-- This fails, and nothing is changed, if it was run before${obstacle === undefined ? "" : ", if the time zone is unknown to the database,"} or if the key is not unique.
INSERT INTO snowlane_backfill (claim, reason, numbered)
  SELECT ${claim}, ${reason}, 0 UNION ALL SELECT ${claim}, ${reason}, 0 FROM (SELECT 1 AS one) AS once_ WHERE ${broken};`;
}

function conditions(
  { claim, id, slotCount, lagMaxTicks, capacity }: BackfillSql,
  { divide, hidden = (column) => column }: BackfillDialect,
): string {
  return `${hidden(`t.${id}`)} IS NULL AND slot_.slot >= 0 AND slot_.slot < ${slotCount} AND ${divide("slot_.slot", capacity)} - slot_.tick <= ${lagMaxTicks}
    AND EXISTS (SELECT 1 FROM snowlane_backfill WHERE claim = ${claim} AND numbered = 0)`;
}

function leftOver({ table, id, us, fromUs, untilUs }: BackfillSql): string {
  return `-- Rows that got no ID: without a time, with too many others at nearly one time, or written meanwhile.
SELECT count(*) AS rows_without_id, count(*) - count(us_) AS of_these_without_a_time
  FROM (SELECT ${id}, ${us} AS us_ FROM ${table}) AS timed_
  WHERE ${id} IS NULL AND (us_ IS NULL OR (us_ >= ${fromUs} AND us_ < ${untilUs}));`;
}

const done = ({ claim }: BackfillSql): string => `UPDATE snowlane_backfill SET numbered = 1 WHERE claim = ${claim};`;

function updateFrom(sql: BackfillSql, dialect: BackfillDialect): string {
  return `UPDATE ${sql.table} AS t SET ${sql.id} = ${sql.idOf("slot_.slot")}
  FROM (
${slotsOf(sql, (order) => `row_number() OVER (${order})`)}
  ) AS slot_
  WHERE slot_.k = t.${sql.key} AND ${conditions(sql, dialect)};`;
}

function mysqlStatements(sql: BackfillSql, dialect: BackfillDialect, slots: typeof slotsOf): string {
  const plainTable = sql.table.replaceAll("`", "").split(".").at(-1)!;
  const plainId = sql.id.replaceAll("`", "");
  return `SET time_zone = '+00:00';
CREATE TABLE IF NOT EXISTS snowlane_backfill (claim VARCHAR(150) CHARACTER SET ascii NOT NULL PRIMARY KEY, reason VARCHAR(60) NOT NULL, numbered INT NOT NULL) ENGINE = InnoDB;
-- A unique index on the IDs, unless there is one.
SET @snowlane = IF((SELECT count(*) FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ${sqlText(plainTable)} AND column_name = ${sqlText(plainId)} AND non_unique = 0) > 0,
  'DO 0', ${sqlText(`ALTER TABLE ${sql.table} ADD UNIQUE INDEX snowlane_id (${sql.id})`)});
PREPARE snowlane FROM @snowlane;
EXECUTE snowlane;
DEALLOCATE PREPARE snowlane;
-- Otherwise the gaps between the rows are locked, too, and no writer inserts a row before the end.
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
START TRANSACTION;
${claimRow(sql)}
UPDATE ${sql.table} AS t JOIN (
${slots(sql, (order) => `CAST(row_number() OVER (${order}) AS SIGNED)`)}
  ) AS slot_ ON slot_.k = t.${sql.key}
  SET t.${sql.id} = ${sql.idOf("slot_.slot")}
  WHERE ${conditions(sql, dialect)};
${done(sql)}
COMMIT;
${leftOver(sql)}`;
}

const mysql: Omit<BackfillDialect, "title" | "statements"> = {
  quote: doubled("`"),
  divide: div,
  unixUs: (column, unit, zone) => {
    if (unit !== "iso") return unixUsOfNumber(column, unit, div);
    const utc = zone === "UTC" ? column : `CONVERT_TZ(${column}, ${sqlText(zone)}, '+00:00')`;
    return `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${utc})`;
  },
  zoneObstacle: (zone) => (zone === "UTC" ? undefined : `CONVERT_TZ('2020-01-01', ${sqlText(zone)}, '+00:00') IS NULL`),
};

/** All dialects. */
export const backfillDialects: Readonly<Record<BackfillDialectName, BackfillDialect>> = {
  postgresql: {
    title: "PostgreSQL",
    quote: doubled('"'),
    divide: slash,
    unixUs: (column, unit) => {
      if (unit !== "iso") return unixUsOfNumber(column, unit, slash);
      // A time without an offset is read in the zone of the session.
      const time = `(${column})::timestamptz`;
      return `CASE WHEN isfinite(${time}) THEN round(extract(epoch FROM ${time}) * 1000000)::bigint END`;
    },
    zoneObstacle: (zone) => `current_setting('TimeZone') <> ${sqlText(zone)}`,
    statements: (sql, dialect) => `SET TIME ZONE ${sql.zone};
CREATE TABLE IF NOT EXISTS snowlane_backfill (claim text PRIMARY KEY, reason text NOT NULL, numbered int NOT NULL);
-- Leave this out if there is a unique index on the IDs already.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS ${indexName(sql)} ON ${sql.table} (${sql.id});
BEGIN;
-- Where the planner takes nearly all rows for numbered, it would join each row with each other one.
SET LOCAL enable_nestloop = off;
${claimRow(sql)}
${updateFrom(sql, dialect)}
${done(sql)}
COMMIT;
${leftOver(sql)}`,
  },
  mysql: { title: "MySQL 8", ...mysql, statements: (sql, dialect) => mysqlStatements(sql, dialect, slotsOf) },
  mariadb: { title: "MariaDB", ...mysql, statements: (sql, dialect) => mysqlStatements(sql, dialect, slotsByBlocks) },
  sqlite: {
    title: "SQLite",
    quote: doubled('"'),
    divide: slash,
    // With the index, it would go through all slots for each row that has no ID.
    hidden: (column) => `+${column}`,
    unixUs: (column, unit) => {
      if (unit !== "iso") return unixUsOfNumber(column, unit, slash);
      return `(strftime('%s', ${column}) * 1000000 + CAST(substr(strftime('%f', ${column}), 4) AS INTEGER) * 1000)`;
    },
    statements: (
      sql,
      dialect,
    ) => `CREATE TABLE IF NOT EXISTS snowlane_backfill (claim TEXT PRIMARY KEY, reason TEXT NOT NULL, numbered INTEGER NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS ${indexName(sql)} ON ${sql.table} (${sql.id});
BEGIN IMMEDIATE;
${claimRow(sql)}
${updateFrom(sql, dialect)}
${done(sql)}
COMMIT;
${leftOver(sql)}`,
  },
};

function indexName({ table, id }: BackfillSql): string {
  return `snowlane_${`${table}_${id}`.replaceAll(/[^A-Za-z0-9]+/g, "_").replaceAll(/^_|_$/g, "")}`.slice(0, 60);
}
