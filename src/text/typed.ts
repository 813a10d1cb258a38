import { base58Alphabet, base58Length, writeBase58 } from "./base58.ts";
import { malformedText } from "./malformed-text.ts";
import { createRadix } from "./radix.ts";
import { typePrefixLengthMax } from "./text-form.ts";

/** Between the prefix and the ID. */
export const typeSeparator = "_";

const radix = createRadix("typed", base58Alphabet, base58Length);

/**
 * Writes an ID as `{prefix}_{base 58}`. The prefix must be in its range. Typed IDs of one prefix sort as the IDs do
 * where texts are compared by their bytes.
 *
 * @throws IdError MALFORMED_ID.
 */
export function writeTyped(id: bigint, prefix: string): string {
  return prefix + typeSeparator + writeBase58(id);
}

/**
 * Reads what {@link writeTyped} writes, and nothing else. The prefix ends at the first separator.
 *
 * @param expectedPrefix - The one prefix that is read; empty: any.
 * @throws IdError MALFORMED_TEXT: prefix, character, too_short, too_long, out_of_range. The position of another prefix
 * than the expected one is 0.
 */
export function readTyped(text: string, expectedPrefix: string): { readonly id: bigint; readonly prefix: string } {
  const prefixLength = lengthOfPrefix(text);
  const prefix = text.slice(0, prefixLength);
  if (expectedPrefix !== "" && prefix !== expectedPrefix) throw malformedText("typed", "prefix", 0);
  return { id: radix.readId(text, prefixLength + typeSeparator.length), prefix };
}

/** Characters before the separator. */
function lengthOfPrefix(text: string): number {
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === typeSeparator && i > 0) return i;
    const isAllowed = i === 0 ? /[a-z]/.test(character) : /[a-z0-9]/.test(character);
    if (!isAllowed || i === typePrefixLengthMax) throw malformedText("typed", "prefix", i);
  }
  throw malformedText("typed", "too_short", text.length);
}
