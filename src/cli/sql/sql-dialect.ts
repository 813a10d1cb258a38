import type { Layout } from "../../snowflake/layout.ts";

/** How a database writes the parts that the functions of a layout are made from. All numbers are 64-bit integers. */
export interface SqlDialect {
  /** Names the database in the first comment. */
  readonly title: string;
  /** The bits of `value` from `shift` on, under `mask`. */
  bits(value: string, shift: number, mask: bigint): string;
  /** The quotient of two numbers from 0 up, without its fraction. */
  divide(dividend: string, divisor: string): string;
  /** A time in UTC, of Unix microseconds. */
  timeOf(unixUs: string): string;
  /**
   * Unix microseconds of a time in UTC. A database that has infinite times takes the nearer end of the layout's life
   * for them.
   */
  unixUsOf(time: string, life: Pick<Layout, "epochMs" | "endMs">): string;
  /** Texts one after another. */
  concat(parts: readonly string[]): string;
  /** The character of a text at a place from 0 up. */
  characterAt(text: string, place: string): string;
  /** The statement that makes a function; absent where users of the database cannot define functions. */
  readonly createFunction?: (definition: SqlFunction) => string;
}

/** A function of one argument. */
export interface SqlFunction {
  readonly name: string;
  readonly about: string;
  /** `id`: an ID; `at`: a time. */
  readonly argument: "id" | "at";
  readonly returns: "number" | "time" | "truth" | "text";
  readonly expression: string;
}

/** The dialects by name. */
export const sqlDialectNames = ["postgresql", "mysql", "sqlite", "clickhouse"] as const;

/** One of {@link sqlDialectNames}. */
export type SqlDialectName = (typeof sqlDialectNames)[number];

const usPerDay = 86_400_000_000n;

/** Adds days and the rest separately: an interval is a double, and loses microseconds from the year 2255 on. */
function postgresqlTime(unixUs: string): string {
  const days = `((${unixUs}) / ${usPerDay}) * interval '1 day'`;
  const rest = `((${unixUs}) % ${usPerDay}) * interval '1 microsecond'`;
  return `((timestamp 'epoch' + ${days} + ${rest}) AT TIME ZONE 'UTC')`;
}

/** A time as PostgreSQL reads it, past the year 9999 as well. */
function isoOf(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/^\+0*/, "");
}

const shiftedBits: SqlDialect["bits"] = (value, shift, mask) => `((${value} >> ${shift}) & ${mask})`;
const substring: SqlDialect["characterAt"] = (text, place) => `substr(${text}, ${place} + 1, 1)`;
const bars: SqlDialect["concat"] = (parts) => parts.join(" || ");

/** All dialects. */
export const sqlDialects: Readonly<Record<SqlDialectName, SqlDialect>> = {
  postgresql: {
    title: "PostgreSQL",
    bits: shiftedBits,
    divide: (dividend, divisor) => `(${dividend}) / ${divisor}`,
    timeOf: postgresqlTime,
    unixUsOf: (time, { epochMs, endMs }) => {
      const [first, end] = [epochMs, endMs].map((ms) => `timestamptz '${isoOf(ms)}'`);
      return `(extract(epoch FROM least(greatest(${time}, ${first}), ${end})) * 1000000)::bigint`;
    },
    concat: bars,
    characterAt: (text, place) => `substr(${text}, (${place})::int + 1, 1)`,
    createFunction: ({ name, argument, returns, expression }) => {
      const types = { number: "bigint", time: "timestamptz", truth: "boolean", text: "text" };
      const type = argument === "id" ? "bigint" : "timestamptz";
      const head = `CREATE OR REPLACE FUNCTION ${name}(${argument} ${type}) RETURNS ${types[returns]}`;
      return `${head}\n  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE\n  AS $$ SELECT ${expression} $$;`;
    },
  },
  mysql: {
    title: "MySQL and MariaDB",
    // Shifts are unsigned there, and an unsigned difference below 0 is an error.
    bits: (value, shift, mask) => `CAST((${value} >> ${shift}) & ${mask} AS SIGNED)`,
    divide: (dividend, divisor) => `(${dividend}) DIV ${divisor}`,
    timeOf: (unixUs) => `TIMESTAMPADD(MICROSECOND, ${unixUs}, '1970-01-01')`,
    unixUsOf: (time) => `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${time})`,
    concat: (parts) => `CONCAT(${parts.join(", ")})`,
    characterAt: substring,
    createFunction: ({ name, argument, returns, expression }) => {
      const types = {
        number: "BIGINT",
        time: "DATETIME(6)",
        truth: "BOOLEAN",
        text: "VARCHAR(20) CHARACTER SET ascii",
      };
      const type = argument === "id" ? "BIGINT" : "DATETIME(6)";
      const head = `CREATE FUNCTION ${name}(${argument} ${type}) RETURNS ${types[returns]} DETERMINISTIC NO SQL`;
      return `DROP FUNCTION IF EXISTS ${name};\n${head}\n  RETURN ${expression};`;
    },
  },
  sqlite: {
    title: "SQLite, which has no functions of its users' own: put the expressions into your queries",
    bits: shiftedBits,
    divide: (dividend, divisor) => `(${dividend}) / ${divisor}`,
    timeOf: (unixUs) => {
      // Before 1970 the rest of a division is below 0.
      const us = `((${unixUs}) % 1000000 + 1000000) % 1000000`;
      return `strftime('%Y-%m-%d %H:%M:%S', (${unixUs} - ${us}) / 1000000, 'unixepoch') || printf('.%06d', ${us})`;
    },
    unixUsOf: (time) =>
      `(strftime('%s', ${time}) * 1000000 + CAST(substr(strftime('%f', ${time}), 4) AS INTEGER) * 1000)`,
    concat: bars,
    characterAt: substring,
  },
  clickhouse: {
    title: "ClickHouse",
    bits: (value, shift, mask) => `toInt64(bitAnd(bitShiftRight(toUInt64(${value}), ${shift}), ${mask}))`,
    divide: (dividend, divisor) => `intDiv(${dividend}, ${divisor})`,
    timeOf: (unixUs) => `fromUnixTimestamp64Micro(toInt64(${unixUs}), 'UTC')`,
    unixUsOf: (time) => `toUnixTimestamp64Micro(toDateTime64(${time}, 6, 'UTC'))`,
    concat: (parts) => `concat(${parts.join(", ")})`,
    characterAt: (text, place) => `substring(${text}, ${place} + 1, 1)`,
    createFunction: ({ name, argument, expression }) =>
      `CREATE OR REPLACE FUNCTION ${name} AS (${argument}) -> ${expression};`,
  },
};
