import { createRadix } from "./radix.ts";

/** In the order of ASCII. */
export const base62Alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Characters of a text. */
export const base62Length = 11;
const radix = createRadix("base62", base62Alphabet, base62Length);

/**
 * Writes an ID in base 62: 11 characters in the order 0-9, A-Z, a-z, filled up with 0 at the left. Sorts as the IDs do
 * where texts are compared by their bytes; where case is ignored, two IDs can be equal.
 *
 * @throws IdError MALFORMED_ID.
 */
export const writeBase62: (id: bigint) => string = radix.write;

/**
 * Reads what {@link writeBase62} writes, and nothing else.
 *
 * @throws IdError MALFORMED_TEXT: character, too_short, too_long, out_of_range.
 */
export function readBase62(text: string): bigint {
  return radix.readId(text);
}
