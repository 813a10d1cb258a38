import { malformedText } from "./malformed-text.ts";
import { createRadix } from "./radix.ts";
import { idMax } from "./text-form.ts";

/** Crockford's alphabet, https://www.crockford.com/base32.html: no I, L, O and U. */
export const base32Alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** The check symbols of 32 to 36, beyond the alphabet. */
const checkAlphabet = `${base32Alphabet}*~$=U`;
const aliases = {
  ...Object.fromEntries(Array.from(base32Alphabet, (symbol) => [symbol.toLowerCase(), symbol])),
  I: "1",
  i: "1",
  L: "1",
  l: "1",
  O: "0",
  o: "0",
};
const checkAliases: Readonly<Record<string, string>> = { ...aliases, u: "U" };
const checkModulus = 37n;

/** Symbols of a text, without its check symbol. */
export const base32Length = 13;
const radix = createRadix("base32", base32Alphabet, base32Length, aliases);

/**
 * Writes an ID in Crockford's base 32: 13 symbols, capitals, then its check symbol if asked for. Sorts as the IDs do,
 * either way.
 *
 * @throws IdError MALFORMED_ID.
 */
export function writeBase32(id: bigint, checkSymbol: boolean): string {
  const text = radix.write(id);
  return checkSymbol ? text + checkSymbolOf(id) : text;
}

/**
 * Reads 13 symbols, or 14 of which the last is the check symbol. As in Crockford's definition, lower-case letters stand
 * for capitals, I and L for 1, O for 0. Unlike it, this form has no hyphens: remove them first.
 *
 * @returns The ID, and whether the text had a check symbol.
 * @throws IdError MALFORMED_TEXT: character, too_short, too_long, out_of_range, check_symbol.
 */
export function readBase32(text: string): { readonly id: bigint; readonly checkSymbol: boolean } {
  const id = radix.read(text);
  const symbol = text.charAt(base32Length);
  const check = checkAlphabet.includes(symbol) ? symbol : checkAliases[symbol];
  if (check === undefined) throw malformedText("base32", "character", base32Length);
  if (text.length > base32Length + 1) throw malformedText("base32", "too_long", base32Length + 1);
  if (id > idMax) throw malformedText("base32", "out_of_range", 0);
  if (symbol === "") return { id, checkSymbol: false };
  if (check !== checkSymbolOf(id)) throw malformedText("base32", "check_symbol", base32Length);
  return { id, checkSymbol: true };
}

function checkSymbolOf(id: bigint): string {
  return checkAlphabet[Number(id % checkModulus)]!;
}
