import type { Find } from "./find.ts";
import { calledOther, unitBehind } from "./digit-rules.ts";
import { isKnownNumber } from "./known-numbers.ts";
import { literalSuffix } from "./literal-suffix.ts";
import { isAlone, type TokenContext } from "./token-context.ts";

/** Digits in groups of three. */
export interface GroupedToken {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly separator: string;
  readonly context: TokenContext;
}

/** A line that is one row of three-digit numbers, or one grouped number: both look the same. */
const row = /^[^\S\n]*(\d{1,3}([ ,])\d{3})(?:\2\d{3}){3,}[^\S\n]*$/gm;

/** Whether the lines that look like grouped numbers differ in their first two groups, as rows of a table do. */
export function looksLikeTable(text: string): boolean {
  const firsts = new Set<string>();
  for (const [, first = ""] of text.matchAll(row)) firsts.add(first);
  return firsts.size > 1;
}

/**
 * Reads digits in groups. With a comma or a blank between the groups they must be all that is on the line, or have the
 * key of an ID, or a first group of one or two digits among words, because a row of three-digit numbers looks the same.
 */
export function readGrouped(
  { start, end, text, separator, context }: GroupedToken,
  source: string,
  options: { readonly isPlausible: (id: bigint) => boolean; readonly isTable: () => boolean },
): Find | undefined {
  const digits = text.replaceAll(/\D/g, "");
  if (digits.length < 16 || digits.length > 20 || context.isOther || digits.startsWith("0")) return undefined;
  if (/\d[.,\s]?$/.test(source.slice(Math.max(0, start - 2), start))) return undefined;
  const tail = source.slice(end, end + 24);
  const suffixLength = literalSuffix.exec(tail)?.[0].length ?? 0;
  const zeros = /^\.0{1,3}(?![\d.])/.exec(tail)?.[0] ?? "";
  if (zeros === "" && /^[.,]\d/.test(tail.slice(suffixLength))) return undefined;
  if (/^[ ,]$/.test(separator)) {
    const isSingle = isAlone(source, start, end + zeros.length) && !options.isTable();
    const isShortFirst = /^\d{1,2}\D/.test(text) && !isBesideNumbers(source, start, end) && !options.isTable();
    if (!isSingle && !context.isId && !isShortFirst) return undefined;
  }
  const value = BigInt(digits);
  if (context.isComputed || unitBehind.test(tail) || calledOther.test(source.slice(end, end + 40))) return undefined;
  if (isKnownNumber(digits, value) || !options.isPlausible(value)) return undefined;
  return { start, end: end + zeros.length, kind: "grouped", strict: digits, notes: zeros === "" ? [] : ["rounded"] };
}

/** Whether another number is next to the characters on either side, with nothing but blanks and marks between. */
function isBesideNumbers(source: string, start: number, end: number): boolean {
  return (
    /\d[^\p{L}\n]{0,3}$/u.test(source.slice(Math.max(0, start - 4), start)) ||
    /^[^\p{L}\n]{0,3}\d/u.test(source.slice(end, end + 4))
  );
}
