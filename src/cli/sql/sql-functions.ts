import type { FieldPlace, Layout } from "../../snowflake/layout.ts";
import { base32Alphabet, base32Length } from "../../text/base32.ts";
import { base58Alphabet, base58Length } from "../../text/base58.ts";
import { base62Alphabet, base62Length } from "../../text/base62.ts";
import type { SqlDialect, SqlFunction } from "./sql-dialect.ts";

/** Gives the functions of a layout, in the order in which they are printed; each name begins with `prefix`. */
export function sqlFunctions(layout: Layout, dialect: SqlDialect, prefix: string): readonly SqlFunction[] {
  const { datacenter, worker, sequence, timestamp } = layout;
  const named = ({ name, ...rest }: SqlFunction): SqlFunction => ({ name: `${prefix}_${name}`, ...rest });
  const isId = `id >= 0 AND id <= ${2n ** BigInt(layout.bits) - 1n} AND ${bitsOf(dialect, timestamp)} <= ${timestamp.max}`;
  // A part of a number that is not an ID is NULL: -1 has neither a time nor a text.
  const onlyIds = (expression: string): string => `CASE WHEN ${isId} THEN ${expression} END`;
  const field = (name: string, about: string, place: FieldPlace): readonly SqlFunction[] =>
    place.bits === 0
      ? []
      : [{ name, about, argument: "id", returns: "number", expression: onlyIds(bitsOf(dialect, place)) }];
  const text = (name: string, alphabet: string, length: number): SqlFunction => ({
    name,
    about: `The ID in the text form ${name}.`,
    argument: "id",
    returns: "text",
    expression: onlyIds(digitsOf(dialect, alphabet, length)),
  });
  const all: readonly SqlFunction[] = [
    {
      name: "is_id",
      about: "Whether a number can be an ID of the layout.",
      argument: "id",
      returns: "truth",
      expression: isId,
    },
    {
      name: "time",
      about: "When the ID was made, in UTC.",
      argument: "id",
      returns: "time",
      expression: onlyIds(dialect.timeOf(unixUsOf(layout, dialect))),
    },
    ...field("datacenter_id", "The datacenter that made the ID.", datacenter),
    ...field("worker_id", "The worker that made the ID.", worker),
    ...field("sequence", "The ID's number within its tick.", sequence),
    ...rangeEnds(layout, dialect),
    text("base32", base32Alphabet, base32Length),
    text("base58", base58Alphabet, base58Length),
    text("base62", base62Alphabet, base62Length),
  ];
  return all.map(named);
}

function bitsOf(dialect: SqlDialect, { bits, shift }: FieldPlace): string {
  return dialect.bits("id", shift, 2n ** BigInt(bits) - 1n);
}

/** Microseconds in a tick, as a fraction in lowest terms: a tick of 15,625 ns has 125 / 8. */
function usPerTick({ tickNs }: Layout): { readonly numerator: number; readonly denominator: number } {
  const divisor = greatestDivisor(tickNs, 1_000);
  return { numerator: tickNs / divisor, denominator: 1_000 / divisor };
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** Unix microseconds of an ID, rounded down. */
function unixUsOf(layout: Layout, dialect: SqlDialect): string {
  const { numerator, denominator } = usPerTick(layout);
  const ticks = bitsOf(dialect, layout.timestamp);
  const us = numerator === 1 ? ticks : `${ticks} * ${numerator}`;
  return `${denominator === 1 ? us : dialect.divide(us, String(denominator))} + ${layout.epochMs * 1_000}`;
}

/** The lowest and the highest ID of an interval, as `snowlane range` gives them; NULL where there is none. */
function rangeEnds(layout: Layout, dialect: SqlDialect): readonly SqlFunction[] {
  const { numerator, denominator } = usPerTick(layout);
  const { max, shift } = layout.timestamp;
  const at = dialect.unixUsOf("at", layout);
  const [epochUs, endUs] = [layout.epochMs * 1_000, layout.endMs * 1_000];
  const us = `(${at} - ${epochUs})${denominator === 1 ? "" : ` * ${denominator}`}`;
  const begun = numerator === 1 ? us : dialect.divide(`${us} + ${numerator - 1}`, String(numerator));
  const unit = 2n ** BigInt(shift);
  const others = 2n ** BigInt(layout.bits) - 1n - (2n ** BigInt(layout.timestamp.bits) - 1n) * unit;
  const outside = BigInt(max) * unit + others;
  return [
    {
      name: "first_id",
      about: "The lowest ID of an interval that begins at a time.",
      argument: "at",
      returns: "number",
      expression: `CASE WHEN ${at} <= ${epochUs} THEN 0 WHEN ${at} >= ${endUs} THEN NULL WHEN ${begun} > ${max} THEN NULL ELSE (${begun}) * ${unit} END`,
    },
    {
      name: "last_id",
      about: "The highest ID of an interval that ends before a time.",
      argument: "at",
      returns: "number",
      expression: `CASE WHEN ${at} <= ${epochUs} THEN NULL WHEN ${at} >= ${endUs} THEN ${outside} WHEN ${begun} > ${max} THEN ${outside} ELSE ((${begun}) - 1) * ${unit} + ${others} END`,
    },
  ];
}

/** A number in digits of a fixed width, the highest first. */
function digitsOf(dialect: SqlDialect, alphabet: string, length: number): string {
  const places = Array.from({ length }, (_, place) => BigInt(alphabet.length) ** BigInt(length - 1 - place));
  const digits = places.map((unit) => {
    const quotient = unit === 1n ? "id" : dialect.divide("id", String(unit));
    return dialect.characterAt(`'${alphabet}'`, `((${quotient}) % ${alphabet.length})`);
  });
  return dialect.concat(digits);
}
