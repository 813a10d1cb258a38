import { createRadix } from "./radix.ts";

/** Bitcoin's alphabet: no 0, O, I and l. Source: https://github.com/bitcoin/bitcoin/blob/master/src/base58.cpp */
export const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Characters of a text. */
export const base58Length = 11;
const radix = createRadix("base58", base58Alphabet, base58Length);

/**
 * Writes an ID in base 58: 11 characters of Bitcoin's alphabet, filled up with 1 (its zero) at the left. Sorts as the
 * IDs do where texts are compared by their bytes; where case is ignored, two IDs can be equal.
 *
 * @throws IdError MALFORMED_ID.
 */
export const writeBase58: (id: bigint) => string = radix.write;

/**
 * Reads what {@link writeBase58} writes, and nothing else.
 *
 * @throws IdError MALFORMED_TEXT: character, too_short, too_long, out_of_range.
 */
export function readBase58(text: string): bigint {
  return radix.readId(text);
}
